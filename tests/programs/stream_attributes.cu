// expect: got=ok
// What a stream may be told about caches, waiting and priority is kept and given back; it changes no result.
#include <cstdio>
#define MUST(condition) \
    if (!(condition)) \
    printf("line %d\n", __LINE__), exit(1)

int main()
{
    cudaStream_t a, b;
    cudaStreamAttrValue in = {}, out = {};
    int *data, most;
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxAccessPolicyWindowSize, 0);
    cudaMalloc(&data, 4096);
    MUST(cudaStreamCreate(&a) == cudaSuccess && cudaStreamCreate(&b) == cudaSuccess);
    MUST(cudaStreamGetAttribute(a, cudaStreamAttributeSynchronizationPolicy, &out) == cudaSuccess && out.syncPolicy == cudaSyncPolicyAuto);
    in.accessPolicyWindow = {data, 4096, 0.6f, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming};
    MUST(cudaStreamSetAttribute(a, cudaStreamAttributeAccessPolicyWindow, &in) == cudaSuccess);
    MUST(cudaStreamCopyAttributes(b, a) == cudaSuccess);
    MUST(cudaStreamGetAttribute(b, cudaStreamAttributeAccessPolicyWindow, &out) == cudaSuccess);
    MUST(out.accessPolicyWindow.base_ptr == data && out.accessPolicyWindow.num_bytes == 4096 && out.accessPolicyWindow.hitRatio == 0.6f);
    in.accessPolicyWindow.num_bytes = (size_t)most + 1;
    MUST(cudaStreamSetAttribute(a, cudaStreamAttributeAccessPolicyWindow, &in) == cudaErrorInvalidValue);
    in.accessPolicyWindow.num_bytes = 0;
    MUST(cudaStreamSetAttribute(0, cudaStreamAttributeAccessPolicyWindow, &in) == cudaSuccess);
    in.priority = -2;
    MUST(cudaStreamSetAttribute(a, cudaStreamAttributePriority, &in) == cudaSuccess);
    MUST(cudaStreamGetPriority(a, &most) == cudaSuccess && most == -2);
    MUST(cudaStreamSetAttribute(a, cudaLaunchAttributeCooperative, &in) == cudaErrorInvalidValue);
    cudaStreamDestroy(a);
    MUST(cudaStreamGetAttribute(a, cudaStreamAttributePriority, &out) == cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    cudaStreamDestroy(b);
    cudaFree(data);
    puts("got=ok");
}
