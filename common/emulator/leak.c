/* What cudaMalloc and its kin gave and nobody freed, told when the program ends. Many a program leaves that to its end, so its
 * exit status stays what it was. */
#include "checks.h"
#include <stdio.h>

struct sum { size_t count, bytes, largest; };

static void add(const struct allocation *a, void *context)
{
    struct sum *sum = context;

    if (a->freed || a->kind == MEMORY_VARIABLE || a->kind == MEMORY_CONSTANT)
        return;
    sum->count++;
    sum->bytes += a->bytes;
    sum->largest = a->bytes > sum->largest ? a->bytes : sum->largest;
}

void leak_report(void)
{
    struct sum sum = {0};

    memory_each(add, &sum);
    if (sum.count)
        fprintf(stderr,
                "leak: %zu allocation%s of device memory never freed, %zu bytes in all, the largest of %zu\n"
                "       to mend it: call cudaFree (cudaFreeHost) for each before the program ends\n",
                sum.count, sum.count == 1 ? "" : "s", sum.bytes, sum.largest);
}
