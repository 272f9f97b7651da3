/* Races: two accesses to a byte, at least one a store, that nothing orders.
 *
 * What orders: the program order of a lane; a block barrier; __syncwarp, among the lanes its mask names; and a fence followed by a
 * flag (a volatile or atomic store) that another thread polls. Shuffles, votes and lockstep order nothing. Two atomics never race;
 * nor do two volatile accesses of different warps, which are how flags are polled. Within one instruction only stores of
 * different values to one byte race.
 *
 * How it is known. Each block counts its full barriers: its epoch. In an epoch each lane counts the __syncwarps it took part in,
 * from 1: its step; a matrix a warp says up to which step of lane t lane u is behind (FastTrack's vector clocks, Flanagan and
 * Freund 2009, kept where threads really meet). Every word of memory remembers who wrote it last and who read it since, as block,
 * warp, lanes, epoch and step. Order between warps inside an epoch and between blocks comes from flags: a release appends
 * what its thread knew at its last fence to the place's log, and whoever reads the place later knows that part of the log. */
#define _GNU_SOURCE
#include "checks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum strength { WEAK, VOLATILE, ATOMIC };

/* Who accessed: `lanes` of one warp at one step. A writer is one lane. */
struct stamp {
    uint32_t block, lanes, epoch, step;
    uint32_t pc : 24, warp : 6, strength : 2;
    uint32_t serial; /* of the warp instruction: stores of one instruction are compared by value */
};

struct cell {
    struct stamp written, read;
    struct readers {
        uint32_t count, room;
        struct stamp items[];
    } * more;           /* readers beyond `read` that nothing orders among them */
    struct cell *bytes; /* four cells once a narrower access came */
};

/* What a place's log says of one release. */
struct release {
    uint32_t block, warp, epoch, steps[WARP_SIZE]; /* steps of the warp's lanes that are behind it */
    uint32_t older;                                /* the block's release before this one, or UINT32_MAX */
};
struct known {
    struct place *place;
    uint32_t length;
}; /* so much of the place's log is behind */
struct knowledge {
    struct known *items;
    uint32_t count, room;
};
struct inherited {
    uint32_t from;
    struct known known;
}; /* what releasers knew: holds for logs longer than `from` */

struct place {
    uint64_t key;
    struct place *next;
    struct release *log;
    uint32_t length, room;
    struct inherited *inherited;
    uint32_t inherited_count, inherited_room;
    struct {
        uint32_t block, newest;
    } * index; /* open hash: block -> its newest release */
    uint32_t index_room, index_count;
};

struct region {
    uint64_t base;
    size_t cells;
    struct cell *cell;
    struct region *next;
};

enum { PLACE_BUCKETS = 1024 };
struct race_grid {
    struct place *places[PLACE_BUCKETS];
    struct region *regions, *last;
};

struct lane_state {
    struct knowledge known;
    bool fenced;
    uint32_t fence_epoch, fence_steps[WARP_SIZE];
};
struct race_block {
    uint32_t epoch;
    struct knowledge known;
    struct race_warp {
        uint32_t step[WARP_SIZE][WARP_SIZE]; /* [u][t]: lane u is behind lane t's accesses up to this step */
        uint32_t serial;
        struct lane_state lanes[WARP_SIZE];
    } * warps;
    struct cell *shared;
    size_t shared_cells;
};

static void *held(void *memory)
{
    if (!memory) {
        fprintf(stderr, "emulator: out of memory for the race check; run a smaller case, or without it (EMULATOR_CHECK)\n");
        exit(3);
    }
    return memory;
}

/* Makes room for one more; doubles. */
#define ROOM(items, count, room)                                                                                                   \
    do {                                                                                                                           \
        if ((count) == (room)) {                                                                                                   \
            (room) = (room) ? 2 * (room) : 8;                                                                                      \
            (items) = held(realloc((items), (room) * sizeof *(items)));                                                            \
        }                                                                                                                          \
    } while (0)

/* ---- places, logs, knowledge ---- */

static struct place *place_at(struct race_grid *race, uint64_t key, bool make)
{
    struct place **bucket = &race->places[(key >> 2) * 0x9e3779b97f4a7c15u >> 54], *place = *bucket;

