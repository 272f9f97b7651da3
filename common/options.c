/* The command line. Every refusal is one sentence: what was wrong, and what is allowed. */
#include "protocol.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const size_t most_elements = (size_t)1 << 40;

static void print_help(const struct step *step)
{
    printf(
        "usage: run [options]        (%s, summing %ss)\n"
        "  --n SIZES           how many elements: a number, 2^25, 2^20+7, a range 0-4096, or a list of these with commas (2^25)\n"
        "  --block SIZES       threads a block: 32, 64, 128, 256, 512 or 1024, or a list of these with commas (256)\n"
        "  --repeat COUNT      timed launches on a GPU, 0 (verify only) to 100000 (20); the emulator times nothing\n"
        "  --seed NUMBER       of the generator, below 2^64 (1)\n"
        "  --device DEVICE     auto (a GPU that works, otherwise the emulator), gpu or emulator\n"
        "  --alloc MEMORY      the input's: device, managed (the kernel fetches its pages from the host) or prefetch (managed, "
        "and\n"
        "                      sent before the kernel starts)  (device)\n"
        "  --csv FILE          append a row for every size and block, under a header when the file is new\n"
        "  --quiet             print errors only\n"
        "  --help              this text\n"
        "on the emulator only (each sets the environment variable beside it):\n"
        "  --check LIST        EMULATOR_CHECK       all, none, or some of race,init,sync,leak\n"
        "  --counters FORM     EMULATOR_COUNTERS    text, json:FILE or off: what the emulator itself prints at the end\n"
        "  --annotate FORM     EMULATOR_ANNOTATE    text or json:FILE: the source with what each line cost\n"
        "  --trace WHAT        EMULATOR_TRACE       [block=N,][warp=N,]json:FILE: every instruction and access of a block\n"
        "  --threads COUNT     EMULATOR_THREADS     host threads\n"
        "  --schedule ORDER    EMULATOR_SCHEDULE    reversed or random:SEED\n"
        "  --timeout COUNT     EMULATOR_TIMEOUT     instructions before a launch counts as endless\n"
        "exit status: 0 verified, 1 wrong result, 2 bad usage, 3 device, launch or memory error\n",
        step->name, TYPE_NAME);
}

/* ---- numbers ---- */

