// a block reads what its neighbour block stores in the same launch; check: race; says: race on global memory
#include "fault.h"

__global__ void store(const int *in, int *middle)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    middle[i] = 2 * in[i];
}

__global__ void shift(const int *middle, int *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = middle[(i + 1) % 256];
}

__global__ void both(const int *in, int *middle, int *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    middle[i] = 2 * in[i]; /* here */
    __syncthreads();
    out[i] = middle[(i + 1) % 256]; /* here */
}

int main()
{
    int *in = counted(256), *middle = cleared(256), *out = cleared(256);

#ifdef CORRECT
    store<<<4, 64>>>(in, middle);
    shift<<<4, 64>>>(middle, out);
#else
    both<<<4, 64>>>(in, middle, out);
#endif
    int status = finish(out, 4);
    cudaFree(in);
    cudaFree(middle);
    cudaFree(out);
    return status;
}
