/* A NCCL for emulated devices, which tests/test_multi.py names in REDUCTION_NCCL: it adds at the end of a group what the calls in it
 * gave. FAKE_NCCL=hang never comes back from the start, =error fails behind the caller's back, =wrong adds one too much. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64, INT64 = 4 };
static struct call {
    const void *send;
    void *receive;
    size_t elements;
    int type;
} calls[MOST];
static int count;

static int asked(const char *what)
{
    const char *mode = getenv("FAKE_NCCL");
    return mode && strcmp(mode, what) == 0;
}

int ncclGetVersion(int *version)
{
    *version = 29901;
    return 0;
}

const char *ncclGetErrorString(int result)
{
    return result == 6 ? "remote process exited or there was a network error" : "another error";
}

int ncclGetUniqueId(void *id)
{
    memset(id, 1, 128);
    return 0;
}

int ncclCommInitAll(void **comms, int devices, const int *list)
{
    const char *multicast = getenv("NCCL_NVLS_ENABLE");
    (void)list;
    if (!multicast || strcmp(multicast, "0") != 0)
        return 5;
    if (asked("hang"))
        for (;;)
            pause();
    for (int i = 0; i < devices; i++)
        comms[i] = &calls[i];
    return 0;
}

struct id {
    char bytes[128];
};
int ncclCommInitRank(void **comm, int size, struct id id, int rank)
{
    (void)size, (void)id, (void)rank, (void)comm;
    for (;;) /* as NCCL does when another rank does not come */
        pause();
}

int ncclCommGetAsyncError(void *comm, int *result)
{
    (void)comm;
    *result = asked("error") ? 6 : 0;
    return 0;
}

int ncclCommAbort(void *comm)
{
    (void)comm;
    fprintf(stderr, "aborted\n");
    return 0;
}

int ncclCommDestroy(void *comm)
{
    (void)comm;
    return 0;
}

int ncclGroupStart(void)
{
    count = 0;
    return 0;
}

int ncclAllReduce(const void *send, void *receive, size_t elements, int type, int operation, void *comm, cudaStream_t stream)
{
    (void)comm, (void)stream;
    if (operation != 0 || count == MOST)
        return 4;
    calls[count++] = (struct call){send, receive, elements, type};
    return 0;
}

static void add_one_place(size_t at)
{
    long long integer = asked("wrong"), one_integer;
    double real = asked("wrong"), one_real;
    for (int i = 0; i < count; i++) {
        cudaMemcpy(&one_integer, (const char *)calls[i].send + 8 * at, 8, cudaMemcpyDeviceToHost);
        memcpy(&one_real, &one_integer, 8);
        integer += calls[i].type == INT64 ? one_integer : 0;
        real += calls[i].type == INT64 ? 0 : one_real;
    }
    for (int i = 0; i < count; i++)
        cudaMemcpy((char *)calls[i].receive + 8 * at, calls[i].type == INT64 ? (void *)&integer : (void *)&real, 8, cudaMemcpyHostToDevice);
}

int ncclGroupEnd(void)
{
    for (size_t at = 0; count > 0 && at < calls[0].elements; at++)
        add_one_place(at);
    return 0;
}