/* A whole number at *text, decimal; moves *text past it. */
static bool parse_digits(const char **text, uint64_t most, uint64_t *value)
{
    if (**text < '0' || **text > '9')
        return false;
    for (*value = 0; **text >= '0' && **text <= '9'; ++*text) {
        unsigned digit = (unsigned)(**text - '0');
        if (*value > (most - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return true;
}

/* A number or a power of two numbers, base^exponent. */
static bool parse_power(const char **text, size_t *size)
{
    uint64_t base, exponent, value = 1;
    if (!parse_digits(text, most_elements, &base))
        return false;
    *size = base;
    if (**text != '^')
        return true;
    ++*text;
    if (!parse_digits(text, 64, &exponent))
        return false;
    for (; exponent > 0; exponent--) {
        if (base != 0 && value > most_elements / base)
            return false;
        value *= base;
    }
    *size = value;
    return true;
}

/* One of these, or a sum of them: 2^31+5. */
static bool parse_size(const char **text, size_t *size)
{
    size_t part;
    *size = 0;
    do {
        if (!parse_power(text, &part) || part > most_elements - *size)
            return false;
        *size += part;
    } while (**text == '+' && ++*text);
    return true;
}

static bool parse_range(const char **text, struct range *range)
{
    if (!parse_size(text, &range->first))
        return false;
    range->last = range->first;
    if (**text != '-')
        return true;
    ++*text;
    return parse_size(text, &range->last) && range->first <= range->last;
}

static void parse_sizes(struct options *o, const char *value)
{
    const char *text = value;
    free(o->sizes);
    o->sizes = malloc((strlen(value) + 1) * sizeof *o->sizes); /* more than there can be commas */
    if (!o->sizes)
        fail(DEVICE_ERROR, "no memory for the list of sizes");
    o->size_ranges = 0;
    do {
        if (!parse_range(&text, &o->sizes[o->size_ranges++]) || (*text != ',' && *text != '\0'))
            fail(BAD_USAGE,
                 "--n '%s' is not a size; allowed are whole numbers from 0 to 2^40, powers (2^25), sums (2^20+7) and ranges "
                 "(0-4096), "
                 "separated by commas",
                 value);
    } while (*text++ == ',');
}

static void parse_blocks(struct options *o, const char *value)
{
    const char *text = value;
    o->block_count = 0;
    do {
        uint64_t block = 0;
        bool legal = parse_digits(&text, 1024, &block) && block >= 32 && (block & (block - 1)) == 0;
        if (!legal || (*text != ',' && *text != '\0') || o->block_count == sizeof o->blocks / sizeof *o->blocks)
            fail(BAD_USAGE, "--block '%s' is not a block size; allowed are 32, 64, 128, 256, 512 and 1024, separated by commas",
                 value);
        o->blocks[o->block_count++] = (unsigned)block;
    } while (*text++ == ',');
}

static uint64_t parse_number(const char *option, const char *value, uint64_t least, uint64_t most)
{
    const char *text = value;
    uint64_t number = 0;
    if (!parse_digits(&text, most, &number) || *text != '\0' || number < least)
        fail(BAD_USAGE, "%s '%s' is not allowed; it takes a whole number from %llu to %llu", option, value,
             (unsigned long long)least, (unsigned long long)most);
    return number;
}

/* Which of three names, in the order of the enumeration it stands for. */
static unsigned parse_name(const char *option, const char *value, const char *const names[3])
{
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0)
            return i;
    fail(BAD_USAGE, "%s '%s' is not known; allowed are %s, %s and %s", option, value, names[0], names[1], names[2]);
}

static const char *const devices[3] = {"auto", "gpu", "emulator"};
static const char *const allocations[3] = {"device", "managed", "prefetch"};

/* ---- options ---- */

/* Options that are the emulator's environment variables under another name. */
static const char *const emulator_options[][2] = {
    {"--check", "EMULATOR_CHECK"},     {"--counters", "EMULATOR_COUNTERS"}, {"--annotate", "EMULATOR_ANNOTATE"},
    {"--trace", "EMULATOR_TRACE"},     {"--threads", "EMULATOR_THREADS"},   {"--schedule", "EMULATOR_SCHEDULE"},
    {"--timeout", "EMULATOR_TIMEOUT"},
};

static bool set_emulator_option(struct options *o, const char *option, const char *value)
{
    for (size_t i = 0; i < sizeof emulator_options / sizeof *emulator_options; i++)
        if (strcmp(option, emulator_options[i][0]) == 0) {
            setenv(emulator_options[i][1], value, 1);
            o->emulator_only = emulator_options[i][0];
            return true;
        }
    return false;
}

static void set_option(struct options *o, const char *option, const char *value)
{
    if (strcmp(option, "--n") == 0)
        parse_sizes(o, value);
    else if (strcmp(option, "--block") == 0)
        parse_blocks(o, value);
    else if (strcmp(option, "--repeat") == 0)
        o->repeat = (unsigned)parse_number(option, value, 0, 100000);
    else if (strcmp(option, "--seed") == 0)
        o->seed = parse_number(option, value, 0, UINT64_MAX);
    else if (strcmp(option, "--device") == 0)
        o->device = (enum device_choice)parse_name(option, value, devices);
    else if (strcmp(option, "--alloc") == 0)
        o->alloc = (enum allocation)parse_name(option, value, allocations);
    else if (strcmp(option, "--csv") == 0)
        o->csv = value;
    else if (!set_emulator_option(o, option, value))
        fail(BAD_USAGE, "unknown option '%s'; --help lists those there are", option);
}

static bool takes_value(const char *option)
{
    static const char *const names[] = {"--n", "--block", "--repeat", "--seed", "--device", "--alloc", "--csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(option, names[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof emulator_options / sizeof *emulator_options; i++)
        if (strcmp(option, emulator_options[i][0]) == 0)
            return true;
    return false;
}

/* --option VALUE or --option=VALUE, at argv[i]; returns how many arguments it took. */
static int parse_option(struct options *o, int argc, char **argv, int i)
{
    char name[32];
    const char *equals = strchr(argv[i], '=');
    size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
    snprintf(name, sizeof name, "%.*s", (int)(length < 31 ? length : 31), argv[i]);
    if (!takes_value(name))
        fail(BAD_USAGE, "unknown option '%s'; --help lists those there are", argv[i]);
    if (!equals && i + 1 == argc)
        fail(BAD_USAGE, "%s needs a value; --help says which", name);
    set_option(o, name, equals ? equals + 1 : argv[i + 1]);
    return equals ? 1 : 2;
}

struct options parse_options(int argc, char **argv, const struct step *step)
{
    struct options o = {.blocks = {256}, .block_count = 1, .repeat = 20, .seed = 1};
    parse_sizes(&o, "2^25");
    for (int i = 1; i < argc;) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(step);
            exit(VERIFIED);
        }
        if (strcmp(argv[i], "--quiet") == 0) {
            o.quiet = true;
            i++;
        } else {
            i += parse_option(&o, argc, argv, i);
        }
    }
    return o;
}

size_t largest_size(const struct options *o)
{
    size_t largest = 0;
    for (size_t i = 0; i < o->size_ranges; i++)
        largest = o->sizes[i].last > largest ? o->sizes[i].last : largest;
    return largest;
}

bool one_measurement(const struct options *o)
{
    return o->size_ranges == 1 && o->sizes[0].first == o->sizes[0].last && o->block_count == 1;
}
