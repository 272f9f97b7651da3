/* Reads how much memory is left: /proc/meminfo, cgroup v2 (memory.max of our group and every group above it), cgroup v1. */
#include "host_memory.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PATH = 4096 };

/* The number in a file such as memory.max; SIZE_MAX if there is no such file or it says "max". */
static size_t number_in(const char *directory, const char *file)
{
    char path[PATH + 64];
    unsigned long long value;

    snprintf(path, sizeof path, "%s/%s", directory, file);
    FILE *in = fopen(path, "r");
    if (!in)
        return SIZE_MAX;
    int got = fscanf(in, "%llu", &value);
    fclose(in);
    return got == 1 ? (size_t)value : SIZE_MAX;
}

/* The number after `key` in a file of "key value" lines; 0 if there is none. */
static size_t field_of(const char *path, const char *key)
{
    char line[256];
    size_t value = 0, length = strlen(key);
    FILE *in = fopen(path, "r");

    while (in && fgets(line, sizeof line, in)) {
        unsigned long long number;
        if (strncmp(line, key, length) == 0 && sscanf(line + length, "%llu", &number) == 1) {
            value = (size_t)number;
            break;
        }
    }
    if (in)
        fclose(in);
    return value;
}

/* One group's limit, and what is left under it. Cached file pages count as used there but are given back on demand. */
static void lower_by_group(const char *directory, const char *limit_file, const char *usage_file, const char *cache_key,
                           size_t *total, size_t *left)
{
    size_t limit = number_in(directory, limit_file), usage = number_in(directory, usage_file);
    char path[PATH + 64];

    if (limit == SIZE_MAX || usage == SIZE_MAX)
        return;
    snprintf(path, sizeof path, "%s/memory.stat", directory);
    size_t cache = field_of(path, cache_key);
    usage -= cache < usage ? cache : usage;
    size_t room = usage < limit ? limit - usage : 0;
    if (limit < *total)
        *total = limit;
    if (room < *left)
        *left = room;
}

/* From our group up to the mount: every level may have a limit. In a container the path is often not visible; the mount's own
 * files then speak for the container. */
static void lower_by_groups(const char *mount, const char *group, int version, size_t *total, size_t *left)
{
    char directory[PATH];
    size_t root = strlen(mount);

    snprintf(directory, sizeof directory, "%s%s", mount, group);
    for (;;) {
        if (version == 2)
            lower_by_group(directory, "memory.max", "memory.current", "inactive_file ", total, left);
        else
            lower_by_group(directory, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ", total, left);
        char *slash = strrchr(directory, '/');
        if (!slash || (size_t)(slash - directory) < root)
            return;
        *slash = 0;
    }
}

static void read_limits(size_t *total, size_t *left)
{
    char line[PATH];
    FILE *in;

    *total = field_of("/proc/meminfo", "MemTotal:") * 1024;
    *left = field_of("/proc/meminfo", "MemAvailable:") * 1024;
    in = fopen("/proc/self/cgroup", "r");
    while (in && fgets(line, sizeof line, in)) { /* "0::/group" or "9:memory:/group" */
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = 0;
        if (controllers[1] == 0)
            lower_by_groups("/sys/fs/cgroup", group, 2, total, left);
        else if (strstr(controllers, "memory"))
            lower_by_groups("/sys/fs/cgroup/memory", group, 1, total, left);
    }
    if (in)
        fclose(in);
}

size_t host_memory_total(void)
{
    size_t total, left;

    read_limits(&total, &left);
    return total;
}

size_t host_memory_available(size_t in_use)
{
    static size_t at_start; /* what was left while nothing was promised */
    size_t total, left;

    read_limits(&total, &left);
    if (in_use == 0 || at_start == 0)
        at_start = left + in_use;
    size_t unpromised = at_start > in_use ? at_start - in_use : 0;
    return left < unpromised ? left : unpromised;
}
