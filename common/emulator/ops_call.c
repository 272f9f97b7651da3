/* Calls: an activation of a function is a frame.
 *
 * Lanes that call a function together share one frame: its rows of the register file, where each lane has its own column, and a
 * piece of each lane's stack, at the same offset in all of them. The piece holds local variables, parameters and returned values,
 * and the arguments of further calls, so an address of any of them stays valid until the function returns. A frame is free
 * again once all its lanes have returned or exited; its rows of constants stay filled for the next call. Lanes that call
 * different functions through a pointer get a frame for each. Where they meet again, reconverge.c says. */
#define _GNU_SOURCE
#include "warp.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *stack_at(struct warp *w, int lane, uint64_t offset)
{
    return w->local + (size_t)lane * w->stack_limit + offset;
}

static char *passed_at(struct warp *w, const struct frame *frame, const struct passed *p, int lane)
{
    return p->in_row ? frame->regs + p->at + (size_t)p->lane_bytes * (unsigned)lane : stack_at(w, lane, frame->stack + p->at);
}

uint64_t passed_value(struct warp *w, const struct frame *frame, const struct passed *p, int lane)
{
    uint64_t value = 0;

    memcpy(&value, passed_at(w, frame, p, lane), p->bytes < sizeof value ? p->bytes : sizeof value);
    return value;
}

void passed_set(struct warp *w, const struct frame *frame, const struct passed *p, int lane, uint64_t value)
{
    memcpy(passed_at(w, frame, p, lane), &value, p->bytes < sizeof value ? p->bytes : sizeof value);
}

/* A function's own view of parameter or returned value `s`. */
static struct passed formal(const struct function *f, const struct symbol *s)
{
    if (s->in_frame)
        return (struct passed){.at = (uint32_t)s->address, .bytes = (uint32_t)s->bytes};
    return (struct passed){.in_row = true,
                           .at = f->regs[s->address].slot,
                           .bytes = (uint32_t)s->bytes,
                           .lane_bytes = type_lane_bytes(f->regs[s->address].type)};
}

static void pass(struct warp *w, const struct frame *to, const struct passed *there, const struct frame *from,
                 const struct passed *here, uint32_t mask)
{
    size_t bytes = there->bytes < here->bytes ? there->bytes : here->bytes;

    for (; mask; mask &= mask - 1)
        memcpy(passed_at(w, to, there, __builtin_ctz(mask)), passed_at(w, from, here, __builtin_ctz(mask)), bytes);
}

static struct frame *frame_take(struct warp *w, const struct function *f)
{
    struct frame *frame;

    if (!w->free_frames) {
        w->free_frames = calloc(f->kernel->part_count, sizeof *w->free_frames);
        if (!w->free_frames)
            abort();
    }
    frame = w->free_frames[f->part];
    if (frame) {
        w->free_frames[f->part] = frame->next;
        return frame;
    }
    frame = calloc(1, sizeof *frame);
    if (!frame || posix_memalign((void **)&frame->regs, 64, f->frame_bytes + 64)) {
        fprintf(stderr, "emulator: out of memory for the registers of a called function\n");
        exit(3);
    }
    memset(frame->regs, 0, f->frame_bytes);
    frame->function = f;
    frame->block_number = UINT64_MAX;
    frame->stack = UINT64_MAX;
    frame->made_before = w->made;
    w->made = frame;
    frame_prepare(w, frame);
    return frame;
}

void frames_free(struct warp *w)
{
    while (w->made) {
        struct frame *frame = w->made;
        w->made = frame->made_before;
        free(frame->regs);
        free(frame);
    }
    free(w->free_frames);
    w->free_frames = NULL;
}

static void frame_leave(struct warp *w, struct frame *frame, uint32_t lanes)
{
    frame->lanes &= ~lanes;
    if (!frame->lanes) {
        frame->next = w->free_frames[frame->function->part];
        w->free_frames[frame->function->part] = frame;
    }
}

void frames_forget(struct warp *w, struct frame *frame, uint32_t lanes)
{
    while (frame->caller) {
        struct frame *caller = frame->caller;
        frame_leave(w, frame, lanes);
        frame = caller;
    }
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) & ~(unit - 1);
}

