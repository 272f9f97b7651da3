/* Copies that arrive later (cp.async) and barriers that stand in shared memory (mbarrier).
 *
 * A copy reads its source when it is issued. Its bytes arrive when its thread waits for them (wait_group, wait_all), or when
 * somebody waits at the barrier that is to be told of them (cp.async.mbarrier.arrive), and not before: a program that does not wait
 * sees what was there. Meanwhile the race and init checks report whoever touches those bytes. A bulk copy (cp.async.bulk) into
 * shared memory goes in pieces of 16 bytes, each a copy that only its barrier waits for; one into global memory is done at once.
 *
 * A barrier is known here by its offset in shared memory, from mbarrier.init to mbarrier.inval. The 8 bytes there hold its phase
 * and counts as arrive returns them; nothing is read back from them. */
#include "access.h"
#include "checks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One cp.async of some lanes of a warp. */
struct copy {
    struct copy *next;
    const struct inst *in;
    struct warp *warp;
    uint32_t lanes; /* whose bytes have not arrived */
    uint32_t serial;
    uint64_t barrier;          /* of a piece of a bulk copy: the barrier that it tells; else NO_BARRIER */
    uint32_t group[WARP_SIZE]; /* how many groups the lane had committed before */
    uint64_t to[WARP_SIZE];
    char data[WARP_SIZE][16];
};

/* cp.async.mbarrier.arrive of one lane: an arrival that comes when its copies before `serial` have arrived. */
struct promise {
    struct promise *next;
    struct warp *warp;
    int lane;
    uint64_t at;
    uint32_t serial;
};

struct mbarrier {
    uint64_t at;
    uint32_t expected, pending; /* arrivals of each phase, and those still to come in this one */
    int64_t transactions;       /* bytes */
    uint64_t phase;
    uint32_t arrivals; /* that the race check knew when the last phase ended */
};

struct async {
    struct copy *copies, **end;
    struct promise *promises;
    struct mbarrier *mbarriers;
    uint32_t mbarrier_count, mbarrier_room;
    uint32_t serial;
    uint32_t failed_waits;            /* one after the other, without anything that they may wait for */
    uint32_t (*committed)[WARP_SIZE]; /* groups, by warp and lane */
    uint32_t in_flight;               /* lanes' copies */
};

enum { MOST_ARRIVALS = (1 << 20) - 1, MOST_FAILED_WAITS = 1 << 16, BULK_PIECE = 16 };
#define NO_BARRIER UINT64_MAX

static void *held(void *memory)
{
    if (!memory) {
        fprintf(stderr, "emulator: out of memory for asynchronous copies\n");
        exit(3);
    }
    return memory;
}

static struct async *async_of(struct block *b)
{
    if (!b->async) {
        b->async = held(calloc(1, sizeof *b->async));
        b->async->committed = held(calloc(b->warp_count, sizeof *b->async->committed));
        b->async->end = &b->async->copies;
    }
    return b->async;
}

static void forget_copies(struct async *async)
{
    for (struct copy *c = async->copies, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    for (struct promise *p = async->promises, *next; p; p = next) {
        next = p->next;
        free(p);
    }
}

void async_start(struct block *b)
{
    struct async *async = b->async;

    if (!async)
        return;
    forget_copies(async);
    async->copies = NULL;
    async->end = &async->copies;
    async->promises = NULL;
    async->mbarrier_count = async->in_flight = async->failed_waits = 0;
    memset(async->committed, 0, b->warp_count * sizeof *async->committed);
}

void async_free(struct block *b)
{
    if (!b->async)
        return;
    forget_copies(b->async);
    free(b->async->mbarriers);
    free(b->async->committed);
    free(b->async);
}

void async_progress(struct block *b)
{
    if (b->async)
        b->async->failed_waits = 0;
}

/* ---- copies ---- */

/* Lanes of the copy whose bytes lie in [from, from + bytes). */
static uint32_t lanes_at(const struct copy *c, uint64_t from, unsigned bytes)
{
    uint32_t lanes = 0;

    for (uint32_t rest = c->lanes; rest; rest &= rest - 1) {
        uint64_t to = c->to[__builtin_ctz(rest)];
        lanes |= (uint32_t)(to < from + bytes && from < to + c->in->bytes) << __builtin_ctz(rest);
    }
    return lanes;
}

bool copy_untouched(struct warp *w, const struct inst *in, const struct access *a)
{
    const struct async *async = w->block->async;

    if (!async || !async->in_flight || a->space != SPACE_SHARED)
        return true;
    for (const struct copy *c = async->copies; c; c = c->next)
        for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            uint32_t lanes = lanes_at(c, a->address[lane], a->bytes);
            if (lanes) {
                int other = __builtin_ctz(lanes);
                return race_with_copy(w, in, a, lane, a->address[lane] > c->to[other] ? a->address[lane] : c->to[other], c->warp,
                                      other, c->in->number);
            }
        }
    return true;
}

