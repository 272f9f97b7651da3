/* Registration: what a program's static constructors tell the runtime (kernels, variables, fatbinaries), and the modules that come
 * of it. A module is loaded when one of its kernels or variables is first used, so a program whose PTX is unreadable still runs
 * until it needs a kernel. nvcc generates the calls; their declarations are in the toolkit's crt/host_runtime.h (C++ only). */
#define _GNU_SOURCE
#include "cudart.h"
#include "device.h"
#include "fatbin.h"
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wrapper { /* __fatBinC_Wrapper_t in the toolkit's fatbinary_section.h */
    int magic, version;
    const void *data;
    void *prelinked;
};
enum { WRAPPER_MAGIC = 0x466243b1, WRAPPER_PLAIN = 1, WRAPPER_LINKED = 2 };

struct binary {
    const struct wrapper *wrapper; /* of the program's own; NULL for a library's: */
    const struct library_text *text;
    struct module *module;
    cudaError_t failure; /* of the first try to load; it is not tried again */
    struct binary *next;
};

struct variable {
    const void *host;
    const char *name;
    void **managed; /* where the program keeps a __managed__ variable's address; NULL for others */
    struct binary *binary;
};

static struct binary *binaries;
static struct kernel **kernels; /* pointers: a handle must stay good while the list grows */
static size_t kernel_count;
static struct variable *variables;
static size_t variable_count;

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *device_name, const char *name, int thread_limit, uint3 *thread,
                            uint3 *block, dim3 *block_size, dim3 *grid_size, int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device_name, const char *name, int external, size_t bytes, int constant,
                       int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device_name, const char *name, int external, size_t bytes,
                              int constant, int global);
char __cudaInitModule(void **handle);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub);

/* Static constructors have no way to fail. */
static void *grown(void *list, size_t count, size_t each)
{
    void *larger = realloc(list, (count + 1) * each);

    if (!larger) {
        fputs("No memory to register the program's kernels.\n", stderr);
        abort();
    }
    return larger;
}

static struct binary *add_binary(const struct wrapper *wrapper, const struct library_text *text)
{
    struct binary *binary = grown(NULL, 0, sizeof *binary);

    *binary = (struct binary){.wrapper = wrapper, .text = text, .next = binaries};
    return binaries = binary;
}

void **__cudaRegisterFatBinary(void *wrapper)
{
    front_lock();
    struct binary *binary = add_binary(wrapper, NULL);
    front_leave(cudaSuccess);
    return (void **)binary;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle; /* everything is known already; modules load when they are needed */
}

static struct kernel *add_kernel(struct binary *binary, const void *stub, const char *name)
{
    struct kernel *kernel = grown(NULL, 0, sizeof *kernel);

    *kernel = (struct kernel){.stub = stub, .name = name, .binary = binary, .carveout = -1};
    kernels = grown(kernels, kernel_count, sizeof *kernels);
    return kernels[kernel_count++] = kernel;
}

void __cudaRegisterFunction(void **handle, const char *stub, char *device_name, const char *name, int thread_limit, uint3 *thread,
                            uint3 *block, dim3 *block_size, dim3 *grid_size, int *warp_size)
{
    (void)device_name, (void)thread_limit, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)warp_size;
    front_lock();
    add_kernel((struct binary *)handle, stub, name);
    front_leave(cudaSuccess);
}

static void register_variable(void **handle, const void *host, const char *name, void **managed)
{
    front_lock();
    variables = grown(variables, variable_count, sizeof *variables);
    variables[variable_count++] =
        (struct variable){.host = host, .name = name, .managed = managed, .binary = (struct binary *)handle};
    front_leave(cudaSuccess);
}

void __cudaRegisterVar(void **handle, char *host, char *device_name, const char *name, int external, size_t bytes, int constant,
                       int global)
{
    (void)device_name, (void)external, (void)bytes, (void)constant, (void)global; /* the module knows them */
    register_variable(handle, host, name, NULL);
}

/* The program reaches a managed variable through a pointer of its own, `*host`, which __cudaInitModule fills in. */
void __cudaRegisterManagedVar(void **handle, void **host, char *device_name, const char *name, int external, size_t bytes,
                              int constant, int global)
{
    (void)device_name, (void)external, (void)bytes, (void)constant, (void)global;
    register_variable(handle, host, name, host);
}

