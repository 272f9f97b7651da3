/* Copies and fills. Everything happens at the call; the asynchronous forms differ in checking their stream.
 *
 * What is refused was compared with an H200 under CUDA 13.0: the side that the kind calls "device" has to be live device, managed
 * or pinned memory and hold all the bytes; the side called "host" may be anything, since addresses are unified. */
#define _GNU_SOURCE
#include "checks.h"
#include "cudart.h"
#include <stdint.h>
#include <string.h>

char *copy_side(const void *address, size_t bytes, bool device)
{
    uint64_t value = (uint64_t)(uintptr_t)address;

    const struct allocation *found = memory_find(value);
    if (found && found->kind == MEMORY_HEAP) /* what a kernel took with malloc is no memory for the runtime */
        return NULL;
    if (device || memory_reserved(value) || found)
        return memory_host(address, bytes);
    return (char *)address;
}

static bool kind_known(enum cudaMemcpyKind kind)
{
    return (int)kind >= cudaMemcpyHostToHost && (int)kind <= cudaMemcpyDefault;
}

static bool to_device(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
}

static bool from_device(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
}

cudaError_t copy_bytes(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    if (bytes == 0)
        return cudaSuccess;
    if (!kind_known(kind))
        return cudaErrorInvalidMemcpyDirection;
    char *target = copy_side(to, bytes, to_device(kind));
    const char *source = copy_side(from, bytes, from_device(kind));
    if (!target || !source)
        return cudaErrorInvalidValue;
    memmove(target, source, bytes);
    init_written(to, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return bytes == 0 ? QUERY(cudaSuccess) : front_synchronised(CALL(copy_bytes(to, from, bytes, kind)));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return CALL(stream_valid(stream) ? copy_bytes(to, from, bytes, kind) : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaMemcpyPeer(void *to, int to_gpu, const void *from, int from_gpu, size_t bytes)
{
    int count = 0;

    if (cudaGetDeviceCount(&count) || to_gpu < 0 || to_gpu >= count || from_gpu < 0 || from_gpu >= count)
        return CALL(cudaErrorInvalidDevice);
    return CALL(copy_bytes(to, from, bytes, cudaMemcpyDeviceToDevice));
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_gpu, const void *from, int from_gpu, size_t bytes, cudaStream_t stream)
{
    return stream_valid(stream) ? cudaMemcpyPeer(to, to_gpu, from, from_gpu, bytes) : CALL(cudaErrorInvalidResourceHandle);
}

/* A box of rows: `height` rows of `width` bytes in each of `depth` planes; the distance of rows and of planes in bytes. */
struct box {
    const void *start;
    size_t row, plane;
};

/* Bytes from the first to the last, so that one check covers the whole box; false if that overflows. */
static bool box_bytes(struct box box, size_t width, size_t height, size_t depth, size_t *bytes)
{
    size_t planes, rows;

    return !__builtin_mul_overflow(depth - 1, box.plane, &planes) && !__builtin_mul_overflow(height - 1, box.row, &rows) &&
           !__builtin_add_overflow(planes, rows, bytes) && !__builtin_add_overflow(*bytes, width, bytes);
}

static cudaError_t copy_box(struct box to, struct box from, struct cudaExtent size, enum cudaMemcpyKind kind)
{
    size_t to_bytes, from_bytes;

    if (!kind_known(kind))
        return cudaErrorInvalidMemcpyDirection;
    if (size.width > to.row || size.width > from.row)
        return cudaErrorInvalidPitchValue;
    if (size.width == 0 || size.height == 0 || size.depth == 0)
        return cudaSuccess;
    if (!box_bytes(to, size.width, size.height, size.depth, &to_bytes) ||
        !box_bytes(from, size.width, size.height, size.depth, &from_bytes))
        return cudaErrorInvalidValue;
    char *target = copy_side(to.start, to_bytes, to_device(kind));
    const char *source = copy_side(from.start, from_bytes, from_device(kind));
    if (!target || !source)
        return cudaErrorInvalidValue;
    for (size_t z = 0; z < size.depth; z++)
        for (size_t y = 0; y < size.height; y++) {
            memmove(target + z * to.plane + y * to.row, source + z * from.plane + y * from.row, size.width);
            init_written((const char *)to.start + z * to.plane + y * to.row, size.width);
        }
    return cudaSuccess;
}

static cudaError_t copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                             enum cudaMemcpyKind kind)
{
    return copy_box((struct box){to, to_pitch, 0}, (struct box){from, from_pitch, 0}, (struct cudaExtent){width, height, 1}, kind);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind)
{
    return front_synchronised(CALL(copy_rows(to, to_pitch, from, from_pitch, width, height, kind)));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return CALL(stream_valid(stream) ? copy_rows(to, to_pitch, from, from_pitch, width, height, kind)
                                     : cudaErrorInvalidResourceHandle);
}

static struct box box_of(struct cudaPitchedPtr pointer, struct cudaPos at)
{
    struct box box = {.row = pointer.pitch, .plane = pointer.pitch * pointer.ysize};

    box.start = (char *)pointer.ptr + at.z * box.plane + at.y * box.row + at.x;
    return box;
}

static cudaError_t copy_3d(const struct cudaMemcpy3DParms *request)
{
    if (!request)
        return cudaErrorInvalidValue;
    if (request->srcArray || request->dstArray)
        return front_lacks("CUDA array");
    return copy_box(box_of(request->dstPtr, request->dstPos), box_of(request->srcPtr, request->srcPos), request->extent,
                    request->kind);
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *request)
{
    return front_synchronised(CALL(copy_3d(request)));
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *request, cudaStream_t stream)
{
    return CALL(stream_valid(stream) ? copy_3d(request) : cudaErrorInvalidResourceHandle);
}

static cudaError_t fill_box(struct box to, int value, struct cudaExtent size)
{
    size_t bytes;

    if (size.width == 0 || size.height == 0 || size.depth == 0)
        return cudaSuccess;
    if ((size.height > 1 && size.width > to.row) || !box_bytes(to, size.width, size.height, size.depth, &bytes))
        return cudaErrorInvalidValue;
    char *target = copy_side(to.start, bytes, true);
    if (!target)
        return cudaErrorInvalidValue;
    for (size_t z = 0; z < size.depth; z++)
        for (size_t y = 0; y < size.height; y++) {
            memset(target + z * to.plane + y * to.row, value, size.width);
            init_written((const char *)to.start + z * to.plane + y * to.row, size.width);
        }
    return cudaSuccess;
}

static cudaError_t fill_rows(void *device, size_t pitch, int value, size_t width, size_t height)
{
    return fill_box((struct box){device, pitch, 0}, value, (struct cudaExtent){width, height, 1});
}

cudaError_t cudaMemset(void *device, int value, size_t bytes)
{
    return CALL(fill_rows(device, bytes, value, bytes, 1));
}

cudaError_t cudaMemsetAsync(void *device, int value, size_t bytes, cudaStream_t stream)
{
    return CALL(stream_valid(stream) ? fill_rows(device, bytes, value, bytes, 1) : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaMemset2D(void *device, size_t pitch, int value, size_t width, size_t height)
{
    return CALL(fill_rows(device, pitch, value, width, height));
}

cudaError_t cudaMemset2DAsync(void *device, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    return CALL(stream_valid(stream) ? fill_rows(device, pitch, value, width, height) : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr device, int value, struct cudaExtent size)
{
    return CALL(fill_box(box_of(device, (struct cudaPos){0, 0, 0}), value, size));
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr device, int value, struct cudaExtent size, cudaStream_t stream)
{
    return stream_valid(stream) ? cudaMemset3D(device, value, size) : CALL(cudaErrorInvalidResourceHandle);
}

/* The place of `bytes` at `offset` in a variable. */
static cudaError_t symbol_part(const void *symbol, size_t bytes, size_t offset, char **device)
{
    size_t size;
    cudaError_t error = symbol_find(symbol, device, &size);

    if (error)
        return error;
    if (offset > size || bytes > size - offset)
        return cudaErrorInvalidValue;
    *device += offset;
    return cudaSuccess;
}

static cudaError_t copy_to_symbol(const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    char *device;

    if (!to_device(kind) && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t error = symbol_part(symbol, bytes, offset, &device);
    return error ? error : copy_bytes(device, from, bytes, kind);
}

static cudaError_t copy_from_symbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    char *device;

    if (!from_device(kind) && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t error = symbol_part(symbol, bytes, offset, &device);
    return error ? error : copy_bytes(to, device, bytes, kind);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    return front_synchronised(CALL(copy_to_symbol(symbol, from, bytes, offset, kind)));
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    return front_synchronised(CALL(copy_from_symbol(to, symbol, bytes, offset, kind)));
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
                                    cudaStream_t stream)
{
    return CALL(stream_valid(stream) ? copy_to_symbol(symbol, from, bytes, offset, kind) : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
                                      cudaStream_t stream)
{
    return CALL(stream_valid(stream) ? copy_from_symbol(to, symbol, bytes, offset, kind) : cudaErrorInvalidResourceHandle);
}

PER_THREAD(cudaMemcpy, _ptds)
PER_THREAD(cudaMemcpyAsync, _ptsz)
PER_THREAD(cudaMemcpy2D, _ptds)
PER_THREAD(cudaMemcpy2DAsync, _ptsz)
PER_THREAD(cudaMemcpy3D, _ptds)
PER_THREAD(cudaMemcpy3DAsync, _ptsz)
PER_THREAD(cudaMemset, _ptds)
PER_THREAD(cudaMemsetAsync, _ptsz)
PER_THREAD(cudaMemset2D, _ptds)
PER_THREAD(cudaMemset2DAsync, _ptsz)
PER_THREAD(cudaMemset3D, _ptds)
PER_THREAD(cudaMemset3DAsync, _ptsz)
PER_THREAD(cudaMemcpyToSymbol, _ptds)
PER_THREAD(cudaMemcpyFromSymbol, _ptds)
PER_THREAD(cudaMemcpyToSymbolAsync, _ptsz)
PER_THREAD(cudaMemcpyFromSymbolAsync, _ptsz)