static void describe_landing(const struct copy *c, uint32_t lanes, struct access *a)
{
    a->mask = lanes;
    a->bytes = c->in->bytes;
    a->space = SPACE_SHARED;
    a->is_store = true;
    a->is_atomic = false;
    a->shape = SHAPE_APART;
    a->data = c->data;
    for (int i = 0; i < WARP_SIZE; i++)
        a->address[i] = c->to[i];
}

/* Bytes of these lanes arrive. False: a fault was recorded. */
static bool land(struct block *b, struct copy *c, uint32_t lanes)
{
    struct access a;

    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        memcpy(b->shared + c->to[__builtin_ctz(rest)], c->data[__builtin_ctz(rest)], c->in->bytes);
    c->lanes &= ~lanes;
    b->async->in_flight -= (uint32_t)__builtin_popcount(lanes);
    b->async->failed_waits = 0;
    if (!b->shared_written && !b->race)
        return true;
    describe_landing(c, lanes, &a);
    if (b->shared_written && !init_access(c->warp, c->in, &a))
        return false;
    return !b->race || race_access(c->warp, c->in, &a);
}

static void forget_landed(struct async *async)
{
    struct copy **at = &async->copies;

    while (*at) {
        struct copy *c = *at;
        if (c->lanes) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        free(c);
    }
    async->end = at;
}

/* All but the newest `keep` groups that each lane has committed. */
static bool land_groups(struct warp *w, uint32_t mask, uint32_t keep)
{
    struct async *async = w->block->async;
    bool landed = true;

    for (struct copy *c = async->copies; c && landed; c = c->next) {
        uint32_t lanes = 0;
        for (uint32_t rest = c->warp == w && c->barrier == NO_BARRIER ? c->lanes & mask : 0; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            lanes |= (uint32_t)((uint64_t)c->group[lane] + keep < async->committed[w->index][lane]) << lane;
        }
        landed = !lanes || land(w->block, c, lanes);
    }
    forget_landed(async);
    return landed;
}

/* The instruction's further operand, as the address of an access. */
static struct inst at_address(const struct inst *in, const struct address *address, unsigned bytes)
{
    struct inst at = *in;

    at.slot[4] = address->slot;
    at.has_base = address->has_base;
    at.wide_base = address->wide_base;
    at.offset = address->offset;
    at.space = address->space;
    at.bytes = at.access_bytes = (uint8_t)bytes;
    at.is_store = false;
    return at;
}

/* Reads `bytes` a lane at `offset` behind the source's address. */
static bool read_part(struct warp *w, const struct inst *in, uint32_t mask, struct copy *c, unsigned offset, unsigned bytes)
{
    struct inst from = at_address(in, in->source, bytes);
    struct access a;

    from.offset += offset;
    if (!access_reach(w, &from, mask, &a))
        return false;
    for (uint32_t rest = mask; rest && bytes == 1 && offset == 0; rest &= rest - 1)
        if (a.address[__builtin_ctz(rest)] % in->bytes)
            return warp_fault(w, in, __builtin_ctz(rest), 716, "both addresses must be multiples of the size of the copy",
                              "misaligned asynchronous copy of %u bytes from 0x%llx", in->bytes,
                              (unsigned long long)a.address[__builtin_ctz(rest)]),
                   false;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        memcpy(c->data[__builtin_ctz(rest)] + offset, a.host[__builtin_ctz(rest)], bytes);
    return !w->watched || access_watch(w, &from, &a);
}

