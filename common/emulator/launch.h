/* A kernel launch: checked as the CUDA runtime checks it, then run block by block to its end. Launches are synchronous. */
#ifndef LAUNCH_H
#define LAUNCH_H
#include "module.h"
#include <stdbool.h>

struct launch {
    const struct module *module;
    const struct function *kernel;
    unsigned grid[3], block[3];
    size_t dynamic_shared;       /* bytes */
    size_t dynamic_shared_limit; /* bytes: 48 KiB less the static, or what cudaFuncSetAttribute allowed */
    void **arguments;            /* one pointer an argument, as cudaLaunchKernel takes them */
    bool cooperative;
};

/* What the CUDA runtime would say at once: cudaSuccess; cudaErrorInvalidValue for dimensions or shared memory that the device or
 * the kernel does not allow; cudaErrorCooperativeLaunchTooLarge. Values are cudaError_t. */
int launch_check(const struct launch *launch);

/* Runs it. Returns cudaSuccess, or the sticky error a GPU gives for the fault; the report has then been written to stderr. */
int launch_run(const struct launch *launch);
#endif
