// expect: got=ok
// build for compute_90
// The 8-bit formats: the kernels convert by instruction, the host by the software of CUDA's own header. Every byte to .f16 and every .f16
// to a byte; of .f32 all whose lower 13 bits are zero, and their neighbours on both sides.
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

constexpr unsigned halves = 1u << 16, floats = 3u << 19;
constexpr __nv_fp8_interpretation_t kinds[] = {__NV_E4M3, __NV_E5M2};

__host__ __device__ float float_at(unsigned i)
{
    unsigned bits = (i / 3 << 13) + i % 3 - 1;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

__host__ __device__ __half_raw half_at(unsigned i) { return __half_raw{(unsigned short)i}; }

__global__ void widen(__nv_fp8_interpretation_t kind, unsigned short *out)
{
    out[threadIdx.x] = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)threadIdx.x, kind).x;
}

__global__ void narrow_halves(__nv_fp8_interpretation_t kind, unsigned char *out)
{
    unsigned i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    __half2_raw two{half_at(i).x, half_at(i + 1).x};
    __nv_fp8x2_storage_t both = __nv_cvt_halfraw2_to_fp8x2(two, __NV_SATFINITE, kind);
    out[i] = both & 255;
    out[i + 1] = both >> 8;
}

__global__ void narrow_floats(__nv_fp8_interpretation_t kind, unsigned char *out)
{
    unsigned i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    __nv_fp8x2_storage_t both = __nv_cvt_float2_to_fp8x2(make_float2(float_at(i), float_at(i + 1)), __NV_SATFINITE, kind);
    out[i] = both & 255;
    out[i + 1] = both >> 8;
}

static unsigned char bytes[floats];
static unsigned short wide[256];
static unsigned wrong;

static void compare(const char *what, int kind, unsigned i, unsigned got, unsigned want, bool is_nan, bool want_nan)
{
    if (is_nan && want_nan) // the software has a NaN of its own for each format, the instructions have one
        return;
    if (got != want && wrong++ < 10)
        printf("%s %s 0x%x: 0x%x, and the software says 0x%x\n", kind == __NV_E4M3 ? "e4m3" : "e5m2", what, i, got, want);
}

static bool is_nan8(int kind, unsigned x) { return kind == __NV_E4M3 ? (x & 127) == 127 : (x & 127) > 124; }
static bool is_nan16(unsigned x) { return (x & 0x7fff) > 0x7c00; }

int main()
{
    unsigned char *narrow;
    unsigned short *w;
    cudaMalloc(&narrow, floats);
    cudaMalloc(&w, sizeof wide);
    for (auto kind : kinds) {
        widen<<<1, 256>>>(kind, w);
        cudaMemcpy(wide, w, sizeof wide, cudaMemcpyDeviceToHost);
        for (unsigned i = 0; i < 256; i++) {
            unsigned want = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)i, kind).x;
            compare("to f16", kind, i, wide[i], want, is_nan16(wide[i]), is_nan16(want));
        }
        narrow_halves<<<halves / 512, 256>>>(kind, narrow);
        cudaMemcpy(bytes, narrow, halves, cudaMemcpyDeviceToHost);
        for (unsigned i = 0; i < halves; i++) {
            unsigned want = __nv_cvt_halfraw_to_fp8(half_at(i), __NV_SATFINITE, kind);
            compare("from f16", kind, i, bytes[i], want, is_nan8(kind, bytes[i]), is_nan8(kind, want));
        }
        narrow_floats<<<floats / 512, 256>>>(kind, narrow);
        cudaMemcpy(bytes, narrow, floats, cudaMemcpyDeviceToHost);
        for (unsigned i = 0; i < floats; i++) {
            unsigned want = __nv_cvt_float_to_fp8(float_at(i), __NV_SATFINITE, kind);
            compare("from f32", kind, i, bytes[i], want, is_nan8(kind, bytes[i]), is_nan8(kind, want));
        }
    }
    cudaFree(narrow);
    cudaFree(w);
    if (wrong)
        printf("%u wrong\n", wrong);
    printf("got=%s\n", cudaGetLastError() ? "error" : wrong ? "wrong" : "ok");
}
