// CUB's DeviceReduce (Sum, Min, Max, ArgMin, Reduce, TransformReduce) and DeviceScan, for sizes from none to over 2^20.
#include "check.h"
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <limits>

// Calls CUB twice, as it wants: how much memory does it need, and the work itself.
template <typename F>
void with_storage(F call)
{
    size_t bytes = 0;
    void *storage = nullptr;
    CUDA(call(nullptr, bytes));
    CUDA(cudaMalloc(&storage, bytes));
    CUDA(call(storage, bytes));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(storage));
}

struct square {
    template <typename T>
    __host__ __device__ T operator()(const T &x) const { return x * x; }
};

template <typename T>
void check(size_t n)
{
    std::vector<T> in = numbers<T>(n ? n : 1), inclusive(n), exclusive(n);
    T *device = on_device(in), *out = on_device<T>(1), *scanned = on_device<T>(n ? n : 1);
    long long *where = on_device<long long>(1);
    T sum = 0, squares = 5, least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::lowest();
    long long index = 1;
    for (size_t i = 0; i < n; i++) {
        exclusive[i] = sum;
        inclusive[i] = sum += in[i];
        squares += in[i] * in[i];
        index = in[i] < least ? (long long)i : index;
        least = smaller()(least, in[i]);
        most = larger()(most, in[i]);
    }
    using namespace cub;
    with_storage([&](void *storage, size_t &bytes) { return DeviceReduce::Sum(storage, bytes, device, out, (long long)n); });
    MUST(on_host(out, 1)[0] == sum);
    with_storage([&](void *storage, size_t &bytes) { return DeviceReduce::Min(storage, bytes, device, out, (int)n); });
    MUST(on_host(out, 1)[0] == least);
    with_storage([&](void *storage, size_t &bytes) { return DeviceReduce::Max(storage, bytes, device, out, (int)n); });
    MUST(on_host(out, 1)[0] == most);
    with_storage([&](void *storage, size_t &bytes) { return DeviceReduce::Reduce(storage, bytes, device, out, (int)n, larger(), T(7)); });
    MUST(on_host(out, 1)[0] == larger()(most, T(7)));
    with_storage([&](void *storage, size_t &bytes) {
        return DeviceReduce::TransformReduce(storage, bytes, device, out, (int)n, ::cuda::std::plus<>(), square(), T(5));
    });
    MUST(on_host(out, 1)[0] == squares);
    with_storage([&](void *storage, size_t &bytes) { return DeviceReduce::ArgMin(storage, bytes, device, out, where, (long long)n); });
    if (n > 0)
        MUST(on_host(out, 1)[0] == least && on_host(where, 1)[0] == index);
    with_storage([&](void *storage, size_t &bytes) { return DeviceScan::InclusiveSum(storage, bytes, device, scanned, (int)n); });
    MUST(on_host(scanned, n) == inclusive);
    with_storage([&](void *storage, size_t &bytes) { return DeviceScan::ExclusiveSum(storage, bytes, device, scanned, (int)n); });
    MUST(on_host(scanned, n) == exclusive);
    for (void *pointer : {(void *)device, (void *)out, (void *)scanned, (void *)where})
        CUDA(cudaFree(pointer));
}

int main()
{
    for (size_t n : {(size_t)0, (size_t)1, (size_t)31, (size_t)4097, (size_t)100003})
        check<float>(n);
    for (size_t n : {(size_t)0, (size_t)1, (size_t)255, (size_t)(1 << 20) + 3})
        check<int>(n);
    for (size_t n : {(size_t)0, (size_t)1, (size_t)70001})
        check<long long>(n), check<double>(n);
    std::puts("got=ok");
}
