/* Launches: from <<<grid, block, shared, stream>>> to launch.h. Also what a program may ask about a kernel (attributes, occupancy).
 *
 * nvcc turns k<<<g, b, s, st>>>(a) into __cudaPushCallConfiguration(g, b, s, st) and a call of a stub, which takes the
 * configuration back with __cudaPopCallConfiguration and calls __cudaLaunchKernel (CUDA 13; cudaLaunchKernel before). */
#define _GNU_SOURCE
#include "launch.h"
#include "cudart.h"
#include "device.h"
#include "fault.h"
#include "ptx.h"
#include <stdio.h>
#include <string.h>

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream);

struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};

enum { NESTED = 64 }; /* a kernel's argument may itself be computed with a launch */
static _Thread_local struct configuration pushed[NESTED];
static _Thread_local unsigned pushed_count;
static _Thread_local bool from_brackets; /* <<<...>>> drops the result of the launch that follows */

/* Non-zero: the caller then leaves the kernel out. */
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream)
{
    if (pushed_count == NESTED)
        return QUERY(cudaErrorInvalidConfiguration);
    pushed[pushed_count++] = (struct configuration){grid, block, shared, stream};
    return cudaSuccess;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    if (pushed_count == 0)
        return QUERY(cudaErrorMissingConfiguration);
    const struct configuration *top = &pushed[--pushed_count];
    *grid = top->grid;
    *block = top->block;
    *shared = top->shared;
    memcpy(stream, &top->stream, sizeof top->stream);
    from_brackets = true;
    return cudaSuccess;
}

static void tell_refusal(const struct launch *l, cudaError_t error)
{
    char *report = NULL;

    if (asprintf(
            &report,
            "launch: %s with a grid of (%u,%u,%u), a block of %llu threads (%u,%u,%u) and %zu bytes of dynamic shared memory: %s. "
            "It did not run, and nobody asked\n"
            "       to mend it: call cudaGetLastError() after each launch; a block has 1024 threads at most\n",
            l->kernel->name, l->grid[0], l->grid[1], l->grid[2], 1ULL * l->block[0] * l->block[1] * l->block[2], l->block[0],
            l->block[1], l->block[2], l->dynamic_shared, cudaGetErrorString(error)) >= 0)
        fault_launch_refused(report);
}

/* Refusals are the launch's own result; a fault while running is what the calls after it say (cudart.c). */
static cudaError_t launch_kernel(const void *func, struct configuration c, void **arguments, bool cooperative)
{
    struct kernel *kernel;
    cudaError_t error = kernel_load(func, &kernel);
    bool result_dropped = from_brackets;

    from_brackets = false;
    if (error)
        return error;
    if (!stream_valid(c.stream))
        return cudaErrorInvalidResourceHandle;
    if (!arguments && kernel->facts.parameter_count > 0)
        return cudaErrorInvalidValue;
    struct launch launch = {.module = kernel_module(kernel),
                            .kernel = kernel->function,
                            .grid = {c.grid.x, c.grid.y, c.grid.z},
                            .block = {c.block.x, c.block.y, c.block.z},
                            .dynamic_shared = c.shared,
                            .dynamic_shared_limit = kernel_dynamic_limit(kernel),
                            .arguments = arguments,
                            .cooperative = cooperative};
    error = (cudaError_t)launch_check(&launch);
    if (error == cudaSuccess)
        front_set_sticky((cudaError_t)launch_run(&launch));
    else if (result_dropped)
        tell_refusal(&launch, error);
    return error;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream)
{
    return CALL(launch_kernel(kernel, (struct configuration){grid, block, shared, stream}, arguments, false));
}

cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream)
{
    return CALL(launch_kernel(func, (struct configuration){grid, block, shared, stream}, arguments, false));
}

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block, void **arguments, size_t shared,
                                        cudaStream_t stream)
{
    return CALL(launch_kernel(func, (struct configuration){grid, block, shared, stream}, arguments, true));
}

/* Attributes that only steer caches, priorities or overlap change nothing here; those that change what a kernel does are refused
 * unless the emulator has them. */
static cudaError_t read_attribute(const cudaLaunchAttribute *attribute, bool *cooperative)
{
    switch ((int)attribute->id) { /* headers of CUDA 12 do not know all of them */
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
    case cudaLaunchAttributeProgrammaticStreamSerialization: /* permits overlap; one after the other is always right */
        return cudaSuccess;
    case cudaLaunchAttributeCooperative: *cooperative = attribute->val.cooperative != 0; return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
        if (attribute->val.clusterDim.x * attribute->val.clusterDim.y * attribute->val.clusterDim.z == 1)
            return cudaSuccess;
        return front_lacks("thread block clusters (cudaLaunchAttributeClusterDimension)");
    default: return front_lacks("such launch attribute (cudaLaunchKernelExC)");
    }
}

static cudaError_t launch_with_attributes(const cudaLaunchConfig_t *config, const void *func, void **arguments)
{
    bool cooperative = false;

    if (!config || (config->numAttrs > 0 && !config->attrs))
        return cudaErrorInvalidValue;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        cudaError_t error = read_attribute(&config->attrs[i], &cooperative);
        if (error)
            return error;
    }
    struct configuration c = {config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream};
    return launch_kernel(func, c, arguments, cooperative);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **arguments)
{
    return CALL(launch_with_attributes(config, func, arguments));
}

