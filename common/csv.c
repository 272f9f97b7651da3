/* The CSV file, a row a measurement, columns by name; and the counters of each step's last run, kept in build/counters for the next
 * step's report. A field that was not measured is empty. */
#include "protocol.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* clang-format off */
static const char *const columns[] = {
    "step", "type", "n", "block", "device", "source", "date", "driver", "toolkit", "command", "verified",
    "median_us", "min_us", "q1_us", "q3_us", "gbps", "percent_peak", "copy_us", "cpu_us",
    "devices", "collective_us",
#define COUNTER(name, ncu, meaning) #name,
#define RATIO(name, ncu, meaning, numerator, denominator) #name,
#include "emulator/counters.def"
#undef COUNTER
#undef RATIO
};
/* clang-format on */
enum { COLUMNS = sizeof columns / sizeof *columns, FIRST_COUNTER = 21 };

static void header(char *out, size_t most)
{
    size_t used = 0;
    for (size_t i = 0; i < COLUMNS && used < most; i++)
        used += (size_t)snprintf(out + used, most - used, "%s%s", i ? "," : "", columns[i]);
}

FILE *csv_open(const char *path)
{
    char want[4096], have[4096] = "";
    FILE *file = fopen(path, "a+");
    if (!file)
        fail(BAD_USAGE, "--csv '%s' cannot be written: %s", path, strerror(errno));
    header(want, sizeof want);
    rewind(file);
    bool empty = !fgets(have, sizeof have, file);
    have[strcspn(have, "\r\n")] = '\0';
    if (!empty && strcmp(have, want) != 0)
        fail(BAD_USAGE, "--csv '%s' has other columns than those written now; name a new file", path);
    fseek(file, 0, SEEK_END);
    if (empty)
        fprintf(file, "%s\n", want);
    if (fflush(file) != 0)
        fail(BAD_USAGE, "--csv '%s' cannot be written: %s", path, strerror(errno));
    return file;
}

static void field(FILE *out, const char *text)
{ /* quoted when it has to be, as RFC 4180 says */
    fputc(',', out);
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, out);
    fputc('"', out);
}

static void number(FILE *out, bool known, double value)
{
    if (known)
        fprintf(out, ",%.3f", value);
    else
        fputc(',', out);
}

static void command_field(FILE *out, int argc, char **argv)
{
    char command[4096] = "";
    size_t used = 0;
    for (int i = 0; i < argc && used < sizeof command; i++)
        used += (size_t)snprintf(command + used, sizeof command - used, "%s%s", i ? " " : "", argv[i]);
    field(out, command);
}

void csv_row(FILE *out, const struct result *r, int argc, char **argv)
{
    const struct timing *t = &r->timing;
    bool timed = t->count > 0;
    double rate = timed ? (double)r->n * sizeof(element) / t->median * 1e6 : 0; /* bytes a second */
    char date[32];
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));

    fprintf(out, "%s,%s,%zu,%u", r->step->name, TYPE_NAME, r->n, r->block);
    field(out, r->device->name);
    field(out, r->device->emulated ? "emulated" : "measured");
    field(out, date);
    field(out, r->device->driver);
    fprintf(out, ",%d.%d", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    command_field(out, argc, argv);
    field(out, is_verified(&r->verdict) ? "yes" : "no");
    number(out, timed, t->median);
    number(out, timed, t->minimum);
    number(out, timed, t->q1);
    number(out, timed, t->q3);
    number(out, timed, rate / 1e9);
    number(out, timed && r->device->peak_bytes_per_second > 0, 100 * rate / r->device->peak_bytes_per_second);
    number(out, timed && r->devices == 0, t->copy);
    number(out, timed && r->devices == 0, t->cpu);
    fprintf(out, ",%u", r->devices ? r->devices : 1);
    number(out, timed && r->devices > 0, t->collective);
    for (size_t column = FIRST_COUNTER; column < COLUMNS; column++) {
        fputc(',', out);
        for (size_t i = 0; i < r->counter_count; i++)
            if (strcmp(r->counters[i].name, columns[column]) == 0)
                fprintf(out, "%.16g", r->counters[i].value);
    }
    fputc('\n', out);
    if (fflush(out) != 0)
        fail(DEVICE_ERROR, "the CSV file cannot be written: %s", strerror(errno));
}

/* ---- the step before ---- */

#ifndef COUNTERS_DIR
#define COUNTERS_DIR "build/counters"
#endif

static void counters_path(char *out, size_t most, const struct result *r, const char *step)
{
    snprintf(out, most, "%s/%s_%s_%zu_%u", COUNTERS_DIR, step, TYPE_NAME, r->n, r->block);
}

void remember_counters(const struct result *r)
{
    char path[PATH_MAX];
    mkdir(COUNTERS_DIR, 0777);
    counters_path(path, sizeof path, r, r->step->name);
    FILE *file = r->counter_count ? fopen(path, "w") : NULL;
    if (!file)
        return; /* a comfort, not a result: on a read-only disk the next report just says less */
    for (size_t i = 0; i < r->counter_count; i++)
        fprintf(file, "%s %.17g\n", r->counters[i].name, r->counters[i].value);
    fclose(file);
}

bool recall_counter(const struct result *r, const char *name, double *value)
{
    char path[PATH_MAX], line_name[64];
    counters_path(path, sizeof path, r, r->step->before);
    FILE *file = r->step->before[0] ? fopen(path, "r") : NULL;
    bool found = false;
    while (file && !found && fscanf(file, "%63s %lf", line_name, value) == 2)
        found = strcmp(line_name, name) == 0;
    if (file)
        fclose(file);
    return found;
}
