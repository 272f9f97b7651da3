// expect: got=ok
// Pools: memory taken from a device's own pool and from one of the program's, what they say of themselves, and what they refuse.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#define MUST(condition) \
    if (!(condition)) \
    printf("line %d\n", __LINE__), exit(1)
#define OK(call) MUST((call) == cudaSuccess)

__global__ void fill(int *p, int value) { p[threadIdx.x] = value + threadIdx.x; }

static uint64_t figure(cudaMemPool_t pool, cudaMemPoolAttr which)
{
    uint64_t value = ~0ull;
    OK(cudaMemPoolGetAttribute(pool, which, &value));
    return value;
}

static void own_pool()
{
    cudaMemPoolProps wanted = {};
    cudaMemPool_t pool, used, usual;
    cudaStream_t stream;
    cudaMemLocation here = {};
    cudaMemAccessDesc access = {};
    cudaMemAccessFlags flags;
    int *a, *b, *c, host[64];

    wanted.allocType = cudaMemAllocationTypePinned;
    wanted.location.type = here.type = cudaMemLocationTypeDevice;
    wanted.maxSize = 4096;
    OK(cudaMemPoolCreate(&pool, &wanted));
    OK(cudaStreamCreate(&stream));
    OK(cudaMallocFromPoolAsync((void **)&a, 256, pool, stream));
    OK(cudaMallocFromPoolAsync((void **)&b, 1024, pool, stream));
    MUST(cudaMallocFromPoolAsync((void **)&c, 4096, pool, stream) == cudaErrorMemoryAllocation);
    MUST(figure(pool, cudaMemPoolAttrUsedMemCurrent) == 1280 && figure(pool, cudaMemPoolAttrReservedMemCurrent) >= 1280);
    fill<<<1, 64, 0, stream>>>(a, 5);
    OK(cudaMemcpyAsync(host, a, sizeof host, cudaMemcpyDeviceToHost, stream));
    OK(cudaFreeAsync(b, stream));
    OK(cudaStreamSynchronize(stream));
    MUST(host[0] == 5 && host[63] == 68);
    MUST(figure(pool, cudaMemPoolAttrUsedMemCurrent) == 256 && figure(pool, cudaMemPoolAttrUsedMemHigh) == 1280);
    uint64_t zero = 0, some = 7;
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
    MUST(figure(pool, cudaMemPoolAttrUsedMemHigh) == 256);
    MUST(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &some) == cudaErrorInvalidValue);
    MUST(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &zero) == cudaErrorInvalidValue);

    OK(cudaDeviceSetMemPool(0, pool));
    OK(cudaDeviceGetMemPool(&used, 0));
    OK(cudaDeviceGetDefaultMemPool(&usual, 0));
    MUST(used == pool && usual != pool);
    OK(cudaMallocAsync((void **)&b, 128, stream));
    MUST(figure(pool, cudaMemPoolAttrUsedMemCurrent) == 384);
    OK(cudaFree(b)); // both ways back
    MUST(figure(pool, cudaMemPoolAttrUsedMemCurrent) == 256);

    OK(cudaMemPoolGetAccess(&flags, pool, &here));
    MUST(flags == cudaMemAccessFlagsProtReadWrite);
    access.location = here;
    MUST(cudaMemPoolSetAccess(pool, &access, 1) != cudaSuccess); // a device keeps its own memory
    access.flags = cudaMemAccessFlagsProtReadWrite;
    OK(cudaMemPoolSetAccess(pool, &access, 1));

    OK(cudaMemPoolTrimTo(pool, 0));
    OK(cudaMemPoolDestroy(pool));
    OK(cudaFreeAsync(a, stream)); // lives on until then
    OK(cudaDeviceGetMemPool(&used, 0));
    MUST(used == usual);
    MUST(cudaMallocFromPoolAsync((void **)&a, 256, pool, stream) == cudaErrorInvalidValue);
    MUST(cudaMemPoolDestroy(usual) == cudaErrorInvalidValue);
    OK(cudaStreamDestroy(stream));
}

static void default_pool()
{
    cudaMemPool_t pool;
    uint64_t threshold = UINT64_MAX;
    int reuse = 0, *a;

    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    MUST(figure(pool, cudaMemPoolAttrReleaseThreshold) == 0);
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    MUST(figure(pool, cudaMemPoolAttrReleaseThreshold) == UINT64_MAX);
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
    reuse = 5;
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
    MUST(reuse == 0);
    OK(cudaMallocAsync((void **)&a, 512, 0));
    MUST(figure(pool, cudaMemPoolAttrUsedMemCurrent) == 512);
    OK(cudaFreeAsync(a, 0));
    MUST(cudaFreeAsync(a, 0) == cudaErrorInvalidValue);
    MUST(cudaDeviceGetDefaultMemPool(&pool, 7) == cudaErrorInvalidDevice);
    cudaGetLastError();
}

int main()
{
    own_pool();
    default_pool();
    puts("got=ok");
}