/* Where fewer bytes are read than the copy has, zeros follow. */
static bool read_source(struct warp *w, const struct inst *in, uint32_t mask, struct copy *c)
{
    const uint32_t *sizes = in->slot[3] ? warp_row32(w, in->slot[3]) : NULL;
    uint32_t whole = mask;

    for (uint32_t rest = sizes ? mask : 0; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (sizes[lane] > in->bytes)
            return warp_fault(w, in, lane, 719, "the source is at most as long as the copy",
                              "asynchronous copy of %u bytes from a source of %u", in->bytes, sizes[lane]),
                   false;
        whole &= ~((uint32_t)(sizes[lane] < in->bytes) << lane);
    }
    if (whole && !read_part(w, in, whole, c, 0, in->bytes))
        return false;
    for (unsigned offset = 0; offset < in->bytes && whole != mask; offset++) {
        uint32_t lanes = 0;
        for (uint32_t rest = mask & ~whole; rest; rest &= rest - 1)
            lanes |= (uint32_t)(sizes[__builtin_ctz(rest)] > offset) << __builtin_ctz(rest);
        if (lanes && !read_part(w, in, lanes, c, offset, 1))
            return false;
    }
    return true;
}

/* From now on until they land its bytes are the copy's. */
static bool claim(struct warp *w, const struct inst *in, uint32_t mask, struct copy *c)
{
    struct access a;

    if (!access_reach(w, in, mask, &a))
        return false;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        c->to[__builtin_ctz(rest)] = a.address[__builtin_ctz(rest)];
    a.data = c->data;
    if ((w->block->shared_written || w->block->race) && !copy_untouched(w, in, &a))
        return false;
    return !w->block->race || race_access(w, in, &a);
}

static struct copy *copy_new(struct warp *w, const struct inst *in, uint32_t mask, uint64_t barrier)
{
    struct async *async = async_of(w->block);
    struct copy *c = held(calloc(1, sizeof *c));

    c->in = in;
    c->warp = w;
    c->lanes = mask;
    c->barrier = barrier;
    c->serial = async->serial++;
    memcpy(c->group, async->committed[w->index], sizeof c->group);
    return c;
}

static void copy_begin(struct async *async, struct copy *c)
{
    async->in_flight += (uint32_t)__builtin_popcount(c->lanes);
    *async->end = c;
    async->end = &c->next;
}

int warp_copy_async(struct warp *w, const struct inst *in, uint32_t mask)
{
    struct copy *c = copy_new(w, in, mask, NO_BARRIER);

    if (!read_source(w, in, mask, c) || !claim(w, in, mask, c)) {
        free(c);
        return WARP_STOP;
    }
    copy_begin(w->block->async, c);
    return WARP_NEXT;
}

int warp_copy_commit(struct warp *w, const struct inst *in, uint32_t mask)
{
    struct async *async = async_of(w->block);

    (void)in;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        async->committed[w->index][__builtin_ctz(rest)]++;
    return WARP_NEXT;
}

int warp_copy_wait(struct warp *w, const struct inst *in, uint32_t mask)
{
    return !w->block->async || land_groups(w, mask, warp_row32(w, in->slot[2])[__builtin_ctz(mask)]) ? WARP_NEXT : WARP_STOP;
}

int warp_copy_wait_all(struct warp *w, const struct inst *in, uint32_t mask)
{
    warp_copy_commit(w, in, mask);
    return land_groups(w, mask, 0) ? WARP_NEXT : WARP_STOP;
}

/* ---- barriers in shared memory ---- */

static struct mbarrier *mbarrier_at(const struct async *async, uint64_t at)
{
    for (uint32_t i = 0; i < async->mbarrier_count; i++)
        if (async->mbarriers[i].at == at)
            return &async->mbarriers[i];
    return NULL;
}

