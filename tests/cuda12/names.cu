// Names and layouts that CUDA 12 has of its own, on the emulator that is built with its toolkit: tests/test_cuda12.py runs it.
#include <cstdio>

static int wrong;
#define OK(call)                                                                                                                   \
    do {                                                                                                                           \
        cudaError_t error_ = (call);                                                                                               \
        if (error_)                                                                                                                \
            printf("line %d: %s\n", __LINE__, cudaGetErrorName(error_)), wrong++;                                                  \
    } while (0)
#define MUST(condition)                                                                                                            \
    do {                                                                                                                           \
        if (!(condition))                                                                                                          \
            printf("line %d: %s\n", __LINE__, #condition), wrong++;                                                                \
    } while (0)

__managed__ int counter = 40;
__global__ void add() { atomicAdd(&counter, 1); }

int main()
{
    cudaDeviceProp p;
    int value, version;
    size_t limit;
    float milliseconds;
    cudaEvent_t begin, end;
    cudaFuncCache config;

    OK(cudaRuntimeGetVersion(&version));
    MUST(version / 1000 == 12 && version == CUDART_VERSION);
    OK(cudaGetDeviceProperties(&p, 0)); // cudaGetDeviceProperties_v2, as the header has it
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0));
    MUST(value > 0 && p.clockRate == value);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMemoryClockRate, 0));
    MUST(value > 0 && p.memoryClockRate == value);
    MUST(p.deviceOverlap == 1 && p.computeMode == cudaComputeModeDefault && p.singleToDoublePrecisionPerfRatio > 0);
    MUST(p.major == 9 && p.warpSize == 32 && p.maxThreadsPerMultiProcessor == 2048 && p.memoryBusWidth > 0 && p.clusterLaunch == 0);
    OK(cudaMemAdvise(&counter, sizeof counter, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
    OK(cudaMemPrefetchAsync(&counter, sizeof counter, 0, 0));
    OK(cudaMemPrefetchAsync(&counter, sizeof counter, cudaCpuDeviceId));
    MUST(cudaMemPrefetchAsync(&counter, sizeof counter, -7) == cudaErrorInvalidDevice);
    cudaGetLastError();
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaEventRecord(begin));
    add<<<1, 2>>>();
    OK(cudaEventRecord(end));
    OK(cudaThreadSynchronize());
    OK(cudaEventElapsedTime(&milliseconds, begin, end));
    MUST(milliseconds >= 0);
    MUST(counter == 42);
    OK(cudaThreadGetLimit(&limit, cudaLimitStackSize));
    OK(cudaThreadSetLimit(cudaLimitStackSize, limit));
    OK(cudaThreadGetCacheConfig(&config));
    OK(cudaThreadSetCacheConfig(config));
    OK(cudaThreadExit());
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
