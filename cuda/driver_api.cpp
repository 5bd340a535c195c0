// SPDX-License-Identifier: Apache-2.0
#include "cuda/driver_api.h"

namespace pinscope::cuda {

DriverApi::DriverApi(const std::string& path) : library(path) {
    library.find(init, "cuInit");
    library.find(device_get, "cuDeviceGet");
    library.find(primary_context_retain, "cuDevicePrimaryCtxRetain");
    library.find(primary_context_release, "cuDevicePrimaryCtxRelease_v2");
    library.find(context_set_current, "cuCtxSetCurrent");

    library.find(mem_host_alloc, "cuMemHostAlloc");
    library.find(mem_free_host, "cuMemFreeHost");
    library.find(mem_host_register, "cuMemHostRegister_v2");
    library.find(mem_host_unregister, "cuMemHostUnregister");
    library.find(mem_granularity, "cuMemGetAllocationGranularity");
    library.find(mem_create, "cuMemCreate");
    library.find(mem_release, "cuMemRelease");
    library.find(address_reserve, "cuMemAddressReserve");
    library.find(address_free, "cuMemAddressFree");
    library.find(mem_map, "cuMemMap");
    library.find(mem_unmap, "cuMemUnmap");
    library.find(mem_set_access, "cuMemSetAccess");

    library.find(error_name, "cuGetErrorName");
    library.find(driver_version, "cuDriverGetVersion");
    library.find(device_count, "cuDeviceGetCount");
    library.find(device_name, "cuDeviceGetName");
    library.find(host_device_pointer, "cuMemHostGetDevicePointer_v2");
    library.find(mem_alloc, "cuMemAlloc_v2");
    library.find(mem_free, "cuMemFree_v2");
    library.find(copy_to_device, "cuMemcpyHtoD_v2");
    library.find(copy_to_host, "cuMemcpyDtoH_v2");
    library.find(module_load, "cuModuleLoadData");
    library.find(module_function, "cuModuleGetFunction");
    library.find(launch, "cuLaunchKernel");
    library.find(synchronize, "cuCtxSynchronize");
}

std::string DriverApi::name_of(DriverStatus status) const {
    const char* name = nullptr;
    if (error_name == nullptr || error_name(status, &name) != 0 || name == nullptr)
        return {};
    return name;
}

} // namespace pinscope::cuda