/* As it stands in memory, and as arrive returns it: the phase on top, then what is expected and pending. */
static uint64_t mbarrier_word(const struct mbarrier *m)
{
    return m->phase << 63 | (uint64_t)m->expected << 20 | m->pending;
}

static void write_word(struct block *b, const struct mbarrier *m)
{
    uint64_t word = mbarrier_word(m);

    memcpy(b->shared + m->at, &word, sizeof word);
    b->async->failed_waits = 0;
}

/* The addresses, all in shared memory. */
static bool begin(struct warp *w, const struct inst *in, uint32_t mask, struct access *a)
{
    async_of(w->block);
    if (!access_begin_uncounted(w, in, mask, a))
        return false;
    if (a->space != SPACE_SHARED)
        return warp_fault(w, in, __builtin_ctz(mask), 719, "declare the barrier __shared__",
                          "'%s' on a barrier that is not in shared memory", in->op->mnemonic),
               false;
    return true;
}

/* What the instruction works on; NULL with a fault if nobody made it. */
static struct mbarrier *made(struct warp *w, const struct inst *in, int lane, uint64_t at)
{
    struct mbarrier *m = mbarrier_at(w->block->async, at);

    if (!m)
        warp_fault(w, in, lane, FINDING | 719,
                   "let one thread initialise the barrier (init, mbarrier.init), and __syncthreads() come next",
                   "'%s' at 0x%llx, where there is no barrier", in->op->mnemonic, (unsigned long long)at);
    return m;
}

static void end_phase(struct block *b, struct mbarrier *m)
{
    if (m->pending || m->transactions)
        return;
    m->phase++;
    m->pending = m->expected;
    if (b->race)
        m->arrivals = race_mbarrier_arrivals(b, m->at);
}

/* `count` arrivals of a lane, which may also leave for good (drop) or announce bytes. */
struct arrival {
    uint32_t count;
    int64_t transactions;
    bool drop, must_not_complete;
};

static bool arrive(struct warp *w, const struct inst *in, int lane, struct mbarrier *m, struct arrival arrival)
{
    if (arrival.count > m->pending || arrival.count == 0 || (arrival.must_not_complete && arrival.count == m->pending))
        return warp_fault(w, in, lane, FINDING | 719, "initialise the barrier for as many arrivals as each phase has",
                          "'%s': %u arrivals at a barrier whose phase waits for %u%s", in->op->mnemonic, arrival.count, m->pending,
                          arrival.must_not_complete ? ", which must not complete it" : ""),
               false;
    if (w->block->race)
        race_mbarrier_arrive(w, m->at, (uint32_t)1 << lane);
    m->pending -= arrival.count;
    m->expected -= arrival.drop ? arrival.count : 0;
    m->transactions += arrival.transactions;
    end_phase(w->block, m);
    write_word(w->block, m);
    return true;
}

static int arrive_all(struct warp *w, const struct inst *in, uint32_t mask, bool drop, bool must_not_complete, bool announces)
{
    struct access a;
    const uint32_t *counts = in->slot[3] ? warp_row32(w, in->slot[3]) : NULL;
    uint64_t *state = warp_row64(w, in->slot[0]);

    if (!begin(w, in, mask, &a))
        return WARP_STOP;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct mbarrier *m = made(w, in, lane, a.address[lane]);
        struct arrival arrival = {.count = counts && !announces ? counts[lane] : 1,
                                  .transactions = announces ? counts[lane] : 0,
                                  .drop = drop,
                                  .must_not_complete = must_not_complete};
        if (!m)
            return WARP_STOP;
        uint64_t before = mbarrier_word(m);
        if (!arrive(w, in, lane, m, arrival))
            return WARP_STOP;
        state[lane] = before; /* after the counts are read: one register may hold both */
    }
    return WARP_NEXT;
}

int warp_mbarrier_arrive(struct warp *w, const struct inst *in, uint32_t mask)
{
    return arrive_all(w, in, mask, false, false, false);
}

int warp_mbarrier_arrive_no_complete(struct warp *w, const struct inst *in, uint32_t mask)
{
    return arrive_all(w, in, mask, false, true, false);
}

