/* Device calls: how many there are, which is current, what they are like, limits, reset. All emulated devices are alike and share
 * one memory; EMULATOR_DEVICES says how many there are. */
#define _GNU_SOURCE
#include "builtins.h"
#include "cudart.h"
#include "device.h"
#include "emulator.h"
#include "settings.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static _Thread_local int current;
static unsigned device_flags = cudaDeviceScheduleAuto;
static enum cudaFuncCache cache_config = cudaFuncCachePreferNone;

int device_current(void)
{
    return current;
}

bool device_exists(int device)
{
    return device >= 0 && device < settings()->devices;
}

const char *emulator_description(void)
{
    static char text[160];

    snprintf(text, sizeof text, "%s (%d SMs, compute capability %d.%d), on %d host thread%s", DEVICE_NAME, DEVICE_SMS,
             DEVICE_CAPABILITY_MAJOR, DEVICE_CAPABILITY_MINOR, settings()->threads, settings()->threads == 1 ? "" : "s");
    return text;
}

/* Writes an answer if there is a place for it. */
#define ANSWER(out, value) ((out) ? (*(out) = (value), cudaSuccess) : cudaErrorInvalidValue)

cudaError_t cudaGetDeviceCount(int *count)
{
    return QUERY(ANSWER(count, settings()->devices));
}

cudaError_t cudaGetDevice(int *device)
{
    return QUERY(ANSWER(device, current));
}

static cudaError_t select_device(int device)
{
    if (!device_exists(device))
        return cudaErrorInvalidDevice;
    current = device;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    return QUERY(select_device(device));
}

cudaError_t cudaInitDevice(int device, unsigned unused, unsigned flags)
{
    (void)unused, (void)flags;
    return QUERY(device_exists(device) ? cudaSuccess : cudaErrorInvalidDevice);
}

static cudaError_t attribute(int *value, enum cudaDeviceAttr which, int device)
{
    static const struct {
        enum cudaDeviceAttr which;
        int value;
    } attributes[] = {
#define ATTRIBUTE(name, value) {cudaDevAttr##name, value},
#define PROPERTY(field, name)
#include "device_attributes.def"
#undef ATTRIBUTE
#undef PROPERTY
    };

    if (!value)
        return cudaErrorInvalidValue;
    if (!device_exists(device))
        return cudaErrorInvalidDevice;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].which == which) {
            *value = which == cudaDevAttrPciBusId ? device : attributes[i].value;
            return cudaSuccess;
        }
    return cudaErrorInvalidValue;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int device)
{
    return QUERY(attribute(value, which, device));
}

static cudaError_t properties(struct cudaDeviceProp *out, int device)
{
    int value;

    if (!out)
        return cudaErrorInvalidValue;
    if (!device_exists(device))
        return cudaErrorInvalidDevice;
    memset(out, 0, sizeof *out);
    strcpy(out->name, DEVICE_NAME);
    memcpy(out->uuid.bytes, "emulated device", 15);
    out->uuid.bytes[15] = (char)device;
    out->totalGlobalMem = memory_total();
    out->pciBusID = device;
#define ATTRIBUTE(name, value)
#define PROPERTY(field, name)                                                                                                      \
    if (attribute(&value, cudaDevAttr##name, device) == cudaSuccess)                                                               \
        out->field = (__typeof(out->field))value;
#include "device_attributes.def"
#undef ATTRIBUTE
#undef PROPERTY
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device)
{
    return QUERY(properties(out, device));
}

/* All devices are alike: the first is as good a match as any. */
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted)
{
    return QUERY(wanted ? ANSWER(device, 0) : cudaErrorInvalidValue);
}

static cudaError_t bus_id(char *text, int bytes, int device)
{
    if (!text || bytes < 13)
        return cudaErrorInvalidValue;
    if (!device_exists(device))
        return cudaErrorInvalidDevice;
    snprintf(text, (size_t)bytes, "0000:%02X:00.0", (unsigned)device & 0xff);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device)
{
    return QUERY(bus_id(text, bytes, device));
}

static cudaError_t device_at(int *device, const char *text)
{
    unsigned domain, bus, slot, function = 0;

    if (!device || !text || sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3)
        return cudaErrorInvalidValue;
    if (domain || slot || function || !device_exists((int)bus))
        return cudaErrorInvalidDevice;
    *device = (int)bus;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    return QUERY(device_at(device, text));
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    return QUERY(ANSWER(version, CUDART_VERSION));
}

cudaError_t cudaDriverGetVersion(int *version)
{
    return QUERY(ANSWER(version, CUDART_VERSION));
}

cudaError_t cudaDeviceSynchronize(void)
{
    return front_synchronised(CALL(cudaSuccess));
}

static void free_allocation(const struct allocation *allocation, void *context)
{
    (void)context;
    memory_free((void *)(uintptr_t)allocation->base);
}

static cudaError_t reset(void)
{
    binaries_unload();
    heap_reset();
    memory_each(free_allocation, NULL);
    pools_restart();
    device_restart();
    front_set_sticky(cudaSuccess);
    return cudaSuccess;
}

cudaError_t cudaDeviceReset(void)
{
    return front_synchronised(QUERY(reset()));
}

/* Limits are kept and given back. Two matter here: the stack, where a kernel recurses, and malloc's heap. Nothing that a kernel
 * prints is lost, whatever the buffer's size: an H200 empties it while the kernel runs. Defaults: an H200's. */
static const size_t default_limits[] = {
    [cudaLimitStackSize] = 1024,           [cudaLimitPrintfFifoSize] = 8650752,
    [cudaLimitMallocHeapSize] = 8388608,   [cudaLimitDevRuntimePendingLaunchCount] = 2048,
    [cudaLimitMaxL2FetchGranularity] = 64, [cudaLimitPersistingL2CacheSize] = 0,
};
enum { LIMITS = sizeof default_limits / sizeof *default_limits };
static size_t chosen_limits[LIMITS];
static bool limit_chosen[LIMITS];

static cudaError_t limit_known(enum cudaLimit limit)
{
    if ((int)limit < 0 || (int)limit >= LIMITS)
        return cudaErrorInvalidValue;
    return limit == cudaLimitDevRuntimeSyncDepth ? cudaErrorUnsupportedLimit : cudaSuccess;
}

static cudaError_t set_limit(enum cudaLimit limit, size_t value)
{
    cudaError_t error = limit_known(limit);

    if (error)
        return error;
    if (limit == cudaLimitStackSize)
        device_limits.stack = value;
    if (limit == cudaLimitMallocHeapSize)
        device_limits.heap = value;
    chosen_limits[limit] = value;
    limit_chosen[limit] = true;
    return cudaSuccess;
}

/* No line of a cache persists here. */
cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return CALL(cudaSuccess);
}

