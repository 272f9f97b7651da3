/* How much memory may still be taken, asked before any is: a kernel that overcommits would let us start and kill us later. */
#include "protocol.h"

#include <stdlib.h>
#include <string.h>

/* The number in a file that holds just that; `none` when the file is missing or says "max". */
static size_t number_in(const char *path, size_t none)
{
    unsigned long long value = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        return none;
    int found = fscanf(file, "%llu", &value);
    fclose(file);
    return found == 1 ? (size_t)value : none;
}

/* The number after `key` at the start of a line. */
static size_t number_after(const char *path, const char *key, size_t none)
{
    char line[256];
    size_t value = none;
    FILE *file = fopen(path, "r");
    if (!file)
        return none;
    while (fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            value = (size_t)strtoull(line + strlen(key), NULL, 10);
    fclose(file);
    return value;
}

struct cgroup_files {
    const char *root, *limit, *usage, *cache; /* cache: pages the kernel can drop at once; usage counts them too */
};
static const struct cgroup_files version1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                             "total_inactive_file "};
static const struct cgroup_files version2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "};

static size_t cgroup_free_at(const struct cgroup_files *f, const char *group)
{
    char path[4500];
    snprintf(path, sizeof path, "%s%s/%s", f->root, group, f->limit);
    size_t limit = number_in(path, SIZE_MAX);
    snprintf(path, sizeof path, "%s%s/%s", f->root, group, f->usage);
    size_t usage = number_in(path, 0);
    snprintf(path, sizeof path, "%s%s/memory.stat", f->root, group);
    size_t cache = number_after(path, f->cache, 0);
    usage -= cache < usage ? cache : usage;
    return limit == SIZE_MAX ? SIZE_MAX : limit > usage ? limit - usage : 0;
}

/* The least that this group and the groups around it leave. */
static size_t cgroup_free(const struct cgroup_files *f, char *group)
{
    size_t least = cgroup_free_at(f, "");
    while (group[0] == '/' && group[1] != '\0') {
        size_t here = cgroup_free_at(f, group);
        least = here < least ? here : least;
        *strrchr(group, '/') = '\0';
    }
    return least;
}

size_t host_memory_free(void)
{
    char line[4096];
    size_t kib = number_after("/proc/meminfo", "MemAvailable:", SIZE_MAX / 1024);
    size_t least = kib * 1024;
    FILE *file = fopen("/proc/self/cgroup", "r");
    if (!file)
        return least;
    while (fgets(line, sizeof line, file)) { /* "4:memory:/group" in version 1, "0::/group" in version 2 */
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        const struct cgroup_files *files = controllers[1] == '\0'              ? &version2
                                           : strstr(controllers + 1, "memory") ? &version1
                                                                               : NULL;
        size_t here = files ? cgroup_free(files, group) : SIZE_MAX;
        least = here < least ? here : least;
    }
    fclose(file);
    return least;
}

static void require(const char *where, size_t needed, size_t available)
{
    if (needed > available)
        fail(DEVICE_ERROR, "the run needs %.1f GiB of memory on the %s, where %.1f GiB are free; a smaller --n fits",
             (double)needed / 0x1p30, where, (double)available / 0x1p30);
}

void require_memory(size_t host_bytes, size_t device_bytes, bool emulated)
{
    size_t available = 0, all = 0;
    size_t margin = (size_t)64 << 20; /* the runtime, the program, the emulator's tables */
    require("host", host_bytes + margin + (emulated ? device_bytes : 0), host_memory_free());
    CUDA(cudaMemGetInfo(&available, &all));
    require("device", device_bytes, available);
}
