/* The counters: what memory accesses cost, and sums over launches. They watch and never compute: without them every byte of a
 * kernel's output is the same. Only counters.def says which counters there are. */
#define _GNU_SOURCE
#include "emulator.h"
#include "observer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct totals {
#define COUNTER(name, ncu, meaning) uint64_t name;
#define RATIO(...)
#include "counters.def"
#undef COUNTER
#undef RATIO
    uint64_t shared_lanes, global_bytes, launches;
    double occupancy_sum;
};
static struct totals totals;
/* The same for each kernel and launch shape, in the order of their first launch. */
struct record {
    char *kernel;
    unsigned grid[3], block[3];
    size_t dynamic_shared;
    struct totals totals;
    struct record *next;
};
static struct record *records;
static pthread_mutex_t totals_lock = PTHREAD_MUTEX_INITIALIZER;

enum { SECTOR_BYTES = 32, BANKS = 32, BANK_BYTES = 4 };

/* Sectors of a row: a sector is a few neighbours, so shift lane 0 to its place in its sector and see which hold a lane. */
static unsigned sectors_of_row(uint64_t start, unsigned bytes, uint32_t mask)
{
    unsigned lanes = SECTOR_BYTES / bytes, skipped = (unsigned)(start % SECTOR_BYTES) / bytes;
    uint64_t taken = (uint64_t)mask << skipped, every = UINT64_MAX / ((1u << lanes) - 1); /* a bit for each sector */

    for (unsigned step = 1; step < lanes; step *= 2)
        taken |= taken >> step;
    return (unsigned)__builtin_popcountll(taken & every);
}

/* Addresses usually rise from lane to lane; where they do not, they are sorted first. */
unsigned count_sectors(const struct access *a)
{
    uint64_t sector[WARP_SIZE];
    unsigned count = 0, distinct = 0;
    bool rising = true;

    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        sector[count] = access_address(a, __builtin_ctz(rest)) / SECTOR_BYTES;
        rising &= count == 0 || sector[count] >= sector[count - 1];
        count++;
    }
    for (unsigned i = 1; !rising && i < count; i++) {
        uint64_t moved = sector[i];
        unsigned k = i;
        for (; k > 0 && sector[k - 1] > moved; k--)
            sector[k] = sector[k - 1];
        sector[k] = moved;
    }
    for (unsigned i = 0; i < count; i++)
        distinct += i == 0 || sector[i] != sector[i - 1];
    return distinct;
}

/* Are all words wanted within one row of banks? Then each bank gives at most one. SIMD over all lanes. */
static bool within_banks(const uint32_t word[WARP_SIZE], uint32_t mask, unsigned words)
{
    uint32_t low = UINT32_MAX, high = 0;

    for (int i = 0; i < WARP_SIZE; i++) {
        uint32_t takes_part = 0 - (mask >> i & 1);
        uint32_t least = word[i] | ~takes_part, greatest = word[i] & takes_part;
        low = least < low ? least : low;
        high = greatest > high ? greatest : high;
    }
    return high + words - low <= BANKS;
}

/* Passes where addresses rise from lane to lane: a word was wanted before only by the lane before. 0: they do not rise. */
static unsigned passes_rising(const uint32_t word[WARP_SIZE], uint32_t mask, unsigned words)
{
    uint8_t in_bank[BANKS] = {0};
    uint32_t least = 0, before = UINT32_MAX;
    unsigned most = 1;

    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t wanted = word[__builtin_ctz(rest)];
        if (wanted == before)
            continue; /* broadcast */
        if (wanted < least)
            return 0;
        for (unsigned k = 0; k < words; k++) {
            unsigned count = ++in_bank[(wanted + k) % BANKS];
            most = count > most ? count : most;
        }
        before = wanted;
        least = wanted + words;
    }
    return most;
}

