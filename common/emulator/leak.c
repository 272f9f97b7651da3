/* What cudaMalloc and its kin, or malloc in a kernel, gave and nobody freed, told when the program ends. Many a program leaves that
 * to its end, so its exit status stays what it was. */
#include "checks.h"
#include <stdio.h>

struct sum {
    size_t count, bytes, largest;
};

static void add(const struct allocation *a, void *context)
{
    struct sum *sum = context;

    if (a->freed || a->kind == MEMORY_VARIABLE || a->kind == MEMORY_CONSTANT)
        return;
    sum->count++;
    sum->bytes += a->bytes;
    sum->largest = a->bytes > sum->largest ? a->bytes : sum->largest;
}

static void report_heap(void)
{
    struct sum sum = {0};

    memory_each_of(MEMORY_HEAP, add, &sum);
    if (sum.count)
        fprintf(
            stderr,
            "leak: %zu piece%s of memory that kernels took with malloc or new never freed, %zu bytes in all, the largest of %zu\n"
            "       to mend it: free or delete each in a kernel before the program ends\n",
            sum.count, sum.count == 1 ? "" : "s", sum.bytes, sum.largest);
}

void leak_report(void)
{
    struct sum sum = {0};

    report_heap();

    memory_each(add, &sum);
    if (sum.count)
        fprintf(stderr,
                "leak: %zu allocation%s of device memory never freed, %zu bytes in all, the largest of %zu\n"
                "       to mend it: call cudaFree (cudaFreeHost) for each before the program ends\n",
                sum.count, sum.count == 1 ? "" : "s", sum.bytes, sum.largest);
}