static int overflow(struct warp *w, const struct inst *in, uint32_t mask, const char *name)
{
    unsigned depth = 0;

    for (const struct frame *f = w->now->frame; f->caller; f = f->caller)
        depth++;
    return warp_fault(w, in, __builtin_ctz(mask), 700,
                      "let the recursion end, or give it room: cudaDeviceSetLimit(cudaLimitStackSize, bytes a thread)",
                      "stack overflow: the call of '%s' is %u deep, and the stack of a thread has %zu bytes", name, depth + 1,
                      w->block->grid->function->deep ? (size_t)device_limits.stack : w->stack_limit);
}

/* The least that an activation takes of a GPU's stack, where its depth is not known beforehand: a return address and what else
 * lives across the call, in units of 8 bytes (an H200 with a simple recursive function: 24 to 32 bytes), and its local arrays. */
static uint64_t charge(const struct function *f)
{
    return 16 + f->local_bytes;
}

/* Makes the activation of `f` for the lanes of `mask`, which the running group's frame calls. NULL: the stack is full. */
static struct frame *enter(struct warp *w, const struct inst *in, const struct function *f, uint32_t mask, int join)
{
    const struct call *call = in->call;
    struct frame *caller = w->now->frame, *frame;
    uint64_t stack = round_up(caller->top, f->stack_align);
    bool moved, new_block;

    if (stack + f->stack_bytes + 16 > w->stack_limit || (f->kernel->deep && caller->charged + charge(f) > device_limits.stack))
        return NULL;
    frame = frame_take(w, f);
    moved = frame->stack != stack;
    new_block = frame->block_number != w->block->number;
    frame->caller = caller;
    frame->lanes = mask;
    frame->return_pc = (uint32_t)(in - w->code) + 1;
    frame->join = join;
    frame->stack = stack;
    frame->top = stack + (f->stack_bytes ? f->stack_bytes : 16);
    frame->charged = caller->charged + charge(f);
    frame->block_number = w->block->number;
    frame_start(w, frame, new_block, moved);
    for (uint32_t rest = mask; rest && f->local_bytes; rest &= rest - 1)
        memset(stack_at(w, __builtin_ctz(rest), stack), 0, f->local_bytes);
    for (uint32_t k = 0; k < call->argument_count && k < f->parameter_count; k++) {
        struct passed there = formal(f, f->parameters[k]);
        pass(w, frame, &there, caller, &call->arguments[k], mask);
    }
    return frame;
}

/* The function at the address that lane holds; NULL with a fault if there is none that fits. */
static const struct function *pointed(struct warp *w, const struct inst *in, int lane)
{
    const struct function *kernel = w->block->grid->function, *f = NULL;
    uint64_t address = warp_row64(w, in->call->pointer)[lane], index = (address & ~WINDOW_FUNCTION) / 16 - 1;

    if ((address & WINDOW_FUNCTION) && address % 16 == 0 && index < kernel->module->function_count)
        f = kernel->part_of[index];
    if (!f)
        warp_fault(
            w, in, lane, 718,
            "set the pointer on the device, to a __device__ function; an object with virtual functions must be made there too",
            "call through a pointer: 0x%llx is no function's address%s", (unsigned long long)address,
            address ? "" : " (a null pointer)");
    else if (f->parameter_count != in->call->argument_count || f->return_count != in->call->return_count) {
        warp_fault(w, in, lane, 718, "call a function through a pointer of its own type",
                   "call through a pointer: '%s' takes %zu arguments and gives %zu values, and the call passes %u and takes %u",
                   f->name, f->parameter_count, f->return_count, in->call->argument_count, in->call->return_count);
        f = NULL;
    }
    return f;
}

