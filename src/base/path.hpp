// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace nodewise {

/// A path without its folders.
[[nodiscard]] constexpr std::string_view last_part(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

// Library code that works on behalf of its caller: the allocation of a std::vector is attributed to
// the line that made the vector.

/// Whether a path belongs to the headers of the C++ library or the compiler.
[[nodiscard]] constexpr bool is_library_header(std::string_view path) noexcept {
  constexpr std::array<std::string_view, 5> folders = {"/include/c++/", "/c++/v1/", "/lib/gcc/",
                                                       "/lib/clang/", "/libstdc++-v3/"};
  return std::ranges::any_of(
      folders, [&](std::string_view folder) { return path.find(folder) != path.npos; });
}

/// Whether a shared object is a language library, a threading library or one of this project.
/// `name` is without its folder.
[[nodiscard]] constexpr bool is_helping_library(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 18> beginnings = {
      "libc.so",      "libc-",        "libm.so",       "libstdc++.so", "libc++.so",
      "libc++abi.so", "libgcc_s.so",  "ld-linux",      "ld-musl",      "libgfortran.so",
      "libgomp.so",   "libomp.so",    "libiomp5.so",   "libtbb.so",    "libtbbmalloc",
      "libpthread",   "libnodewise-", "libnodewise.so"};
  return std::ranges::any_of(beginnings,
                             [&](std::string_view begin) { return name.starts_with(begin); });
}

} // namespace nodewise