/* Passes over the banks for the lanes of `mask`: the most distinct words that any one bank must give. `first`: of each lane. */
static unsigned passes(const uint32_t first[WARP_SIZE], uint32_t mask, unsigned words)
{
    uint32_t word[4 * WARP_SIZE];
    uint8_t next[4 * WARP_SIZE + 1], head[BANKS] = {0}, in_bank[BANKS] = {0}, used = 0;
    unsigned most;

    if (within_banks(first, mask, words))
        return 1;
    most = passes_rising(first, mask, words);
    if (most)
        return most;
    most = 1;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        for (unsigned k = 0; k < words; k++) {
            uint32_t wanted = first[__builtin_ctz(rest)] + k;
            unsigned bank = wanted % BANKS, at = head[bank];
            while (at && word[at - 1] != wanted)
                at = next[at];
            if (at)
                continue; /* broadcast */
            word[used++] = wanted;
            next[used] = head[bank];
            head[bank] = used;
            if (++in_bank[bank] > most)
                most = in_bank[bank];
        }
    return most;
}

/* Each lane's first word. Shared memory has 32-bit addresses. */
static void first_words(const struct access *a, uint32_t word[WARP_SIZE])
{
    if (a->shape == SHAPE_NEAR)
        for (int i = 0; i < WARP_SIZE; i++)
            word[i] = ((uint32_t)a->start + (uint32_t)a->near[i]) / BANK_BYTES;
    else
        for (int i = 0; i < WARP_SIZE; i++)
            word[i] = (uint32_t)(access_address(a, i) / BANK_BYTES);
}

/* 8-byte accesses go by half warps, 16-byte ones by quarters. */
unsigned count_wavefronts(const struct access *a, unsigned *fewest)
{
    unsigned lanes = a->bytes <= 4 ? 32 : a->bytes == 8 ? 16 : 8, wavefronts = 0;
    unsigned words = a->bytes > BANK_BYTES ? a->bytes / BANK_BYTES : 1;
    uint32_t word[WARP_SIZE];

    first_words(a, word);
    if (lanes == WARP_SIZE)
        return *fewest = 1, passes(word, a->mask, words);
    *fewest = 0;
    for (unsigned first = 0; first < WARP_SIZE; first += lanes) {
        uint32_t part = a->mask & (((uint32_t)1 << lanes) - 1) << first;
        if (!part)
            continue;
        wavefronts += passes(word, part, words);
        ++*fewest;
    }
    return wavefronts;
}

/* An access whose lanes are a row, of 4 or 8 bytes each: every pass over the banks is as good as can be. */
void count_row(struct inst_counts *counts, const struct inst *in, uint32_t mask, uint64_t start)
{
    unsigned lanes = (unsigned)__builtin_popcount(mask);

    if (in->space == SPACE_SHARED) {
        unsigned passes = in->bytes == 4 ? 1 : ((mask & 0xffff) != 0) + (mask >> 16 != 0);
        counts->shared_requests++;
        counts->shared_lanes += lanes;
        counts->wavefronts += passes;
        counts->fewest_wavefronts += passes;
    } else {
        counts->global_requests++;
        counts->global_bytes += (uint64_t)lanes * in->bytes;
        counts->sectors += in->bytes == 4 ? sectors_of_row(start, 4, mask) : sectors_of_row(start, 8, mask);
    }
}

void count_access(struct inst_counts *counts, const struct access *a)
{
    unsigned lanes = (unsigned)__builtin_popcount(a->mask);

    if (a->space == SPACE_GLOBAL) {
        counts->global_requests++;
        counts->global_bytes += (uint64_t)lanes * a->bytes;
        counts->sectors += count_sectors(a);
    } else if (a->space == SPACE_SHARED) {
        counts->shared_requests++;
        unsigned fewest;
        counts->shared_lanes += lanes;
        counts->wavefronts += count_wavefronts(a, &fewest);
        counts->fewest_wavefronts += fewest;
    }
}

