/* The counters: what memory accesses cost, and sums over launches. They watch and never compute: without them every byte of a
 * kernel's output is the same. Only counters.def says which counters there are. */
#include "emulator.h"
#include "observer.h"
#include <stdio.h>
#include <stdlib.h>

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
static pthread_mutex_t totals_lock = PTHREAD_MUTEX_INITIALIZER;

enum { SECTOR_BYTES = 32, BANKS = 32, BANK_BYTES = 4 };

/* Addresses usually rise from lane to lane; where they do not, they are sorted first. */
unsigned count_sectors(const struct access *a)
{
    uint64_t sector[WARP_SIZE];
    unsigned count = 0, distinct = 0;
    bool rising = true;

    if (a->in_order)
        return (unsigned)((a->address[31] + a->bytes - 1) / SECTOR_BYTES - a->address[0] / SECTOR_BYTES + 1);
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        sector[count] = a->address[__builtin_ctz(rest)] / SECTOR_BYTES;
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

/* Passes over the banks for the lanes of `mask`: the most distinct words that any one bank must give. */
static unsigned passes(const struct access *a, uint32_t mask)
{
    uint64_t low = UINT64_MAX, high = 0, word[4 * WARP_SIZE];
    uint8_t next[4 * WARP_SIZE + 1], head[BANKS] = {0}, in_bank[BANKS] = {0}, used = 0;
    unsigned words = a->bytes > BANK_BYTES ? a->bytes / BANK_BYTES : 1, most = 1;

    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t address = a->address[__builtin_ctz(rest)];
        low = address < low ? address : low;
        high = address > high ? address : high;
    }
    if (high + a->bytes - low / BANK_BYTES * BANK_BYTES <= BANKS * BANK_BYTES)
        return 1;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        for (unsigned k = 0; k < words; k++) {
            uint64_t wanted = a->address[__builtin_ctz(rest)] / BANK_BYTES + k;
            unsigned bank = (unsigned)(wanted % BANKS), at = head[bank];
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

/* 8-byte accesses go by half warps, 16-byte ones by quarters. */
unsigned count_wavefronts(const struct access *a, unsigned *fewest)
{
    unsigned lanes = a->bytes <= 4 ? 32 : a->bytes == 8 ? 16 : 8, wavefronts = 0;

    *fewest = 0;
    for (unsigned first = 0; first < WARP_SIZE; first += lanes) {
        uint32_t part = a->mask & (lanes == 32 ? UINT32_MAX : (((uint32_t)1 << lanes) - 1) << first);
        if (!part)
            continue;
        wavefronts += a->in_order ? 1 : passes(a, part);
        ++*fewest;
    }
    return wavefronts;
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
    case AS_OTHER: break;
    }
}

static double occupancy(const struct grid *grid)
{
    const unsigned *block = grid->launch->block;
    unsigned threads = block[0] * block[1] * block[2], warps = (threads + WARP_SIZE - 1) / WARP_SIZE;

    return (double)device_blocks_per_sm(threads, grid->shared_bytes) * warps / DEVICE_SM_WARPS;
}

void counters_add_launch(const struct grid *grid, struct inst_counts *counts)
{
    const struct function *f = grid->function;

    expand_runs(f, counts);
    annotate_add_launch(grid, counts);
    pthread_mutex_lock(&totals_lock);
    for (uint32_t pc = 0; pc < f->count; pc++)
        add_instruction(&totals, &f->code[pc], &counts[pc]);
    totals.launches++;
    totals.occupancy_sum += occupancy(grid);
    pthread_mutex_unlock(&totals_lock);
}

void emulator_counters_reset(void)
{
    pthread_mutex_lock(&totals_lock);
    totals = (struct totals){0};
    pthread_mutex_unlock(&totals_lock);
}

size_t emulator_counters(struct emulator_counter *out, size_t most)
{
    size_t count = 0;

    pthread_mutex_lock(&totals_lock);
    /* Every sum by its name, so that a ratio's numerator and denominator can be written in those. */
    const double shared_lanes = (double)totals.shared_lanes, global_bytes = (double)totals.global_bytes,
                 launches = (double)totals.launches, occupancy_sum = totals.occupancy_sum;
#define COUNTER(name, ncu, meaning) const double name = (double)totals.name;
#define RATIO(...)
#include "counters.def"
#undef COUNTER
#undef RATIO
    pthread_mutex_unlock(&totals_lock);
#define COUNTER(name, ncu, meaning) ADD(#name, meaning, ncu, name)
#define RATIO(name, ncu, meaning, numerator, denominator)                                                                        \
    ADD(#name, meaning, ncu, (denominator) > 0 ? (double)(numerator) / (double)(denominator) : 0)
#define ADD(name_, meaning_, ncu_, value_)                                                                                       \
    do {                                                                                                                         \
        if (count < most)                                                                                                        \
            out[count] = (struct emulator_counter){name_, meaning_, ncu_, value_};                                               \
        count++;                                                                                                                 \
    } while (0);
#include "counters.def"
#undef ADD
#undef COUNTER
#undef RATIO
    return count;
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

static void write_json(const char *path)
{
    struct emulator_counter counters[MOST_COUNTERS];
    size_t count = emulator_counters(counters, MOST_COUNTERS);
    FILE *out = fopen(path, "w");

    if (!out) {
        fprintf(stderr, "emulator: cannot write the counters to '%s'\n", path);
        return;
    }
    fprintf(out, "{\n  \"launches\": %llu", (unsigned long long)totals.launches);
    for (size_t i = 0; i < count; i++)
        fprintf(out, ",\n  \"%s\": %.17g", counters[i].name, counters[i].value);
    fprintf(out, "\n}\n");
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
