# SPDX-License-Identifier: Apache-2.0
# What every target of the project is compiled and linked with.
add_library(pinscope_options INTERFACE)
add_library(pinscope::options ALIAS pinscope_options)

target_compile_definitions(pinscope_options INTERFACE _GNU_SOURCE PINSCOPE_VERSION="${PROJECT_VERSION}")
target_compile_options(pinscope_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  # g++ 12 sees an overlap in std::string that is none (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${PINSCOPE_WERROR}>:-Werror>)

if(PINSCOPE_SANITIZE)
  target_compile_options(pinscope_options INTERFACE
    -fsanitize=${PINSCOPE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    # With sanitizers g++ 12 warns of std::regex and std::function by mistake.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(pinscope_options INTERFACE -fsanitize=${PINSCOPE_SANITIZE})
endif()

# A module of the core: userspace/NAME becomes the library pinscope_NAME.
function(pinscope_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_library(pinscope_${name} STATIC ${arg_SOURCES})
  add_library(pinscope::${name} ALIAS pinscope_${name})
  target_include_directories(pinscope_${name} PUBLIC ${PROJECT_SOURCE_DIR}/userspace)
  target_link_libraries(pinscope_${name} PUBLIC ${arg_LINKS} PRIVATE pinscope::options)
endfunction()
