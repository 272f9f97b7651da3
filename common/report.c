/* What the user reads: a line that names the device, a full report of one measurement or a line for each of many, and a bar while
 * they wait. Every figure says where it comes from: measured on a GPU that is named, or emulated. */
#include "protocol.h"

#include <ctype.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void print_total(FILE *out, total value)
{
#if TYPE_IS_INT
    fprintf(out, "%lld", value);
#else
    fprintf(out, "%.17g", value);
#endif
}

void report_device(const struct device *d)
{
    printf("device: %s (%s)\n", d->description, d->why);
}

/* ---- the verdict ---- */

static bool is_poison(total value)
{
    total poison;
    memset(&poison, POISON, sizeof poison);
    return memcmp(&value, &poison, sizeof value) == 0;
}

static void report_failure(const struct result *r)
{
    const struct verdict *v = &r->verdict;
    fflush(stdout);
    if (v->wrong) {
        fprintf(stderr, "%s: n = %zu, block %u: %zu of %zu partial sums are wrong; the first is sums[%zu]: got ", r->step->name,
                r->n, r->block, v->wrong, v->sums, v->first);
        print_total(stderr, v->got);
        fprintf(stderr, "%s, want ", is_poison(v->got) ? " (as before the launch: nothing was written there)" : "");
        print_total(stderr, v->want);
        if (!TYPE_IS_INT)
            fprintf(stderr, " within %.3g", v->bound);
        fprintf(stderr, "\n");
    }
    if (v->guard_overwritten)
        fprintf(stderr, "%s: n = %zu, block %u: the kernel wrote to %zu of the %d sums after its last, sums[%zu]\n", r->step->name,
                r->n, r->block, v->guard_overwritten, GUARD, (size_t)r->grid - 1);
}

/* ---- times ---- */

static double gigabytes_per_second(const struct result *r)
{
    return (double)r->n * sizeof(element) / r->timing.median / 1e3;
}

static void report_timing(const struct result *r)
{
    const struct timing *t = &r->timing;
    if (t->count == 0)
        return;
    printf("time:   %.2f us, the median of %u launches (fastest %.2f, half of them between %.2f and %.2f), L2 cache flushed before "
           "each\n",
           t->median, t->count, t->minimum, t->q1, t->q3);
    printf("rate:   %.1f GB/s", gigabytes_per_second(r));
    if (r->device->peak_bytes_per_second > 0)
        printf(", %.1f %% of the %.0f GB/s that the device's memory can give",
               gigabytes_per_second(r) * 1e11 / r->device->peak_bytes_per_second, r->device->peak_bytes_per_second / 1e9);
    printf(" (measured on %s)\n", r->device->name);
    printf("beside: ");
    if (r->alloc != ALLOC_MANAGED)
        printf("%.0f us to %s; ", t->copy,
               r->alloc == ALLOC_DEVICE ? "copy the input to the device from pageable memory"
                                        : "send the managed input to the device");
    printf("%.0f us for one thread of the host to sum it\n", t->cpu);
}

/* ---- counters ---- */

/* Is `name` one of the words of the step's Watch line? */
static bool watched(const struct step *step, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = step->watch; (at = strstr(at, name)); at += length) {
        bool starts = at == step->watch || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        bool ends = !(isalnum((unsigned char)at[length]) || at[length] == '_');
        if (starts && ends)
            return true;
    }
    return false;
}

static void report_counters(const struct result *r)
{
    if (r->counter_count == 0)
        return;
    printf("watch:  %s\n", r->step->watch);
    for (size_t i = 0; i < r->counter_count; i++) {
        const struct emulator_counter *c = &r->counters[i];
        double before;
        if (!watched(r->step, c->name))
            continue;
        printf("    %-24s %18.15g", c->name, c->value);
        if (recall_counter(r, c->name, &before))
            printf("    %s: %.15g", r->step->before, before);
        printf("    %s\n", c->meaning);
    }
    printf("other counters (all emulated):\n");
    for (size_t i = 0; i < r->counter_count; i++)
        if (!watched(r->step, r->counters[i].name))
            printf("    %-24s %18.15g    %s\n", r->counters[i].name, r->counters[i].value, r->counters[i].meaning);
}

/* ---- reports ---- */

void report_full(const struct result *r)
{
    printf("%s: n = %zu %ss of seed %llu, block %u, a grid of %u, %zu tiles of %zu elements\n", r->step->name, r->n, TYPE_NAME,
           (unsigned long long)r->seed, r->block, r->grid, r->tiles, r->tile);
    if (r->alloc != ALLOC_DEVICE)
        printf("memory: managed, %s%s\n",
               r->alloc == ALLOC_MANAGED ? "fetched by the kernel page by page" : "sent before the kernel starts",
               r->device->emulated ? " (on the emulator nothing moves)" : "");
    printf("sum:    ");
    print_total(stdout, r->verdict.sum);
    if (is_verified(&r->verdict)) {
        const char *holds = TYPE_IS_INT ? "equals its reference" : "is within its error bound of the reference";
        if (r->step->sums_are >= ONE_IN_ALL)
            printf(", verified: the one sum that the kernel leaves %s\n", holds);
        else
            printf(", verified: each of the %zu partial sums %s\n", r->verdict.sums, holds);
    } else {
        printf(", WRONG; the reference is ");
        print_total(stdout, r->verdict.reference.sum);
        printf("\n");
    }
    report_timing(r);
    report_counters(r);
    if (!is_verified(&r->verdict))
        report_failure(r);
}

void report_line(const struct result *r)
{
    printf("n = %-10zu block %-4u %8zu tiles  sum ", r->n, r->block, r->tiles);
    print_total(stdout, r->verdict.sum);
    printf("  %s", is_verified(&r->verdict) ? "verified" : "WRONG");
    if (r->timing.count)
        printf("  %.2f us  %.1f GB/s", r->timing.median, gigabytes_per_second(r));
    printf("\n");
    if (!is_verified(&r->verdict))
        report_failure(r);
}

/* ---- the bar ---- */

void progress(const char *what, size_t done, size_t all)
{
    static const char *current;
    static struct timespec start;
    static bool shown;
    struct timespec now;
    enum { WIDTH = 40 };

    if (!isatty(STDERR_FILENO) || all == 0)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (what != current) {
        current = what;
        start = now;
    }
    if (now.tv_sec - start.tv_sec >= 1 && done < all) {
        int filled = (int)((double)done / (double)all * WIDTH);
        fprintf(stderr, "\r%-24s [%-*.*s] %3.0f %%", what, WIDTH, filled, "########################################",
                100 * (double)done / (double)all);
        shown = true;
    } else if (done >= all) {
        if (shown)
            fprintf(stderr, "\r%*s\r", 24 + WIDTH + 10, "");
        shown = false;
        current = NULL;
    }
}

void busy(const char *what)
{
    static bool shown;
    if (!isatty(STDERR_FILENO) || (!what && !shown))
        return;
    if (what)
        fprintf(stderr, "%s ...", what);
    else
        fprintf(stderr, "\r%*s\r", 78, "");
    shown = what != NULL;
}
