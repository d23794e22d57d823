# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#
# GCC 12 for NODEWISE_ARCHITECTURE (x86_64 or aarch64), with the headers and libraries in NODEWISE_SYSROOT
# instead of this system's own: packaging/sysroot or tests/aarch64/root makes this folder.
# Executables that are linked statically contain the C library of the compiler: packaging/CMakeLists.txt links the
# others.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES NODEWISE_ARCHITECTURE NODEWISE_SYSROOT)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH _source)
set(CMAKE_SYSROOT ${NODEWISE_SYSROOT})
if(NODEWISE_ARCHITECTURE STREQUAL x86_64)
  set(_compiler_prefix "")
elseif(NODEWISE_ARCHITECTURE STREQUAL aarch64)
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR aarch64)
  set(_compiler_prefix aarch64-linux-gnu-)
  # Starts what the build and the tests start.
  set(CMAKE_CROSSCOMPILING_EMULATOR ${_source}/tests/aarch64/emulate ${CMAKE_SYSROOT})
else()
  message(FATAL_ERROR "NODEWISE_ARCHITECTURE is '${NODEWISE_ARCHITECTURE}', not x86_64 or aarch64")
endif()
set(CMAKE_C_COMPILER ${_compiler_prefix}gcc-12)
set(CMAKE_CXX_COMPILER ${_compiler_prefix}g++-12)
foreach(_kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${_kind} ONLY)
endforeach()
set(_sysroot_libraries ${CMAKE_SYSROOT}/usr/lib/${NODEWISE_ARCHITECTURE}-linux-gnu)
set(ENV{PKG_CONFIG_LIBDIR} ${_sysroot_libraries}/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})

# What is compiled does not depend on the folder.
set(CMAKE_C_FLAGS_INIT -ffile-prefix-map=${_source}=.)
set(CMAKE_CXX_FLAGS_INIT -ffile-prefix-map=${_source}=.)
