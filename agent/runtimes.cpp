// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/runtimes.hpp"

#include <cstring>

namespace nodewise::agent {

namespace {

/// OpenMP and tasks; MPI and its base libraries; accelerators; numerical libraries that start
/// workers of their own. A name ends before the version, which begins with a '.', a '-' or a digit.
/// After a '*' anything may follow.
constexpr const char* runtimes[] = {
    "libgomp",         "libomp",    "libiomp",   "libnvomp",     "libcraymp",
    "libtbb*",         "libmpi*",   "libpmi*",   "libprrte",     "libopen-pal",
    "libopen-rte",     "libevent*", "libucs",    "libucp",       "libuct",
    "libucm",          "libfabric", "libpsm*",   "libibverbs",   "librdmacm",
    "libhwloc",        "libcuda*",  "libnccl",   "librccl",      "libamdhip*",
    "libhsa-runtime*", "libze_*",   "libOpenCL", "libopenblas*", "libscipy_openblas*",
    "libblis*"};

/// The C library and those of languages: their static data is not the program's.
constexpr const char* language_libraries[] = {
    "libc",       "ld",      "libm",     "libpthread",  "libdl",       "librt",
    "libstdc++*", "libc++*", "libgcc_s", "libgfortran", "libquadmath",
};

bool names(const char* runtime, const char* file) noexcept {
  const std::size_t length = std::strcspn(runtime, "*");
  if (std::strncmp(runtime, file, length) != 0) {
    return false;
  }
  const char after = file[length];
  return runtime[length] == '*' || after == '.' || after == '-' || (after >= '0' && after <= '9');
}

template <std::size_t count>
bool one_of(const char* const (&libraries)[count], const char* file) noexcept {
  for (const char* const each : libraries) {
    if (names(each, file)) {
      return true;
    }
  }
  return false;
}

} // namespace

bool is_runtime(const char* file) noexcept {
  return one_of(runtimes, file);
}

bool is_language_library(const char* file) noexcept {
  return one_of(language_libraries, file);
}

} // namespace nodewise::agent
