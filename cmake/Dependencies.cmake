# SPDX-License-Identifier: Apache-2.0
# Everything the project leans on. docs/dependencies.md says what each one saves.
find_package(PkgConfig REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(Threads REQUIRED)

find_path(TL_EXPECTED_INCLUDE_DIR tl/expected.hpp REQUIRED)
find_path(FMT_INCLUDE_DIR fmt/format-inl.h REQUIRED)

# A dependency whose static form goes into the static build and whose shared form goes into every other one.
function(pinscope_find_c_library name header)
  find_path(${name}_INCLUDE_DIR ${header} REQUIRED)
  find_library(${name}_SHARED NAMES ${name} REQUIRED)
  find_library(${name}_STATIC NAMES lib${name}.a REQUIRED)
  add_library(pinscope_dep_${name} INTERFACE)
  add_library(dep::${name} ALIAS pinscope_dep_${name})
  target_include_directories(pinscope_dep_${name} SYSTEM INTERFACE ${${name}_INCLUDE_DIR})
  if(PINSCOPE_STATIC)
    target_link_libraries(pinscope_dep_${name} INTERFACE ${${name}_STATIC})
  else()
    target_link_libraries(pinscope_dep_${name} INTERFACE ${${name}_SHARED})
  endif()
endfunction()

pinscope_find_c_library(cap-ng cap-ng.h)
pinscope_find_c_library(uring liburing.h)
pinscope_find_c_library(z zlib.h)
pinscope_find_c_library(elf libelf.h)
pinscope_find_c_library(bpf bpf/libbpf.h)
target_link_libraries(pinscope_dep_bpf INTERFACE dep::elf dep::z)
