/* Errors: one sentence on stderr that gives place, cause and what is allowed, then the exit status. */
#include "protocol.h"

#include <stdarg.h>
#include <stdlib.h>

static const char *program_name = "run";

void fail_name(const char *program)
{
    program_name = program;
}

void fail(enum status status, const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    fprintf(stderr, "%s: ", program_name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit((int)status);
}

void cuda_must_succeed(cudaError_t error, const char *call, const char *file, int line)
{
    if (error != cudaSuccess)
        fail(DEVICE_ERROR, "%s:%d: %s: %s (%s)", file, line, call, cudaGetErrorString(error), cudaGetErrorName(error));
}

void no_kernel_for(unsigned block)
{
    fail(BAD_USAGE, "no kernel was compiled for a block of %u threads; its switch covers the powers of two from 32 to 1024", block);
}