static cudaError_t get_limit(size_t *value, enum cudaLimit limit)
{
    cudaError_t error = value ? limit_known(limit) : cudaErrorInvalidValue;

    if (!error)
        *value = limit_chosen[limit] ? chosen_limits[limit] : default_limits[limit];
    return error;
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    return CALL(set_limit(limit, value));
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    return CALL(get_limit(value, limit));
}

void device_restart(void)
{
    memset(limit_chosen, 0, sizeof limit_chosen);
    device_limits = device_limits_default;
    cache_config = cudaFuncCachePreferNone;
    device_flags = cudaDeviceScheduleAuto;
}

static cudaError_t set_cache_config(enum cudaFuncCache config)
{
    if ((int)config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual)
        return cudaErrorInvalidValue;
    cache_config = config; /* a hint, as on most GPUs */
    return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    return CALL(set_cache_config(config));
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    return CALL(ANSWER(config, cache_config));
}

static cudaError_t set_flags(unsigned flags)
{
    unsigned known = cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;

    if (flags & ~known)
        return cudaErrorInvalidValue;
    device_flags = flags; /* how the host waits: it never has to */
    return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    return CALL(set_flags(flags));
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    return CALL(ANSWER(flags, device_flags | cudaDeviceMapHost));
}

static cudaError_t priorities(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5; /* as cudart_stream.c clamps them */
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    return CALL(priorities(least, greatest));
}

/* Devices are not each other's peers: a program that asks takes its way through the host. */
static cudaError_t peer_possible(int *possible, int device, int peer)
{
    if (!device_exists(device) || !device_exists(peer))
        return cudaErrorInvalidDevice;
    return ANSWER(possible, 0);
}

cudaError_t cudaDeviceCanAccessPeer(int *possible, int device, int peer)
{
    return QUERY(peer_possible(possible, device, peer));
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)flags;
    return CALL(device_exists(peer) ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    return CALL(device_exists(peer) ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice);
}

static cudaError_t peer_attribute(int *value, int from, int to)
{
    if (!device_exists(from) || !device_exists(to) || from == to)
        return cudaErrorInvalidDevice;
    return ANSWER(value, 0);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr which, int from, int to)
{
    (void)which;
    return QUERY(peer_attribute(value, from, to));
}

/* For a profiler that is not there: a GPU says cudaSuccess too. */
cudaError_t cudaProfilerStart(void)
{
    return CALL(cudaSuccess);
}

cudaError_t cudaProfilerStop(void)
{
    return CALL(cudaSuccess);
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){.x = x, .y = y, .z = z, .w = w, .f = kind};
}
