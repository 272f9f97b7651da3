/* Beside step 11: all blocks wait for each other in the kernel, then the first adds up; a cooperative launch keeps all resident.
 * Watch: barriers and atomics, with which the grid's barrier is made. */
#include "harness.h"

#include <cooperative_groups.h>

enum { WIDTH = 16 / sizeof(element), LOADS = 4 };

struct alignas(16) vector {
    element part[WIDTH];
};

/* The sum over a warp; right in its lane 0. */
static __device__ total warp_sum(total sum)
{
    for (unsigned offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    return sum;
}

/* The sum over the block; right in thread 0. */
static __device__ total block_sum(total sum)
{
    __shared__ total warps[32];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    sum = warp_sum(sum);
    if (lane == 0)
        warps[warp] = sum;
    __syncthreads();
    if (warp == 0)
        sum = warp_sum(lane < blockDim.x / 32 ? warps[lane] : 0);
    return sum;
}

__global__ void reduce(element *input, total *sums, size_t n)
{
    unsigned block = blockDim.x;
    unsigned tid = threadIdx.x;
    size_t tile = (size_t)block * WIDTH * LOADS, i = blockIdx.x * tile;
    total sum = 0;

    for (; i + tile <= n; i += gridDim.x * tile) {
        const struct vector *vectors = (const struct vector *)(input + i);
        struct vector v[LOADS];
        for (unsigned load = 0; load < LOADS; load++)
            v[load] = vectors[load * block + tid];
        for (unsigned load = 0; load < LOADS; load++)
            for (unsigned k = 0; k < WIDTH; k++)
                sum += v[load].part[k];
    }
    for (i += tid * WIDTH; i < n; i += block * WIDTH) /* the last tile, if n cuts it */
        for (unsigned k = 0; k < WIDTH; k++)
            sum += i + k < n ? input[i + k] : 0;
    sum = block_sum(sum);
    if (tid == 0)
        sums[blockIdx.x] = sum;
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0) {
        sum = 0;
        for (unsigned b = tid; b < gridDim.x; b += block)
            sum += sums[b];
        sum = block_sum(sum);
        if (tid == 0)
            sums[0] = sum;
    }
}

/* How many elements one block sums at a time. */
static size_t tile_of(unsigned block)
{
    return (size_t)block * WIDTH * LOADS;
}

static unsigned launch(const struct reduction *r)
{
    unsigned threads = r->block;
    unsigned grid = resident_blocks_for(r, tile_of(r->block));
    size_t shared = 0;
    void *arguments[] = {(void *)&r->input, (void *)&r->sums, (void *)&r->n};

    cudaLaunchCooperativeKernel((const void *)reduce, grid, threads, arguments, shared, 0);
    return grid;
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv, ONE_IN_ALL, tile_of, launch);
}
