/* Step 9: the lanes of a warp hand each other their sums with __shfl_down_sync; shared memory holds one sum a warp.
 * Watch: shared_loads, shared_stores and barriers fall; shuffles take their place. */
#include "harness.h"

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
    total sum = 0;

    for (size_t i = (size_t)blockIdx.x * block + tid; i < n; i += (size_t)gridDim.x * block)
        sum += input[i];
    sum = block_sum(sum);
    if (tid == 0)
        sums[blockIdx.x] = sum;
}

/* How many elements one block sums at a time. */
static size_t tile_of(unsigned block)
{
    return block;
}

static unsigned launch(const struct reduction *r)
{
    unsigned threads = r->block;
    unsigned grid = resident_blocks_for(r, tile_of(r->block));
    size_t shared = 0;

    reduce<<<grid, threads, shared>>>(r->input, r->sums, r->n);
    return grid;
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv, ONE_PER_BLOCK, tile_of, launch);
}