    while (place && place->key != key)
        place = place->next;
    if (!place && make) {
        place = held(calloc(1, sizeof *place));
        place->key = key;
        place->next = *bucket;
        *bucket = place;
    }
    return place;
}

static uint32_t *newest_release(struct place *p, uint32_t block, bool make)
{
    if (make && 2 * p->index_count >= p->index_room) {
        uint32_t old_room = p->index_room, room = old_room ? 2 * old_room : 16;
        __typeof__(p->index) old = p->index;
        p->index = held(malloc(room * sizeof *p->index));
        p->index_room = room;
        for (uint32_t i = 0; i < room; i++)
            p->index[i].newest = UINT32_MAX;
        for (uint32_t i = 0; i < old_room; i++) {
            uint32_t at = old[i].block * 2654435761u & (room - 1);
            if (old[i].newest == UINT32_MAX)
                continue;
            while (p->index[at].newest != UINT32_MAX)
                at = (at + 1) & (room - 1);
            p->index[at] = old[i];
        }
        free(old);
    }
    if (!p->index_room)
        return NULL;
    uint32_t at = block * 2654435761u & (p->index_room - 1);
    while (p->index[at].newest != UINT32_MAX && p->index[at].block != block)
        at = (at + 1) & (p->index_room - 1);
    if (p->index[at].newest == UINT32_MAX) {
        if (!make)
            return NULL;
        p->index[at].block = block;
        p->index_count++;
    }
    return &p->index[at].newest;
}

static void know(struct knowledge *k, struct known known)
{
    for (uint32_t i = 0; i < k->count; i++)
        if (k->items[i].place == known.place) {
            if (k->items[i].length < known.length)
                k->items[i].length = known.length;
            return;
        }
    ROOM(k->items, k->count, k->room);
    k->items[k->count++] = known;
}

static void know_all(struct knowledge *k, const struct knowledge *other)
{
    for (uint32_t i = 0; k != other && i < other->count; i++)
        know(k, other->items[i]);
}

static void inherit(struct place *p, const struct knowledge *k)
{
    for (uint32_t i = 0; i < k->count; i++) {
        bool have = k->items[i].place == p;
        for (uint32_t j = p->inherited_count; j-- > 0 && !have;) /* of one place, the newest is the longest */
            if (p->inherited[j].known.place == k->items[i].place) {
                have = p->inherited[j].known.length >= k->items[i].length;
                break;
            }
        if (have)
            continue;
        ROOM(p->inherited, p->inherited_count, p->inherited_room);
        p->inherited[p->inherited_count++] = (struct inherited){p->length, k->items[i]};
    }
}

static void release_to(struct place *p, const struct warp *w, int lane, uint32_t epoch, const uint32_t *steps)
{
    struct race_block *rb = w->block->race;
    struct release r = {.block = (uint32_t)w->block->number, .warp = w->index, .epoch = epoch};
    uint32_t *newest = newest_release(p, r.block, true);

    inherit(p, &rb->known);
    inherit(p, &rb->warps[w->index].lanes[lane].known);
    memcpy(r.steps, steps, sizeof r.steps);
    r.older = *newest;
    *newest = p->length;
    ROOM(p->log, p->length, p->room);
    p->log[p->length++] = r;
}

/* The first `length` releases of the place's log. */
static void acquire_first(struct place *p, struct knowledge *k, uint32_t length)
{
    know(k, (struct known){p, length});
    for (uint32_t i = 0; i < p->inherited_count; i++)
        if (p->inherited[i].from < length)
            know(k, p->inherited[i].known);
}

static void acquire_from(struct place *p, struct knowledge *k)
{
    if (p && p->length)
        acquire_first(p, k, p->length);
}

/* ---- order ---- */

static bool log_orders(const struct known *known, const struct stamp *s, int lane)
{
    uint32_t *newest = newest_release(known->place, s->block, false);

    for (uint32_t i = newest ? *newest : UINT32_MAX; i != UINT32_MAX; i = known->place->log[i].older) {
        const struct release *r = &known->place->log[i];
        if (i < known->length && (s->epoch < r->epoch || (s->epoch == r->epoch && s->warp == r->warp && s->step <= r->steps[lane])))
            return true;
    }
    return false;
}

