/* What only CUDA 12's runtime has, built when the toolkit is one: names that CUDA 13 dropped or gave to a newer form. */
#include "cudart.h"

#if CUDART_VERSION < 13000
#undef cudaGetDeviceProperties /* the header makes it cudaGetDeviceProperties_v2 */

/* CUDA 10's threads, which mean the device. */
cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
}
cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}
cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value)
{
    return cudaDeviceSetLimit(limit, value);
}
cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit limit)
{
    return cudaDeviceGetLimit(value, limit);
}
cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *config)
{
    return cudaDeviceGetCacheConfig(config);
}
cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config)
{
    return cudaDeviceSetCacheConfig(config);
}

/* For GPUs without double precision, which no longer exist: nothing to convert. */
cudaError_t cudaSetDoubleForDevice(double *d)
{
    (void)d;
    return cudaSuccess;
}

cudaError_t cudaSetDoubleForHost(double *d)
{
    (void)d;
    return cudaSuccess;
}

/* The properties as CUDA 11 laid them out: no program built with CUDA 12 asks for them. */
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device)
{
    (void)out, (void)device;
    return QUERY(front_lacks("the cudaDeviceProp of CUDA 11 (cudaGetDeviceProperties)"));
}

/* From 12.8 on a program may ask for either. */
cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t start, cudaEvent_t stop);
cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t start, cudaEvent_t stop)
{
    return cudaEventElapsedTime(milliseconds, start, stop);
}
#endif
