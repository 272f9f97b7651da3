// expect: got=abAcd0.0 0.1 1.0 1.1 2.0 2.1 e
// What kernels print waits for a synchronisation: a launch, cudaMalloc and cudaMemset let the host print first, a copy does not.
// Text stands in the order of the blocks.
#include <cstdio>
__global__ void say(char c) { printf("%c", c); }
__global__ void one_a_warp()
{
    if (threadIdx.x % 32 == 0)
        printf("%d.%d ", blockIdx.x, threadIdx.x / 32);
}
int main()
{
    int *p, h = 0;
    printf("got=");
    say<<<1, 1>>>('A');
    printf("a");
    cudaMalloc(&p, 4);
    cudaMemset(p, 0, 4);
    printf("b");
    cudaMemcpy(p, &h, 4, cudaMemcpyHostToDevice);
    printf("c");
    one_a_warp<<<3, 64>>>();
    printf("d");
    cudaStreamSynchronize(0);
    printf("e\n");
    return cudaFree(p) != cudaSuccess;
}
