/* Reads EMULATOR_… once (settings.h lists them). Every value is parsed strictly: what is not understood is said, with what is
 * allowed, and ends the program with status 2, so that a typing error is never a silent default. */
#define _GNU_SOURCE
#include "settings.h"
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MOST = 1024, DEVICES_MOST = 16, USAGE_STATUS = 2 };

static struct settings current;

static void refuse(const char *name, const char *value, const char *allowed)
{
    fprintf(stderr, "%s=\"%s\" is not understood: allowed is %s.\n", name, value, allowed);
    fflush(NULL);
    _exit(USAGE_STATUS); /* not exit(): this may run inside a handler that exit() called */
}

/* Decimal digits only: strtoull alone would take "-1", " 7" and "7x". */
static bool parse_number(const char *text, uint64_t *value)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || *end)
        return false;
    *value = number;
    return true;
}

static uint64_t number_between(const char *name, uint64_t low, uint64_t high, uint64_t otherwise, const char *allowed)
{
    const char *text = getenv(name);
    uint64_t value;

    if (!text)
        return otherwise;
    if (!parse_number(text, &value) || value < low || value > high)
        refuse(name, text, allowed);
    return value;
}

static int processors(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > THREADS_MOST ? THREADS_MOST : (int)online;
}

static void read_counters(const char *text)
{
    current.count = true;
    if (!text || strcmp(text, "on") == 0)
        return;
    if (strcmp(text, "off") == 0)
        current.count = false;
    else if (strcmp(text, "text") == 0)
        current.counters_text = true;
    else if (strncmp(text, "json:", 5) == 0 && text[5])
        current.counters_json = text + 5;
    else
        refuse("EMULATOR_COUNTERS", text, "on, off, text or json:FILE");
}

static void read_annotate(const char *text)
{
    if (!text)
        return;
    if (strcmp(text, "text") == 0)
        current.annotate_text = true;
    else if (strncmp(text, "json:", 5) == 0 && text[5])
        current.annotate_json = text + 5;
    else
        refuse("EMULATOR_ANNOTATE", text, "text or json:FILE");
    if (!current.count)
        refuse("EMULATOR_COUNTERS", "off", "on where EMULATOR_ANNOTATE is set, whose counts it makes");
}

/* "block=3," or "warp=1,": the number, and the text behind the comma. */
static const char *traced(const char *text, const char *name, uint64_t *value)
{
    size_t length = strlen(name);
    char number[24] = "";
    const char *comma = strchr(text, ',');

    if (strncmp(text, name, length) != 0 || !comma || (size_t)(comma - text) - length >= sizeof number)
        return text;
    memcpy(number, text + length, (size_t)(comma - text) - length);
    return parse_number(number, value) ? comma + 1 : text;
}

static void read_trace(const char *text)
{
    uint64_t warp = UINT64_MAX;
    const char *rest;

    current.trace_warp = -1;
    if (!text)
        return;
    rest = traced(text, "block=", &current.trace_block);
    rest = traced(rest, "warp=", &warp);
    if (strncmp(rest, "json:", 5) != 0 || !rest[5] || (warp != UINT64_MAX && warp > 31))
        refuse("EMULATOR_TRACE", text, "[block=N,][warp=N,]json:FILE with a warp from 0 to 31");
    current.trace_warp = warp == UINT64_MAX ? -1 : (int)warp;
    current.trace_json = rest + 5;
}

static unsigned check_named(const char *word, size_t length)
{
    static const struct {
        const char *name;
        unsigned bit;
    } checks[] = {{"race", CHECK_RACE}, {"init", CHECK_INIT}, {"sync", CHECK_SYNC}, {"leak", CHECK_LEAK}};

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (strlen(checks[i].name) == length && memcmp(checks[i].name, word, length) == 0)
            return checks[i].bit;
    return 0;
}

static void read_checks(const char *text)
{
    current.checks = CHECK_SYNC;
    if (!text)
        return;
    current.checks = 0;
    if (strcmp(text, "none") == 0)
        return;
    if (strcmp(text, "all") == 0) {
        current.checks = CHECK_RACE | CHECK_INIT | CHECK_SYNC | CHECK_LEAK;
        return;
    }
    for (const char *word = text;; word++) {
        size_t length = strcspn(word, ",");
        unsigned bit = check_named(word, length);
        if (!bit)
            refuse("EMULATOR_CHECK", text, "all, none, or a list of race,init,sync,leak");
        current.checks |= bit;
        word += length;
        if (!*word)
            return;
    }
}

static void read_schedule(const char *text)
{
    current.schedule = SCHEDULE_ORDERED;
    if (!text || strcmp(text, "ordered") == 0)
        return;
    if (strcmp(text, "reversed") == 0)
        current.schedule = SCHEDULE_REVERSED;
    else if (strncmp(text, "random:", 7) == 0 && parse_number(text + 7, &current.schedule_seed))
        current.schedule = SCHEDULE_RANDOM;
    else
        refuse("EMULATOR_SCHEDULE", text, "ordered, reversed or random:SEED with a whole number");
}

static void read_time(const char *text)
{
    if (!text || strcmp(text, "off") == 0)
        return;
    if (strcmp(text, "on") != 0)
        refuse("EMULATOR_TIME", text, "on or off");
    current.time = true;
}

static void read_settings(void)
{
    current.threads =
        (int)number_between("EMULATOR_THREADS", 1, THREADS_MOST, (uint64_t)processors(), "a whole number from 1 to 1024");
    current.devices = (int)number_between("EMULATOR_DEVICES", 1, DEVICES_MOST, 1, "a whole number from 1 to 16");
    current.timeout = number_between("EMULATOR_TIMEOUT", 0, UINT64_MAX, UINT64_C(4294967296),
                                     "a whole number of warp instructions (0: no limit)");
    read_counters(getenv("EMULATOR_COUNTERS"));
    read_annotate(getenv("EMULATOR_ANNOTATE"));
    read_trace(getenv("EMULATOR_TRACE"));
    read_checks(getenv("EMULATOR_CHECK"));
    read_schedule(getenv("EMULATOR_SCHEDULE"));
    read_time(getenv("EMULATOR_TIME"));
}

const struct settings *settings(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_settings);
    return &current;
}
