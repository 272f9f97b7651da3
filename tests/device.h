/* What the test programs share: strict CUDA calls, and PTX text loaded through the runtime's library calls, so that one test runs
 * on the emulator and on a GPU. */
#ifndef TEST_DEVICE_H
#define TEST_DEVICE_H
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) check((call), #call, __LINE__)
static inline void check(cudaError_t error, const char *call, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "line %d: %s: %s\n", line, call, cudaGetErrorName(error));
    exit(3);
}

/* NULL, with the driver's words in `log`, if the text does not load. */
static inline cudaLibrary_t load_ptx(const char *text, char *log, size_t bytes)
{
    cudaLibrary_t library = NULL;
    enum cudaJitOption options[] = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
    void *values[] = {log, (void *)(uintptr_t)bytes};

    log[0] = '\0';
    if (cudaLibraryLoadData(&library, text, options, values, 2, NULL, NULL, 0) == cudaSuccess)
        return library;
    cudaGetLastError();
    return NULL;
}

static inline char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t bytes = 0, room = 1 << 16;
    char *text = malloc(room);

    if (!file || !text) {
        fprintf(stderr, "cannot read '%s'\n", path);
        exit(2);
    }
    for (size_t got; (got = fread(text + bytes, 1, room - bytes - 1, file)) > 0; bytes += got)
        if (room - (bytes + got) < 2 && !(text = realloc(text, room *= 2)))
            exit(3);
    fclose(file);
    text[bytes] = '\0';
    return text;
}
#endif
