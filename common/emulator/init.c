/* Reads of memory that nothing wrote: one bit a byte, for shared memory from the block's start, for cudaMalloc's from its return.
 * Variables of a module, managed and pinned memory count as written: CUDA clears the first, and the host may write the others
 * unseen. */
#define _GNU_SOURCE
#include "checks.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bits of one allocation. */
struct watched {
    uint64_t base;
    size_t bytes;
    uint8_t *bits;
    struct watched *next;
};
static struct watched *all, *last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_on(void)
{
    return settings()->checks & CHECK_INIT;
}

static struct watched *find(uint64_t address)
{
    struct watched *w = last;

    if (w && address - w->base < w->bytes)
        return w;
    for (w = all; w && address - w->base >= w->bytes; w = w->next) {
    }
    return w ? last = w : NULL;
}

void init_allocated(const void *device, size_t bytes)
{
    struct watched *w;

    if (!is_on() || !device || !bytes)
        return;
    w = calloc(1, sizeof *w);
    if (w)
        w->bits = calloc(1, bytes / 8 + 9);
    if (!w || !w->bits) {
        fprintf(stderr, "emulator: out of memory for the init check; run without it (EMULATOR_CHECK)\n");
        exit(3);
    }
    w->base = (uintptr_t)device;
    w->bytes = bytes;
    pthread_mutex_lock(&lock);
    w->next = all;
    all = w;
    pthread_mutex_unlock(&lock);
}

void init_forget(const void *device)
{
    if (!is_on())
        return;
    pthread_mutex_lock(&lock);
    for (struct watched **at = &all; *at; at = &(*at)->next)
        if ((*at)->base == (uintptr_t)device) {
            struct watched *gone = *at;
            *at = gone->next;
            last = NULL;
            free(gone->bits);
            free(gone);
            break;
        }
    pthread_mutex_unlock(&lock);
}

static void set_bits(uint8_t *bits, uint64_t from, uint64_t count)
{
    for (; count && from % 8; from++, count--)
        bits[from / 8] |= (uint8_t)(1u << from % 8);
    memset(bits + from / 8, 0xff, count / 8);
    from += count / 8 * 8;
    for (count %= 8; count; from++, count--)
        bits[from / 8] |= (uint8_t)(1u << from % 8);
}

/* The first of the bytes that is not written and that somebody reads, or `count`. */
static unsigned first_clear(const uint8_t *bits, uint64_t from, unsigned count, uint32_t unread)
{
    for (unsigned i = 0; i < count; i++)
        if (!(bits[(from + i) / 8] >> (from + i) % 8 & 1) && !(i < 32 && unread >> i & 1))
            return i;
    return count;
}

void init_written(const void *device, size_t bytes)
{
    struct watched *w;

    if (!is_on() || !bytes)
        return;
    pthread_mutex_lock(&lock);
    w = find((uintptr_t)device);
    if (w)
        set_bits(w->bits, (uintptr_t)device - w->base,
                 bytes < w->base + w->bytes - (uintptr_t)device ? bytes : w->base + w->bytes - (uintptr_t)device);
    pthread_mutex_unlock(&lock);
}

void init_block_start(struct block *b)
{
    size_t bytes = b->grid->shared_bytes / 8 + 9;

    if (!b->shared_written)
        b->shared_written = malloc(bytes);
    if (!b->shared_written)
        abort();
    memset(b->shared_written, 0, bytes);
    if (b->grid->reserved)
        set_bits(b->shared_written, b->grid->reserved, b->grid->shared_bytes - b->grid->reserved);
}

void init_block_free(struct block *b)
{
    free(b->shared_written);
}

/* An `and` that clears one bit and gives nothing back: it makes that bit, whatever the others are. So the warps of a block make the
 * barrier of a cooperative group's tile. */
static bool clears_one_bit(struct warp *w, const struct inst *in, int lane)
{
    uint64_t cleared;

    if (in->op != &ops[OP_red_and] && (in->op != &ops[OP_atom_and] || !in->result_unused))
        return false;
    cleared = in->bytes == 8 ? ~warp_row64(w, in->slot[2])[lane] : (uint32_t)~warp_row32(w, in->slot[2])[lane];
    return cleared && !(cleared & (cleared - 1));
}

bool init_access(struct warp *w, const struct inst *in, const struct access *a)
{
    bool reads = !a->is_store || a->is_atomic, writes = a->is_store || a->is_atomic;
    uint32_t unread = writes ? 0 : in->unread;

    if (a->space != SPACE_SHARED && a->space != SPACE_GLOBAL)
        return true;
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct watched *watched = a->space == SPACE_GLOBAL ? find(a->address[lane]) : NULL;
        uint8_t *bits = a->space == SPACE_SHARED ? w->block->shared_written : watched ? watched->bits : NULL;
        uint64_t from = a->address[lane] - (watched ? watched->base : 0);
        unsigned clear;
        if (!bits)
            continue;
        if (reads && (clear = first_clear(bits, from, a->bytes, unread)) < a->bytes && !clears_one_bit(w, in, lane)) {
            warp_fault(w, in, lane, FINDING | 719,
                       a->space == SPACE_SHARED ? "let a thread write it first, and a barrier stand between"
                                                : "fill it first: cudaMemcpy, cudaMemset, or a store before this",
                       "uninitialised %s memory: a load of %u bytes at 0x%llx, and nothing wrote byte %u of them",
                       space_names[a->space], a->bytes, (unsigned long long)a->address[lane], clear);
            return false;
        }
        if (writes)
            set_bits(bits, from, a->bytes);
    }
    return true;
}