/* Is what lane `lane` of the stamp did behind lane u of warp w? */
static bool ordered(const struct warp *w, int u, const struct stamp *s, int lane)
{
    const struct race_block *rb = w->block->race;
    const struct race_warp *rw = &rb->warps[w->index];

    if (s->block == (uint32_t)w->block->number) {
        if (s->epoch < rb->epoch || (s->warp == w->index && s->step <= rw->step[u][lane]))
            return true;
    }
    for (uint32_t i = 0; i < rb->known.count; i++)
        if (log_orders(&rb->known.items[i], s, lane))
            return true;
    for (uint32_t i = 0; i < rw->lanes[u].known.count; i++)
        if (log_orders(&rw->lanes[u].known.items[i], s, lane))
            return true;
    return false;
}

static bool exempt(const struct warp *w, const struct stamp *s, enum strength strength)
{
    bool same_warp = s->block == (uint32_t)w->block->number && s->warp == w->index;

    return strength && s->strength && (!same_warp || (strength == ATOMIC && s->strength == ATOMIC));
}

/* The first lane of the stamp that is not behind lane u; -1 if all are. */
static int unordered_lane(const struct warp *w, int u, const struct stamp *s)
{
    for (uint32_t rest = s->lanes; rest; rest &= rest - 1)
        if (!ordered(w, u, s, __builtin_ctz(rest)))
            return __builtin_ctz(rest);
    return -1;
}

/* ---- cells ---- */

static struct region *region_of(struct race_grid *race, uint64_t address)
{
    struct region *r = race->last;

    if (r && address - r->base < 4 * r->cells)
        return r;
    for (r = race->regions; r; r = r->next)
        if (address - r->base < 4 * r->cells)
            return race->last = r;
    const struct allocation *a = memory_find(address);
    r = held(calloc(1, sizeof *r));
    r->base = a->base;
    r->cells = a->bytes / 4 + 1;
    r->cell = mmap(NULL, r->cells * sizeof *r->cell, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    held(r->cell == MAP_FAILED ? NULL : r->cell);
    r->next = race->regions;
    return race->regions = race->last = r;
}

static struct cell *cell_at(struct warp *w, enum space space, uint64_t address)
{
    struct region *r;