/* Within a run only its first instruction was counted: the others issued as often. */
static void expand_runs(const struct function *f, struct inst_counts *counts)
{
    for (uint32_t pc = 1; pc < f->count; pc++)
        if (f->code[pc - 1].run > 1) {
            counts[pc].issues += counts[pc - 1].issues;
            counts[pc].lanes += counts[pc - 1].lanes;
        }
}

static void add_memory(struct totals *t, const struct inst *in, const struct inst_counts *c)
{
    bool is_store = in->op->signature[0] == 'A';

    if (in->op->as == AS_ATOMIC) {
        t->atomics += c->issues;
        return;
    }
    *(is_store ? &t->global_stores : &t->global_loads) += c->global_requests;
    *(is_store ? &t->global_store_sectors : &t->global_load_sectors) += c->sectors;
    *(is_store ? &t->shared_stores : &t->shared_loads) += c->shared_requests;
    *(is_store ? &t->shared_store_wavefronts : &t->shared_load_wavefronts) += c->wavefronts;
    t->bank_conflicts += c->wavefronts - c->fewest_wavefronts;
    t->shared_lanes += c->shared_lanes;
    t->global_bytes += c->global_bytes;
}

static void add_instruction(struct totals *t, const struct inst *in, const struct inst_counts *c)
{
    t->warp_instructions += c->issues;
    t->active_lanes += c->lanes;
    switch (in->op->as) {
    case AS_DIVISION: t->divisions += c->issues; break;
    case AS_BRANCH:
        t->branches += c->issues;
        t->divergent_branches += c->divergent;
        break;
    case AS_BARRIER: t->barriers += c->issues; break;
    case AS_WARP_BARRIER: t->warp_barriers += c->issues; break;
    case AS_SHUFFLE: t->shuffles += c->issues; break;
    case AS_ATOMIC:
    case AS_MEMORY: add_memory(t, in, c); break;
    case AS_COPY:
    case AS_MBARRIER:
    case AS_OTHER: break;
    }
}

static double occupancy(const struct grid *grid)
{
    const unsigned *block = grid->launch->block;
    unsigned threads = block[0] * block[1] * block[2], warps = (threads + WARP_SIZE - 1) / WARP_SIZE;

    return (double)device_blocks_per_sm(threads, grid->reserved ? grid->reserved : grid->shared_bytes) * warps / DEVICE_SM_WARPS;
}

static struct totals *record_of(const struct grid *grid)
{
    const struct launch *l = grid->launch;
    struct record **at = &records;

    while (*at && (memcmp((*at)->grid, l->grid, sizeof l->grid) || memcmp((*at)->block, l->block, sizeof l->block) ||
                   (*at)->dynamic_shared != l->dynamic_shared || strcmp((*at)->kernel, grid->function->name)))
        at = &(*at)->next;
    if (!*at) {
        *at = calloc(1, sizeof **at);
        if (!*at || !((*at)->kernel = strdup(grid->function->name))) {
            fprintf(stderr, "emulator: out of memory for the counters\n");
            exit(3);
        }
        memcpy((*at)->grid, l->grid, sizeof l->grid);
        memcpy((*at)->block, l->block, sizeof l->block);
        (*at)->dynamic_shared = l->dynamic_shared;
    }
    return &(*at)->totals;
}

static void add_launch(struct totals *t, const struct grid *grid, const struct inst_counts *counts)
{
    const struct function *f = grid->function;

    for (uint32_t pc = 0; pc < f->count; pc++)
        add_instruction(t, &f->code[pc], &counts[pc]);
    t->launches++;
    t->occupancy_sum += occupancy(grid);
}

void counters_add_launch(const struct grid *grid, struct inst_counts *counts)
{
    expand_runs(grid->function, counts);
    annotate_add_launch(grid, counts);
    pthread_mutex_lock(&totals_lock);
    add_launch(&totals, grid, counts);
    if (settings()->counters_json)
        add_launch(record_of(grid), grid, counts);
    pthread_mutex_unlock(&totals_lock);
}

