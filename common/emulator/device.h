/* The emulated device: an H200's limits, in one place. Source: CUDA Programming Guide 13.0, "Compute Capabilities" (9.0), and
 * cudaGetDeviceProperties on an H200. Sizes in bytes. */
#ifndef DEVICE_H
#define DEVICE_H
#define DEVICE_NAME "Emulated H200"
#define DEVICE_CAPABILITY_MAJOR 9
#define DEVICE_CAPABILITY_MINOR 0
enum {
    WARP_SIZE = 32,
    DEVICE_SMS = 132,
    DEVICE_BLOCK_THREADS = 1024,
    DEVICE_BLOCK_BARRIERS = 16,
    DEVICE_SM_THREADS = 2048,
    DEVICE_SM_BLOCKS = 32,
    DEVICE_SM_WARPS = DEVICE_SM_THREADS / WARP_SIZE,
    DEVICE_SM_REGISTERS = 65536,
    DEVICE_SHARED_DEFAULT = 48 * 1024,
    DEVICE_SHARED_OPTIN = 227 * 1024,
    DEVICE_SM_SHARED = 228 * 1024,
    DEVICE_SHARED_RESERVED = 1024, /* the system's share of each block, counted in occupancy */
    DEVICE_CONSTANT = 64 * 1024,
    DEVICE_L2 = 60 * 1024 * 1024,
    DEVICE_GRID_X = 2147483647,
    DEVICE_GRID_YZ = 65535,
    DEVICE_BLOCK_Z = 64
};

/* What cudaDeviceSetLimit set, or an H200's defaults. In bytes. */
struct device_limits {
    unsigned long stack, heap;
};
extern struct device_limits device_limits;
extern const struct device_limits device_limits_default;

/* Blocks an SM holds at once, from threads and shared memory alone. */
int device_blocks_per_sm(unsigned threads, unsigned long shared);
#endif