    if (space == SPACE_SHARED)
        return &w->block->race->shared[address / 4];
    r = region_of(w->block->grid->race, address);
    return &r->cell[(address - r->base) / 4];
}

static void forget_cell(struct cell *c)
{
    for (int i = 0; c->bytes && i < 4; i++)
        free(c->bytes[i].more);
    free(c->bytes);
    free(c->more);
}

static void forget_cells(struct cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (cells[i].more || cells[i].bytes)
            forget_cell(&cells[i]);
}

static void split(struct cell *c)
{
    c->bytes = held(calloc(4, sizeof *c->bytes));
    for (int i = 0; i < 4; i++) {
        c->bytes[i].written = c->written;
        c->bytes[i].read = c->read;
        if (c->more) {
            size_t bytes = sizeof *c->more + c->more->room * sizeof *c->more->items;
            c->bytes[i].more = memcpy(held(malloc(bytes)), c->more, bytes);
        }
    }
}

/* ---- one access of one lane to one cell ---- */

struct visit {
    struct warp *w;
    const struct inst *in;
    const struct access *a;
    int lane;
    struct stamp stamp;
    uint64_t address; /* of the cell */
    unsigned width;   /* bytes the cell stands for: 4 or 1 */
};

static uint8_t stored_byte(const struct visit *v, int lane, uint64_t address)
{
    const struct inst *in = v->in;
    uint64_t offset = address - v->a->address[lane];
    unsigned element = (unsigned)(offset / in->bytes), byte = (unsigned)(offset % in->bytes);

    if (in->op->as == AS_COPY)
        return (uint8_t)v->a->data[lane][offset];
    return (uint8_t)v->w->regs[in->slot[element] + in->element_lane_bytes * (unsigned)lane + byte];
}

static bool same_bytes(const struct visit *v, int other)
{
    for (unsigned i = 0; i < v->width; i++)
        if (stored_byte(v, v->lane, v->address + i) != stored_byte(v, other, v->address + i))
            return false;
    return true;
}

static const char *kind_of(const struct function *f, uint32_t pc)
{
    const struct op *op = f->code[pc].op;

    return op->as == AS_ATOMIC       ? "atomic operation"
           : op->as == AS_COPY       ? "asynchronous copy"
           : op->as == AS_MBARRIER   ? op->mnemonic
           : op->signature[0] == 'A' ? "store"
                                     : "load";
}

static const char *variable_name(const struct visit *v)
{
    const struct function *f = v->w->block->grid->function;
    const struct allocation *found;

    if (v->a->space == SPACE_SHARED) {
        for (size_t i = 0; i < f->shared_count; i++)
            if (v->address >= f->shared[i].offset &&
                (!f->shared[i].symbol->bytes || v->address < f->shared[i].offset + f->shared[i].symbol->bytes))
                return f->shared[i].symbol->name;
        return NULL;
    }
    found = memory_find(v->address);
    return found ? found->name : NULL;
}

static bool report(const struct visit *v, const struct stamp *s, int lane)
{
    const struct block *b = v->w->block;
    const unsigned *size = b->grid->launch->block, *grid = b->grid->launch->grid;
    const struct function *f = b->grid->function;
    bool same_block = s->block == (uint32_t)b->number, same_warp = same_block && s->warp == v->w->index;
    unsigned thread = s->warp * WARP_SIZE + (unsigned)lane;
    const char *name = variable_name(v);
    const char *advice =
        same_warp    ? "put __syncwarp() between the two: lanes of a warp do not run in step since compute capability 7.0"
        : same_block ? "put __syncthreads() between the two, where every thread of the block reaches it"
                     : "let each block write its own place, or use atomics, or a fence and a flag, or a second launch";
    char block_text[48] = "";

    if (!same_block)
        snprintf(block_text, sizeof block_text, "block (%u,%u,%u) ", s->block % grid[0], s->block / grid[0] % grid[1],
                 s->block / grid[0] / grid[1]);
    warp_fault(v->w, v->in, v->lane, FINDING | 719, advice,
               "race on %s memory at 0x%llx%s%s%s: this %s and the %s of %sthread (%u,%u,%u) [warp %u lane %d] at %s, which "
               "nothing orders",
               space_names[v->a->space], (unsigned long long)v->address, name ? " (" : "", name ? name : "", name ? ")" : "",
               kind_of(f, v->in->number), kind_of(f, s->pc), block_text, thread % size[0], thread / size[0] % size[1],
               thread / size[0] / size[1], s->warp, lane, fault_place(f, s->pc));
    return false;
}

bool race_with_copy(struct warp *w, const struct inst *in, const struct access *a, int lane, uint64_t address,
                    const struct warp *copier, int copier_lane, uint32_t pc)
{
    const struct visit v = {.w = w, .in = in, .a = a, .lane = lane, .address = address};
    const struct function *f = w->block->grid->function;
    const unsigned *size = w->block->grid->launch->block;
    unsigned thread = copier->index * WARP_SIZE + (unsigned)copier_lane;
    const char *name = variable_name(&v);

    warp_fault(w, in, lane, FINDING | 719,
               "wait for the copy first (cp.async.wait_group, __pipeline_wait_prior, the pipeline's or the barrier's wait); "
               "if other threads read what it brings, a barrier comes next",
               "race on %s memory at 0x%llx%s%s%s: this %s and the asynchronous copy of thread (%u,%u,%u) [warp %u lane %d] at %s, "
               "which nobody has waited for",
               space_names[a->space], (unsigned long long)address, name ? " (" : "", name ? name : "", name ? ")" : "",
               kind_of(f, in->number), thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1], copier->index,
               copier_lane, fault_place(f, pc));
    return false;
}

static bool check_written(const struct visit *v, const struct cell *c, bool stores)
{
    const struct stamp *s = &c->written;
    int lane;

    if (!s->lanes || exempt(v->w, s, (enum strength)v->stamp.strength))
        return true;
    lane = __builtin_ctz(s->lanes);
    if (s->block == v->stamp.block && s->warp == v->stamp.warp && s->serial == v->stamp.serial && s->pc == v->stamp.pc)
        return !stores || v->a->is_atomic || same_bytes(v, lane) || report(v, s, lane);
    return ordered(v->w, v->lane, s, lane) || report(v, s, lane);
}

