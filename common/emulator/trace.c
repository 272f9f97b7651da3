/* A trace of one block (EMULATOR_TRACE): every warp instruction with its lanes, every memory access with its addresses and banks,
 * as JSON whose schema docs/emulator.md gives. The pictures are drawn from it. */
#define _GNU_SOURCE
#include "observer.h"
#include <stdio.h>
#include <string.h>

static FILE *out;
static bool begun, failed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool trace_wants(const struct warp *w)
{
    const struct settings *s = w->block->grid->settings;

    return s->trace_json && w->block->number == s->trace_block && (s->trace_warp < 0 || (unsigned)s->trace_warp == w->index);
}

/* Opens the file at the first event. The lock is held. */
static bool begin_event(const struct warp *w, const struct inst *in)
{
    const struct function *f = w->block->grid->function;
    const struct module *m = f->module;
    const char *path = w->block->grid->settings->trace_json;

    if (!out && !failed) {
        out = fopen(path, "w");
        failed = !out;
        if (failed)
            fprintf(stderr, "emulator: cannot write the trace to '%s'\n", path);
        else
            fputs("{\"events\": [", out);
    }
    if (failed)
        return false;
    fprintf(out,
            "%s\n{\"launch\": %llu, \"kernel\": \"%s\", \"block\": %llu, \"warp\": %u, \"pc\": %u, \"opcode\": \"%s\", "
            "\"ptx_line\": %u",
            begun ? "," : "", (unsigned long long)w->block->grid->id, f->name, (unsigned long long)w->block->number, w->index,
            in->number, in->opcode, in->line);
    if (in->source_line && in->source_file < m->file_count && m->files[in->source_file])
        fprintf(out, ", \"source_line\": %u", in->source_line);
    begun = true;
    return true;
}

void trace_issue(const struct warp *w, const struct inst *in, unsigned count, uint32_t mask)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < count && begin_event(w, in + i); i++)
        fprintf(out, ", \"event\": \"issue\", \"lanes\": \"0x%08x\"}", mask);
    pthread_mutex_unlock(&lock);
}

void trace_access(const struct warp *w, const struct inst *in, const struct access *a)
{
    bool first = true;

    pthread_mutex_lock(&lock);
    if (begin_event(w, in)) {
        fprintf(out, ", \"event\": \"access\", \"lanes\": \"0x%08x\", \"kind\": \"%s\", \"space\": \"%s\", \"bytes\": %u", a->mask,
                a->is_atomic  ? "atomic"
                : a->is_store ? "store"
                              : "load",
                space_names[a->space], a->bytes);
        if (a->space == SPACE_SHARED) {
            unsigned fewest;
            unsigned wavefronts = count_wavefronts(a, &fewest);
            fprintf(out, ", \"wavefronts\": %u, \"fewest_wavefronts\": %u", wavefronts, fewest);
        } else if (a->space == SPACE_GLOBAL) {
            fprintf(out, ", \"sectors\": %u", count_sectors(a));
        }
        fputs(", \"addresses\": {", out);
        for (int i = 0; i < WARP_SIZE; i++)
            if (a->mask >> i & 1) {
                fprintf(out, "%s\"%d\": %llu", first ? "" : ", ", i, (unsigned long long)a->address[i]);
                first = false;
            }
        fputs("}}", out);
    }
    pthread_mutex_unlock(&lock);
}

__attribute__((destructor)) static void end_trace(void)
{
    if (out) {
        fputs("\n]}\n", out);
        fclose(out);
    }
}
