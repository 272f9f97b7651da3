/* Memory calls: allocate, free, pin, ask about. Copies and fills are in cudart_copy.c, pools in cudart_pool.c. */
#define _GNU_SOURCE
#include "checks.h"
#include "cudart.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PITCH = 512 }; /* an H200's rows start on this many bytes */

static cudaError_t allocate(void **out, size_t bytes, enum memory_kind kind)
{
    if (!out)
        return cudaErrorInvalidValue;
    *out = NULL;
    if (bytes == 0)
        return cudaSuccess;
    void *device = memory_allocate(bytes, kind, NULL);
    if (!device)
        return cudaErrorMemoryAllocation;
    if (kind == MEMORY_DEVICE)
        init_allocated(device, bytes);
    *out = device;
    return cudaSuccess;
}

static bool overflows(size_t a, size_t b, size_t *product)
{
    return __builtin_mul_overflow(a, b, product);
}

/* What may be freed: cudaFree takes device and managed memory, cudaFreeHost pinned memory. */
static cudaError_t release(void *pointer, bool host)
{
    if (!pointer)
        return cudaSuccess;
    const struct allocation *found = memory_find((uint64_t)(uintptr_t)pointer);
    if (!found || found->name || (found->kind == MEMORY_PINNED) != host || found->kind > MEMORY_MANAGED)
        return cudaErrorInvalidValue;
    init_forget(pointer);
    pool_forget(pointer);
    return memory_free(pointer) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t device_allocate(void **out, size_t bytes)
{
    return allocate(out, bytes, MEMORY_DEVICE);
}

cudaError_t device_release(void *device)
{
    return release(device, false);
}

cudaError_t cudaMalloc(void **device, size_t bytes)
{
    return bytes == 0 && device ? QUERY(allocate(device, 0, MEMORY_DEVICE)) : CALL(allocate(device, bytes, MEMORY_DEVICE));
}

cudaError_t cudaFree(void *device)
{
    return front_synchronised(CALL(release(device, false)));
}

cudaError_t cudaMallocManaged(void **device, size_t bytes, unsigned flags)
{
    bool known = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost;

    return CALL(known ? allocate(device, bytes, MEMORY_MANAGED) : cudaErrorInvalidValue);
}

cudaError_t cudaMallocHost(void **host, size_t bytes)
{
    return CALL(allocate(host, bytes, MEMORY_PINNED));
}

cudaError_t cudaHostAlloc(void **host, size_t bytes, unsigned flags)
{
    bool known = (flags & ~(unsigned)(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined)) == 0;

    return CALL(known ? allocate(host, bytes, MEMORY_PINNED) : cudaErrorInvalidValue);
}

cudaError_t cudaFreeHost(void *host)
{
    return CALL(release(host, true));
}

static cudaError_t allocate_rows(void **out, size_t *pitch, size_t width, size_t height, size_t depth)
{
    size_t rows, bytes;

    if (!out || !pitch || width > SIZE_MAX - PITCH)
        return cudaErrorInvalidValue;
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    if (overflows(height, depth, &rows) || overflows(*pitch, rows, &bytes))
        return cudaErrorMemoryAllocation;
    return allocate(out, bytes, MEMORY_DEVICE);
}

cudaError_t cudaMallocPitch(void **device, size_t *pitch, size_t width, size_t height)
{
    return CALL(allocate_rows(device, pitch, width, height, 1));
}

static cudaError_t allocate_box(struct cudaPitchedPtr *out, struct cudaExtent extent)
{
    if (!out)
        return cudaErrorInvalidValue;
    *out = (struct cudaPitchedPtr){.xsize = extent.width, .ysize = extent.height};
    return allocate_rows(&out->ptr, &out->pitch, extent.width, extent.height, extent.depth);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *device, struct cudaExtent extent)
{
    return CALL(allocate_box(device, extent));
}

static cudaError_t register_host(void *host, size_t bytes, unsigned flags)
{
    unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;

    if (!host || bytes == 0 || (flags & ~known) || memory_reserved((uint64_t)(uintptr_t)host))
        return cudaErrorInvalidValue;
    if (flags & cudaHostRegisterIoMemory)
        return front_lacks("cudaHostRegisterIoMemory");
    return memory_register(host, bytes) ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered;
}

cudaError_t cudaHostRegister(void *host, size_t bytes, unsigned flags)
{
    return CALL(register_host(host, bytes, flags));
}

static cudaError_t unregister_host(void *host)
{
    if (!host)
        return cudaErrorInvalidValue;
    return memory_unregister(host) ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
}

cudaError_t cudaHostUnregister(void *host)
{
    return CALL(unregister_host(host));
}

static const struct allocation *pinned_at(const void *host)
{
    const struct allocation *found = memory_find((uint64_t)(uintptr_t)host);

    return found && found->kind == MEMORY_PINNED ? found : NULL;
}

static cudaError_t device_pointer(void **device, void *host, unsigned flags)
{
    if (!device || flags || !pinned_at(host))
        return cudaErrorInvalidValue;
    *device = host; /* one address for both sides */
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    return CALL(device_pointer(device, host, flags));
}

static cudaError_t host_flags(unsigned *flags, void *host)
{
    if (!flags || !pinned_at(host))
        return cudaErrorInvalidValue;
    *flags = cudaHostAllocMapped; /* all pinned memory is mapped, as on a GPU with unified addresses */
    return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    return CALL(host_flags(flags, host));
}

static cudaError_t memory_figures(size_t *available, size_t *total)
{
    if (!available || !total)
        return cudaErrorInvalidValue;
    *available = memory_available();
    *total = memory_total();
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    return CALL(memory_figures(available, total));
}

static cudaError_t pointer_facts(struct cudaPointerAttributes *facts, const void *pointer)
{
    const struct allocation *found = memory_find((uint64_t)(uintptr_t)pointer);

    if (!facts)
        return cudaErrorInvalidValue;
    memset(facts, 0, sizeof *facts);
    facts->type = cudaMemoryTypeUnregistered;
    facts->device = cudaInvalidDeviceId;
    facts->hostPointer = (void *)pointer;
    if (!found)
        return cudaSuccess;
    facts->device = device_current();
    facts->devicePointer = (void *)pointer;
    if (found->kind == MEMORY_PINNED)
        facts->type = cudaMemoryTypeHost;
    else if (found->kind == MEMORY_MANAGED)
        facts->type = cudaMemoryTypeManaged;
    else {
        facts->type = cudaMemoryTypeDevice;
        facts->hostPointer = NULL;
    }
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *facts, const void *pointer)
{
    return QUERY(pointer_facts(facts, pointer));
}

/* Managed memory stays where it is: there is nothing to move, so the hints hold of themselves. Other memory is refused. */
static cudaError_t hint(const void *device, size_t bytes, struct cudaMemLocation location)
{
    const struct allocation *found = memory_find((uint64_t)(uintptr_t)device);

    if (!found || found->kind != MEMORY_MANAGED || !memory_host(device, bytes) || bytes == 0)
        return cudaErrorInvalidValue;
    return location.type == cudaMemLocationTypeDevice && location.id < 0 ? cudaErrorInvalidDevice : cudaSuccess;
}

/* CUDA 12 gives the first names to older forms, which name a device or the host by a number. */
#if CUDART_VERSION < 13000
#define cudaMemPrefetchAsync cudaMemPrefetchAsync_v2
#define cudaMemAdvise cudaMemAdvise_v2
#endif

cudaError_t cudaMemPrefetchAsync(const void *device, size_t bytes, struct cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream)
{
    if (!stream_valid(stream))
        return CALL(cudaErrorInvalidResourceHandle);
    return CALL(flags ? cudaErrorInvalidValue : hint(device, bytes, location));
}

cudaError_t cudaMemAdvise(const void *device, size_t bytes, enum cudaMemoryAdvise advice, struct cudaMemLocation location)
{
    bool known = advice >= cudaMemAdviseSetReadMostly && advice <= cudaMemAdviseUnsetAccessedBy;

    return CALL(known ? hint(device, bytes, location) : cudaErrorInvalidValue);
}

#if CUDART_VERSION < 13000
PER_THREAD(cudaMemPrefetchAsync_v2, _ptsz)
#undef cudaMemPrefetchAsync
#undef cudaMemAdvise

static struct cudaMemLocation place_of(int device)
{
    return (struct cudaMemLocation){.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
                                    .id = device == cudaCpuDeviceId ? 0 : device};
}

cudaError_t cudaMemPrefetchAsync(const void *device, size_t bytes, int to, cudaStream_t stream)
{
    return cudaMemPrefetchAsync_v2(device, bytes, place_of(to), 0, stream);
}

cudaError_t cudaMemAdvise(const void *device, size_t bytes, enum cudaMemoryAdvise advice, int by)
{
    return cudaMemAdvise_v2(device, bytes, advice, place_of(by));
}
#endif

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *device, size_t bytes, unsigned flags)
{
    const struct allocation *found = memory_find((uint64_t)(uintptr_t)device);
    bool managed = found && found->kind == MEMORY_MANAGED && (bytes == 0 || bytes == found->bytes);

    (void)flags;
    if (!stream_valid(stream))
        return CALL(cudaErrorInvalidResourceHandle);
    return CALL(managed ? cudaSuccess : cudaErrorInvalidValue);
}

PER_THREAD(cudaMemPrefetchAsync, _ptsz)
PER_THREAD(cudaStreamAttachMemAsync, _ptsz)
