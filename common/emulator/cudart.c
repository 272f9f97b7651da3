/* The front's common ground: the lock, the errors, and one sentence for each call the emulator lacks.
 *
 * Errors as on a GPU: a refused call is the thread's last error until cudaGetLastError takes it. A kernel's fault is sticky: the
 * launch itself has returned cudaSuccess (on a GPU it is still running), every later call that needs the device returns the fault,
 * and only cudaDeviceReset ends that. */
#define _GNU_SOURCE
#include "cudart.h"
#include "builtins.h"
#include "fault.h"
#include "settings.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* a host function may call back into the runtime */
static cudaError_t sticky;
static _Thread_local cudaError_t last;

void front_lock(void)
{
    pthread_mutex_lock(&lock);
}

void front_enter(void)
{
    settings(); /* a setting that is not understood ends the program here, not when somebody needs it */
    front_lock();
}

cudaError_t front_leave(cudaError_t error)
{
    if (error != cudaSuccess)
        last = error;
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t front_sticky(void)
{
    return sticky;
}

void front_set_sticky(cudaError_t error)
{
    sticky = error;
}

cudaError_t front_synchronised(cudaError_t error)
{
    front_lock();
    printf_flush();
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last;

    fault_asked();
    last = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    fault_asked();
    return last;
}

static const struct {
    const char *name, *text;
    int number;
} errors[] = {
#define CUDA_ERROR(name, number, text) {#name, text, number},
#include "cuda_errors.def"
#undef CUDA_ERROR
};

static size_t error_index(cudaError_t error)
{
    size_t i = 0;

    while (i < sizeof errors / sizeof *errors && errors[i].number != (int)error)
        i++;
    return i;
}

const char *cudaGetErrorName(cudaError_t error)
{
    size_t i = error_index(error);

    fault_asked();
    return i < sizeof errors / sizeof *errors ? errors[i].name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    size_t i = error_index(error);

    fault_asked();
    return i < sizeof errors / sizeof *errors ? errors[i].text : "unrecognized error code";
}

cudaError_t front_lacks(const char *name)
{
    enum { NAMES = 512 };
    static const char *said[NAMES];
    static size_t count;

    for (size_t i = 0; i < count; i++)
        if (strcmp(said[i], name) == 0)
            return cudaErrorNotSupported;
    if (count < NAMES)
        said[count++] = name;
    fprintf(stderr, "The emulator has no %s: it returns cudaErrorNotSupported.\n", name);
    return cudaErrorNotSupported;
}
