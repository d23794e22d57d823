// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/modules.hpp"

#include <cerrno>
#include <cstring>

#include <dlfcn.h>
#include <link.h>

// glibc 2.35 and later.
#pragma weak _dl_find_object

namespace nodewise::agent {

const char* last_part(const char* path) noexcept {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

module_of::module_of(const void* address) noexcept {
  dl_find_object found;
  if (_dl_find_object == nullptr || _dl_find_object(const_cast<void*>(address), &found) != 0) {
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

} // namespace nodewise::agent
