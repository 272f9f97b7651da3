/* The parts of the harness, a section for each file. harness.c runs the protocol; the others never call each other's state.
 * Not for steps: they include harness.h alone. */
#ifndef PROTOCOL_H
#define PROTOCOL_H
#define _GNU_SOURCE /* beyond C11: setenv, clock_gettime, dlsym(RTLD_DEFAULT, ...); so include this file first */
#include "emulator/emulator.h"
#include "harness.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#if defined TYPE_float
#define TYPE_NAME "float"
#elif defined TYPE_double
#define TYPE_NAME "double"
#else
#define TYPE_NAME "int"
#define TYPE_IS_INT 1
#endif
#ifndef TYPE_IS_INT
#define TYPE_IS_INT 0
#endif

/* ---- fail.c: one sentence on stderr, and the exit status ---- */
enum status { VERIFIED = 0, WRONG_RESULT = 1, BAD_USAGE = 2, DEVICE_ERROR = 3 };

void fail_name(const char *program); /* how messages begin; call it first */
void fail(enum status status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* Every CUDA call goes through CUDA(call): on an error it names the place, the call and the cause, and exits with DEVICE_ERROR. */
#define CUDA(call) cuda_must_succeed((call), #call, __FILE__, __LINE__)
void cuda_must_succeed(cudaError_t error, const char *call, const char *file, int line);

/* ---- options.c: the command line ---- */
enum device_choice { DEVICE_AUTO, DEVICE_GPU, DEVICE_EMULATOR };

/* Where the input lies: on the device; or in managed memory, which a kernel fetches page by page, or which is sent before it. */
enum allocation { ALLOC_DEVICE, ALLOC_MANAGED, ALLOC_PREFETCH };

struct range {
    size_t first, last;
};

struct options {
    struct range *sizes;
    size_t size_ranges;
    unsigned blocks[6]; /* every legal one fits */
    size_t block_count;
    unsigned repeat;
    uint64_t seed;
    enum device_choice device;
    enum allocation alloc;
    const char *csv;           /* NULL: no file */
    const char *emulator_only; /* the first option given that only the emulator understands, or NULL */
    bool quiet;
};

struct options parse_options(int argc, char **argv, const struct step *step); /* --help and errors do not return */
size_t largest_size(const struct options *o);
bool one_measurement(const struct options *o); /* a single size and block: room for the full report */

/* ---- device.c: the GPU or the emulator, decided when the program runs ---- */
struct device {
    bool emulated;
    char name[256];
    char description[384]; /* the name and more, for people */
    char driver[64];       /* "" when emulated */
    char why[256];
    size_t l2_bytes;
    double peak_bytes_per_second; /* 0: the device does not say */
    unsigned resident_threads;    /* the most that it holds at a time */
};

/* May start the program again (exec) with the runtime that the choice needs first in LD_LIBRARY_PATH. */
struct device choose_device(const struct options *o, char **argv);
void device_properties(struct device *d);                        /* the first CUDA calls */
size_t read_counters(struct emulator_counter *out, size_t most); /* of the launches since reset_counters; 0 on a GPU */
void reset_counters(void);

/* ---- memory_limit.c: ask before taking ---- */
size_t host_memory_free(void); /* bytes: MemAvailable or what the cgroup still allows, whichever is less */
void require_memory(size_t host_bytes, size_t device_bytes, bool emulated);

/* ---- random.c: the same numbers on every machine ---- */
element random_element(uint64_t seed, size_t index);
void random_fill(element *out, size_t count, uint64_t seed);
void random_fill_from(element *out, size_t first, size_t count, uint64_t seed); /* elements first, first + 1 ... */

/* ---- reference.c: what a sum must be, and how far from it a right one may lie ---- */
struct reference {
    total sum;
    double low;       /* what `sum` as a double could not hold; 0 for int */
    double magnitude; /* the sum of |x|; 0 for int */
    double bound;     /* how far a right sum may lie from this one; 0 for int: equality */
};

struct reference reference_sum(const element *x, size_t n);            /* its bound is 0 */
double error_bound(double magnitude, size_t additions, bool as_total); /* each element passes that many additions */
size_t additions_to_sum(enum sums_are sums_are, size_t n, size_t tile, unsigned block, unsigned grid);
bool close_enough(double got_minus_want, double bound);
bool agrees(total got, struct reference want);
void add_reference(struct reference *sum, struct reference part); /* every member of it */
total cpu_sum(const element *x, size_t n);                        /* the loop anyone would write, to be timed */

/* ---- report.c: what the user reads ---- */

/* Every byte of the sums before a launch: -1 as a 64-bit sum of numbers that are not negative, NaN as a double, so that no right
 * sum looks like it. */
enum { POISON = 0xff };
enum { GUARD = 1024 }; /* sums after the last, poisoned too, which a kernel must leave alone */

struct verdict {
    size_t sums;              /* that the kernel had to write */
    size_t wrong;             /* of them, those that differ or were never written */
    size_t first;             /* the first of them */
    total got, want;          /* its values */
    double bound;             /* and how far apart they may be */
    size_t guard_overwritten; /* totals after the last sum that the kernel wrote to */
    total sum;                /* of all partials, as the device gave them */
    struct reference reference;
};

static inline bool is_verified(const struct verdict *v)
{
    return v->wrong == 0 && v->guard_overwritten == 0;
}

struct timing { /* microseconds; count == 0: not measured */
    unsigned count;
    double median, minimum, q1, q3;
    double copy, cpu;
    double collective; /* step 12: what adding up over the devices takes */
};

struct result {
    const struct step *step;
    const struct device *device;
    enum allocation alloc;
    size_t n, tile, tiles;
    unsigned block, grid;
    uint64_t seed;
    unsigned devices; /* 0: one, and nothing said about it */
    struct verdict verdict;
    struct timing timing;
    const struct emulator_counter *counters; /* none on a GPU */
    size_t counter_count;
};

void report_device(const struct device *d);
void report_full(const struct result *r);
void report_line(const struct result *r);
void progress(const char *what, size_t done, size_t all); /* a bar on stderr, on a terminal, from the second second on */
void busy(const char *what);                              /* the same without a measure of what is done; NULL when it is over */
void print_total(FILE *out, total value);

/* ---- csv.c: one row a measurement; counters remembered for the next step's report ---- */
FILE *csv_open(const char *path); /* exits with BAD_USAGE when the file cannot be written or has other columns */
void csv_row(FILE *out, const struct result *r, int argc, char **argv);
void remember_counters(const struct result *r);
bool recall_counter(const struct result *r, const char *name, double *value); /* of the step before, same type, n and block */
#endif