static bool check_read(const struct visit *v, const struct stamp *s)
{
    int lane;

    if (!s->lanes || exempt(v->w, s, (enum strength)v->stamp.strength))
        return true;
    lane = unordered_lane(v->w, v->lane, s);
    return lane < 0 || report(v, s, lane);
}

static bool joins_stamp(const struct stamp *s, const struct stamp *new)
{
    return s->block == new->block && s->warp == new->warp && s->epoch == new->epoch && s->step == new->step &&
           s->strength == new->strength;
}

/* Readers that are behind the new one need not be remembered: a store that is behind the new one is behind them too. */
static void remember_read(const struct visit *v, struct cell *c)
{
    struct readers *more = c->more;
    uint32_t kept = 0;

    if (joins_stamp(&c->read, &v->stamp)) {
        c->read.lanes |= v->stamp.lanes;
        return;
    }
    for (uint32_t i = 0; more && i < more->count; i++)
        if (joins_stamp(&more->items[i], &v->stamp)) {
            more->items[i].lanes |= v->stamp.lanes;
            return;
        }
    for (uint32_t i = 0; more && i < more->count; i++)
        if (unordered_lane(v->w, v->lane, &more->items[i]) >= 0)
            more->items[kept++] = more->items[i];
    if (more)
        more->count = kept;
    if (!c->read.lanes || unordered_lane(v->w, v->lane, &c->read) < 0) {
        c->read = v->stamp;
        return;
    }
    enum { MOST_READERS = 64 }; /* of data that all read and nobody writes: the newest are kept */
    if (more && more->count == MOST_READERS) {
        memmove(more->items, more->items + 1, (MOST_READERS - 1) * sizeof *more->items);
        more->count--;
    }
    if (!more || more->count == more->room) {
        uint32_t room = more ? 2 * more->room : 4;
        bool fresh = !more;
        more = c->more = held(realloc(more, sizeof *more + room * sizeof *more->items));
        more->room = room;
        if (fresh)
            more->count = 0;
    }
    more->items[more->count++] = v->stamp;
}

static bool visit_cell(const struct visit *v, struct cell *c)
{
    bool stores = v->a->is_store || v->a->is_atomic;

    if (!check_written(v, c, stores))
        return false;
    if (!stores) {
        remember_read(v, c);
        return true;
    }
    if (!check_read(v, &c->read))
        return false;
    for (uint32_t i = 0; c->more && i < c->more->count; i++)
        if (!check_read(v, &c->more->items[i]))
            return false;
    c->written = v->stamp;
    c->read.lanes = 0;
    if (c->more)
        c->more->count = 0;
    return true;
}

static bool visit_word(struct visit *v, uint64_t word, uint64_t first, uint64_t end)
{
    struct cell *c = cell_at(v->w, v->a->space, word);

    if (!c->bytes && end - first == 4) {
        v->address = word;
        v->width = 4;
        return visit_cell(v, c);
    }
    if (!c->bytes)
        split(c);
    v->width = 1;
    for (uint64_t at = first; at < end; at++) {
        v->address = at;
        if (!visit_cell(v, &c->bytes[at % 4]))
            return false;
    }
    return true;
}

/* ---- flags ---- */

static uint64_t shared_key(const struct block *b, uint64_t address)
{
    return WINDOW_SHARED | (b->number << 20 & ~WINDOW_MASK) | address;
}

static uint64_t place_key(const struct warp *w, const struct access *a, int lane)
{
    return a->space == SPACE_SHARED ? shared_key(w->block, a->address[lane]) : a->address[lane];
}

static void flag_access(struct warp *w, const struct inst *in, const struct access *a)
{
    struct race_grid *race = w->block->grid->race;
    struct race_block *rb = w->block->race;
    struct race_warp *rw = &rb->warps[w->index];
    bool releases = a->is_store || a->is_atomic, acquires = !a->is_store || a->is_atomic;

    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct lane_state *state = &rw->lanes[lane];
        if (acquires)
            acquire_from(place_at(race, place_key(w, a, lane), false), &state->known);
        if (releases && in->is_release)
            release_to(place_at(race, place_key(w, a, lane), true), w, lane, rb->epoch, rw->step[lane]);
        else if (releases && state->fenced)
            release_to(place_at(race, place_key(w, a, lane), true), w, lane, state->fence_epoch, state->fence_steps);
    }
}

