// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Library code that works on behalf of its caller: the allocation of a std::vector is attributed to
// the line that made the vector.
#pragma once

#include <string_view>

namespace nodewise {

/// Whether a path belongs to the headers of the C++ library or the compiler.
[[nodiscard]] constexpr bool is_library_header(std::string_view path) noexcept {
  for (const std::string_view folder :
       {"/include/c++/", "/c++/v1/", "/lib/gcc/", "/lib/clang/", "/libstdc++-v3/"}) {
    if (path.find(folder) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

/// Whether a shared object is a language library, a threading library or one of this project.
/// `name` is without its folder.
[[nodiscard]] constexpr bool is_helping_library(std::string_view name) noexcept {
  for (const std::string_view begin :
       {"libc.so", "libc-", "libm.so", "libstdc++.so", "libc++.so", "libc++abi.so", "libgcc_s.so",
        "ld-linux", "ld-musl", "libgfortran.so", "libgomp.so", "libomp.so", "libiomp5.so",
        "libtbb.so", "libtbbmalloc", "libpthread", "libnodewise-", "libnodewise.so"}) {
    if (name.starts_with(begin)) {
      return true;
    }
  }
  return false;
}

} // namespace nodewise
