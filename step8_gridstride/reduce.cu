/* Step 8: a grid sized to the GPU, not to n; each thread strides over the whole array, then the block adds up once.
 * Watch: barriers and shared_loads no longer grow with n, so for a large one they fall, and warp_instructions with them. */
#include "harness.h"

template <unsigned block>
__global__ void reduce(element *input, total *sums, size_t n)
{
    extern __shared__ total tile[];
    unsigned tid = threadIdx.x;
    total sum = 0;

    for (size_t i = (size_t)blockIdx.x * block + tid; i < n; i += (size_t)gridDim.x * block)
        sum += input[i];
    tile[tid] = sum;
    __syncthreads();
    for (unsigned stride = block / 2; stride > 32; stride /= 2) {
        if (tid < stride)
            tile[tid] += tile[tid + stride];
        __syncthreads();
    }
    if (tid < 32) {
        sum = tile[tid];
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

/* How many elements one block sums at a time. */
static size_t tile_of(unsigned block)
{
    return block;
}

static unsigned launch(const struct reduction *r)
{
    unsigned threads = r->block;
    unsigned grid = resident_blocks_for(r, tile_of(r->block));
    size_t shared = threads * sizeof(total);

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
    return harness_main(argc, argv, ONE_PER_BLOCK, tile_of, launch);
}