static void remove_binary(struct binary *binary)
{
    struct binary **link = &binaries;
    size_t kept = 0;

    while (*link && *link != binary)
        link = &(*link)->next;
    if (!*link)
        return;
    *link = binary->next;
    for (size_t i = 0; i < kernel_count; i++)
        if (kernels[i]->binary != binary) {
            kernels[kept++] = kernels[i];
        } else {
            if (binary->text)
                free((char *)kernels[i]->name);
            free(kernels[i]);
        }
    kernel_count = kept;
    kept = 0;
    for (size_t i = 0; i < variable_count; i++)
        if (variables[i].binary != binary)
            variables[kept++] = variables[i];
    variable_count = kept;
    if (binary->module)
        module_unload(binary->module);
    free(binary);
}

void __cudaUnregisterFatBinary(void **handle)
{
    front_lock();
    remove_binary((struct binary *)handle);
    front_leave(cudaSuccess);
}

/* Bytes that can be read at an address of the program or of one of its libraries: a damaged fatbinary must not lead beyond them. */
struct extent {
    uintptr_t address;
    size_t bytes;
};

static int find_extent(struct dl_phdr_info *object, size_t size, void *context)
{
    struct extent *extent = context;

    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        uintptr_t start = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        size_t bytes = object->dlpi_phdr[i].p_filesz;
        if (object->dlpi_phdr[i].p_type == PT_LOAD && extent->address - start < bytes) {
            extent->bytes = bytes - (extent->address - start);
            return 1;
        }
    }
    return 0;
}

static const char *program(void)
{
    return program_invocation_short_name ? program_invocation_short_name : "program";
}

static const char linked_without_ptx[] =
    "the program was linked with nvcc -rdc=true (or -dc), which leaves no PTX that the emulator could run, whatever else was asked "
    "for: "
    "build it without, all that a kernel calls or names in the kernel's own file (a .cu may #include another). Kernels that launch "
    "kernels cannot be built so, and are not emulated.";

static bool find_ptx(const struct wrapper *wrapper, struct fatbin_ptx *ptx, const char **problem)
{
    if (wrapper->magic != WRAPPER_MAGIC || (wrapper->version != WRAPPER_PLAIN && wrapper->version != WRAPPER_LINKED)) {
        *problem = "the program's fatbinary has an unknown wrapper: it was made by a toolkit the emulator does not know.";
        return false;
    }
    if (wrapper->version == WRAPPER_LINKED) { /* what may stand behind it in memory is a single file's, not linked */
        *problem = linked_without_ptx;
        return false;
    }
    struct extent extent = {.address = (uintptr_t)wrapper->data};
    dl_iterate_phdr(find_extent, &extent);
    return fatbin_find_ptx(wrapper->data, extent.bytes, ptx, problem);
}

static cudaError_t load_ended(struct binary *binary, char *report)
{
    if (!binary->module) {
        fprintf(stderr, "%s", report ? report : "");
        binary->failure = cudaErrorInvalidPtx;
    }
    free(report);
    return binary->failure;
}

static cudaError_t load(struct binary *binary)
{
    struct fatbin_ptx ptx;
    const char *problem;
    char name[256], *report = NULL;

    if (binary->module || binary->failure)
        return binary->failure;
    if (binary->text) {
        binary->module = module_load(binary->text->at, binary->text->bytes, binary->text->name, &report);
        return load_ended(binary, report);
    }
    if (!find_ptx(binary->wrapper, &ptx, &problem)) {
        fprintf(stderr, "%s: %s\n", program(), problem);
        return binary->failure = cudaErrorNoKernelImageForDevice;
    }
    snprintf(name, sizeof name, "%s.ptx", program());
    binary->module = module_load(ptx.text, ptx.bytes, name, &report);
    return load_ended(binary, report);
}

cudaError_t library_load(const struct library_text *text, struct binary **out)
{
    struct binary *binary = add_binary(NULL, text);
    cudaError_t error = load(binary);

    if (error)
        remove_binary(binary);
    else
        *out = binary;
    return error;
}

void library_unload(struct binary *binary)
{
    remove_binary(binary);
}

cudaError_t library_module(struct binary *binary, const struct module **module)
{
    cudaError_t error = load(binary); /* again, after cudaDeviceReset */

    *module = binary->module;
    return error;
}

