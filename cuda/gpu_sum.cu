// SPDX-License-Identifier: Apache-2.0
// Sums the first byte of every page, as trial/marks.h writes them. One launch, any number of threads.
extern "C" __global__ void pinscope_sum_pages(const unsigned char* memory, unsigned long long bytes,
                                              unsigned long long page_bytes, unsigned long long* sum) {
    unsigned long long own = 0;
    const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
    for (unsigned long long page = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
         page * page_bytes < bytes; page += threads)
        own += memory[page * page_bytes];
    atomicAdd(sum, own);
}