int warp_call(struct warp *w, const struct inst *in, uint32_t mask)
{
    const struct call *call = in->call;
    struct group *now = w->now;
    uint32_t pc = now->pc;
    int join;

    if (!call->indirect && !call->target)
        return warp_fault(w, in, __builtin_ctz(mask), 719,
                          "define the function in this file, or link the files' device code into one program",
                          "call of '%s', which no module defines and the emulator does not provide", call->name);
    for (uint32_t rest = call->indirect ? mask : 0; rest; rest &= rest - 1)
        if (!pointed(w, in, __builtin_ctz(rest)))
            return WARP_STOP;
    join = join_new(w, now->frame, pc + 1, now->mask, now->join);
    if (mask != now->mask) { /* guarded: the others wait behind the call */
        group_new(w, now->frame, pc + 1, now->mask & ~mask, join);
        now->mask = mask;
    }
    struct frame *caller = now->frame;
    for (uint32_t rest = mask; rest;) {
        int lane = __builtin_ctz(rest);
        const struct function *f = call->indirect ? pointed(w, in, lane) : call->target;
        uint32_t same = call->indirect ? 0 : mask;
        for (uint32_t k = rest; k && call->indirect; k &= k - 1) {
            w->regs = caller->regs;
            same |= (uint32_t)(warp_row64(w, call->pointer)[__builtin_ctz(k)] == warp_row64(w, call->pointer)[lane])
                    << __builtin_ctz(k);
        }
        struct frame *frame = enter(w, in, f, same, join);
        if (!frame)
            return overflow(w, in, same, f->name);
        w->regs = caller->regs;
        rest &= ~same;
        if (rest) {
            group_new(w, frame, f->entry, same, join);
            continue;
        }
        now->mask = same;
        now->frame = frame;
        now->pc = f->entry;
        now->join = join;
    }
    group_run(w, now);
    return WARP_MOVED;
}

int warp_return(struct warp *w, const struct inst *in, uint32_t mask)
{
    struct group *now = w->now;
    struct frame *frame = now->frame;
    const struct function *f = frame->function;
    const struct call *call = w->code[frame->return_pc - 1].call;

    (void)in;
    for (uint32_t k = 0; k < call->return_count && k < f->return_count; k++) {
        struct passed here = formal(f, f->returns[k]);
        pass(w, frame->caller, &call->returns[k], frame, &here, mask);
    }
    if (mask != now->mask) {
        group_new(w, frame->caller, frame->return_pc, mask, frame->join);
        now->mask &= ~mask;
        now->pc++;
    } else {
        now->pc = frame->return_pc;
        now->join = frame->join;
        now->frame = frame->caller;
    }
    frame_leave(w, frame, mask);
    group_run(w, now);
    return WARP_MOVED;
}

/* alloca: all lanes get the same offset, behind what any lane of the frame has. */
int warp_alloca(struct warp *w, const struct inst *in, uint32_t mask)
{
    struct frame *frame = w->now->frame;
    uint32_t align = in->operand_count > 2 ? warp_row32(w, in->slot[3])[0] : 16;
    uint64_t most = 0, at;

    if (align < 16 || (align & (align - 1)))
        align = 16;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint64_t bytes = in->bytes == 8 ? warp_row64(w, in->slot[2])[lane] : warp_row32(w, in->slot[2])[lane];
        most = bytes > most ? bytes : most;
    }
    at = round_up(frame->top, align);
    if (at > w->stack_limit || most > w->stack_limit - at)
        return overflow(w, in, mask, "alloca");
    frame->top = round_up(at + most, 16) < w->stack_limit ? round_up(at + most, 16) : w->stack_limit;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        memset(stack_at(w, lane, at), 0, most);
        if (in->bytes == 8)
            warp_row64(w, in->slot[0])[lane] = at;
        else
            warp_row32(w, in->slot[0])[lane] = (uint32_t)at;
    }
    return WARP_NEXT;
}

int warp_stack_save(struct warp *w, const struct inst *in, uint32_t mask)
{
    for (; mask; mask &= mask - 1)
        if (in->bytes == 8)
            warp_row64(w, in->slot[0])[__builtin_ctz(mask)] = w->now->frame->top;
        else
            warp_row32(w, in->slot[0])[__builtin_ctz(mask)] = (uint32_t)w->now->frame->top;
    return WARP_NEXT;
}

/* The stack of a frame ends for all its lanes at one place: it shrinks when all of them come together. */
int warp_stack_restore(struct warp *w, const struct inst *in, uint32_t mask)
{
    struct frame *frame = w->now->frame;
    uint64_t most = 0;

    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t top =
            in->bytes == 8 ? warp_row64(w, in->slot[2])[__builtin_ctz(rest)] : warp_row32(w, in->slot[2])[__builtin_ctz(rest)];
        most = top > most ? top : most;
    }
    if (mask == (frame->caller ? frame->lanes : w->live) && most <= frame->top && most >= frame->stack)
        frame->top = most;
    return WARP_NEXT;
}
