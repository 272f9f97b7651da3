// What these programs share: arrays on both sides, inputs that are the same everywhere, and a check that says where it failed.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <vector>

#define MUST(condition) \
    do { \
        if (!(condition)) { \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1); \
        } \
    } while (0)
#define CUDA(call) MUST((call) == cudaSuccess)

template <typename T>
T *on_device(const std::vector<T> &host)
{
    T *device = nullptr;
    CUDA(cudaMalloc(&device, host.size() * sizeof(T)));
    CUDA(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
T *on_device(size_t n)
{
    T *device = nullptr;
    CUDA(cudaMalloc(&device, n * sizeof(T)));
    return device;
}

template <typename T>
std::vector<T> on_host(const T *device, size_t n)
{
    std::vector<T> host(n);
    CUDA(cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

// Small whole numbers of both signs: sums of them are exact in every type here, in any order.
template <typename T>
std::vector<T> numbers(size_t n)
{
    std::vector<T> out(n);
    unsigned state = 1;
    for (T &value : out) {
        state = state * 1664525u + 1013904223u;
        value = T(int(state >> 28) - 7);
    }
    return out;
}

// Composition of x -> a*x + b modulo 2^32: associative, and the order matters.
struct affine {
    unsigned a, b;
    __host__ __device__ bool operator==(const affine &other) const { return a == other.a && b == other.b; }
};
struct compose {
    __host__ __device__ affine operator()(const affine &first, const affine &then) const { return {first.a * then.a, first.b * then.a + then.b}; }
};
inline std::vector<affine> maps(size_t n)
{
    std::vector<affine> out(n);
    unsigned state = 7;
    for (affine &map : out) {
        state = state * 1664525u + 1013904223u;
        map = {state | 1, state >> 7};
    }
    return out;
}

struct smaller {
    template <typename T>
    __host__ __device__ T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};
struct larger {
    template <typename T>
    __host__ __device__ T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};