/* ---- what checks.h promises ---- */

bool race_access(struct warp *w, const struct inst *in, const struct access *a)
{
    struct race_block *rb = w->block->race;
    struct race_warp *rw = &rb->warps[w->index];
    bool is_mbarrier = in->op->as == AS_MBARRIER && in->op != &ops[OP_mbar_init]; /* which is a plain store */
    enum strength strength = a->is_atomic || is_mbarrier || in->is_relaxed || in->is_acquire || in->is_release || in->feeds_cas
                                 ? ATOMIC
                             : in->is_volatile ? VOLATILE
                                               : WEAK;

    if (a->space != SPACE_SHARED && a->space != SPACE_GLOBAL)
        return true;
    if (strength && !is_mbarrier && (!in->feeds_cas || in->is_volatile))
        flag_access(w, in, a);
    rw->serial++;
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t first = a->address[lane], end = first + a->bytes;
        struct visit v = {.w = w,
                          .in = in,
                          .a = a,
                          .lane = lane,
                          .stamp = {.block = (uint32_t)w->block->number,
                                    .lanes = (uint32_t)1 << lane,
                                    .epoch = rb->epoch,
                                    .step = rw->step[lane][lane],
                                    .pc = in->number & 0xffffff,
                                    .warp = w->index & 63,
                                    .strength = strength,
                                    .serial = rw->serial}};
        for (uint64_t word = first & ~(uint64_t)3; word < end; word += 4)
            if (!visit_word(&v, word, word < first ? first : word, word + 4 < end ? word + 4 : end))
                return false;
    }
    return true;
}

void race_fence(struct warp *w, uint32_t mask)
{
    struct race_warp *rw = &w->block->race->warps[w->index];

    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        rw->lanes[lane].fenced = true;
        rw->lanes[lane].fence_epoch = w->block->race->epoch;
        memcpy(rw->lanes[lane].fence_steps, rw->step[lane], sizeof rw->step[lane]);
    }
}

void race_syncwarp(struct warp *w, uint32_t lanes)
{
    struct race_warp *rw = &w->block->race->warps[w->index];
    uint32_t behind[WARP_SIZE] = {0};
    struct knowledge known = {0};

    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int u = __builtin_ctz(rest);
        for (int t = 0; t < WARP_SIZE; t++)
            behind[t] = rw->step[u][t] > behind[t] ? rw->step[u][t] : behind[t];
        know_all(&known, &rw->lanes[u].known);
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int u = __builtin_ctz(rest);
        memcpy(rw->step[u], behind, sizeof behind);
        rw->step[u][u]++;
        if (known.count)
            know_all(&rw->lanes[u].known, &known);
    }
    free(known.items);
}

static uint64_t barrier_key(const struct block *b, unsigned barrier)
{
    return WINDOW_MASK | (b->number << 8 & ~WINDOW_MASK) | barrier << 2;
}

void race_arrive(struct warp *w, unsigned barrier, uint32_t mask)
{
    struct race_block *rb = w->block->race;
    struct place *place = place_at(w->block->grid->race, barrier_key(w->block, barrier), true);

    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        release_to(place, w, lane, rb->epoch, rb->warps[w->index].step[lane]);
    }
}

void race_mbarrier_arrive(struct warp *w, uint64_t address, uint32_t mask)
{
    struct race_warp *rw = &w->block->race->warps[w->index];
    struct place *place = place_at(w->block->grid->race, shared_key(w->block, address), true);

    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        release_to(place, w, lane, w->block->race->epoch, rw->step[lane]);
        rw->step[lane][lane]++; /* what comes now is not released */
    }
}

uint32_t race_mbarrier_arrivals(struct block *b, uint64_t address)
{
    struct place *place = place_at(b->grid->race, shared_key(b, address), false);

    return place ? place->length : 0;
}

void race_mbarrier_wait(struct warp *w, uint64_t address, uint32_t arrivals, uint32_t mask)
{
    struct place *place = place_at(w->block->grid->race, shared_key(w->block, address), false);

    for (uint32_t rest = place && arrivals ? mask : 0; rest; rest &= rest - 1)
        acquire_first(place, &w->block->race->warps[w->index].lanes[__builtin_ctz(rest)].known, arrivals);
}

