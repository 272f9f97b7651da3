/* What the programs here share. Each is a fault as it stands and correct with -DCORRECT. As a fault its main looks at no error and
 * returns 0, like a careless one; as its twin it fails when CUDA reports an error or the result is wrong. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

/* An array on the device: 1, 2, 3, … */
static int *counted(int n)
{
    int *device = NULL, *host = (int *)malloc((size_t)n * sizeof *host);

    for (int i = 0; i < n; i++)
        host[i] = i + 1;
    cudaMalloc(&device, (size_t)n * sizeof *device);
    cudaMemcpy(device, host, (size_t)n * sizeof *device, cudaMemcpyHostToDevice);
    free(host);
    return device;
}

/* Cleared to 0. */
static int *cleared(int n)
{
    int *device = NULL;

    cudaMalloc(&device, (size_t)n * sizeof *device);
    cudaMemset(device, 0, (size_t)n * sizeof *device);
    return device;
}

/* Waits for the kernel, prints the first word of its result and gives the exit status. */
static int finish(const int *result, int want)
{
    int got = -1;
    cudaError_t error = cudaMemcpy(&got, result, sizeof got, cudaMemcpyDeviceToHost);

    printf("got=%d\n", got);
#ifdef CORRECT
    if (error == cudaSuccess)
        error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
    else if (got != want)
        fprintf(stderr, "wrong: want %d\n", want);
    return error != cudaSuccess || got != want;
#else
    (void)error;
    (void)want;
    return 0;
#endif
}
