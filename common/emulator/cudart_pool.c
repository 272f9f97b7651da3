/* Memory pools: what cudaMallocAsync takes from. Nothing is kept back here: what a program frees goes at once, so a pool has
 * reserved what is in use, and the release threshold, the ways of reuse and the access of other devices are kept and given back
 * without effect. All calls are in order, so a piece is there for every stream once it is allocated. */
#define _GNU_SOURCE
#include "cudart.h"
#include "settings.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { POOL_MARK = 0x504f4f4c, /* tells a live handle from a destroyed one */ MOST_DEVICES = 16 };

struct CUmemPoolHandle_st {
    int mark, device;
    int reuse[3]; /* follow events, opportunistic, internal dependencies */
    uint64_t threshold, used, used_high, reserved_high;
    size_t most; /* maxSize; 0: no limit */
    enum cudaMemAccessFlags access[MOST_DEVICES];
};

/* A piece that a program has not given back yet. */
struct piece {
    void *device;
    size_t bytes;
    struct CUmemPoolHandle_st *pool;
    struct piece *older;
};

static struct CUmemPoolHandle_st default_pools[MOST_DEVICES], *pools[MOST_DEVICES]; /* a device's own; what it takes from now */
static struct piece *pieces;

static void pool_start(struct CUmemPoolHandle_st *pool, int device)
{
    *pool = (struct CUmemPoolHandle_st){.mark = POOL_MARK, .device = device, .reuse = {1, 1, 1}};
    pool->access[device] = cudaMemAccessFlagsProtReadWrite;
}

static cudaMemPool_t default_pool(int device)
{
    if (!default_pools[device].mark)
        pool_start(&default_pools[device], device);
    return &default_pools[device];
}

static cudaMemPool_t current_pool(int device)
{
    return pools[device] ? pools[device] : default_pool(device);
}

static bool pool_valid(cudaMemPool_t pool)
{
    return pool && pool->mark == POOL_MARK;
}

/* cudaDeviceReset: all pieces are gone, all pools are as at the start. */
void pools_restart(void)
{
    while (pieces) {
        struct piece *next = pieces->older;
        free(pieces);
        pieces = next;
    }
    memset(pools, 0, sizeof pools);
    memset(default_pools, 0, sizeof default_pools);
}

void pool_forget(const void *device)
{
    for (struct piece **at = &pieces; *at; at = &(*at)->older)
        if ((*at)->device == device) {
            struct piece *gone = *at;
            gone->pool->used -= gone->bytes;
            *at = gone->older;
            free(gone);
            return;
        }
}

static cudaError_t allocate_from(cudaMemPool_t pool, void **out, size_t bytes, cudaStream_t stream)
{
    cudaError_t error;
    struct piece *piece;

    if (!stream_valid(stream))
        return cudaErrorInvalidResourceHandle;
    if (!out || !pool_valid(pool))
        return cudaErrorInvalidValue;
    if (pool->most && (pool->used > pool->most || bytes > pool->most - pool->used))
        return cudaErrorMemoryAllocation;
    error = device_allocate(out, bytes);
    if (error != cudaSuccess || !*out)
        return error;
    piece = malloc(sizeof *piece);
    if (!piece)
        abort();
    *piece = (struct piece){*out, bytes, pool, pieces};
    pieces = piece;
    pool->used += bytes;
    pool->used_high = pool->used > pool->used_high ? pool->used : pool->used_high;
    pool->reserved_high = pool->used > pool->reserved_high ? pool->used : pool->reserved_high;
    return cudaSuccess;
}

cudaError_t cudaMallocAsync(void **device, size_t bytes, cudaStream_t stream)
{
    return CALL(allocate_from(current_pool(device_current()), device, bytes, stream));
}

cudaError_t cudaMallocFromPoolAsync(void **device, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    return CALL(allocate_from(pool, device, bytes, stream));
}

cudaError_t cudaFreeAsync(void *device, cudaStream_t stream)
{
    return CALL(stream_valid(stream) ? device_release(device) : cudaErrorInvalidResourceHandle);
}

static cudaError_t make_pool(cudaMemPool_t *out, const struct cudaMemPoolProps *wanted)
{
    struct CUmemPoolHandle_st *pool;

    if (!out || !wanted || wanted->allocType != cudaMemAllocationTypePinned)
        return cudaErrorInvalidValue;
    if (wanted->handleTypes != cudaMemHandleTypeNone)
        return front_lacks("cudaMemPoolCreate for other processes (handleTypes)");
    if (wanted->location.type != cudaMemLocationTypeDevice)
        return front_lacks("cudaMemPoolCreate elsewhere than on a device (location.type)");
    if (!device_exists(wanted->location.id))
        return cudaErrorInvalidDevice;
    pool = malloc(sizeof *pool); /* never freed: a handle used after its end is an error and not a crash */
    if (!pool)
        return cudaErrorMemoryAllocation;
    pool_start(pool, wanted->location.id);
    pool->most = wanted->maxSize;
    *out = pool;
    return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *wanted)
{
    return CALL(make_pool(pool, wanted));
}

static cudaError_t destroy_pool(cudaMemPool_t pool)
{
    if (!pool_valid(pool) || pool == default_pool(pool->device))
        return cudaErrorInvalidValue;
    pool->mark = 0; /* its pieces live on until they are freed */
    if (pools[pool->device] == pool)
        pools[pool->device] = NULL;
    return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    return CALL(destroy_pool(pool));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t least)
{
    (void)least; /* there is nothing to give back */
    return CALL(pool_valid(pool) ? cudaSuccess : cudaErrorInvalidValue);
}

