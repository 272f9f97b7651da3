// CUB's BlockReduce (every algorithm, whole and partly filled blocks, also with an order) and BlockScan.
#include "check.h"
#include <algorithm>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

template <typename T, int threads, cub::BlockReduceAlgorithm algorithm>
__global__ void sums(const T *in, T *out, int valid)
{
    using reduce = cub::BlockReduce<T, threads, algorithm>;
    __shared__ typename reduce::TempStorage storage;
    const T *mine = in + threadIdx.x * 4;
    T four[4] = {mine[0], mine[1], mine[2], mine[3]};
    T results[4];

    results[0] = reduce(storage).Sum(mine[0]);
    __syncthreads();
    results[1] = reduce(storage).Sum(four);
    __syncthreads();
    results[2] = reduce(storage).Sum(mine[0], valid);
    __syncthreads();
    results[3] = reduce(storage).Reduce(mine[0], larger(), valid);
    if (threadIdx.x == 0)
        for (int i = 0; i < 4; i++)
            out[i] = results[i];
}

template <typename T, int threads, cub::BlockReduceAlgorithm algorithm>
void check_sums()
{
    std::vector<T> in = numbers<T>(threads * 4);
    T *device = on_device(in), *out = on_device<T>(4);
    for (int valid : {1, threads / 2 + 1, threads - 1, threads}) {
        T want[4] = {0, 0, 0, in[0]};
        for (int i = 0; i < threads; i++) {
            want[0] += in[4 * i];
            want[1] += in[4 * i] + in[4 * i + 1] + in[4 * i + 2] + in[4 * i + 3];
            want[2] += i < valid ? in[4 * i] : T(0);
            want[3] = i < valid ? larger()(want[3], in[4 * i]) : want[3];
        }
        sums<T, threads, algorithm><<<1, threads>>>(device, out, valid);
        MUST(on_host(out, 4) == std::vector<T>(want, want + 4));
    }
    CUDA(cudaFree(device));
    CUDA(cudaFree(out));
}

template <int threads, cub::BlockReduceAlgorithm algorithm>
__global__ void in_order(const affine *in, affine *out)
{
    using reduce = cub::BlockReduce<affine, threads, algorithm>;
    __shared__ typename reduce::TempStorage storage;
    affine result = reduce(storage).Reduce(in[threadIdx.x], compose());

    if (threadIdx.x == 0)
        *out = result;
}

template <int threads, cub::BlockReduceAlgorithm algorithm>
void check_order()
{
    std::vector<affine> in = maps(threads);
    affine *device = on_device(in), *out = on_device<affine>(1), want = in[0];
    for (int i = 1; i < threads; i++)
        want = compose()(want, in[i]);
    in_order<threads, algorithm><<<1, threads>>>(device, out);
    MUST(on_host(out, 1)[0] == want);
    CUDA(cudaFree(device));
    CUDA(cudaFree(out));
}

template <int threads, cub::BlockReduceAlgorithm algorithm>
void check_types()
{
    check_sums<int, threads, algorithm>();
    check_sums<long long, threads, algorithm>();
    check_sums<float, threads, algorithm>();
    check_sums<double, threads, algorithm>();
    if (algorithm != cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY)
        check_order<threads, algorithm>();
}

template <int threads>
void check_algorithms()
{
    check_types<threads, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>();
    check_types<threads, cub::BLOCK_REDUCE_RAKING>();
    check_types<threads, cub::BLOCK_REDUCE_WARP_REDUCTIONS>();
}

template <int threads, cub::BlockScanAlgorithm algorithm>
__global__ void scans(const int *in, const affine *maps, int *inclusive, int *exclusive, affine *composed, int *whole)
{
    using scan = cub::BlockScan<int, threads, algorithm>;
    using ordered = cub::BlockScan<affine, threads, algorithm>;
    __shared__ union {
        typename scan::TempStorage of_ints;
        typename ordered::TempStorage of_maps;
    } storage;
    int total;

    scan(storage.of_ints).InclusiveSum(in[threadIdx.x], inclusive[threadIdx.x], total);
    __syncthreads();
    scan(storage.of_ints).ExclusiveSum(in[threadIdx.x], exclusive[threadIdx.x]);
    __syncthreads();
    ordered(storage.of_maps).InclusiveScan(maps[threadIdx.x], composed[threadIdx.x], compose());
    if (threadIdx.x == threads - 1)
        *whole = total;
}

template <int threads, cub::BlockScanAlgorithm algorithm>
void check_scan()
{
    std::vector<int> in = numbers<int>(threads), inclusive(threads), exclusive(threads);
    std::vector<affine> functions = maps(threads), composed = functions;
    for (int i = 0, sum = 0; i < threads; i++) {
        exclusive[i] = sum;
        inclusive[i] = sum += in[i];
        if (i)
            composed[i] = compose()(composed[i - 1], functions[i]);
    }
    int *device = on_device(in), *got_inclusive = on_device<int>(threads), *got_exclusive = on_device<int>(threads), *whole = on_device<int>(1);
    affine *device_maps = on_device(functions), *got_composed = on_device<affine>(threads);
    scans<threads, algorithm><<<1, threads>>>(device, device_maps, got_inclusive, got_exclusive, got_composed, whole);
    MUST(on_host(got_inclusive, threads) == inclusive);
    MUST(on_host(got_exclusive, threads) == exclusive);
    MUST(on_host(got_composed, threads) == composed);
    MUST(on_host(whole, 1)[0] == inclusive.back());
    for (void *pointer : {(void *)device, (void *)got_inclusive, (void *)got_exclusive, (void *)whole, (void *)device_maps, (void *)got_composed})
        CUDA(cudaFree(pointer));
}

template <int threads>
void check_scans()
{
    check_scan<threads, cub::BLOCK_SCAN_RAKING>();
    check_scan<threads, cub::BLOCK_SCAN_RAKING_MEMOIZE>();
    check_scan<threads, cub::BLOCK_SCAN_WARP_SCANS>();
}

int main()
{
    check_algorithms<32>();
    check_algorithms<96>();
    check_algorithms<100>();
    check_algorithms<256>();
    check_algorithms<1024>();
    check_scans<32>();
    check_scans<96>();
    check_scans<100>();
    check_scans<512>();
    std::puts("got=ok");
}
