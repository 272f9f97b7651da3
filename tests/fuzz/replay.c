/* Runs a fuzzing target over files and folders of files, one after another, without libFuzzer. It ends with the first input that
 * crashes, takes longer than it may, or needs more memory than it may; the last name printed says which. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_SECONDS = 10, MOST_MEGABYTES = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Exactly as many bytes as the file has, so that a read behind them is seen. */
static uint8_t *contents(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data;
    long size;

    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET)) {
        perror(path);
        exit(2);
    }
    data = malloc((size_t)size);
    *bytes = data ? fread(data, 1, (size_t)size, file) : 0;
    fclose(file);
    return data;
}

static void replay(const char *path)
{
    struct rusage used;
    size_t bytes;
    uint8_t *data = contents(path, &bytes);

    puts(path);
    fflush(stdout);
    alarm(MOST_SECONDS);
    LLVMFuzzerTestOneInput(data, bytes);
    alarm(0);
    free(data);
    getrusage(RUSAGE_SELF, &used);
    if (used.ru_maxrss > MOST_MEGABYTES * 1024L) {
        fprintf(stderr, "%s: %ld MiB of memory\n", path, used.ru_maxrss / 1024);
        exit(1);
    }
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct dirent **entries;
        int count = scandir(argv[i], &entries, is_visible, alphasort);
        if (count < 0)
            replay(argv[i]);
        for (int k = 0; k < count; k++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], entries[k]->d_name);
            free(entries[k]);
            replay(path);
        }
        if (count >= 0)
            free(entries);
    }
    return 0;
}
