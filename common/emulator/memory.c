/* Device memory: the address range, the table of live allocations, the host bytes behind them (memory.h says what it promises).
 *
 * Changes happen under `lock`. Lookups take no lock: the front serialises API calls, so the table stands still while a kernel
 * runs. Fresh memory is zero, because that is what the host's kernel hands out for nothing; a GPU promises no such thing. */
#define _GNU_SOURCE
#include "memory.h"
#include "host_memory.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ALIGNMENT = 256,          /* what cudaMalloc promises */
    PAGE = 4096,              /* pinned and managed memory starts on a page, as with a GPU */
    GAP_LEAST = 512,          /* between neighbours once addresses have to be used again */
    GAP_USUAL = 64 * 1024,    /* … and while there is room; a large allocation has a gap as large as itself */
    SMALL = 1024 * 1024,      /* below, bytes come from malloc: thousands of small cudaMallocs stay cheap */
    HUGE_PAGES = 4096 * 1024, /* from here on ask for huge pages: fewer page faults while the program fills it */
    FREED_KEPT = 65536        /* records of freed memory, for reports */
};
#define GAP_MOST ((size_t)1 << 30)
#define RANGE_HINT ((void *)0x200000000000)
#define RANGE_FIRST ((size_t)4 << 30) /* it grows as it fills: valgrind keeps a record of every 64 KiB of it */
#define RANGE_MOST ((size_t)16 << 40)