static void reset_steps(struct race_warp *rw)
{
    memset(rw->step, 0, sizeof rw->step);
    for (int i = 0; i < WARP_SIZE; i++)
        rw->step[i][i] = 1;
}

/* All live threads are here: everything before is behind everything after. */
static void full_barrier(struct block *b)
{
    struct race_block *rb = b->race;

    rb->epoch++;
    for (unsigned i = 0; i < b->warp_count; i++) {
        for (int lane = 0; lane < WARP_SIZE; lane++) {
            know_all(&rb->known, &rb->warps[i].lanes[lane].known);
            rb->warps[i].lanes[lane].known.count = 0;
        }
        reset_steps(&rb->warps[i]);
    }
}

void race_barrier(struct block *b, unsigned barrier)
{
    struct place *place = NULL;
    bool full = true;

    for (unsigned i = 0; i < b->warp_count; i++) {
        uint32_t here = 0;
        for (int g = 0; g < b->warps[i].group_top; g++)
            if (b->warps[i].groups[g].state == GROUP_AT_BARRIER && b->warps[i].groups[g].barrier == barrier)
                here |= b->warps[i].groups[g].mask;
        full &= here == b->warps[i].live;
    }
    if (full) {
        full_barrier(b);
        return;
    }
    for (int leaving = 0; leaving < 2; leaving++) /* all release, then all acquire */
        for (unsigned i = 0; i < b->warp_count; i++)
            for (int g = 0; g < b->warps[i].group_top; g++) {
                struct warp *w = &b->warps[i];
                struct group *group = &w->groups[g];
                if (group->state != GROUP_AT_BARRIER || group->barrier != barrier)
                    continue;
                if (!leaving)
                    race_arrive(w, barrier, group->mask);
                place = place_at(b->grid->race, barrier_key(b, barrier), false);
                for (uint32_t rest = leaving ? group->mask : 0; rest; rest &= rest - 1) {
                    int lane = __builtin_ctz(rest);
                    acquire_from(place, &b->race->warps[i].lanes[lane].known);
                    b->race->warps[i].step[lane][lane]++; /* what comes now is not yet behind those who knew the step before */
                }
            }
}

void race_block_start(struct block *b)
{
    struct race_block *rb = b->race;

    if (!rb) {
        rb = b->race = held(calloc(1, sizeof *rb));
        rb->warps = held(calloc(b->warp_count, sizeof *rb->warps));
        rb->shared_cells = b->grid->shared_bytes / 4 + 1;
        rb->shared = held(calloc(rb->shared_cells, sizeof *rb->shared));
    }
    forget_cells(rb->shared, rb->shared_cells);
    memset(rb->shared, 0, rb->shared_cells * sizeof *rb->shared);
    rb->epoch = 0;
    rb->known.count = 0;
    for (unsigned i = 0; i < b->warp_count; i++) {
        reset_steps(&rb->warps[i]);
        rb->warps[i].serial = 0;
        for (int lane = 0; lane < WARP_SIZE; lane++) {
            rb->warps[i].lanes[lane].known.count = 0;
            rb->warps[i].lanes[lane].fenced = false;
        }
    }
}

void race_block_free(struct block *b)
{
    struct race_block *rb = b->race;

    if (!rb)
        return;
    for (unsigned i = 0; i < b->warp_count; i++)
        for (int lane = 0; lane < WARP_SIZE; lane++)
            free(rb->warps[i].lanes[lane].known.items);
    forget_cells(rb->shared, rb->shared_cells);
    free(rb->shared);
    free(rb->known.items);
    free(rb->warps);
    free(rb);
}

struct race_grid *race_grid_new(const struct grid *grid)
{
    (void)grid;
    return held(calloc(1, sizeof(struct race_grid)));
}

void race_grid_free(struct race_grid *race)
{
    if (!race)
        return;
    for (struct region *r = race->regions, *next; r; r = next) {
        next = r->next;
        forget_cells(r->cell, r->cells);
        munmap(r->cell, r->cells * sizeof *r->cell);
        free(r);
    }
    for (int i = 0; i < PLACE_BUCKETS; i++)
        for (struct place *p = race->places[i], *next; p; p = next) {
            next = p->next;
            free(p->log);
            free(p->inherited);
            free(p->index);
            free(p);
        }
    free(race);
}
