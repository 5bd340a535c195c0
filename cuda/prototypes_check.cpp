// SPDX-License-Identifier: Apache-2.0
// Compares our own declarations with the toolkit's, where there is one.
#include "cuda/driver_api.h"
#include "cuda/runtime_api.h"

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace pinscope::cuda {

static_assert(sizeof(CUresult) == sizeof(DriverStatus) && sizeof(cudaError_t) == sizeof(RuntimeStatus));
static_assert(sizeof(CUdeviceptr) == sizeof(DevicePointer));
static_assert(CUDA_ERROR_STUB_LIBRARY == driver_stub_library);
static_assert(CU_MEMHOSTALLOC_PORTABLE == host_alloc_portable &&
              cudaHostAllocPortable == host_alloc_portable);
static_assert(CU_MEMHOSTALLOC_DEVICEMAP == host_alloc_mapped && cudaHostAllocMapped == host_alloc_mapped);
static_assert(CU_MEMHOSTALLOC_WRITECOMBINED == host_alloc_write_combined &&
              cudaHostAllocWriteCombined == host_alloc_write_combined);
static_assert(cudaMemAttachGlobal == attach_global);

static_assert(sizeof(CUmemLocation) == sizeof(MemoryLocation));
static_assert(CU_MEM_LOCATION_TYPE_HOST_NUMA == location_host_numa);
static_assert(sizeof(CUmemAllocationProp) == sizeof(AllocationProperties));
static_assert(offsetof(CUmemAllocationProp, location) == offsetof(AllocationProperties, location));
static_assert(offsetof(CUmemAllocationProp, win32HandleMetaData) ==
              offsetof(AllocationProperties, windows_handle));
static_assert(CU_MEM_ALLOCATION_TYPE_PINNED == allocation_pinned);
static_assert(sizeof(CUmemAccessDesc) == sizeof(MemoryAccess));
static_assert(CU_MEM_ACCESS_FLAGS_PROT_READWRITE == access_read_write);

} // namespace pinscope::cuda
