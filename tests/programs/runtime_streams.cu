// expect: got=0 wrong
// Streams, events, host functions in streams; what is refused once they are destroyed.
#include <cstdio>
#include <cuda_runtime.h>
static int wrong, called;
#define MUST(condition) ((condition) ? (void)0 : (void)(wrong++, printf("line %d: %s\n", __LINE__, #condition)))
#define OK(call) MUST((call) == cudaSuccess)
#define REFUSED(call, error) (MUST((call) == error), MUST(cudaGetLastError() == error))
__global__ void add(int *p) { atomicAdd(p, 1); }
static void host_function(void *by) { called += *(int *)by; }
static void callback(cudaStream_t, cudaError_t status, void *by) { called += status == cudaSuccess ? *(int *)by : 0; }

int main()
{
    cudaStream_t a, b, c;
    cudaEvent_t begin, end;
    int *d, h = 0, priority = 7, least, greatest, by = 2, device = -1;
    unsigned flags = 99;
    unsigned long long first, second;
    float ms = -1;
    cudaStreamCaptureStatus capture;

    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    OK(cudaStreamCreate(&a)), OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithPriority(&c, cudaStreamDefault, greatest));
    OK(cudaStreamGetPriority(c, &priority)), OK(cudaStreamGetFlags(b, &flags));
    MUST(priority == greatest && flags == cudaStreamNonBlocking);
    OK(cudaStreamGetId(a, &first)), OK(cudaStreamGetId(b, &second));
    MUST(first != second);
#if CUDART_VERSION >= 12080
    OK(cudaStreamGetDevice(a, &device));
#else
    device = 0;
#endif
    OK(cudaStreamIsCapturing(a, &capture));
    MUST(device == 0 && capture == cudaStreamCaptureStatusNone);
    REFUSED(cudaStreamCreateWithFlags(&c, 77), cudaErrorInvalidValue);

    OK(cudaEventCreate(&begin)), OK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
    OK(cudaMallocAsync((void **)&d, 4, a)), OK(cudaMemsetAsync(d, 0, 4, a));
    OK(cudaEventRecord(begin, a));
    add<<<1, 64, 0, a>>>(d);
    OK(cudaEventRecordWithFlags(end, a, cudaEventRecordDefault));
    OK(cudaStreamWaitEvent(b, end, 0));
    add<<<1, 64, 0, b>>>(d);
    OK(cudaEventSynchronize(end)), OK(cudaEventQuery(end));
    OK(cudaEventElapsedTime(&ms, begin, end));
    MUST(ms >= 0);
    OK(cudaLaunchHostFunc(a, host_function, &by)), OK(cudaStreamAddCallback(b, callback, &by, 0));
    OK(cudaStreamSynchronize(a)), OK(cudaStreamQuery(b)), OK(cudaDeviceSynchronize());
    MUST(called == 4);
    OK(cudaMemcpyAsync(&h, d, 4, cudaMemcpyDeviceToHost, b)), OK(cudaStreamSynchronize(cudaStreamLegacy)), OK(cudaStreamSynchronize(b));
    MUST(h == 128);
    OK(cudaFreeAsync(d, a));
    OK(cudaEventDestroy(begin)), OK(cudaEventDestroy(end));
    OK(cudaStreamDestroy(a)), OK(cudaStreamDestroy(b)), OK(cudaStreamDestroy(c));
    REFUSED(cudaStreamSynchronize(a), cudaErrorInvalidResourceHandle);
    REFUSED(cudaEventQuery(end), cudaErrorInvalidResourceHandle);
    REFUSED(cudaStreamDestroy(0), cudaErrorInvalidResourceHandle);
    printf("got=%d wrong\n", wrong);
}
