// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

namespace nodewise::agent {

/// The function of that name that a program would have without the agent: the next one in the order
/// of the loader, else the C library's own. nullptr if there is none. Inline, because "next" means
/// behind the library that asks.
[[nodiscard]] inline void* find_behind(const char* name) noexcept {
  void* found = ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    // Never closed: that would call our own dlclose(), which may be what is looked for.
    void* const library = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    found = library == nullptr ? nullptr : ::dlsym(library, name);
  }
  if (found == nullptr) {
    (void)::dlerror(); // the program must not see the error of our search
  }
  return found;
}

} // namespace nodewise::agent
