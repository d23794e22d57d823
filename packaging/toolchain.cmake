# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#
# This system's GCC with the headers and libraries that packaging/sysroot has collected in build/dist/sysroot.
# Executables that are linked statically contain this system's C library: packaging/CMakeLists.txt links the others.
set(CMAKE_C_COMPILER gcc-12)
set(CMAKE_CXX_COMPILER g++-12)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH _source)
set(CMAKE_SYSROOT ${_source}/build/dist/sysroot/root)
foreach(_kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${_kind} ONLY)
endforeach()
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/x86_64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})

# The packages do not depend on the folder they were built in.
set(CMAKE_C_FLAGS_INIT -ffile-prefix-map=${_source}=.)
set(CMAKE_CXX_FLAGS_INIT -ffile-prefix-map=${_source}=.)