struct kernel *library_kernel(struct binary *binary, const char *name)
{
    for (size_t i = 0; i < kernel_count; i++)
        if (kernels[i]->binary == binary && strcmp(kernels[i]->name, name) == 0)
            return kernels[i];
    name = strdup(name); /* its module may be unloaded before it */
    return name ? add_kernel(binary, NULL, name) : NULL;
}

void binaries_unload(void)
{
    for (size_t i = 0; i < kernel_count; i++)
        *kernels[i] =
            (struct kernel){.stub = kernels[i]->stub, .name = kernels[i]->name, .binary = kernels[i]->binary, .carveout = -1};
    for (struct binary *binary = binaries; binary; binary = binary->next) {
        if (binary->module)
            module_unload(binary->module);
        binary->module = NULL;
    }
}

struct kernel *kernel_of(const void *stub_or_handle)
{
    for (size_t i = 0; stub_or_handle && i < kernel_count; i++)
        if (kernels[i]->stub == stub_or_handle || kernels[i] == stub_or_handle)
            return kernels[i];
    return NULL;
}

cudaError_t kernel_load(const void *func, struct kernel **out)
{
    if (!func)
        return cudaErrorInvalidDeviceFunction;
    struct kernel *kernel = kernel_of(func);
    if (!kernel)
        return cudaErrorInvalidResourceHandle;
    cudaError_t error = load(kernel->binary);
    if (error)
        return error;
    if (!kernel->function) {
        kernel->function = module_kernel(kernel->binary->module, kernel->name);
        if (!kernel->function)
            return cudaErrorInvalidDeviceFunction;
        function_facts(kernel->function, &kernel->facts);
    }
    *out = kernel;
    return cudaSuccess;
}

size_t kernel_dynamic_limit(const struct kernel *kernel)
{
    if (kernel->limit_set)
        return kernel->dynamic_limit;
    return kernel->facts.static_shared < DEVICE_SHARED_DEFAULT ? DEVICE_SHARED_DEFAULT - kernel->facts.static_shared : 0;
}

const struct module *kernel_module(const struct kernel *kernel)
{
    return kernel->binary->module;
}

cudaError_t symbol_find(const void *symbol, char **device, size_t *bytes)
{
    for (size_t i = 0; i < variable_count; i++) {
        const struct variable *variable = &variables[i];
        /* `symbol` is the program's stand-in; for a managed variable it may also be the address the stand-in holds. */
        if (variable->host != symbol && !(variable->managed && *variable->managed == symbol))
            continue;
        cudaError_t error = load(variable->binary);
        if (error)
            return error;
        *device = (char *)(uintptr_t)module_variable(variable->binary->module, variable->name, bytes);
        return *device ? cudaSuccess : cudaErrorInvalidSymbol;
    }
    return cudaErrorInvalidSymbol;
}

static cudaError_t place_managed(struct binary *binary)
{
    for (size_t i = 0; i < variable_count; i++) {
        if (variables[i].binary != binary || !variables[i].managed)
            continue;
        cudaError_t error = load(binary);
        if (error)
            return error;
        size_t bytes;
        const void *device = (void *)(uintptr_t)module_variable(binary->module, variables[i].name, &bytes);
        *variables[i].managed = device ? memory_host(device, bytes) : NULL;
    }
    return cudaSuccess;
}

/* Called before the program touches a managed variable, and before launches; non-zero says that the module is ready. */
char __cudaInitModule(void **handle)
{
    return QUERY(place_managed((struct binary *)handle)) == cudaSuccess;
}

static cudaError_t get_kernel(void *out, const void *stub)
{
    struct kernel *kernel = kernel_of(stub);

    if (!out)
        return cudaErrorInvalidValue;
    if (!kernel)
        return stub ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
    memcpy(out, &kernel, sizeof kernel);
    return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub)
{
    return QUERY(get_kernel(kernel, stub));
}

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *stub)
{
    return QUERY(get_kernel(kernel, stub));
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol)
{
    return QUERY(get_kernel(function, symbol));
}

static cudaError_t variable_address(void **out, const void *symbol)
{
    char *device;
    size_t bytes;

    if (!out)
        return cudaErrorInvalidValue;
    cudaError_t error = symbol_find(symbol, &device, &bytes);
    if (!error)
        *out = device;
    return error;
}

cudaError_t cudaGetSymbolAddress(void **device, const void *symbol)
{
    return CALL(variable_address(device, symbol));
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    char *device;

    return CALL(bytes ? symbol_find(symbol, &device, bytes) : cudaErrorInvalidValue);
}
