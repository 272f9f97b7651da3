// expect: got=0 wrong
// What a program asks about the device, its memory, its kernels and its errors.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
static int wrong;
#define MUST(condition) ((condition) ? (void)0 : (void)(wrong++, printf("line %d: %s\n", __LINE__, #condition)))
#define OK(call) MUST((call) == cudaSuccess)
#define REFUSED(call, error) (MUST((call) == error), MUST(cudaGetLastError() == error))
__global__ void __launch_bounds__(256) fill(int *p, int value) { p[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void use_shared(int *p)
{
    extern __shared__ int tile[];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    p[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

static void device()
{
    cudaDeviceProp properties, wish = {};
    int count, value, id = -1, same = -1, version;
    char bus[32];
    size_t limit;
    unsigned flags;
    cudaFuncCache cache;
    OK(cudaGetDeviceCount(&count)), OK(cudaSetDevice(0)), OK(cudaGetDevice(&id)), OK(cudaInitDevice(0, 0, 0));
    MUST(count == 1 && id == 0);
    OK(cudaGetDeviceProperties(&properties, 0));
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    MUST(value == properties.multiProcessorCount && properties.warpSize == 32);
    OK(cudaChooseDevice(&id, &wish));
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0)), OK(cudaDeviceGetByPCIBusId(&same, bus));
    MUST(same == 0);
    OK(cudaRuntimeGetVersion(&version)), MUST(version == CUDART_VERSION), OK(cudaDriverGetVersion(&version)), MUST(version >= CUDART_VERSION);
    OK(cudaDeviceGetLimit(&limit, cudaLimitStackSize)), OK(cudaDeviceSetLimit(cudaLimitStackSize, 2 * limit));
    size_t twice;
    OK(cudaDeviceGetLimit(&twice, cudaLimitStackSize));
    MUST(twice == 2 * limit);
    OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared)), OK(cudaDeviceGetCacheConfig(&cache));
    OK(cudaGetDeviceFlags(&flags)), OK(cudaSetDeviceFlags(cudaDeviceScheduleAuto));
    OK(cudaProfilerStart()), OK(cudaProfilerStop());
    REFUSED(cudaSetDevice(1), cudaErrorInvalidDevice);
    REFUSED(cudaDeviceCanAccessPeer(&value, 0, 5), cudaErrorInvalidDevice);
    REFUSED(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)100000, 0), cudaErrorInvalidValue);
}

static void memory()
{
    int *pinned, *mapped, *alias, *managed, *device, *own = (int *)aligned_alloc(4096, 4096);
    size_t available, total;
    unsigned flags;
    cudaPointerAttributes about;
    OK(cudaMemGetInfo(&available, &total));
    MUST(available <= total && total > 0);
    OK(cudaMallocHost((void **)&pinned, 1024)), OK(cudaHostAlloc((void **)&mapped, 1024, cudaHostAllocMapped));
    OK(cudaHostGetDevicePointer((void **)&alias, mapped, 0)), OK(cudaHostGetFlags(&flags, mapped));
    MUST(flags & cudaHostAllocMapped);
    OK(cudaMallocManaged((void **)&managed, 1024)), OK(cudaMalloc((void **)&device, 1024));
    OK(cudaHostRegister(own, 4096, cudaHostRegisterMapped));
    fill<<<1, 256>>>(alias, 1), fill<<<1, 256>>>(managed, 2), fill<<<1, 256>>>(own, 3);
    OK(cudaDeviceSynchronize());
    MUST(mapped[255] == 1 && managed[0] == 2 && own[100] == 3);
    OK(cudaPointerGetAttributes(&about, device)), MUST(about.type == cudaMemoryTypeDevice);
    OK(cudaPointerGetAttributes(&about, managed)), MUST(about.type == cudaMemoryTypeManaged);
    OK(cudaPointerGetAttributes(&about, pinned)), MUST(about.type == cudaMemoryTypeHost);
    OK(cudaPointerGetAttributes(&about, &about)), MUST(about.type == cudaMemoryTypeUnregistered);
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    OK(cudaMemPrefetchAsync(managed, 1024, here, 0, 0)), OK(cudaMemAdvise(managed, 1024, cudaMemAdviseSetReadMostly, here));
    REFUSED(cudaHostRegister(own, 4096, cudaHostRegisterDefault), cudaErrorHostMemoryAlreadyRegistered);
    OK(cudaHostUnregister(own)), free(own);
    REFUSED(cudaHostUnregister(mapped + 1), cudaErrorHostMemoryNotRegistered);
    OK(cudaFreeHost(pinned)), OK(cudaFreeHost(mapped)), OK(cudaFree(managed)), OK(cudaFree(device)), OK(cudaFree(0));
    REFUSED(cudaFree(device), cudaErrorInvalidValue);
    REFUSED(cudaMalloc((void **)&device, (size_t)1 << 60), cudaErrorMemoryAllocation);
}

static void kernels()
{
    cudaFuncAttributes about;
    int blocks, *p, value = 9, h[256];
    size_t room;
    const char *name;
    OK(cudaFuncGetAttributes(&about, fill));
    MUST(about.maxThreadsPerBlock == 256);
    OK(cudaFuncGetName(&name, (const void *)fill)), MUST(strstr(name, "fill") != nullptr);
    OK(cudaFuncSetCacheConfig(fill, cudaFuncCachePreferL1));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 0));
    MUST(blocks == 8);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, use_shared, 256, 40 * 1024, cudaOccupancyDefault));
    MUST(blocks == 5);
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&room, (const void *)use_shared, 2, 256));
    MUST(room > 0);
    OK(cudaMalloc((void **)&p, 1024));
    use_shared<<<1, 256, 100 * 1024>>>(p);
    REFUSED(cudaPeekAtLastError(), cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(use_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
    use_shared<<<1, 256, 100 * 1024>>>(p);
    OK(cudaMemcpy(h, p, 1024, cudaMemcpyDeviceToHost));
    MUST(h[0] == 255 && h[255] == 0);
    void *arguments[] = {&p, &value};
    OK(cudaLaunchKernel((const void *)fill, dim3(1), dim3(256), arguments, 0, 0));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1), config.blockDim = dim3(128);
    value = 11;
    OK(cudaLaunchKernelExC(&config, (const void *)fill, arguments));
    OK(cudaMemcpy(h, p, 1024, cudaMemcpyDeviceToHost));
    MUST(h[127] == 11 && h[128] == 9);
    value = 12;
    OK(cudaLaunchCooperativeKernel((const void *)fill, dim3(1), dim3(256), arguments, 0, 0));
    fill<<<1, 512>>>(p, 0);
    REFUSED(cudaPeekAtLastError(), cudaErrorInvalidValue);
    MUST(!strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") && cudaGetErrorString(cudaErrorInvalidValue)[0]);
    OK(cudaFree(p)), OK(cudaDeviceReset());
}

int main()
{
    device(), memory(), kernels();
    printf("got=%d wrong\n", wrong);
}
