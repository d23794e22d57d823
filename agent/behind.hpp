// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

namespace nodewise::agent {

/// The function of this name that the program would use without the agent: the next one in the
/// loader's order, else the C library's own. nullptr if there is none. Inline, because RTLD_NEXT
/// searches the libraries after the one that calls dlsym().
[[nodiscard]] inline void* find_behind(const char* name) noexcept {
  void* found = ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    // Not closed: this would call our own dlclose(), which may be the function we look for.
    void* const library = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    found = library == nullptr ? nullptr : ::dlsym(library, name);
  }
  if (found == nullptr) {
    (void)::dlerror(); // clear the error of this search: the program must not see it
  }
  return found;
}

} // namespace nodewise::agent
