/* What the headers of CUDA 12 lack or spell otherwise, so that the front builds with either toolkit and has the layouts
 * (cudaDeviceProp) and names of the one it was built with. cudart_12.c has the functions that only CUDA 12 has. Numbers are those
 * of CUDA 13, which are CUDA 12's wherever it has the name. */
#ifndef CUDA12_H
#define CUDA12_H
#include <cuda_runtime_api.h>

#if CUDART_VERSION < 13000
#define cudaDevAttrNumaConfig ((enum cudaDeviceAttr)130)
#define cudaDevAttrNumaId ((enum cudaDeviceAttr)131)
#define cudaDevAttrMpsEnabled ((enum cudaDeviceAttr)133)
#define cudaDevAttrHostNumaId ((enum cudaDeviceAttr)134)
#define cudaDevAttrD3D12CigSupported ((enum cudaDeviceAttr)135)
#define cudaDevAttrVulkanCigSupported ((enum cudaDeviceAttr)138)
#define cudaDevAttrGpuPciDeviceId ((enum cudaDeviceAttr)139)
#define cudaDevAttrGpuPciSubsystemId ((enum cudaDeviceAttr)140)
#define cudaDevAttrHostNumaMemoryPoolsSupported ((enum cudaDeviceAttr)142)
#define cudaDevAttrHostNumaMultinodeIpcSupported ((enum cudaDeviceAttr)143)
#define cudaDevAttrHostMemoryPoolsSupported ((enum cudaDeviceAttr)144)
#define cudaDevAttrOnlyPartialHostNativeAtomicSupported ((enum cudaDeviceAttr)147)
#define cudaMemLocationTypeHost ((enum cudaMemLocationType)2)
#define cudaLaunchAttributePreferredSharedMemoryCarveout ((cudaLaunchAttributeID)14)
#endif

#if CUDART_VERSION < 12080 /* libraries came with 12.8 */
typedef struct CUlib_st *cudaLibrary_t;
enum cudaJitOption { CUDA12_NO_JIT_OPTION };
enum cudaLibraryOption { CUDA12_NO_LIBRARY_OPTION };
#endif
#endif