/* Which pool a device takes from. */
static cudaError_t tell_pool(cudaMemPool_t *pool, int device, cudaMemPool_t (*which)(int))
{
    if (!pool)
        return cudaErrorInvalidValue;
    if (!device_exists(device))
        return cudaErrorInvalidDevice;
    *pool = which(device);
    return cudaSuccess;
}

static cudaError_t set_pool(int device, cudaMemPool_t pool)
{
    if (!device_exists(device))
        return cudaErrorInvalidDevice;
    if (!pool_valid(pool) || pool->device != device)
        return cudaErrorInvalidValue;
    pools[device] = pool;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    return CALL(tell_pool(pool, device, default_pool));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    return CALL(tell_pool(pool, device, current_pool));
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    return CALL(set_pool(device, pool));
}

#if CUDART_VERSION >= 13000 /* the same, by place and kind of memory */
static cudaError_t place_has_pools(const struct cudaMemLocation *place, enum cudaMemAllocationType type)
{
    if (!place)
        return cudaErrorInvalidValue;
    if (place->type != cudaMemLocationTypeDevice || type != cudaMemAllocationTypePinned)
        return front_lacks("memory pools but those of pinned memory on a device");
    return cudaSuccess;
}

static cudaError_t tell_pool_at(cudaMemPool_t *pool, const struct cudaMemLocation *place, enum cudaMemAllocationType type,
                                cudaMemPool_t (*which)(int))
{
    cudaError_t error = place_has_pools(place, type);

    return error ? error : tell_pool(pool, place->id, which);
}

static cudaError_t set_pool_at(const struct cudaMemLocation *place, enum cudaMemAllocationType type, cudaMemPool_t pool)
{
    cudaError_t error = place_has_pools(place, type);

    return error ? error : set_pool(place->id, pool);
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool, struct cudaMemLocation *place, enum cudaMemAllocationType type)
{
    return CALL(tell_pool_at(pool, place, type, default_pool));
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, struct cudaMemLocation *place, enum cudaMemAllocationType type)
{
    return CALL(tell_pool_at(pool, place, type, current_pool));
}

cudaError_t cudaMemSetMemPool(struct cudaMemLocation *place, enum cudaMemAllocationType type, cudaMemPool_t pool)
{
    return CALL(set_pool_at(place, type, pool));
}
#endif

/* Attributes 1 to 3 are ints, the others 64 bits wide. The marks of the most so far can only be set back to 0. */
static cudaError_t get_attribute(cudaMemPool_t pool, enum cudaMemPoolAttr which, void *value)
{
    uint64_t answer;

    if (!pool_valid(pool) || !value)
        return cudaErrorInvalidValue;
    switch (which) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        memcpy(value, &pool->reuse[which - cudaMemPoolReuseFollowEventDependencies], sizeof(int));
        return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold: answer = pool->threshold; break;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent: answer = pool->used; break;
    case cudaMemPoolAttrReservedMemHigh: answer = pool->reserved_high; break;
    case cudaMemPoolAttrUsedMemHigh: answer = pool->used_high; break;
    default: return cudaErrorInvalidValue;
    }
    memcpy(value, &answer, sizeof answer);
    return cudaSuccess;
}

static cudaError_t set_attribute(cudaMemPool_t pool, enum cudaMemPoolAttr which, const void *value)
{
    uint64_t wanted = 0;
    bool is_int = which >= cudaMemPoolReuseFollowEventDependencies && which <= cudaMemPoolReuseAllowInternalDependencies;

    if (!pool_valid(pool) || !value)
        return cudaErrorInvalidValue;
    memcpy(&wanted, value, is_int ? sizeof(int) : sizeof wanted);
    if (is_int) {
        pool->reuse[which - cudaMemPoolReuseFollowEventDependencies] = wanted != 0;
    } else if (which == cudaMemPoolAttrReleaseThreshold) {
        pool->threshold = wanted;
    } else if ((which == cudaMemPoolAttrReservedMemHigh || which == cudaMemPoolAttrUsedMemHigh) && wanted == 0) {
        *(which == cudaMemPoolAttrUsedMemHigh ? &pool->used_high : &pool->reserved_high) = pool->used;
    } else {
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr which, void *value)
{
    return CALL(get_attribute(pool, which, value));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr which, void *value)
{
    return CALL(set_attribute(pool, which, value));
}

/* Emulated devices share one memory, so each reaches every pool; what a program asks for is kept and given back. */
static cudaError_t set_access(cudaMemPool_t pool, const struct cudaMemAccessDesc *wanted, size_t count)
{
    if (!pool_valid(pool) || (count && !wanted))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        if (wanted[i].location.type != cudaMemLocationTypeDevice)
            return cudaErrorInvalidValue;
        if (!device_exists(wanted[i].location.id))
            return cudaErrorInvalidDevice;
        if (wanted[i].location.id == pool->device && wanted[i].flags != cudaMemAccessFlagsProtReadWrite)
            return cudaErrorInvalidDevice;
    }
    for (size_t i = 0; i < count; i++)
        pool->access[wanted[i].location.id] = wanted[i].flags;
    return cudaSuccess;
}

static cudaError_t get_access(enum cudaMemAccessFlags *flags, cudaMemPool_t pool, const struct cudaMemLocation *place)
{
    if (!flags || !place || !pool_valid(pool) || place->type != cudaMemLocationTypeDevice)
        return cudaErrorInvalidValue;
    if (!device_exists(place->id))
        return cudaErrorInvalidDevice;
    *flags = pool->access[place->id];
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *wanted, size_t count)
{
    return CALL(set_access(pool, wanted, count));
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool, struct cudaMemLocation *place)
{
    return CALL(get_access(flags, pool, place));
}

PER_THREAD(cudaMallocAsync, _ptsz)
PER_THREAD(cudaMallocFromPoolAsync, _ptsz)
PER_THREAD(cudaFreeAsync, _ptsz)
