/* The rest of the runtime API: every name that NVIDIA's libcudart exports and the emulator lacks, so that any program loads.
 * Each says so and returns cudaErrorNotSupported. They take no parameters here and ignore what they are given, which the calling
 * convention allows; cuda_runtime_api.h is not included, as its declarations differ. */
typedef int cudaError_t;
enum { cudaErrorNotSupported = 801 };
void front_enter(void);
cudaError_t front_leave(cudaError_t error);
cudaError_t front_lacks(const char *name);

#define STUB(name)                                                                                                                 \
    cudaError_t name(void);                                                                                                        \
    cudaError_t name(void)                                                                                                         \
    {                                                                                                                              \
        front_enter();                                                                                                             \
        return front_leave(front_lacks(#name));                                                                                    \
    }
#include "cudart_stubs.def"
#ifdef CUDA_12
#include "cudart_stubs12.def"
#endif