int warp_mbarrier_arrive_expect_tx(struct warp *w, const struct inst *in, uint32_t mask)
{
    return arrive_all(w, in, mask, false, false, true);
}

int warp_mbarrier_drop(struct warp *w, const struct inst *in, uint32_t mask)
{
    return arrive_all(w, in, mask, true, false, false);
}

int warp_mbarrier_drop_no_complete(struct warp *w, const struct inst *in, uint32_t mask)
{
    return arrive_all(w, in, mask, true, true, false);
}

int warp_mbarrier_drop_expect_tx(struct warp *w, const struct inst *in, uint32_t mask)
{
    return arrive_all(w, in, mask, true, false, true);
}

int warp_mbarrier_init(struct warp *w, const struct inst *in, uint32_t mask)
{
    struct access a;
    const uint32_t *counts = warp_row32(w, in->slot[3]);

    if (!begin(w, in, mask, &a))
        return WARP_STOP;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        struct async *async = w->block->async;
        int lane = __builtin_ctz(rest);
        struct mbarrier *m = mbarrier_at(async, a.address[lane]);
        if (counts[lane] == 0 || counts[lane] > MOST_ARRIVALS)
            return warp_fault(w, in, lane, FINDING | 719, "a barrier waits for 1 to 1048575 arrivals",
                              "mbarrier.init for %u arrivals", counts[lane]);
        if (!m && async->mbarrier_count == async->mbarrier_room) {
            async->mbarrier_room = 2 * async->mbarrier_room + 8;
            async->mbarriers = held(realloc(async->mbarriers, async->mbarrier_room * sizeof *async->mbarriers));
        }
        if (!m)
            m = &async->mbarriers[async->mbarrier_count++];
        *m = (struct mbarrier){.at = a.address[lane], .expected = counts[lane], .pending = counts[lane]};
        if (w->block->race)
            m->arrivals = race_mbarrier_arrivals(w->block, m->at);
        write_word(w->block, m);
    }
    return WARP_NEXT;
}

/* Pieces of bulk copies that were to tell this barrier arrive, and take their bytes from what it waits for. */
static bool settle_bulk(struct block *b, struct mbarrier *m)
{
    struct warp *copier = NULL; /* of the last piece, */
    uint32_t copiers = 0;       /* and its lane */
    bool landed = true;

    for (struct copy *c = b->async->copies; c && landed; c = c->next) {
        if (c->barrier != m->at || !c->lanes)
            continue;
        if (b->race && copier && (c->warp != copier || c->lanes != copiers))
            race_mbarrier_arrive(copier, m->at, copiers); /* behind all pieces of a copy */
        copier = c->warp;
        copiers = c->lanes;
        landed = land(b, c, c->lanes);
        m->transactions -= BULK_PIECE;
    }
    if (!copier)
        return true;
    if (b->race)
        race_mbarrier_arrive(copier, m->at, copiers);
    end_phase(b, m);
    write_word(b, m);
    return landed;
}

/* Copies that were to tell this barrier arrive, and tell it. */
static bool settle(struct warp *w, const struct inst *in, uint64_t at)
{
    struct async *async = w->block->async;
    struct mbarrier *m = mbarrier_at(async, at);
    bool settled = settle_bulk(w->block, m);

    for (struct promise **next = &async->promises; *next && settled;) {
        struct promise *p = *next;
        if (p->at != at) {
            next = &p->next;
            continue;
        }
        for (struct copy *c = async->copies; c && settled; c = c->next)
            if (c->warp == p->warp && c->barrier == NO_BARRIER && (c->lanes >> p->lane & 1) && c->serial < p->serial)
                settled = land(w->block, c, (uint32_t)1 << p->lane);
        settled = settled && arrive(p->warp, in, p->lane, m, (struct arrival){.count = 1});
        *next = p->next;
        free(p);
    }
    forget_landed(async);
    if (!settled)
        w->status = STATUS_FAULT; /* the fault may be that of another warp */
    return settled;
}

