// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/modules.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include <dlfcn.h>
#include <link.h>

#include "agent/loader_list.hpp"

// glibc 2.35 and later.
#pragma weak _dl_find_object

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

bool one_of(std::span<const char* const> libraries, const char* file) noexcept {
  return std::ranges::any_of(libraries, [=](const char* each) { return names(each, file); });
}

void* find_in(const char* path, const char* name) noexcept {
  void* const module = ::dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (module == nullptr) {
    return nullptr;
  }
  void* const found = ::dlsym(module, name);
  ::dlclose(module);
  return found != nullptr &&
                 module_base(found) != module_base(reinterpret_cast<void*>(find_seen_from))
             ? found
             : nullptr;
}

/// The path of the loader's n-th module.
struct nth_path {
  std::size_t left;
  char path[4096];
};
int note_path(dl_phdr_info* module, std::size_t /*bytes*/, void* into) {
  auto& nth = *static_cast<nth_path*>(into);
  if (nth.left-- != 0) {
    return 0;
  }
  const std::size_t length = ::strnlen(module->dlpi_name, sizeof nth.path - 1);
  std::memcpy(nth.path, module->dlpi_name, length);
  nth.path[length] = '\0';
  return 1;
}

} // namespace

const char* last_part(const char* path) noexcept {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

module_of::module_of(const void* address) noexcept {
  if (_dl_find_object == nullptr) {
    const listed_module found = find_in_loader_list(address);
    start = found.start;
    end = found.end;
    name =
        last_part(start != nullptr && *found.path == '\0' ? program_invocation_name : found.path);
    return;
  }
  dl_find_object found;
  if (_dl_find_object(const_cast<void*>(address), &found) != 0) {
    return;
  }
  start = static_cast<const char*>(found.dlfo_map_start);
  end = static_cast<const char*>(found.dlfo_map_end);
  const char* const path = found.dlfo_link_map->l_name;
  name = last_part(*path == '\0' ? program_invocation_name : path);
}

bool module_of::is(const char* library) const noexcept {
  const std::size_t length = std::strlen(library);
  const char after = std::strncmp(name, library, length) == 0 ? name[length] : 'x';
  return after == '.' || after == '-' || after == '_';
}

const void* module_base(const void* address) noexcept {
  Dl_info module{};
  return ::dladdr(address, &module) != 0 ? module.dli_fbase : nullptr;
}

void* find_seen_from(const void* caller, const char* name) noexcept {
  Dl_info module{};
  void* found = ::dladdr(caller, &module) != 0 ? find_in(module.dli_fname, name) : nullptr;
  // The caller may see a library through the module that loaded it, which cannot be queried.
  nth_path nth;
  for (std::size_t i = 0; found == nullptr; ++i) {
    nth.left = i;
    if (::dl_iterate_phdr(note_path, &nth) == 0) {
      break;
    }
    found = nth.path[0] == '\0' ? nullptr : find_in(nth.path, name);
  }
  return found;
}

bool is_runtime(const char* file) noexcept {
  return one_of(runtimes, file);
}

bool is_language_library(const char* file) noexcept {
  return one_of(language_libraries, file);
}

} // namespace nodewise::agent
