// Thrust's reduce, transform_reduce, inner_product, scans, sort and reduce_by_key on device vectors.
#include "check.h"
#include <algorithm>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/inner_product.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>

template <typename T>
struct square {
    __host__ __device__ T operator()(const T &x) const { return x * x; }
};

template <typename T>
void check_reductions(size_t n)
{
    std::vector<T> in = numbers<T>(n);
    thrust::device_vector<T> device(in.begin(), in.end()), scanned(n);
    T sum = std::accumulate(in.begin(), in.end(), T(3)), squares = std::inner_product(in.begin(), in.end(), in.begin(), T(0));

    MUST(thrust::reduce(device.begin(), device.end(), T(3)) == sum);
    MUST(thrust::reduce(device.begin(), device.end(), T(-1000), larger()) == std::accumulate(in.begin(), in.end(), T(-1000), larger()));
    MUST(thrust::transform_reduce(device.begin(), device.end(), square<T>(), T(0), ::cuda::std::plus<>()) == squares);
    MUST(thrust::inner_product(device.begin(), device.end(), device.begin(), T(0)) == squares);
    if (n > 0)
        MUST(thrust::min_element(device.begin(), device.end()) - device.begin() == std::min_element(in.begin(), in.end()) - in.begin());
    thrust::inclusive_scan(device.begin(), device.end(), scanned.begin());
    std::vector<T> want(n), got(n);
    std::partial_sum(in.begin(), in.end(), want.begin());
    thrust::copy(scanned.begin(), scanned.end(), got.begin());
    MUST(got == want);
}

template <typename T, typename Less>
void check_sort(size_t n, Less less)
{
    std::vector<T> in = numbers<T>(n), want = in, got(n);
    for (size_t i = 0; i < n; i++)
        want[i] = in[i] = in[i] * T(1000) + T(i * 7919 % 1000);
    thrust::device_vector<T> device(in.begin(), in.end());
    thrust::device_vector<int> order(n);
    thrust::sequence(order.begin(), order.end());
    thrust::stable_sort_by_key(device.begin(), device.end(), order.begin(), less);
    std::stable_sort(want.begin(), want.end(), less);
    thrust::copy(device.begin(), device.end(), got.begin());
    MUST(got == want);
    std::vector<int> from(n);
    thrust::copy(order.begin(), order.end(), from.begin());
    for (size_t i = 0; i < n; i++)
        MUST(in[from[i]] == got[i]);
}

void check_by_key(int n)
{
    std::vector<int> keys(n), values = numbers<int>(n), want_keys, want_sums;
    for (int i = 0; i < n; i++) {
        keys[i] = i / 37 * 5 % 11;
        if (i == 0 || keys[i] != keys[i - 1])
            want_keys.push_back(keys[i]), want_sums.push_back(0);
        want_sums.back() += values[i];
    }
    thrust::device_vector<int> device_keys(keys.begin(), keys.end()), device_values(values.begin(), values.end()), out_keys(n), out_sums(n);
    size_t many = thrust::reduce_by_key(device_keys.begin(), device_keys.end(), device_values.begin(), out_keys.begin(), out_sums.begin()).first - out_keys.begin();
    std::vector<int> got_keys(many), got_sums(many);
    thrust::copy_n(out_keys.begin(), many, got_keys.begin());
    thrust::copy_n(out_sums.begin(), many, got_sums.begin());
    MUST(got_keys == want_keys && got_sums == want_sums);
}

int main()
{
    for (size_t n : {0, 1, 1000, 50021})
        check_reductions<int>(n), check_reductions<double>(n);
    check_sort<int>(20011, ::cuda::std::less<>());    // radix sort
    check_sort<float>(5003, ::cuda::std::greater<>()); // radix sort, downwards
    check_sort<long long>(3001, [] __host__ __device__(long long a, long long b) { return a % 1009 < b % 1009; }); // merge sort
    check_by_key(10007);
    std::puts("got=ok");
}
