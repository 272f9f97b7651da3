/* NCCL, found when the program runs: nothing of it is needed to build, and a machine without it still has the step. The functions
 * and values below are those of nccl.h, which has kept them since NCCL 2.4. REDUCTION_NCCL names another library; the tests use
 * that. */
#include "multi/parts.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef CUDART_DIR
#define CUDART_DIR "/usr/local/cuda/lib64"
#endif

typedef struct communicator *comm;
struct unique_id {
    char bytes[128];
};
enum { SUCCESS = 0, IN_PROGRESS = 7, INT64 = 4, FLOAT64 = 8, SUM = 0 };

static struct {
    int (*ncclGetVersion)(int *version);
    const char *(*ncclGetErrorString)(int result);
    int (*ncclGetUniqueId)(struct unique_id *id);
    int (*ncclCommInitAll)(comm *comms, int devices, const int *list);
    int (*ncclCommInitRank)(comm *c, int size, struct unique_id id, int rank);
    int (*ncclCommGetAsyncError)(comm c, int *result);
    int (*ncclCommAbort)(comm c);
    int (*ncclCommDestroy)(comm c);
    int (*ncclGroupStart)(void);
    int (*ncclGroupEnd)(void);
    int (*ncclAllReduce)(const void *send, void *receive, size_t count, int type, int operation, comm c, cudaStream_t stream);
} nccl;

static comm comms[DEVICES_MOST];
static int comm_count;

/* ---- where is it? ---- */

static void *open_wheel(void)
{
    char self[PATH_MAX / 2] = "", pattern[PATH_MAX];
    void *library = NULL;
    glob_t found;
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0 || !strrchr(self, '/'))
        return NULL;
    *strrchr(self, '/') = '\0';
    snprintf(pattern, sizeof pattern, "%s/../.venv/lib/python3*/site-packages/nvidia/nccl/lib/libnccl.so.2", self);
    if (glob(pattern, 0, NULL, &found) == 0) {
        library = dlopen(found.gl_pathv[0], RTLD_NOW);
        globfree(&found);
    }
    return library;
}

static void *open_library(void)
{
    const char *named = getenv("REDUCTION_NCCL");
    if (named)
        return dlopen(named, RTLD_NOW);
    void *library = dlopen("libnccl.so.2", RTLD_NOW);
    library = library ? library : dlopen(CUDART_DIR "/libnccl.so.2", RTLD_NOW);
    return library ? library : open_wheel();
}

bool nccl_load(char *why, size_t most)
{
    static const char *const names[] = {
        "ncclGetVersion", "ncclGetErrorString", "ncclGetUniqueId", "ncclCommInitAll", "ncclCommInitRank", "ncclCommGetAsyncError",
        "ncclCommAbort",  "ncclCommDestroy",    "ncclGroupStart",  "ncclGroupEnd",    "ncclAllReduce",
    };
    _Static_assert(sizeof names / sizeof *names == sizeof nccl / sizeof(void *), "a name for each function, in their order");
    /* Multicast over NVLink (NVLS) can leave a host that others share out of service, and one number has no use for it. */
    setenv("NCCL_NVLS_ENABLE", "0", 1);
    void *library = open_library();
    if (!library) {
        snprintf(why, most, "libnccl.so.2 was not found; `make nccl` installs it from PyPI");
        return false;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *address = dlsym(library, names[i]);
        memcpy((char *)&nccl + i * sizeof address, &address, sizeof address);
        if (!address) {
            snprintf(why, most, "libnccl.so.2 lacks %s; NCCL 2.4 has it", names[i]);
            return false;
        }
    }
    return true;
}

const char *nccl_version(void)
{
    static char text[32];
    int v = 0;
    nccl.ncclGetVersion(&v);
    snprintf(text, sizeof text, "%d.%d.%d", v / 10000, v / 100 % 100, v % 100);
    return text;
}

/* ---- the calls ---- */

/* A communicator that has failed may never end its kernel, and exit would wait for that: abort first. */
static void must_succeed(int result, const char *call)
{
    if (result == SUCCESS || result == IN_PROGRESS)
        return;
    for (int i = 0; i < comm_count; i++)
        nccl.ncclCommAbort(comms[i]);
    fail(DEVICE_ERROR, "%s: %s; NCCL_DEBUG=WARN in the environment says more", call, nccl.ncclGetErrorString(result));
}
#define NCCL(call) must_succeed(nccl.call, #call)

void nccl_start_all(int devices)
{
    NCCL(ncclCommInitAll(comms, devices, NULL));
    comm_count = devices;
}

void nccl_start_rank(const struct ranks *ranks)
{
    struct unique_id id;
    if (ranks->rank == 0)
        NCCL(ncclGetUniqueId(&id));
    ranks_broadcast(&id, sizeof id);
    NCCL(ncclCommInitRank(&comms[0], ranks->size, id, ranks->rank));
    comm_count = 1;
}

void nccl_group_start(void)
{
    NCCL(ncclGroupStart());
}

void nccl_sum(int index, const total *send, total *receive, size_t count, cudaStream_t stream)
{
    NCCL(ncclAllReduce(send, receive, count, TYPE_IS_INT ? INT64 : FLOAT64, SUM, comms[index], stream));
}

void nccl_group_end(void)
{
    NCCL(ncclGroupEnd());
}

void nccl_check(int index)
{
    int result = SUCCESS;
    NCCL(ncclCommGetAsyncError(comms[index], &result));
    must_succeed(result, "the collective");
}

void nccl_stop(void)
{
    for (int i = 0; i < comm_count; i++)
        NCCL(ncclCommDestroy(comms[i]));
    comm_count = 0;
}
