// expect: error is free already
// A kernel frees memory twice: an H200 stops it with error 719.
#include <cstdio>
__global__ void k() { int *p = new int[4]; *(int *volatile *)&p; delete[] p; delete[] p; }
int main()
{
    k<<<1, 1>>>();
    return cudaDeviceSynchronize() == cudaErrorLaunchFailure;
}