int warp_mbarrier_inval(struct warp *w, const struct inst *in, uint32_t mask)
{
    struct access a;

    if (!begin(w, in, mask, &a))
        return WARP_STOP;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct mbarrier *m = made(w, in, lane, a.address[lane]);
        if (!m || !settle(w, in, m->at))
            return WARP_STOP;
        *m = w->block->async->mbarriers[--w->block->async->mbarrier_count];
    }
    return WARP_NEXT;
}

static int change_transactions(struct warp *w, const struct inst *in, uint32_t mask, int sign)
{
    struct access a;
    const uint32_t *bytes = warp_row32(w, in->slot[3]);

    if (!begin(w, in, mask, &a))
        return WARP_STOP;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct mbarrier *m = made(w, in, lane, a.address[lane]);
        if (!m)
            return WARP_STOP;
        m->transactions += sign * (int64_t)bytes[lane];
        if (sign < 0)
            end_phase(w->block, m);
        write_word(w->block, m);
    }
    return WARP_NEXT;
}

int warp_mbarrier_expect_tx(struct warp *w, const struct inst *in, uint32_t mask)
{
    return change_transactions(w, in, mask, 1);
}

int warp_mbarrier_complete_tx(struct warp *w, const struct inst *in, uint32_t mask)
{
    return change_transactions(w, in, mask, -1);
}

int warp_mbarrier_pending(struct warp *w, const struct inst *in, uint32_t mask)
{
    const uint64_t *state = warp_row64(w, in->slot[2]);

    for (uint32_t rest = mask; rest; rest &= rest - 1)
        warp_row32(w, in->slot[0])[__builtin_ctz(rest)] = (uint32_t)state[__builtin_ctz(rest)] & MOST_ARRIVALS;
    return WARP_NEXT;
}

static int waits_for_nobody(struct warp *w, const struct inst *in, int lane, const struct mbarrier *m)
{
    return warp_fault(w, in, lane, FINDING | 719,
                      "initialise the barrier for as many arrivals as each phase has, and let all of them come",
                      "barrier divergence: the barrier at 0x%llx waits for %u more arrivals and %lld bytes, and nobody comes",
                      (unsigned long long)m->at, m->pending, (long long)m->transactions);
}

/* Has the phase ended that the lane asks for, by a state that arrive returned or by its parity? */
static int test(struct warp *w, const struct inst *in, uint32_t mask, bool by_parity, uint32_t *done)
{
    struct access a;
    uint32_t *p = warp_predicate(w, in->slot[0]);
    const uint64_t *states = warp_row64(w, in->slot[2]);
    const uint32_t *parities = warp_row32(w, in->slot[3]);
    const struct mbarrier *waiting = NULL;

    *done = 0;
    if (!begin(w, in, mask, &a))
        return WARP_STOP;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct mbarrier *m = made(w, in, lane, a.address[lane]);
        if (!m || !settle(w, in, m->at))
            return WARP_STOP;
        if ((m->phase & 1) == (by_parity ? parities[lane] & 1 : states[lane] >> 63)) {
            waiting = m;
            continue;
        }
        *done |= (uint32_t)1 << lane;
        if (w->block->race)
            race_mbarrier_wait(w, m->at, m->arrivals, (uint32_t)1 << lane);
    }
    *p = (*p & ~mask) | *done;
    if (*done)
        w->block->async->failed_waits = 0;
    else if (++w->block->async->failed_waits > MOST_FAILED_WAITS)
        return waits_for_nobody(w, in, __builtin_ctz(mask), waiting);
    return WARP_NEXT;
}

int warp_mbarrier_test(struct warp *w, const struct inst *in, uint32_t mask)
{
    uint32_t done;

    return test(w, in, mask, false, &done);
}

int warp_mbarrier_test_parity(struct warp *w, const struct inst *in, uint32_t mask)
{
    uint32_t done;

    return test(w, in, mask, true, &done);
}

/* try_wait may wait a while: others run before it says no. */
static int try_wait(struct warp *w, const struct inst *in, uint32_t mask, bool by_parity)
{
    uint32_t done;
    int next = test(w, in, mask, by_parity, &done);

    return next == WARP_NEXT && !done ? warp_yield(w, in, mask) : next;
}

