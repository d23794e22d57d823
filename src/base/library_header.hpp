// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Source that is inlined into a program and is not the program's: std::vector's allocation is the
// line's that made the vector.
#pragma once

#include <string_view>

namespace nodewise {

/// Whether a path is of the C++ library's or the compiler's own headers.
[[nodiscard]] constexpr bool is_library_header(std::string_view path) noexcept {
  for (const std::string_view folder :
       {"/include/c++/", "/c++/v1/", "/lib/gcc/", "/lib/clang/", "/libstdc++-v3/"}) {
    if (path.find(folder) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

} // namespace nodewise
