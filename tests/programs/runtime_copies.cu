// expect: got=0 wrong
// Every kind of copy and fill: linear, boxes in two and three dimensions, symbols, between devices; each asynchronous one too.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
static int wrong;
#define MUST(condition) ((condition) ? (void)0 : (void)(wrong++, printf("line %d: %s\n", __LINE__, #condition)))
#define OK(call) MUST((call) == cudaSuccess)
#define REFUSED(call, error) (MUST((call) == error), MUST(cudaGetLastError() == error))
__device__ int variable[4] = {1, 2, 3, 4};
__constant__ int constant[4];
__global__ void add_constants(int *out) { out[threadIdx.x] = variable[threadIdx.x] + constant[threadIdx.x]; }

static void linear()
{
    char h[64], back[64] = {0};
    char *a, *b;
    for (int i = 0; i < 64; i++)
        h[i] = (char)i;
    OK(cudaMalloc(&a, 64)), OK(cudaMalloc(&b, 64));
    OK(cudaMemcpy(a, h, 64, cudaMemcpyHostToDevice));
    OK(cudaMemcpyAsync(b, a, 64, cudaMemcpyDeviceToDevice, 0));
    OK(cudaMemcpy(back, b, 64, cudaMemcpyDefault));
    MUST(!memcmp(h, back, 64));
    OK(cudaMemcpyPeer(a, 0, b + 32, 0, 32)), OK(cudaMemcpyPeerAsync(a + 32, 0, b, 0, 32, 0));
    OK(cudaMemcpy(back, a, 64, cudaMemcpyDeviceToHost));
    MUST(back[0] == 32 && back[32] == 0 && back[63] == 31);
    OK(cudaMemset(a, 7, 32)), OK(cudaMemsetAsync(a + 32, 8, 32, 0));
    OK(cudaMemcpy(back, a, 64, cudaMemcpyDeviceToHost));
    MUST(back[31] == 7 && back[32] == 8);
    OK(cudaMemcpy(back, h, 64, cudaMemcpyHostToHost));
    MUST(!memcmp(h, back, 64));
    OK(cudaMemcpy(a, h, 0, cudaMemcpyHostToDevice));
    REFUSED(cudaMemcpy(a, h, 65, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    REFUSED(cudaMemset(a + 1, 0, 64), cudaErrorInvalidValue);
    REFUSED(cudaMemcpy(a, h, 4, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    OK(cudaFree(a)), OK(cudaFree(b));
}

static void boxes()
{
    int h[6][5], back[6][5];
    void *d;
    size_t pitch;
    for (int i = 0; i < 30; i++)
        h[i / 5][i % 5] = i;
    OK(cudaMallocPitch(&d, &pitch, 5 * sizeof(int), 6));
    MUST(pitch >= 5 * sizeof(int));
    OK(cudaMemcpy2D(d, pitch, h, 5 * sizeof(int), 5 * sizeof(int), 6, cudaMemcpyHostToDevice));
    OK(cudaMemset2D((char *)d + pitch, pitch, 0xff, 2 * sizeof(int), 2));
    OK(cudaMemset2DAsync((char *)d + 3 * pitch, pitch, 0, 2 * sizeof(int), 2, 0));
    OK(cudaMemcpy2DAsync(back, 5 * sizeof(int), d, pitch, 5 * sizeof(int), 6, cudaMemcpyDeviceToHost, 0));
    MUST(back[0][4] == 4 && back[1][0] == -1 && back[2][1] == -1 && back[1][2] == 7 && back[3][0] == 0 && back[4][2] == 22);
    REFUSED(cudaMemcpy2D(d, 4, h, 20, 20, 6, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
    OK(cudaFree(d));

    cudaExtent extent = make_cudaExtent(5 * sizeof(int), 3, 2);
    cudaPitchedPtr box;
    OK(cudaMalloc3D(&box, extent));
    cudaMemcpy3DParms in = {}, out = {};
    in.srcPtr = make_cudaPitchedPtr(h, 5 * sizeof(int), 5 * sizeof(int), 3), in.dstPtr = box, in.extent = extent, in.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&in));
    OK(cudaMemset3D(box, 0xff, make_cudaExtent(sizeof(int), 1, 2)));
    OK(cudaMemset3DAsync(box, 0xff, make_cudaExtent(sizeof(int), 3, 1), 0));
    out.srcPtr = box, out.dstPtr = in.srcPtr, out.dstPtr.ptr = back, out.extent = extent, out.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3DAsync(&out, 0));
    MUST(back[0][0] == -1 && back[2][0] == -1 && back[3][0] == -1 && back[4][0] == 20 && back[5][4] == 29);
    OK(cudaFree(box.ptr));
}

static void symbols()
{
    int h[4] = {10, 20, 30, 40}, back[4], *out;
    void *address;
    size_t bytes;
    OK(cudaMemcpyToSymbol(constant, h, sizeof h));
    OK(cudaMemcpyToSymbolAsync(variable, h, 4, 4, cudaMemcpyHostToDevice, 0));
    OK(cudaMemcpyFromSymbol(back, variable, sizeof back));
    MUST(back[0] == 1 && back[1] == 10 && back[3] == 4);
    OK(cudaMemcpyFromSymbolAsync(back, constant, 4, 8, cudaMemcpyDeviceToHost, 0));
    MUST(back[0] == 30);
    OK(cudaGetSymbolAddress(&address, variable)), OK(cudaGetSymbolSize(&bytes, variable));
    MUST(address && bytes == sizeof variable);
    REFUSED(cudaMemcpyToSymbol(variable, h, 8, 12), cudaErrorInvalidValue);
    OK(cudaMalloc(&out, sizeof back));
    add_constants<<<1, 4>>>(out);
    OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    MUST(back[0] == 11 && back[1] == 30 && back[2] == 33 && back[3] == 44);
    OK(cudaFree(out));
}

int main()
{
    linear(), boxes(), symbols();
    printf("got=%d wrong\n", wrong);
}