void emulator_counters_reset(void)
{
    pthread_mutex_lock(&totals_lock);
    totals = (struct totals){0};
    pthread_mutex_unlock(&totals_lock);
}

static size_t counter_values(const struct totals *t, struct emulator_counter *out, size_t most)
{
    size_t count = 0;
    /* Every sum by its name, so that a ratio's numerator and denominator can be written in those. */
    const double shared_lanes = (double)t->shared_lanes, global_bytes = (double)t->global_bytes, launches = (double)t->launches,
                 occupancy_sum = t->occupancy_sum;
#define COUNTER(name, ncu, meaning) const double name = (double)t->name;
#define RATIO(...)
#include "counters.def"
#undef COUNTER
#undef RATIO
#define ADD(name_, meaning_, ncu_, value_)                                                                                         \
    do {                                                                                                                           \
        if (count < most)                                                                                                          \
            out[count] = (struct emulator_counter){name_, meaning_, ncu_, value_};                                                 \
        count++;                                                                                                                   \
    } while (0);
#define COUNTER(name, ncu, meaning) ADD(#name, meaning, ncu, name)
#define RATIO(name, ncu, meaning, numerator, denominator)                                                                          \
    ADD(#name, meaning, ncu, (denominator) > 0 ? (double)(numerator) / (double)(denominator) : 0)
#include "counters.def"
#undef ADD
#undef COUNTER
#undef RATIO
    return count;
}

size_t emulator_counters(struct emulator_counter *out, size_t most)
{
    struct totals copy;

    pthread_mutex_lock(&totals_lock);
    copy = totals;
    pthread_mutex_unlock(&totals_lock);
    return counter_values(&copy, out, most);
}

enum { MOST_COUNTERS = 64 };

static void write_text(FILE *out)
{
    struct emulator_counter counters[MOST_COUNTERS];
    size_t count = emulator_counters(counters, MOST_COUNTERS);

    fprintf(out, "counters over %llu kernel launches\n", (unsigned long long)totals.launches);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%18.*f  %-24s %s\n", counters[i].value == (double)(uint64_t)counters[i].value ? 0 : 3, counters[i].value,
                counters[i].name, counters[i].meaning);
}

static void write_values(FILE *out, const struct totals *t)
{
    struct emulator_counter counters[MOST_COUNTERS];
    size_t count = counter_values(t, counters, MOST_COUNTERS);

    fprintf(out, "\"launches\": %llu", (unsigned long long)t->launches);
    for (size_t i = 0; i < count; i++)
        fprintf(out, ", \"%s\": %.17g", counters[i].name, counters[i].value);
}

/* {"kernels": [{"kernel": NAME, "grid": [x,y,z], "block": [x,y,z], "dynamic_shared": BYTES, "launches": N, COUNTER: VALUE…}…],
 *  "total": {"launches": N, COUNTER: VALUE…}} */
static void write_json(const char *path)
{
    FILE *out = fopen(path, "w");

    if (!out) {
        fprintf(stderr, "emulator: cannot write the counters to '%s'\n", path);
        return;
    }
    fputs("{\"kernels\": [", out);
    for (const struct record *r = records; r; r = r->next) {
        fprintf(out, "%s\n  {\"kernel\": \"%s\", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"dynamic_shared\": %zu, ",
                r == records ? "" : ",", r->kernel, r->grid[0], r->grid[1], r->grid[2], r->block[0], r->block[1], r->block[2],
                r->dynamic_shared);
        write_values(out, &r->totals);
        fputc('}', out);
    }
    fputs("],\n \"total\": {", out);
    write_values(out, &totals);
    fputs("}}\n", out);
    fclose(out);
}

/* The report that EMULATOR_COUNTERS asks for, when the program ends. */
__attribute__((destructor)) static void report_at_exit(void)
{
    if (settings()->counters_text)
        write_text(stderr);
    if (settings()->counters_json)
        write_json(settings()->counters_json);
}
