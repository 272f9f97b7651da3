/* Device memory: who owns which addresses, and the bytes behind them.
 *
 * A device address lies in a range that is reserved and never mapped, so that a host program which dereferences one crashes, as
 * with a GPU; the bytes live elsewhere (`host`). Pinned and managed memory is the exception: its device address is its host
 * address. Allocations are 256-byte aligned, stand apart by a gap and are not reused while there is room, so an access past an
 * end or after cudaFree is always seen. Shared, local and parameter memory have generic addresses in windows of their own. */
#ifndef MEMORY_H
#define MEMORY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum memory_kind { MEMORY_DEVICE, MEMORY_PINNED, MEMORY_MANAGED, MEMORY_VARIABLE, MEMORY_CONSTANT, MEMORY_HEAP };

struct allocation {
    uint64_t base; /* device address of the first byte */
    size_t bytes;
    char *host; /* the byte behind `base` */
    enum memory_kind kind;
    bool freed;
    const char *name; /* of a __device__ or __constant__ variable; NULL for cudaMalloc's */
};

/* Generic windows: no host pointer has these upper bits. */
#define WINDOW_SHARED 0x0100000000000000u
#define WINDOW_LOCAL 0x0200000000000000u
#define WINDOW_PARAM 0x0300000000000000u
#define WINDOW_MASK 0xff00000000000000u

/* A zero-byte request gives NULL and no error, as cudaMalloc does. NULL for other sizes: the host has not so much memory. */
void *memory_allocate(size_t bytes, enum memory_kind kind, const char *name);
bool memory_free(void *device); /* false: not the start of a live allocation */

/* cudaHostRegister: the program's own bytes become pinned memory, and back. False: part of them is known already; not registered.
 */
bool memory_register(void *host, size_t bytes);
bool memory_unregister(void *host);

/* The live allocation that holds the address, else NULL. The pointer stays valid until the allocation is freed. */
const struct allocation *memory_find(uint64_t address);
/* The freed allocation that held it last, for a better report; NULL if there was none. */
const struct allocation *memory_find_freed(uint64_t address);
/* Host bytes behind [device, device + bytes), or NULL unless one live allocation holds them all. */
char *memory_host(const void *device, size_t bytes);

/* In the range of device addresses, live or not: no host pointer, whatever else it is. */
bool memory_reserved(uint64_t address);

/* In bytes. The free figure is what the host can still give: /proc/meminfo's MemAvailable and the cgroup's limit. */
size_t memory_total(void);
size_t memory_available(void);
size_t memory_in_use(void);
/* Calls `each` for every live allocation of cudaMalloc and its kin (for the leak check and cudaDeviceReset). */
void memory_each(void (*each)(const struct allocation *, void *), void *context);
void memory_each_of(enum memory_kind kind, void (*each)(const struct allocation *, void *), void *context);
#endif
