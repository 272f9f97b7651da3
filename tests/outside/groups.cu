// Cooperative groups: reduce and scans over tiles of 1 to 32 and beyond, coalesced, labelled and binary groups, and the grid.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

constexpr int threads = 128, blocks = 6;

template <typename T, int size>
__global__ void tiles(const T *in, T *sums, T *least, T *most, T *inclusive, T *exclusive)
{
    auto tile = cg::tiled_partition<size>(cg::this_thread_block());
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    sums[i] = cg::reduce(tile, in[i], cg::plus<T>());
    least[i] = cg::reduce(tile, in[i], cg::less<T>());
    most[i] = cg::reduce(tile, in[i], [](T a, T b) { return a < b ? b : a; });
    inclusive[i] = cg::inclusive_scan(tile, in[i]);
    exclusive[i] = cg::exclusive_scan(tile, in[i], cg::plus<T>());
}

template <typename T, int size>
void check_tile()
{
    constexpr int n = threads * 2;
    std::vector<T> in = numbers<T>(n);
    T *device = on_device(in), *out = on_device<T>(5 * n);
    tiles<T, size><<<2, threads>>>(device, out, out + n, out + 2 * n, out + 3 * n, out + 4 * n);
    std::vector<T> got = on_host(out, 5 * n);
    for (int first = 0; first < n; first += size) {
        T sum = 0, least = in[first], most = in[first];
        for (int i = first; i < first + size; i++) {
            MUST(got[4 * n + i] == sum);
            sum += in[i];
            MUST(got[3 * n + i] == sum);
            least = smaller()(least, in[i]);
            most = larger()(most, in[i]);
        }
        for (int i = first; i < first + size; i++)
            MUST(got[i] == sum && got[n + i] == least && got[2 * n + i] == most);
    }
    CUDA(cudaFree(device));
    CUDA(cudaFree(out));
}

template <typename T>
void check_tiles()
{
    check_tile<T, 1>();
    check_tile<T, 2>();
    check_tile<T, 4>();
    check_tile<T, 8>();
    check_tile<T, 16>();
    check_tile<T, 32>();
}

// A tile of several warps exchanges through memory of its own.
__global__ void large_tiles(const int *in, int *sums)
{
    __shared__ cg::block_tile_memory<threads> memory;
    auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    sums[i] = cg::reduce(tile, in[i], cg::plus<int>());
}

// Whoever comes into a branch together is a group; so are lanes of one label.
__global__ void coalesced(const int *in, int *sums, int *labelled, int *halves, int *ranks)
{
    unsigned i = threadIdx.x;
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int mine = in[i];

    sums[i] = ranks[i] = 0;
    if (i % 3 != 1) {
        cg::coalesced_group group = cg::coalesced_threads();
        sums[i] = cg::reduce(group, mine, cg::plus<int>());
        ranks[i] = cg::exclusive_scan(group, 1);
    }
    cg::coalesced_group same = cg::labeled_partition(warp, (int)(i % 5));
    labelled[i] = cg::reduce(same, mine, cg::greater<int>());
    cg::coalesced_group side = cg::binary_partition(warp, mine < 0);
    halves[i] = cg::reduce(side, mine, cg::plus<int>()) * 100 + (int)side.size();
}

void check_groups()
{
    std::vector<int> in = numbers<int>(threads);
    int *device = on_device(in), *out = on_device<int>(5 * threads);
    coalesced<<<1, threads>>>(device, out, out + threads, out + 2 * threads, out + 3 * threads);
    large_tiles<<<1, threads>>>(device, out + 4 * threads);
    std::vector<int> got = on_host(out, 5 * threads);
    for (int i = 0; i < threads; i++) {
        int sum = 0, rank = 0, most = in[i], half = 0, size = 0, large = 0;
        for (int j = i / 32 * 32; j < i / 32 * 32 + 32; j++) {
            sum += j % 3 != 1 ? in[j] : 0;
            rank += j % 3 != 1 && j < i;
            most = j % 5 == i % 5 && in[j] > most ? in[j] : most;
            if ((in[j] < 0) == (in[i] < 0))
                half += in[j], size++;
        }
        for (int j = i / 64 * 64; j < i / 64 * 64 + 64; j++)
            large += in[j];
        MUST(got[i] == (i % 3 != 1 ? sum : 0) && got[3 * threads + i] == (i % 3 != 1 ? rank : 0));
        MUST(got[threads + i] == most && got[2 * threads + i] == half * 100 + size && got[4 * threads + i] == large);
    }
    CUDA(cudaFree(device));
    CUDA(cudaFree(out));
}

__global__ void bits(const unsigned *in, unsigned *out)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    unsigned mine = in[threadIdx.x];
    unsigned all = cg::reduce(warp, mine, cg::bit_and<unsigned>()), any = cg::reduce(warp, mine, cg::bit_or<unsigned>());
    unsigned odd = cg::reduce(warp, mine, cg::bit_xor<unsigned>());

    if (warp.thread_rank() == 0)
        out[0] = all, out[1] = any, out[2] = odd;
}

void check_bits()
{
    std::vector<unsigned> in(32);
    unsigned all = ~0u, any = 0, odd = 0;
    for (unsigned i = 0; i < 32; i++) {
        in[i] = 0x80000040u | i * 2654435761u >> 9;
        all &= in[i], any |= in[i], odd ^= in[i];
    }
    unsigned *device = on_device(in), *out = on_device<unsigned>(3);
    bits<<<1, 32>>>(device, out);
    MUST(on_host(out, 3) == (std::vector<unsigned>{all, any, odd}));
    CUDA(cudaFree(device));
    CUDA(cudaFree(out));
}

// Every block writes, the grid meets, every block reads what all have written.
__global__ void grid_sum(const int *in, int *partial, int *sums)
{
    cg::grid_group grid = cg::this_grid();
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int sum = cg::reduce(warp, in[grid.thread_rank()], cg::plus<int>());

    if (warp.thread_rank() == 0)
        partial[grid.thread_rank() / 32] = sum;
    grid.sync();
    sum = 0;
    for (unsigned i = 0; i < grid.size() / 32; i++)
        sum += partial[i];
    sums[grid.thread_rank()] = sum;
}

void check_grid()
{
    constexpr int n = threads * blocks;
    std::vector<int> in = numbers<int>(n);
    int *device = on_device(in), *partial = on_device<int>(n / 32), *sums = on_device<int>(n), want = 0;
    for (int value : in)
        want += value;
    void *arguments[] = {&device, &partial, &sums};
    CUDA(cudaLaunchCooperativeKernel((void *)grid_sum, blocks, threads, arguments));
    MUST(on_host(sums, n) == std::vector<int>(n, want));
    CUDA(cudaFree(device));
    CUDA(cudaFree(partial));
    CUDA(cudaFree(sums));
}

int main()
{
    check_tiles<int>();
    check_tiles<float>();
    check_tiles<double>();
    check_tiles<long long>();
    check_groups();
    check_bits();
    check_grid();
    std::puts("got=ok");
}
