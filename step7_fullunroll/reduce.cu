/* Step 7: the block size is a compile-time constant, so every stage of the tree unrolls.
 * Watch: branches and warp_instructions fall. */
#include "harness.h"

template <unsigned block>
__global__ void reduce(element *input, total *sums, size_t n)
{
    extern __shared__ element tile[];
    unsigned tid = threadIdx.x;
    size_t i = (size_t)blockIdx.x * (2 * block) + tid;

    tile[tid] = (i < n ? input[i] : 0) + (i + block < n ? input[i + block] : 0);
    __syncthreads();
    for (unsigned stride = block / 2; stride > 32; stride /= 2) {
        if (tid < stride)
            tile[tid] += tile[tid + stride];
        __syncthreads();
    }
    if (tid < 32) {
        element sum = tile[tid];
        for (unsigned stride = 32; stride > 0; stride /= 2) {
            if (tid + stride < block)
                sum += tile[tid + stride];
            __syncwarp();
            tile[tid] = sum;
            __syncwarp();
        }
    }
    if (tid == 0)
        sums[blockIdx.x] = tile[0];
}

/* How many elements one block sums. */
static size_t tile_of(unsigned block)
{
    return 2 * (size_t)block;
}

static unsigned launch(const struct reduction *r)
{
    unsigned threads = r->block;
    unsigned grid = blocks_for(r->n, tile_of(r->block));
    size_t shared = threads * sizeof(element);

    switch (threads) {
    case 32: reduce<32><<<grid, threads, shared>>>(r->input, r->sums, r->n); break;
    case 64: reduce<64><<<grid, threads, shared>>>(r->input, r->sums, r->n); break;
    case 128: reduce<128><<<grid, threads, shared>>>(r->input, r->sums, r->n); break;
    case 256: reduce<256><<<grid, threads, shared>>>(r->input, r->sums, r->n); break;
    case 512: reduce<512><<<grid, threads, shared>>>(r->input, r->sums, r->n); break;
    case 1024: reduce<1024><<<grid, threads, shared>>>(r->input, r->sums, r->n); break;
    default: no_kernel_for(threads);
    }
    return grid;
}

int main(int argc, char **argv)
{
    return harness_main(argc, argv, ONE_PER_TILE, tile_of, launch);
}
