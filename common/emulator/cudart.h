/* Inside the runtime's front: what the cudart_*.c files share. The front is thin: it checks arguments as NVIDIA's runtime does
 * (the checks were compared with an H200 under CUDA 13.0), calls memory.h, module.h and launch.h, and keeps the errors.
 *
 * Everything runs at the call, in order, under one lock: a stream or an event never waits for anything. */
#ifndef CUDART_H
#define CUDART_H
#include "memory.h"
#include "module.h"
#include "cuda12.h"
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

/* An API function's body. CALL: a call that needs the device, so it answers with the sticky error once a kernel has failed.
 * QUERY: one that answers even then. Both take the lock and keep the thread's last error. */
#define CALL(expression) (front_enter(), front_leave(front_sticky() ? front_sticky() : (expression)))
#define QUERY(expression) (front_enter(), front_leave(expression))
void front_lock(void);  /* registration: before main, when the program may still change its environment */
void front_enter(void); /* a call: the environment holds from here on */
cudaError_t front_leave(cudaError_t error);
cudaError_t front_sticky(void);
void front_set_sticky(cudaError_t error); /* a kernel failed: what the next calls will say */

/* What a synchronising call gives, once what kernels have printed is on stdout. Which calls do was seen on an H200: cudaDevice-,
 * Stream- and EventSynchronize, copies that wait, cudaFree, cudaDeviceReset; not a launch, cudaMalloc, cudaMemset or the exit. */
cudaError_t front_synchronised(cudaError_t error);

/* Says once for each name that the emulator lacks the call. Returns cudaErrorNotSupported. */
cudaError_t front_lacks(const char *name);

/* The same function under the name that programs built with --default-stream per-thread call: all streams are in order here. */
#define PER_THREAD(name, suffix) extern __typeof(name) name##suffix __attribute__((alias(#name)));

/* A kernel as the program registered it; cudaKernel_t and cudaFunction_t point to one. */
struct kernel {
    const void *stub; /* the host function whose address the program uses */
    const char *name; /* mangled */
    struct binary *binary;
    const struct function *function; /* once loaded */
    struct function_facts facts;
    bool limit_set;       /* by cudaFuncSetAttribute: */
    size_t dynamic_limit; /* bytes of dynamic shared memory */
    int carveout;         /* kept and given back; no effect */
};
struct kernel *kernel_of(const void *stub_or_handle);        /* NULL: none such */
cudaError_t kernel_load(const void *func, struct kernel **); /* with its module in place */
size_t kernel_dynamic_limit(const struct kernel *kernel);
const struct module *kernel_module(const struct kernel *kernel);
void binaries_unload(void); /* cudaDeviceReset: modules load afresh, variables are as at the start */

/* PTX that the program loads itself: cudart_library.c keeps the text, cudart_module.c treats it as one more of the program's. */
struct library_text {
    const char *at;
    size_t bytes;
    const char *name; /* for reports */
};
cudaError_t library_load(const struct library_text *text, struct binary **out); /* `text` must stay */
void library_unload(struct binary *binary);
cudaError_t library_module(struct binary *binary, const struct module **module);
struct kernel *library_kernel(struct binary *binary, const char *name); /* the module has such a kernel; NULL: no memory */

/* A variable's place: cudaErrorInvalidSymbol if the program has none such. */
cudaError_t symbol_find(const void *symbol, char **device, size_t *bytes);

/* Takes both readings of what lies at an address: live device-accessible memory, or the program's own. NULL: neither has it all. */
char *copy_side(const void *address, size_t bytes, bool device);
cudaError_t copy_bytes(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);

bool stream_valid(cudaStream_t stream);
int device_current(void);
bool device_exists(int device);
cudaError_t device_allocate(void **out, size_t bytes); /* what cudaMalloc and cudaFree do */
cudaError_t device_release(void *device);
void pool_forget(const void *device); /* it is freed: if it came from a pool, the pool has it back */
void pools_restart(void);             /* cudaDeviceReset's share of cudart_pool.c */
void device_restart(void);            /* cudaDeviceReset's share of cudart_device.c */
#endif
