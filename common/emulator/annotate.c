/* The source with what each line cost beside it (EMULATOR_ANNOTATE): text on stderr, or JSON whose schema docs/emulator.md gives.
 * Counts are kept a kernel and an instruction, summed over launches, and folded into source lines at the end. */
#define _GNU_SOURCE
#include "observer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies of what is needed at exit, when modules may be gone. */
struct line_counts {
    char *file;
    uint32_t line;
    uint64_t instructions, lanes, divergent, global_requests, sectors, shared_requests, wavefronts, conflicts;
};
struct kernel_counts {
    const struct function *function; /* to know it again; not followed at exit */
    char *name;
    struct line_counts *lines;
    size_t count, room;
    uint64_t launches;
    struct kernel_counts *next;
};
static struct kernel_counts *kernels;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *held(void *memory)
{
    if (!memory) {
        fprintf(stderr, "emulator: out of memory for EMULATOR_ANNOTATE\n");
        exit(3);
    }
    return memory;
}

static struct kernel_counts *kernel_of(const struct function *f)
{
    struct kernel_counts **at = &kernels;

    while (*at && ((*at)->function != f || strcmp((*at)->name, f->name)))
        at = &(*at)->next;
    if (!*at) {
        *at = held(calloc(1, sizeof **at));
        (*at)->function = f;
        (*at)->name = held(strdup(f->name));
    }
    return *at;
}

/* Lines of the .cu where -lineinfo says so, else of the PTX. */
static struct line_counts *line_of(struct kernel_counts *k, const struct function *f, const struct inst *in)
{
    const struct module *m = f->module;
    bool known = in->source_line && in->source_file < m->file_count && m->files[in->source_file];
    const char *file = known ? m->files[in->source_file] : m->name;
    uint32_t line = known ? in->source_line : in->line;

    for (size_t i = k->count; i-- > 0;)
        if (k->lines[i].line == line && !strcmp(k->lines[i].file, file))
            return &k->lines[i];
    if (k->count == k->room) {
        k->room = k->room ? 2 * k->room : 32;
        k->lines = held(realloc(k->lines, k->room * sizeof *k->lines));
    }
    k->lines[k->count] = (struct line_counts){.file = held(strdup(file)), .line = line};
    return &k->lines[k->count++];
}

void annotate_add_launch(const struct grid *grid, const struct inst_counts *counts)
{
    const struct function *f = grid->function;
    struct kernel_counts *k;

    if (!grid->settings->annotate_text && !grid->settings->annotate_json)
        return;
    pthread_mutex_lock(&lock);
    k = kernel_of(f);
    k->launches++;
    for (uint32_t pc = 0; pc < f->count; pc++) {
        const struct inst_counts *c = &counts[pc];
        struct line_counts *line;
        if (!c->issues)
            continue;
        line = line_of(k, f, &f->code[pc]);
        line->instructions += c->issues;
        line->lanes += c->lanes;
        line->divergent += c->divergent;
        line->global_requests += c->global_requests;
        line->sectors += c->sectors;
        line->shared_requests += c->shared_requests;
        line->wavefronts += c->wavefronts;
        line->conflicts += c->wavefronts - c->fewest_wavefronts;
    }
    pthread_mutex_unlock(&lock);
}

static int by_place(const void *a, const void *b)
{
    const struct line_counts *x = a, *y = b;
    int order = strcmp(x->file, y->file);

    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static void print_counts(FILE *out, const struct line_counts *c)
{
    fprintf(out, "%12llu %6.2f", (unsigned long long)c->instructions, (double)c->lanes / (double)c->instructions);
    const uint64_t figures[] = {c->divergent, c->sectors, c->wavefronts, c->conflicts};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (figures[i])
            fprintf(out, " %11llu", (unsigned long long)figures[i]);
        else
            fprintf(out, " %11s", "");
}

/* One file's lines from a little before the first counted one to the last. */
static void print_file(FILE *out, const struct line_counts *lines, size_t count)
{
    FILE *source = fopen(lines[0].file, "r");
    char *text = NULL;
    size_t room = 0, next = 0;

    fprintf(out, "%s%s\n%12s %6s %11s %11s %11s %11s\n", lines[0].file, source ? "" : " (not readable here: line numbers alone)",
            "instructions", "lanes", "divergent", "sectors", "wavefronts", "conflicts");
    for (uint32_t n = 1; next < count; n++) {
        bool there = source && getline(&text, &room, source) >= 0;
        if (!there)
            n = lines[next].line;
        if (n + 3 < lines[0].line)
            continue;
        if (n == lines[next].line)
            print_counts(out, &lines[next++]);
        else
            fprintf(out, "%12s %6s %11s %11s %11s %11s", "", "", "", "", "", "");
        fprintf(out, " |%5u  %s", n, there ? text : "\n");
    }
    free(text);
    if (source)
        fclose(source);
}

static void write_text(FILE *out)
{
    for (struct kernel_counts *k = kernels; k; k = k->next) {
        fprintf(out,
                "kernel %s, %llu launch%s: warp instructions, lanes active in the average one, divergent branches, global sectors, "
                "shared wavefronts, bank conflicts\n",
                k->name, (unsigned long long)k->launches, k->launches == 1 ? "" : "es");
        for (size_t i = 0, end; i < k->count; i = end) {
            for (end = i + 1; end < k->count && !strcmp(k->lines[end].file, k->lines[i].file);)
                end++;
            print_file(out, &k->lines[i], end - i);
        }
    }
}

static void write_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, out);
    fputc('"', out);
}

static void write_json(FILE *out)
{
    fputs("{\"kernels\": [", out);
    for (struct kernel_counts *k = kernels; k; k = k->next) {
        fprintf(out, "%s\n {\"name\": ", k == kernels ? "" : ",");
        write_string(out, k->name);
        fprintf(out, ", \"launches\": %llu, \"lines\": [", (unsigned long long)k->launches);
        for (size_t i = 0; i < k->count; i++) {
            const struct line_counts *c = &k->lines[i];
            fprintf(out, "%s\n  {\"file\": ", i ? "," : "");
            write_string(out, c->file);
            fprintf(out, ", \"line\": %u", c->line);
#define FIGURE(name, value) fprintf(out, ", \"" name "\": %llu", (unsigned long long)(value))
            FIGURE("warp_instructions", c->instructions);
            FIGURE("active_lanes", c->lanes);
            FIGURE("divergent_branches", c->divergent);
            FIGURE("global_requests", c->global_requests);
            FIGURE("global_sectors", c->sectors);
            FIGURE("shared_requests", c->shared_requests);
            FIGURE("shared_wavefronts", c->wavefronts);
            FIGURE("bank_conflicts", c->conflicts);
#undef FIGURE
            fputs("}", out);
        }
        fputs("]}", out);
    }
    fputs("\n]}\n", out);
}

__attribute__((destructor)) static void report_at_exit(void)
{
    const char *path = settings()->annotate_json;

    for (struct kernel_counts *k = kernels; k; k = k->next)
        qsort(k->lines, k->count, sizeof *k->lines, by_place);
    if (settings()->annotate_text)
        write_text(stderr);
    if (!path)
        return;
    FILE *out = fopen(path, "w");
    if (!out) {
        fprintf(stderr, "emulator: cannot write the annotated source to '%s'\n", path);
        return;
    }
    write_json(out);
    fclose(out);
}
