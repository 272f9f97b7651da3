// CUB's WarpReduce and WarpScan: every logical width from 1 to 32, whole and partly filled, and in segments.
#include "check.h"
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

constexpr int threads = 96, kinds = 8;

// A warp of 32 holds several logical ones if their width is a power of two, else one: so CUB wants it.
__host__ __device__ constexpr int in_a_warp(int width)
{
    return width & (width - 1) ? 1 : 32 / width;
}

template <typename T, int width>
__global__ void warps(const T *in, const int *flags, T *out, int valid)
{
    using reduce = cub::WarpReduce<T, width>;
    using scan = cub::WarpScan<T, width>;
    constexpr int warps = in_a_warp(width);
    __shared__ typename reduce::TempStorage storage[warps * threads / 32];
    __shared__ typename scan::TempStorage scan_storage[warps * threads / 32];
    int warp = threadIdx.x / 32 * warps + threadIdx.x % 32 / width;
    T mine = in[threadIdx.x], *results = out + threadIdx.x * kinds;

    if (threadIdx.x % 32 >= warps * width)
        return;
    results[0] = reduce(storage[warp]).Sum(mine);
    __syncwarp(__activemask());
    results[1] = reduce(storage[warp]).Reduce(mine, larger());
    __syncwarp(__activemask());
    results[2] = reduce(storage[warp]).Sum(mine, valid);
    __syncwarp(__activemask());
    results[3] = reduce(storage[warp]).Reduce(mine, smaller(), valid);
    if constexpr (width > 1) {
        __syncwarp(__activemask());
        results[4] = reduce(storage[warp]).HeadSegmentedSum(mine, flags[threadIdx.x]);
        __syncwarp(__activemask());
        results[5] = reduce(storage[warp]).TailSegmentedSum(mine, flags[threadIdx.x]);
        scan(scan_storage[warp]).InclusiveSum(mine, results[6]);
        __syncwarp(__activemask());
        scan(scan_storage[warp]).ExclusiveSum(mine, results[7]);
    }
}

template <typename T, int width>
void check_width()
{
    std::vector<T> in = numbers<T>(threads);
    std::vector<int> flags = numbers<int>(threads);
    for (int &flag : flags)
        flag = flag % 3 == 0;
    T *device = on_device(in), *out = on_device(std::vector<T>(threads * kinds));
    int *device_flags = on_device(flags);
    for (int valid : {1, width / 2 + 1, width}) {
        warps<T, width><<<1, threads>>>(device, device_flags, out, valid);
        std::vector<T> got = on_host(out, threads * kinds);
        for (int first = 0; first < threads; first = (first + width) % 32 < width * in_a_warp(width) && (first + width) % 32 ? first + width : first / 32 * 32 + 32) {
            T sum = 0, most = in[first], some = 0, least = in[first];
            for (int i = 0; i < width; i++) {
                T exclusive = sum;
                sum += in[first + i];
                most = larger()(most, in[first + i]);
                if (i < valid) {
                    some += in[first + i];
                    least = smaller()(least, in[first + i]);
                }
                if (width > 1) {
                    MUST(got[(first + i) * kinds + 6] == sum);
                    MUST(got[(first + i) * kinds + 7] == exclusive);
                }
            }
            T *lane0 = &got[first * kinds];
            MUST(lane0[0] == sum && lane0[1] == most && lane0[2] == some && lane0[3] == least);
            for (int i = 0; width > 1 && i < width; i++) { // i begins a segment: what do the heads and the tails make of it?
                T to_head = in[first + i], to_tail = in[first + i];
                for (int j = i + 1; j < width && !flags[first + j]; j++)
                    to_head += in[first + j];
                for (int j = i; j + 1 < width && !flags[first + j]; j++)
                    to_tail += in[first + j + 1];
                if (i == 0 || flags[first + i])
                    MUST(got[(first + i) * kinds + 4] == to_head);
                if (i == 0 || flags[first + i - 1])
                    MUST(got[(first + i) * kinds + 5] == to_tail);
            }
        }
    }
    CUDA(cudaFree(device));
    CUDA(cudaFree(out));
    CUDA(cudaFree(device_flags));
}

template <typename T, int width>
void check_widths()
{
    check_width<T, width>();
    if constexpr (width > 1)
        check_widths<T, width - 1>();
}

int main()
{
    check_widths<int, 32>();
    check_widths<double, 32>();
    std::puts("got=ok");
}
