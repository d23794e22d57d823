// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/seen_from.hpp"

#include <cstddef>
#include <cstring>

#include <dlfcn.h>
#include <link.h>

#include "agent/modules.hpp"

namespace nodewise::agent {

namespace {

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

} // namespace nodewise::agent
