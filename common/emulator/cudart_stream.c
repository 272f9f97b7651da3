/* Streams and events. The emulator runs everything at the call, in the order of the calls, so a stream is always idle and an event
 * has always happened. An event holds the host's clock at its record: the difference of two is what the emulator took, never a
 * GPU's time. */
#define _GNU_SOURCE
#include "cudart.h"
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum {
    STREAM_MARK = 0x53545245, /* tells a live handle from a destroyed one */
    EVENT_MARK = 0x45564e54,
    PRIORITY_LEAST = 0, /* as an H200 says */
    PRIORITY_MOST = -5
};

/* What a stream may be told that changes no result. */
struct attributes {
    struct cudaAccessPolicyWindow window;
    enum cudaSynchronizationPolicy synchronisation;
    cudaLaunchMemSyncDomainMap domains;
    cudaLaunchMemSyncDomain domain;
};
static const struct attributes usual_attributes = {.synchronisation = cudaSyncPolicyAuto, .domains = {0, 1}};
static struct attributes default_attributes = {.synchronisation = cudaSyncPolicyAuto,
                                               .domains = {0, 1}}; /* of the default streams */

struct CUstream_st {
    struct attributes attributes;
    int mark, priority, device;
    unsigned flags;
    unsigned long long id;
    struct CUstream_st *spare;
};

struct CUevent_st {
    int mark;
    unsigned flags;
    bool recorded;
    int64_t nanoseconds;
    struct CUevent_st *spare;
};

/* Destroyed handles stay readable, so that using one again is an error and not a crash. */
static struct CUstream_st *spare_streams;
static struct CUevent_st *spare_events;
static unsigned long long streams_made = 2; /* 0 to 2 are the default streams */

