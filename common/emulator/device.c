/* How many blocks an SM of the emulated device holds at once. */
#include "device.h"

const struct device_limits device_limits_default = {.stack = 1024, .heap = 8388608};
struct device_limits device_limits = {.stack = 1024, .heap = 8388608};

static unsigned long least(unsigned long a, unsigned long b)
{
    return a < b ? a : b;
}

int device_blocks_per_sm(unsigned threads, unsigned long shared)
{
    if (threads == 0 || threads > DEVICE_BLOCK_THREADS || shared > DEVICE_SHARED_OPTIN)
        return 0;
    unsigned long warps = (threads + WARP_SIZE - 1) / WARP_SIZE;
    /* Shared memory is handed out in units of 128 bytes (compute capability 9.0), the system's share of the block included. */
    unsigned long block_shared = (shared + DEVICE_SHARED_RESERVED + 127) / 128 * 128;
    unsigned long blocks = least(DEVICE_SM_BLOCKS, DEVICE_SM_WARPS / warps);
    return (int)least(blocks, DEVICE_SM_SHARED / block_shared);
}
