// expect: got=ok
// Virtual functions: lanes of a warp call different ones through one call, from objects on the stack and on the heap, through two
// bases, and functions that call virtual functions again.
#include <cstdio>

struct Shape {
    __host__ __device__ virtual int area(int x) const = 0;
    __host__ __device__ virtual ~Shape() {}
};
struct Named {
    int name;
    __host__ __device__ virtual int label() const { return name; }
};
struct Square : Shape {
    int k;
    __host__ __device__ Square(int k_) : k(k_) {}
    __host__ __device__ int area(int x) const override { return x * x + k; }
};
struct Disk : Shape, Named {
    __host__ __device__ Disk(int n) { name = n; }
    __host__ __device__ int area(int x) const override
    {
        int sum = 0;
        for (int i = 0; i < x % 7; i++)
            sum += 3 * i + label();
        return sum;
    }
    __host__ __device__ int label() const override { return name * 2; }
};
struct Pair : Shape {
    const Shape *a, *b;
    __host__ __device__ Pair(const Shape *a_, const Shape *b_) : a(a_), b(b_) {}
    __host__ __device__ int area(int x) const override { return x % 2 ? a->area(x + 1) - b->area(x) : b->area(x + 2); }
};
__host__ __device__ __noinline__ int total(const Shape *const *shapes, int n, int x)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum = sum * 3 + shapes[i]->area(x + i);
    return sum;
}
__host__ __device__ int all(int t)
{
    Square s(t);
    Disk d(t + 1);
    Pair p(&s, &d), q(&p, &s);
    const Shape *shapes[4] = {&s, &d, &p, &q};
    const Shape *mine = shapes[t % 4];
    const Named *named = &d;
    Shape *heap = t % 3 ? (Shape *)new Square(5) : (Shape *)new Disk(9);
    int result = mine->area(t) * 5 + named->label() + total(shapes, 1 + t % 4, t) + heap->area(t);
    delete heap;
    return result;
}
__global__ void k(int *out) { out[threadIdx.x] = all((int)threadIdx.x); }

int main()
{
    int *out, wrong = 0;
    cudaMallocManaged(&out, 96 * sizeof *out);
    k<<<1, 96>>>(out);
    int error = cudaDeviceSynchronize();
    for (int t = 0; t < 96 && !error; t++)
        if (out[t] != all(t) && wrong++ < 5)
            printf("thread %d: %d, not %d\n", t, out[t], all(t));
    printf(wrong || error ? "got=wrong %d\n" : "got=ok\n", error);
    cudaFree(out);
    return wrong || error;
}