static bool stream_default(cudaStream_t stream)
{
    return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

bool stream_valid(cudaStream_t stream)
{
    return stream_default(stream) || stream->mark == STREAM_MARK;
}

static cudaError_t make_stream(cudaStream_t *out, unsigned flags, int priority)
{
    if (!out || (flags & ~(unsigned)cudaStreamNonBlocking))
        return cudaErrorInvalidValue;
    struct CUstream_st *stream = spare_streams;
    if (stream)
        spare_streams = stream->spare;
    else if (!(stream = malloc(sizeof *stream)))
        return cudaErrorMemoryAllocation;
    priority = priority < PRIORITY_MOST ? PRIORITY_MOST : priority > PRIORITY_LEAST ? PRIORITY_LEAST : priority;
    *stream = (struct CUstream_st){.attributes = usual_attributes,
                                   .mark = STREAM_MARK,
                                   .priority = priority,
                                   .device = device_current(),
                                   .flags = flags,
                                   .id = ++streams_made};
    *out = stream;
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return CALL(make_stream(stream, cudaStreamDefault, PRIORITY_LEAST));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return CALL(make_stream(stream, flags, PRIORITY_LEAST));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    return CALL(make_stream(stream, flags, priority));
}

static cudaError_t destroy_stream(cudaStream_t stream)
{
    if (stream_default(stream) || !stream_valid(stream))
        return cudaErrorInvalidResourceHandle;
    stream->mark = 0;
    stream->spare = spare_streams;
    spare_streams = stream;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return CALL(destroy_stream(stream));
}

static cudaError_t stream_idle(cudaStream_t stream)
{
    return stream_valid(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return front_synchronised(CALL(stream_idle(stream)));
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return CALL(stream_idle(stream));
}

static bool event_valid(cudaEvent_t event)
{
    return event && event->mark == EVENT_MARK;
}

static cudaError_t event_happened(cudaEvent_t event)
{
    return event_valid(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    return CALL(stream_valid(stream) ? event_happened(event) : cudaErrorInvalidResourceHandle);
}

/* An answer about a stream, written only if the handle and the place for the answer are good. */
#define ANSWER(stream, out, value)                                                                                                 \
    QUERY(!stream_valid(stream) ? cudaErrorInvalidResourceHandle : !(out) ? cudaErrorInvalidValue : (*(out) = (value), cudaSuccess))

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    return ANSWER(stream, priority, stream_default(stream) ? PRIORITY_LEAST : stream->priority);
}

static struct attributes *attributes_of(cudaStream_t stream)
{
    return stream_default(stream) ? &default_attributes : &stream->attributes;
}

static cudaError_t get_attribute(cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue *value)
{
    if (!stream_valid(stream))
        return cudaErrorInvalidResourceHandle;
    if (!value)
        return cudaErrorInvalidValue;
    switch (id) {
    case cudaStreamAttributeAccessPolicyWindow: value->accessPolicyWindow = attributes_of(stream)->window; break;
    case cudaStreamAttributeSynchronizationPolicy: value->syncPolicy = attributes_of(stream)->synchronisation; break;
    case cudaStreamAttributePriority: value->priority = stream_default(stream) ? PRIORITY_LEAST : stream->priority; break;
    case cudaStreamAttributeMemSyncDomainMap: value->memSyncDomainMap = attributes_of(stream)->domains; break;
    case cudaStreamAttributeMemSyncDomain: value->memSyncDomain = attributes_of(stream)->domain; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

static bool window_valid(const struct cudaAccessPolicyWindow *w)
{
    int most = 0;

    cudaDeviceGetAttribute(&most, cudaDevAttrMaxAccessPolicyWindowSize, device_current());
    return w->hitRatio >= 0 && w->hitRatio <= 1 && w->num_bytes <= (size_t)most && w->missProp != cudaAccessPropertyPersisting;
}

static cudaError_t set_attribute(cudaStream_t stream, cudaStreamAttrID id, const cudaStreamAttrValue *value)
{
    if (!stream_valid(stream))
        return cudaErrorInvalidResourceHandle;
    if (!value)
        return cudaErrorInvalidValue;
    switch (id) {
    case cudaStreamAttributeAccessPolicyWindow:
        if (!window_valid(&value->accessPolicyWindow))
            return cudaErrorInvalidValue;
        attributes_of(stream)->window = value->accessPolicyWindow;
        break;
    case cudaStreamAttributeSynchronizationPolicy:
        if (value->syncPolicy < cudaSyncPolicyAuto || value->syncPolicy > cudaSyncPolicyBlockingSync)
            return cudaErrorInvalidValue;
        attributes_of(stream)->synchronisation = value->syncPolicy;
        break;
    case cudaStreamAttributePriority:
        if (stream_default(stream) || value->priority < PRIORITY_MOST || value->priority > PRIORITY_LEAST)
            return cudaErrorInvalidValue;
        stream->priority = value->priority;
        break;
    case cudaStreamAttributeMemSyncDomainMap: attributes_of(stream)->domains = value->memSyncDomainMap; break;
    case cudaStreamAttributeMemSyncDomain: attributes_of(stream)->domain = value->memSyncDomain; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue *value)
{
    return CALL(get_attribute(stream, id, value));
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID id, const cudaStreamAttrValue *value)
{
    return CALL(set_attribute(stream, id, value));
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    return CALL(!stream_valid(to) || !stream_valid(from) ? cudaErrorInvalidResourceHandle
                                                         : (*attributes_of(to) = *attributes_of(from), cudaSuccess));
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    return ANSWER(stream, flags, stream_default(stream) ? 0 : stream->flags);
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    return ANSWER(stream, id, stream_default(stream) ? (unsigned long long)(uintptr_t)stream : stream->id);
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    return ANSWER(stream, device, stream_default(stream) ? device_current() : stream->device);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    return ANSWER(stream, status, cudaStreamCaptureStatusNone); /* captures cannot begin: graphs are not supported */
}

/* Host functions run at the call: all work before them is done. The lock is not held, as they may take locks of the program's. */
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    cudaError_t error = CALL(!stream_valid(stream) ? cudaErrorInvalidResourceHandle
                             : !function           ? cudaErrorInvalidValue
                                                   : cudaSuccess);

    if (error == cudaSuccess)
        function(data);
    return error;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data, unsigned flags)
{
    cudaError_t error = QUERY(!stream_valid(stream) ? cudaErrorInvalidResourceHandle
                              : !function || flags  ? cudaErrorInvalidValue
                                                    : cudaSuccess);

    if (error == cudaSuccess)
        function(stream, front_sticky(), data); /* callbacks are told of a fault and run even so */
    return error;
}

static cudaError_t make_event(cudaEvent_t *out, unsigned flags)
{
    unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

    if (!out || (flags & ~known))
        return cudaErrorInvalidValue;
    if (flags & cudaEventInterprocess)
        return front_lacks("cudaEventInterprocess");
    struct CUevent_st *event = spare_events;
    if (event)
        spare_events = event->spare;
    else if (!(event = malloc(sizeof *event)))
        return cudaErrorMemoryAllocation;
    *event = (struct CUevent_st){.mark = EVENT_MARK, .flags = flags};
    *out = event;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return CALL(make_event(event, cudaEventDefault));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    return CALL(make_event(event, flags));
}

static cudaError_t destroy_event(cudaEvent_t event)
{
    if (!event_valid(event))
        return cudaErrorInvalidResourceHandle;
    event->mark = 0;
    event->spare = spare_events;
    spare_events = event;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return CALL(destroy_event(event));
}

static cudaError_t record(cudaEvent_t event, cudaStream_t stream)
{
    struct timespec now;

    if (!event_valid(event) || !stream_valid(stream))
        return cudaErrorInvalidResourceHandle;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->nanoseconds = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    event->recorded = true;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return CALL(record(event, stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    return CALL(flags & ~(unsigned)cudaEventRecordExternal ? cudaErrorInvalidValue : record(event, stream));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return CALL(event_happened(event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return front_synchronised(CALL(event_happened(event)));
}

static bool event_timed(cudaEvent_t event)
{
    return event_valid(event) && event->recorded && !(event->flags & cudaEventDisableTiming);
}

static cudaError_t elapsed(float *milliseconds, cudaEvent_t start, cudaEvent_t stop)
{
    if (!milliseconds)
        return cudaErrorInvalidValue;
    if (!event_timed(start) || !event_timed(stop))
        return cudaErrorInvalidResourceHandle;
    *milliseconds = (float)((double)(stop->nanoseconds - start->nanoseconds) / 1e6);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop)
{
    return CALL(elapsed(milliseconds, start, stop));
}

PER_THREAD(cudaStreamSynchronize, _ptsz)
PER_THREAD(cudaStreamQuery, _ptsz)
PER_THREAD(cudaStreamWaitEvent, _ptsz)
PER_THREAD(cudaStreamGetPriority, _ptsz)
PER_THREAD(cudaStreamGetAttribute, _ptsz)
PER_THREAD(cudaStreamSetAttribute, _ptsz)
PER_THREAD(cudaStreamCopyAttributes, _ptsz)
PER_THREAD(cudaStreamGetFlags, _ptsz)
PER_THREAD(cudaStreamGetId, _ptsz)
PER_THREAD(cudaStreamGetDevice, _ptsz)
PER_THREAD(cudaStreamIsCapturing, _ptsz)
PER_THREAD(cudaStreamAddCallback, _ptsz)
PER_THREAD(cudaLaunchHostFunc, _ptsz)
PER_THREAD(cudaEventRecord, _ptsz)
PER_THREAD(cudaEventRecordWithFlags, _ptsz)
