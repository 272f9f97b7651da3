/* Walks a fatbinary's entries.
 *
 * NVIDIA does not document the layout. The magic number and the wrapper are in the toolkit's fatbinary_section.h; the rest is known
 * from published readings of nvcc's output (gpuocelot, RWTH-ACS/cricket) and from comparing `cuobjdump` with the bytes of
 * CUDA 13.0:
 *
 *   container   u32 magic 0xba55ed50   u16 version 1   u16 header bytes (16)   u64 bytes of all entries
 *   entry       u16 kind (1 PTX, 2 ELF)  u16 version   u32 header bytes (64 or more)   u64 payload bytes
 *               at 28: u32 target (75 for sm_75)        at 40: u64 flags; the payload follows the header
 *
 * Several containers may follow each other. Fields are read at their offsets by memcpy: nothing here trusts alignment or sizes. */
#include "fatbin.h"
#include "device.h"
#include <stdint.h>
#include <string.h>

#define FATBIN_MAGIC 0xba55ed50u
enum {
    CONTAINER_HEADER = 16,
    ENTRY_HEADER = 64,
    ENTRY_PAYLOAD_SIZE = 8,
    ENTRY_TARGET = 28,
    ENTRY_FLAGS = 40,
    KIND_PTX = 1,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    TARGET_MOST = 10 * DEVICE_CAPABILITY_MAJOR + DEVICE_CAPABILITY_MINOR
};

#ifdef CUDA_12
#define REBUILD "nvcc --no-compress -gencode arch=compute_75,code=compute_75"
#else
#define REBUILD "nvcc --compress-mode=none -gencode arch=compute_75,code=compute_75"
#endif

struct findings {
    struct fatbin_ptx best;
    bool compressed, too_new;
};

static uint64_t read_field(const char *at, size_t bytes) /* little-endian, as all hosts of CUDA are */
{
    uint64_t value = 0;

    memcpy(&value, at, bytes);
    return value;
}

static void consider_ptx(const char *header, const char *payload, size_t bytes, struct findings *found)
{
    int target = (int)(read_field(header + ENTRY_TARGET, 4) & 0xffff);

    if (target > TARGET_MOST) {
        found->too_new = true;
        return;
    }
    if (read_field(header + ENTRY_FLAGS, 8) & (FLAG_LZ4 | FLAG_ZSTD)) {
        found->compressed = true;
        return;
    }
    while (bytes > 0 && payload[bytes - 1] == 0) /* padding up to 8 bytes */
        bytes--;
    if (bytes > 0 && target > found->best.target)
        found->best = (struct fatbin_ptx){.text = payload, .bytes = bytes, .target = target};
}

/* False: a header or a payload reaches past the end. */
static bool walk_entries(const char *entry, const char *end, struct findings *found)
{
    while (entry < end) {
        size_t left = (size_t)(end - entry);
        if (left < ENTRY_HEADER)
            return false;
        uint64_t header = read_field(entry + 4, 4), payload = read_field(entry + ENTRY_PAYLOAD_SIZE, 8);
        if (header < ENTRY_HEADER || header > left || payload > left - header)
            return false;
        if (read_field(entry, 2) == KIND_PTX)
            consider_ptx(entry, entry + header, (size_t)payload, found);
        entry += header + payload;
    }
    return true;
}

static bool walk_containers(const char *data, const char *end, struct findings *found)
{
    bool any = false;

    while ((size_t)(end - data) >= CONTAINER_HEADER && read_field(data, 4) == FATBIN_MAGIC) {
        size_t left = (size_t)(end - data);
        uint64_t header = read_field(data + 6, 2), entries = read_field(data + 8, 8);
        if (header < CONTAINER_HEADER || header > left || entries > left - header)
            return false;
        if (!walk_entries(data + header, data + header + entries, found))
            return false;
        data += header + entries;
        any = true;
    }
    return any;
}

bool fatbin_find_ptx(const void *data, size_t most, struct fatbin_ptx *out, const char **problem)
{
    struct findings found = {0};

    if (!walk_containers(data, (const char *)data + most, &found)) {
        *problem = "the program's fatbinary is damaged: its headers reach past its end, or it is none.";
        return false;
    }
    if (found.best.text) {
        *out = found.best;
        return true;
    }
    if (found.compressed)
        *problem = "the program's PTX is compressed and the emulator reads plain PTX only: rebuild with " REBUILD ".";
    else if (found.too_new)
        *problem = "the program's PTX is for GPUs newer than the emulated one (compute capability 9.0): rebuild with " REBUILD ".";
    else
        *problem = "the program carries machine code for some GPUs but no PTX, which the emulator runs: rebuild with " REBUILD ".";
    return false;
}
