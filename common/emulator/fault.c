/* Faults: the first of a launch, in block order, becomes a report on stderr and the CUDA error a GPU gives. */
#define _GNU_SOURCE
#include "checks.h"
#include "fault.h"
#include "warp.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_bool seen, found;
static atomic_bool unasked;            /* a fault of memory or time since the program last asked for an error */
static _Atomic(char *) refused_launch; /* what to tell if nobody asks */

bool fault_seen(void)
{
    return seen;
}

const char *fault_place(const struct function *f, uint32_t pc)
{
    static _Thread_local char buffers[4][256];
    static _Thread_local unsigned turn;
    char *text = buffers[turn++ % 4];
    const struct inst *in = &f->code[pc];
    const struct module *m = f->module;
    const char *file = in->source_line && in->source_file < m->file_count ? m->files[in->source_file] : NULL;
    const char *slash = file ? strrchr(file, '/') : NULL;

    if (file)
        snprintf(text, sizeof buffers[0], "%s:%u (%s:%u)", m->name, in->line, slash ? slash + 1 : file, in->source_line);
    else
        snprintf(text, sizeof buffers[0], "%s:%u", m->name, in->line);
    return text;
}

enum { MOST_CALLS = 4 };

/* The functions that the faulting lane is in, the innermost first. */
static void write_calls(FILE *out, const struct warp *w)
{
    const struct function *kernel = w->block->grid->function;
    unsigned depth = 0;

    for (const struct frame *f = w->now ? w->now->frame : &w->bottom; f->caller; f = f->caller)
        if (++depth <= MOST_CALLS)
            fprintf(out, "\n       in %s, called at %s", f->function->name, fault_place(kernel, f->return_pc - 1));
    if (depth > MOST_CALLS)
        fprintf(out, "\n       and %u calls further out", depth - MOST_CALLS);
}

static void write_report(FILE *out, const struct warp *w, const struct inst *in, int lane, const char *advice, const char *format,
                         va_list arguments)
{
    const struct block *b = w->block;
    const unsigned *size = b->grid->launch->block;
    unsigned thread = w->index * WARP_SIZE + (unsigned)lane;

    fprintf(out, "fault: %s block (%u,%u,%u) thread (%u,%u,%u) [warp %u lane %d], %s: ", b->grid->function->name, b->id[0],
            b->id[1], b->id[2], thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1], w->index, lane,
            fault_place(b->grid->function, in->number));
    vfprintf(out, format, arguments);
    write_calls(out, w);
    fprintf(out, "\n       to mend it: %s\n", advice);
}

int warp_fault(struct warp *w, const struct inst *in, int lane, int error, const char *advice, const char *format, ...)
{
    struct grid *grid = w->block->grid;

    w->status = STATUS_FAULT;
    pthread_mutex_lock(&grid->fault_lock);
    if (!grid->fault.set || w->block->number < grid->fault.block_number) {
        char *report = NULL;
        size_t bytes = 0;
        FILE *out = open_memstream(&report, &bytes);
        if (out) {
            va_list arguments;
            va_start(arguments, format);
            write_report(out, w, in, lane, advice, format, arguments);
            va_end(arguments);
            fclose(out);
        }
        free(grid->fault.report);
        grid->fault = (struct fault){.set = true, .error = error, .block_number = w->block->number, .report = report};
        if (w->block->number < grid->stop_at)
            grid->stop_at = w->block->number;
    }
    pthread_mutex_unlock(&grid->fault_lock);
    return WARP_STOP;
}

void fault_preface(struct warp *w, const char *text)
{
    struct grid *grid = w->block->grid;
    char *report = NULL;

    pthread_mutex_lock(&grid->fault_lock);
    if (grid->fault.set && grid->fault.block_number == w->block->number && grid->fault.report &&
        asprintf(&report, "%s%s", text, grid->fault.report) >= 0) {
        free(grid->fault.report);
        grid->fault.report = report;
    }
    pthread_mutex_unlock(&grid->fault_lock);
}

void fault_report(struct grid *grid)
{
    seen = true;
    if (grid->fault.error & FINDING)
        found = true;
    else if (grid->fault.error != 710 && grid->fault.error != 719) /* a kernel's own assert or trap may be meant */
        unasked = true;
    fflush(stdout);
    fputs(grid->fault.report ? grid->fault.report : "fault: (no memory for the report)\n", stderr);
    free(grid->fault.report);
    grid->fault.report = NULL;
}

void fault_launch_refused(char *report)
{
    free(atomic_exchange(&refused_launch, report));
}

void fault_asked(void)
{
    unasked = false;
    free(atomic_exchange(&refused_launch, NULL));
}

/* A check's finding must not be lost because main returned 0, nor a fault whose error nobody looked at. */
static void at_exit(int status, void *unused)
{
    (void)unused;
    if (settings()->checks & CHECK_LEAK)
        leak_report();
    if (refused_launch)
        fputs(refused_launch, stderr);
    if ((found || unasked) && status == 0) {
        fflush(NULL);
        _exit(FAULT_EXIT_STATUS);
    }
}

__attribute__((constructor)) static void watch_exit(void)
{
    on_exit(at_exit, NULL);
}
