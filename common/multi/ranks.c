/* The processes that mpirun started, joined by sockets. No MPI is linked: OpenMPI says in the environment who is who, and all that
 * ranks tell each other besides NCCL's data is a few bytes. The sockets are also how the others learn that one has died: the kernel
 * closes them. On one host they are Unix sockets named after the job; between hosts rank 0 listens where --meet says. */
#include "multi/parts.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static struct ranks us = {.size = 1};
static int *sockets; /* rank 0: one to each rank, [0] unused; the others: [0] to rank 0 */
static unsigned patience;

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int from_environment(const char *name, int otherwise)
{
    const char *text = getenv(name);
    char *end = NULL;
    long value = text ? strtol(text, &end, 10) : otherwise;
    if (text && (end == text || *end != '\0' || value < 0 || value > 1 << 20))
        fail(BAD_USAGE, "%s='%s' is not a whole number such as mpirun sets", name, text);
    return (int)value;
}

struct ranks ranks_found(void)
{
    struct ranks r = {.size = from_environment("OMPI_COMM_WORLD_SIZE", 1), .rank = from_environment("OMPI_COMM_WORLD_RANK", 0)};
    r.by_mpirun = getenv("OMPI_COMM_WORLD_SIZE") != NULL;
    r.local = from_environment("OMPI_COMM_WORLD_LOCAL_RANK", r.rank);
    r.local_size = from_environment("OMPI_COMM_WORLD_LOCAL_SIZE", r.size);
    if (r.size < 1 || r.rank >= r.size)
        fail(BAD_USAGE, "OMPI_COMM_WORLD_RANK is %d of OMPI_COMM_WORLD_SIZE %d; mpirun sets ranks from 0 to the size less one",
             r.rank, r.size);
    return r;
}

/* ---- where to meet ---- */

static const char *job_name(void)
{
    const char *job = getenv("PMIX_NAMESPACE");
    return job ? job : getenv("OMPI_MCA_ess_base_jobid") ? getenv("OMPI_MCA_ess_base_jobid") : "0";
}

struct place {
    struct sockaddr_storage address;
    socklen_t length;
};

static struct place place_on_this_host(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX}; /* a name that begins with 0 stands in no folder, so none is left behind */
    int length = snprintf(un.sun_path + 1, sizeof un.sun_path - 1, "reduction.%u.%s", (unsigned)getuid(), job_name());
    struct place p = {.length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)};
    if (p.length > sizeof un)
        p.length = sizeof un;
    memcpy(&p.address, &un, sizeof un);
    return p;
}

static struct place place_named(const char *meet)
{
    char host[256];
    const char *colon = strrchr(meet, ':');
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    snprintf(host, sizeof host, "%.*s", (int)(colon ? colon - meet : 0), meet);
    if (!colon || host[0] == '\0' || getaddrinfo(host, colon + 1, &hints, &found) != 0 || !found)
        fail(BAD_USAGE, "--meet '%s' is no place to meet; it takes HOST:PORT, rank 0's host and a free port there", meet);
    struct place p = {.length = found->ai_addrlen};
    memcpy(&p.address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return p;
}

/* ---- talking: every message has a size that both sides know ---- */

static void set_patience(int fd)
{
    struct timeval t = {.tv_sec = patience};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t);
}

static void lost(int rank, bool timed_out)
{
    if (timed_out)
        fail(DEVICE_ERROR, "rank %d: rank %d has said nothing for %u seconds (--wait allows more); the run ends", us.rank, rank,
             patience);
    fail(DEVICE_ERROR, "rank %d: rank %d has ended before the sum was there; the run ends", us.rank, rank);
}

/* All of it, or false with errno (0: the other end is closed). */
static bool move_bytes(int fd, void *data, size_t bytes, bool out)
{
    for (char *at = data; bytes > 0;) {
        ssize_t moved = out ? send(fd, at, bytes, MSG_NOSIGNAL) : recv(fd, at, bytes, 0);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0) {
            errno = moved == 0 ? 0 : errno;
            return false;
        }
        at += moved;
        bytes -= (size_t)moved;
    }
    return true;
}

static void talk(int rank, void *data, size_t bytes, bool out)
{
    int fd = sockets[us.rank == 0 ? rank : 0];
    if (!move_bytes(fd, data, bytes, out))
        lost(rank, errno == EAGAIN || errno == EWOULDBLOCK);
}

void ranks_gather(const void *mine, void *all, size_t bytes)
{
    if (us.rank == 0)
        memcpy(all, mine, bytes);
    else
        talk(0, (void *)mine, bytes, true);
    for (int rank = 1; us.rank == 0 && rank < us.size; rank++)
        talk(rank, (char *)all + (size_t)rank * bytes, bytes, false);
}

void ranks_broadcast(void *data, size_t bytes)
{
    if (us.rank != 0)
        talk(0, data, bytes, false);
    for (int rank = 1; us.rank == 0 && rank < us.size; rank++)
        talk(rank, data, bytes, true);
}

void ranks_barrier(void)
{
    char mine = 0, all[us.size];
    ranks_gather(&mine, all, 1);
    ranks_broadcast(&mine, 1);
}