struct entry {
    struct allocation allocation; /* first: lookups hand out a pointer to it */
    bool borrowed;                /* the program's own bytes (cudaHostRegister) */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t range_start, range_end, range_next;
static struct entry **live; /* by ascending base */
static size_t live_count, live_room;
static struct allocation *freed; /* a ring of FREED_KEPT */
static size_t freed_count;
static size_t bytes_in_use;

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Address space only: nothing can be read or written there. The first piece may lie anywhere, the next ones behind it, each as
 * large as all before. False: no more is to be had (valgrind, ulimit -v). */
static bool extend_range(void)
{
    size_t bytes = range_end ? range_end - range_start : RANGE_FIRST;
    void *hint = range_end ? (void *)(uintptr_t)range_end : RANGE_HINT;

    if (range_end && 2 * bytes > RANGE_MOST)
        return false;
    void *start = mmap(hint, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return false;
    if (range_end && start != hint) {
        munmap(start, bytes);
        return false;
    }
    if (!range_end)
        range_start = range_next = range_end = (uint64_t)(uintptr_t)start;
    range_end += bytes;
    return true;
}

/* How many live allocations begin at or below the address. */
static size_t count_up_to(uint64_t address)
{
    size_t low = 0, high = live_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (live[middle]->allocation.base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct entry *entry_at(uint64_t address)
{
    size_t count = count_up_to(address);

    if (count == 0)
        return NULL;
    struct entry *entry = live[count - 1];
    return address - entry->allocation.base < entry->allocation.bytes ? entry : NULL;
}

/* The first hole among the live allocations that holds `bytes` and a gap on either side; 0 if there is none. */
static uint64_t reuse_addresses(size_t bytes)
{
    uint64_t candidate = range_start;

    for (size_t i = count_up_to(range_start - 1); i < live_count && live[i]->allocation.base < range_end; i++) {
        const struct allocation *next = &live[i]->allocation;
        if (next->base >= candidate && next->base - candidate >= bytes + GAP_LEAST)
            return candidate;
        candidate = round_up(next->base + next->bytes + GAP_LEAST, ALIGNMENT);
    }
    return candidate < range_end && range_end - candidate >= bytes ? candidate : 0;
}

static uint64_t take_addresses(size_t bytes)
{
    size_t gap = bytes < GAP_USUAL ? GAP_USUAL : bytes < GAP_MOST ? bytes : GAP_MOST;

    while (range_next >= range_end || bytes > range_end - range_next)
        if (!extend_range())
            return range_end ? reuse_addresses(bytes) : 0;
    uint64_t base = range_next;
    range_next = round_up(base + bytes + gap, ALIGNMENT);
    return base;
}

static char *take_bytes(size_t bytes, size_t alignment)
{
    void *host = NULL;

    if (bytes < SMALL) {
        if (posix_memalign(&host, alignment, bytes) != 0)
            return NULL;
        return memset(host, 0, bytes);
    }
    host = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (host == MAP_FAILED)
        return NULL;
    if (bytes >= HUGE_PAGES)
        madvise(host, bytes, MADV_HUGEPAGE); /* advice only: fails harmlessly where there are none */
    return host;
}

static void give_bytes(char *host, size_t bytes)
{
    if (bytes < SMALL)
        free(host);
    else
        munmap(host, bytes);
}

static bool insert(const struct entry *new)
{
    if (live_count == live_room) {
        size_t room = live_room ? 2 * live_room : 64;
        struct entry **larger = realloc(live, room * sizeof *live);
        if (!larger)
            return false;
        live = larger;
        live_room = room;
    }
    struct entry *entry = malloc(sizeof *entry);
    if (!entry)
        return false;
    *entry = *new;
    size_t place = count_up_to(new->allocation.base);
    memmove(live + place + 1, live + place, (live_count - place) * sizeof *live);
    live[place] = entry;
    live_count++;
    if (!new->borrowed)
        bytes_in_use += new->allocation.bytes;
    return true;
}

static void remove_entry(struct entry *entry)
{
    size_t place = count_up_to(entry->allocation.base) - 1;

    memmove(live + place, live + place + 1, (live_count - place - 1) * sizeof *live);
    live_count--;
    if (!freed)
        freed = calloc(FREED_KEPT, sizeof *freed);
    if (freed) {
        struct allocation *record = &freed[freed_count++ % FREED_KEPT];
        *record = entry->allocation;
        record->host = NULL;
        record->freed = true;
    }
    if (!entry->borrowed) {
        bytes_in_use -= entry->allocation.bytes;
        give_bytes(entry->allocation.host, entry->allocation.bytes);
    }
    free(entry);
}

static bool on_host(enum memory_kind kind)
{
    return kind == MEMORY_PINNED || kind == MEMORY_MANAGED;
}

/* Reading /proc for every small allocation would cost more than the allocation: those are let through until they add up. */
static bool fits(size_t bytes)
{
    static size_t unchecked;

    if (bytes < SMALL && (unchecked += bytes) < 16 * SMALL)
        return true;
    unchecked = 0;
    return bytes <= host_memory_available(bytes_in_use);
}

static void *allocate_locked(size_t bytes, enum memory_kind kind, const char *name)
{
    if (!fits(bytes))
        return NULL;
    struct entry new = {.allocation = {.bytes = bytes, .kind = kind, .name = name}};
    new.allocation.host = take_bytes(bytes, on_host(kind) ? PAGE : ALIGNMENT);
    if (!new.allocation.host)
        return NULL;
    new.allocation.base = on_host(kind) ? (uint64_t)(uintptr_t) new.allocation.host : take_addresses(bytes);
    if (new.allocation.base == 0 || !insert(&new)) {
        give_bytes(new.allocation.host, bytes);
        return NULL;
    }
    return (void *)(uintptr_t) new.allocation.base;
}

void *memory_allocate(size_t bytes, enum memory_kind kind, const char *name)
{
    if (bytes == 0)
        return NULL;
    pthread_mutex_lock(&lock);
    void *device = allocate_locked(bytes, kind, name);
    pthread_mutex_unlock(&lock);
    return device;
}

static bool remove_at(const void *device, bool borrowed)
{
    pthread_mutex_lock(&lock);
    uint64_t address = (uint64_t)(uintptr_t)device;
    struct entry *entry = entry_at(address);
    bool found = entry && entry->allocation.base == address && entry->borrowed == borrowed;
    if (found)
        remove_entry(entry);
    pthread_mutex_unlock(&lock);
    return found;
}

bool memory_free(void *device)
{
    return remove_at(device, false);
}

bool memory_register(void *host, size_t bytes)
{
    uint64_t start = (uint64_t)(uintptr_t)host;
    struct entry new = {.allocation = {.base = start, .bytes = bytes, .host = host, .kind = MEMORY_PINNED}, .borrowed = true};

    pthread_mutex_lock(&lock);
    bool known = entry_at(start) || count_up_to(start) != count_up_to(start + bytes - 1);
    bool done = !known && insert(&new);
    pthread_mutex_unlock(&lock);
    return done;
}

bool memory_unregister(void *host)
{
    return remove_at(host, true);
}

const struct allocation *memory_find(uint64_t address)
{
    const struct entry *entry = entry_at(address);

    return entry ? &entry->allocation : NULL;
}

const struct allocation *memory_find_freed(uint64_t address)
{
    size_t kept = freed_count < FREED_KEPT ? freed_count : FREED_KEPT;

    for (size_t back = 1; back <= kept; back++) {
        const struct allocation *record = &freed[(freed_count - back) % FREED_KEPT];
        if (address - record->base < record->bytes)
            return record;
    }
    return NULL;
}

char *memory_host(const void *device, size_t bytes)
{
    uint64_t address = (uint64_t)(uintptr_t)device;
    const struct allocation *found = memory_find(address);

    if (!found || bytes > found->bytes - (address - found->base))
        return NULL;
    return found->host + (address - found->base);
}

bool memory_reserved(uint64_t address)
{
    return address >= range_start && address < range_end;
}

size_t memory_total(void)
{
    return host_memory_total();
}

size_t memory_available(void)
{
    return host_memory_available(bytes_in_use);
}

size_t memory_in_use(void)
{
    return bytes_in_use;
}

void memory_each(void (*each)(const struct allocation *, void *), void *context)
{
    for (size_t i = live_count; i-- > 0;) { /* from the end, so that `each` may free what it is given */
        const struct entry *entry = live[i];
        if (!entry->borrowed && !entry->allocation.name)
            each(&entry->allocation, context);
    }
}

void memory_each_of(enum memory_kind kind, void (*each)(const struct allocation *, void *), void *context)
{
    for (size_t i = live_count; i-- > 0;)
        if (live[i]->allocation.kind == kind)
            each(&live[i]->allocation, context);
}
