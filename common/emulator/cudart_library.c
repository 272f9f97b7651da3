/* Libraries: PTX that the program itself loads while it runs, as text or in a fatbinary, from memory or from a file.
 *
 * A library is one more of the program's binaries (cudart_module.c) and owns the copy of its text. Its kernels have no host
 * function: the cudaKernel_t goes to cudaLaunchKernel in place of one. */
#define _GNU_SOURCE
#include "cudart.h"
#include "fatbin.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct library {
    struct library_text text;
    struct binary *binary;
    struct library *next;
};
static struct library *libraries;

static struct library *library_of(cudaLibrary_t handle)
{
    struct library *library = libraries;

    while (library && (cudaLibrary_t)(void *)library != handle)
        library = library->next;
    return library;
}

static void forget(struct library *library)
{
    free((char *)library->text.at);
    free((char *)library->text.name);
    free(library);
}

/* PTX ends at its NUL, a fatbinary where its header says. */
static cudaError_t find_text(const void *code, size_t most, struct fatbin_ptx *ptx)
{
    const char *problem = NULL;

    if (strncmp(code,
                "\x7f"
                "ELF",
                4) == 0) {
        fputs("cudaLibraryLoadData: machine code for a GPU, which the emulator does not run; load the PTX.\n", stderr);
        return cudaErrorNoKernelImageForDevice;
    }
    if (strncmp(code, "\x50\xed\x55\xba", 4) != 0) {
        *ptx = (struct fatbin_ptx){.text = code, .bytes = strnlen(code, most)};
        return cudaSuccess;
    }
    if (fatbin_find_ptx(code, most, ptx, &problem))
        return cudaSuccess;
    fprintf(stderr, "cudaLibraryLoadData: %s\n", problem);
    return cudaErrorNoKernelImageForDevice;
}

static cudaError_t load(cudaLibrary_t *out, const void *code, size_t most, const char *name)
{
    struct fatbin_ptx ptx;
    struct library *library;

    if (!out || !code)
        return cudaErrorInvalidValue;
    cudaError_t error = find_text(code, most, &ptx);
    if (error)
        return error;
    library = calloc(1, sizeof *library);
    if (!library)
        return cudaErrorMemoryAllocation;
    library->text = (struct library_text){.at = strndup(ptx.text, ptx.bytes), .bytes = ptx.bytes, .name = strdup(name)};
    error = library->text.at && library->text.name ? library_load(&library->text, &library->binary) : cudaErrorMemoryAllocation;
    if (error) {
        forget(library);
        return error;
    }
    library->next = libraries;
    libraries = library;
    *out = (cudaLibrary_t)(void *)library;
    return cudaSuccess;
}

static cudaError_t load_file(cudaLibrary_t *out, const char *path)
{
    FILE *file = path ? fopen(path, "rb") : NULL;
    char *code = NULL;
    size_t bytes = 0, room = 0;
    const char *slash = path ? strrchr(path, '/') : NULL;

    if (!path)
        return cudaErrorInvalidValue;
    if (!file)
        return cudaErrorFileNotFound;
    do {
        char *larger = bytes == room ? realloc(code, room = 2 * room + 65536) : code;
        if (!larger) {
            free(code);
            fclose(file);
            return cudaErrorMemoryAllocation;
        }
        code = larger;
        bytes += fread(code + bytes, 1, room - bytes, file);
    } while (bytes == room);
    fclose(file);
    code[bytes] = '\0';
    cudaError_t error = load(out, code, bytes, slash ? slash + 1 : path);
    free(code);
    return error;
}

/* The options steer NVIDIA's compiler and how long `code` stays: nothing here depends on them. */
cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *jit, void **jit_values,
                                unsigned jit_count, enum cudaLibraryOption *options, void **values, unsigned count)
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    return CALL(load(library, code, SIZE_MAX / 2, "library.ptx"));
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path, enum cudaJitOption *jit, void **jit_values,
                                    unsigned jit_count, enum cudaLibraryOption *options, void **values, unsigned count)
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    return CALL(load_file(library, path));
}

static cudaError_t unload(cudaLibrary_t handle)
{
    struct library *library = library_of(handle), **link = &libraries;

    if (!library)
        return cudaErrorInvalidResourceHandle;
    while (*link != library)
        link = &(*link)->next;
    *link = library->next;
    library_unload(library->binary);
    forget(library);
    return cudaSuccess;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    return CALL(unload(library));
}

static cudaError_t module_of(cudaLibrary_t handle, struct library **library, const struct module **module)
{
    *library = library_of(handle);
    return *library ? library_module((*library)->binary, module) : cudaErrorInvalidResourceHandle;
}

static cudaError_t find_kernel(cudaKernel_t *out, cudaLibrary_t handle, const char *name)
{
    struct library *library;
    const struct module *module;
    const struct function *function = NULL;

    if (!out || !name)
        return cudaErrorInvalidValue;
    cudaError_t error = module_of(handle, &library, &module);
    if (!error && !(function = module_kernel(module, name)))
        error = cudaErrorSymbolNotFound;
    if (error)
        return error;
    *out = (cudaKernel_t)(void *)library_kernel(library->binary, function_name(function));
    return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    return CALL(find_kernel(kernel, library, name));
}

/* The first `most` kernels into `out`; how many there are into *count. Either may be NULL. */
static cudaError_t list_kernels(cudaKernel_t *out, unsigned most, unsigned *count, cudaLibrary_t handle)
{
    struct library *library;
    const struct module *module;
    const struct function *function;
    unsigned i = 0;
    cudaError_t error = module_of(handle, &library, &module);

    if (error)
        return error;
    for (; (function = module_kernel_at(module, i)); i++)
        if (i < most && !(out[i] = (cudaKernel_t)(void *)library_kernel(library->binary, function_name(function))))
            return cudaErrorMemoryAllocation;
    if (count)
        *count = i;
    return cudaSuccess;
}

cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library)
{
    return CALL(count ? list_kernels(NULL, 0, count, library) : cudaErrorInvalidValue);
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned most, cudaLibrary_t library)
{
    return CALL(kernels ? list_kernels(kernels, most, NULL, library) : cudaErrorInvalidValue);
}

static cudaError_t find_variable(void **out, size_t *bytes, cudaLibrary_t handle, const char *name, bool managed)
{
    struct library *library;
    const struct module *module;
    size_t size;

    if (!name)
        return cudaErrorInvalidValue;
    cudaError_t error = module_of(handle, &library, &module);
    if (error)
        return error;
    uint64_t address = module_variable(module, name, &size);
    const struct allocation *place = address ? memory_find(address) : NULL;
    if (!place || (managed && place->kind != MEMORY_MANAGED))
        return cudaErrorSymbolNotFound;
    if (out)
        *out = (void *)(uintptr_t)address;
    if (bytes)
        *bytes = size;
    return cudaSuccess;
}

cudaError_t cudaLibraryGetGlobal(void **device, size_t *bytes, cudaLibrary_t library, const char *name)
{
    return CALL(find_variable(device, bytes, library, name, false));
}

cudaError_t cudaLibraryGetManaged(void **device, size_t *bytes, cudaLibrary_t library, const char *name)
{
    return CALL(find_variable(device, bytes, library, name, true));
}