static cudaError_t kernel_facts(struct cudaFuncAttributes *out, const void *func)
{
    struct kernel *kernel;
    cudaError_t error = out ? kernel_load(func, &kernel) : cudaErrorInvalidValue;

    if (error)
        return error;
    memset(out, 0, sizeof *out);
    out->sharedSizeBytes = kernel->facts.static_shared;
    out->constSizeBytes = kernel->facts.constant;
    out->localSizeBytes = kernel->facts.local;
    out->maxThreadsPerBlock = kernel->facts.max_threads;
    out->numRegs = kernel->facts.registers;
    out->ptxVersion = kernel->facts.target; /* sic: CUDA calls the virtual architecture so */
    out->binaryVersion = 10 * DEVICE_CAPABILITY_MAJOR + DEVICE_CAPABILITY_MINOR;
    out->maxDynamicSharedSizeBytes = (int)kernel_dynamic_limit(kernel);
    out->preferredShmemCarveout = kernel->carveout;
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *func)
{
    return CALL(kernel_facts(attributes, func));
}

static cudaError_t set_kernel_attribute(const void *func, enum cudaFuncAttribute attribute, int value)
{
    struct kernel *kernel;
    cudaError_t error = kernel_load(func, &kernel);

    if (error)
        return error;
    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || kernel->facts.static_shared + (size_t)value > DEVICE_SHARED_OPTIN)
            return cudaErrorInvalidValue;
        kernel->dynamic_limit = (size_t)value;
        kernel->limit_set = true;
        return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100)
            return cudaErrorInvalidValue;
        kernel->carveout = value;
        return cudaSuccess;
    case cudaFuncAttributeClusterDimMustBeSet:
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
    case cudaFuncAttributeClusterSchedulingPolicyPreference: return front_lacks("thread block clusters (cudaFuncSetAttribute)");
    default: return cudaErrorInvalidValue;
    }
}

cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attribute, int value)
{
    return CALL(set_kernel_attribute(func, attribute, value));
}

static cudaError_t check_kernel(const void *func)
{
    struct kernel *kernel;

    return kernel_load(func, &kernel);
}

/* A hint about the split of L1 and shared memory, without effect here as on most GPUs. */
cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache config)
{
    bool known = (int)config >= cudaFuncCachePreferNone && config <= cudaFuncCachePreferEqual;

    return CALL(known ? check_kernel(func) : cudaErrorInvalidValue);
}

static cudaError_t kernel_name(const char **name, const void *func)
{
    const struct kernel *kernel = kernel_of(func);

    if (!name || !func)
        return cudaErrorInvalidValue;
    if (!kernel)
        return cudaErrorInvalidResourceHandle;
    *name = kernel->name;
    return cudaSuccess;
}

cudaError_t cudaFuncGetName(const char **name, const void *func)
{
    return CALL(kernel_name(name, func));
}

static cudaError_t occupancy(int *blocks, const void *func, int threads, size_t dynamic)
{
    struct kernel *kernel;

    if (!blocks)
        return cudaErrorInvalidValue;
    *blocks = 0;
    if (threads <= 0)
        return cudaErrorInvalidValue;
    cudaError_t error = kernel_load(func, &kernel);
    if (error)
        return error;
    if (dynamic <= kernel_dynamic_limit(kernel))
        *blocks = device_blocks_per_sm((unsigned)threads, kernel->facts.static_shared + dynamic);
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *func, int threads, size_t dynamic)
{
    return CALL(occupancy(blocks, func, threads, dynamic));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *func, int threads, size_t dynamic,
                                                                   unsigned flags)
{
    bool known = (flags & ~(unsigned)cudaOccupancyDisableCachingOverride) == 0;

    return CALL(known ? occupancy(blocks, func, threads, dynamic) : cudaErrorInvalidValue);
}

/* The most dynamic shared memory that still leaves room for so many blocks on an SM. */
static cudaError_t dynamic_for(size_t *dynamic, const void *func, int blocks, int threads)
{
    struct kernel *kernel;

    if (!dynamic || blocks <= 0 || threads <= 0)
        return cudaErrorInvalidValue;
    cudaError_t error = kernel_load(func, &kernel);
    if (error)
        return error;
    if (device_blocks_per_sm((unsigned)threads, kernel->facts.static_shared) < blocks)
        return cudaErrorInvalidValue;
    size_t share = (size_t)(DEVICE_SM_SHARED / blocks) / 128 * 128 - DEVICE_SHARED_RESERVED - kernel->facts.static_shared;
    size_t limit = kernel_dynamic_limit(kernel);
    *dynamic = share < limit ? share : limit;
    return cudaSuccess;
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic, const void *func, int blocks, int threads)
{
    return CALL(dynamic_for(dynamic, func, blocks, threads));
}

static cudaError_t parameter_place(const void *func, size_t index, size_t *offset, size_t *bytes)
{
    struct kernel *kernel;
    cudaError_t error = offset && bytes ? kernel_load(func, &kernel) : cudaErrorInvalidValue;

    if (error)
        return error;
    if (index >= kernel->facts.parameter_count)
        return cudaErrorInvalidValue;
    return front_lacks("cudaFuncGetParamInfo");
}

cudaError_t cudaFuncGetParamInfo(const void *func, size_t index, size_t *offset, size_t *bytes)
{
    return CALL(parameter_place(func, index, offset, bytes));
}

PER_THREAD(__cudaLaunchKernel, _ptsz)
PER_THREAD(cudaLaunchKernel, _ptsz)
PER_THREAD(cudaLaunchKernelExC, _ptsz)
PER_THREAD(cudaLaunchCooperativeKernel, _ptsz)