int warp_mbarrier_try(struct warp *w, const struct inst *in, uint32_t mask)
{
    return try_wait(w, in, mask, false);
}

int warp_mbarrier_try_parity(struct warp *w, const struct inst *in, uint32_t mask)
{
    return try_wait(w, in, mask, true);
}

/* cp.async.mbarrier.arrive: once this lane's copies are there. It counts as one more to come, unless .noinc says that it is
 * expected already. */
static int promise(struct warp *w, const struct inst *in, uint32_t mask, bool expected)
{
    struct access a;

    if (!begin(w, in, mask, &a))
        return WARP_STOP;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct async *async = w->block->async;
        struct mbarrier *m = made(w, in, lane, a.address[lane]);
        struct promise *p;
        if (!m)
            return WARP_STOP;
        m->pending += !expected;
        write_word(w->block, m);
        p = held(calloc(1, sizeof *p));
        *p = (struct promise){.next = async->promises, .warp = w, .lane = lane, .at = m->at, .serial = async->serial};
        async->promises = p;
    }
    return WARP_NEXT;
}

int warp_copy_arrive(struct warp *w, const struct inst *in, uint32_t mask)
{
    return promise(w, in, mask, false);
}

int warp_copy_arrive_noinc(struct warp *w, const struct inst *in, uint32_t mask)
{
    return promise(w, in, mask, true);
}

/* ---- bulk copies ---- */

/* Calls `piece` for every 16 bytes of every lane's copy. */
typedef bool bulk_piece_fn(struct warp *w, const struct inst *piece, const struct inst *in, int lane, uint64_t barrier);

static int bulk(struct warp *w, const struct inst *in, uint32_t mask, const struct access *barriers, bulk_piece_fn *each)
{
    const uint32_t *bytes = warp_row32(w, in->slot[3]);

    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        struct address source = in->source[0];
        struct inst piece = *in;
        piece.source = &source;
        if (bytes[lane] % BULK_PIECE)
            return warp_fault(w, in, lane, 719, "round the size, or copy the rest by other means",
                              "bulk copy of %u bytes: they must be a multiple of 16", bytes[lane]);
        for (uint32_t done = 0; done < bytes[lane]; done += BULK_PIECE) {
            if (!each(w, &piece, in, lane, barriers ? barriers->address[lane] : NO_BARRIER))
                return WARP_STOP;
            source.offset += BULK_PIECE;
            piece.offset += BULK_PIECE;
        }
    }
    return WARP_NEXT;
}

static bool load_piece(struct warp *w, const struct inst *piece, const struct inst *in, int lane, uint64_t barrier)
{
    uint32_t mask = (uint32_t)1 << lane;
    struct copy *c = copy_new(w, in, mask, barrier);

    if (!read_part(w, piece, mask, c, 0, BULK_PIECE) || !claim(w, piece, mask, c)) {
        free(c);
        return false;
    }
    copy_begin(w->block->async, c);
    return true;
}

int warp_bulk_load(struct warp *w, const struct inst *in, uint32_t mask)
{
    struct inst barrier = at_address(in, &in->source[1], 8);
    struct access a;

    async_of(w->block);
    if (!access_reach(w, &barrier, mask, &a))
        return WARP_STOP;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (!made(w, in, __builtin_ctz(rest), a.address[__builtin_ctz(rest)]))
            return WARP_STOP;
    return bulk(w, in, mask, &a, load_piece);
}

static bool store_piece(struct warp *w, const struct inst *piece, const struct inst *in, int lane, uint64_t barrier)
{
    uint32_t mask = (uint32_t)1 << lane;
    struct copy c = {.in = in};
    struct access a;

    (void)barrier;
    if (!read_part(w, piece, mask, &c, 0, BULK_PIECE) || !access_reach(w, piece, mask, &a))
        return false;
    a.data = c.data;
    if (w->watched && !access_watch(w, piece, &a))
        return false;
    memcpy(a.host[lane], c.data[lane], BULK_PIECE);
    return true;
}

int warp_bulk_store(struct warp *w, const struct inst *in, uint32_t mask)
{
    return bulk(w, in, mask, NULL, store_piece);
}