/* ---- joining ---- */

struct hello {
    uint32_t magic, size, rank, kind;
    char job[64];
};

static struct hello hello_of(unsigned kind)
{
    struct hello h = {0x7265646cu, (uint32_t)us.size, (uint32_t)us.rank, kind, ""};
    snprintf(h.job, sizeof h.job, "%s", job_name());
    return h;
}

static void answer(int fd, const struct hello *mine, int *missing)
{
    struct hello h;
    set_patience(fd);
    bool ours = move_bytes(fd, &h, sizeof h, false) && h.magic == mine->magic && memcmp(h.job, mine->job, sizeof h.job) == 0;
    if (!ours || h.size != mine->size || h.rank == 0 || h.rank >= mine->size || sockets[h.rank] >= 0) {
        close(fd); /* a stranger */
        return;
    }
    if (h.kind != mine->kind)
        fail(DEVICE_ERROR, "rank %u has another type, device (GPU or emulator) or options than rank 0; all ranks need the same",
             h.rank);
    sockets[h.rank] = fd;
    --*missing;
}

static void listen_for_all(const struct place *place, const struct hello *mine)
{
    int one = 1, missing = us.size - 1, fd = socket(place->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    double end = seconds_now() + patience;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&place->address, place->length) != 0 || listen(fd, us.size) != 0)
        fail(DEVICE_ERROR, "rank 0 cannot listen for the other ranks: %s", strerror(errno));
    while (missing > 0) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        double left = end - seconds_now();
        if (left <= 0)
            fail(DEVICE_ERROR, "%d of %d ranks have not come within %u seconds (--wait allows more); the run ends", missing,
                 us.size, patience);
        int joined = poll(&p, 1, (int)(left * 1e3) + 1) > 0 ? accept4(fd, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (joined >= 0)
            answer(joined, mine, &missing);
    }
    close(fd);
}

static void connect_to_first(const struct place *place, struct hello *mine)
{
    double end = seconds_now() + patience;
    while (sockets[0] < 0) {
        int fd = socket(place->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, (const struct sockaddr *)&place->address, place->length) == 0) {
            sockets[0] = fd;
            break;
        }
        close(fd);
        if (seconds_now() > end)
            fail(DEVICE_ERROR, "rank %d: rank 0 has not come within %u seconds (--wait allows more); the run ends", us.rank,
                 patience);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* rank 0 is on its way */
    }
    set_patience(sockets[0]);
    talk(0, mine, sizeof *mine, true);
}

void ranks_join(const struct ranks *r, const char *meet, unsigned wait_seconds, unsigned kind)
{
    us = *r;
    patience = wait_seconds;
    sockets = malloc((size_t)us.size * sizeof *sockets);
    if (!sockets)
        fail(DEVICE_ERROR, "no memory for %d ranks", us.size);
    for (int rank = 0; rank < us.size; rank++)
        sockets[rank] = -1;
    if (us.size == 1)
        return;
    if (us.local_size < us.size && !meet)
        fail(BAD_USAGE, "the ranks are on several hosts; --meet HOST:PORT has to say where, on rank 0's host, they meet");
    struct place place = meet ? place_named(meet) : place_on_this_host();
    struct hello mine = hello_of(kind);
    if (us.rank == 0)
        listen_for_all(&place, &mine);
    else
        connect_to_first(&place, &mine);
    ranks_barrier();
}

/* ---- the watch ---- */

static _Atomic(const char *) watched;
static _Atomic double watched_since;

/* Which rank's end of its socket is closed, or -1. */
static int rank_that_ended(void)
{
    int count = us.size == 1 ? 0 : us.rank == 0 ? us.size : 1;
    for (int i = 0; i < count; i++) {
        struct pollfd p = {.fd = sockets[i], .events = POLLRDHUP};
        if (sockets[i] >= 0 && poll(&p, 1, 0) > 0)
            return i;
    }
    return -1;
}

/* _exit, not exit: the main thread may hang in a call that holds locks; the driver takes the process's kernels down with it. */
static void *watch_loop(void *unused)
{
    for (;;) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        const char *what = atomic_load(&watched);
        int ended = what ? rank_that_ended() : -1;
        bool late = what && seconds_now() - atomic_load(&watched_since) > patience;
        if (ended < 0 && !late)
            continue;
        if (ended >= 0)
            fprintf(stderr, "rank %d: rank %d has ended during %s; the run ends\n", us.rank, ended, what);
        else
            fprintf(stderr, "rank %d: %s took more than %u seconds (--wait allows more); the run ends\n", us.rank, what, patience);
        _exit(DEVICE_ERROR);
    }
    return unused;
}

void watch_start(unsigned wait_seconds)
{
    pthread_t thread;
    patience = wait_seconds;
    if (pthread_create(&thread, NULL, watch_loop, NULL) != 0)
        fail(DEVICE_ERROR, "no thread to watch over the other ranks");
    pthread_detach(thread);
}

void watch(const char *what)
{
    atomic_store(&watched_since, seconds_now());
    atomic_store(&watched, what);
}
