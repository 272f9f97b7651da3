/* The fatbinary: the container in which nvcc puts a program's PTX and machine code. Finds the PTX; copies nothing. */
#ifndef FATBIN_H
#define FATBIN_H
#include <stdbool.h>
#include <stddef.h>

struct fatbin_ptx {
    const char *text; /* inside the fatbinary; not NUL-terminated */
    size_t bytes;
    int target; /* 75 for compute_75 */
};

/* The readable PTX with the highest target the emulated device can run. `most`: bytes readable at `data`; nothing beyond them is
 * read, whatever the container claims. On failure *problem says in a sentence what is missing and how to build it in. */
bool fatbin_find_ptx(const void *data, size_t most, struct fatbin_ptx *out, const char **problem);
#endif
