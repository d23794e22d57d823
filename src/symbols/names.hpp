// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where code comes from in the source, and names of functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "base/path.hpp"

namespace nodewise::symbols {

/// Code of a module. Half-open: first is inside, last is not.
struct code_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  friend bool operator==(const code_range&, const code_range&) = default;
};

struct source_place {
  std::string function; ///< demangled
  std::string file;     ///< as the compiler recorded it; empty if unknown
  int line = 0;         ///< 0 if unknown
};

/// The source name for a linker's name: C++ by the ABI's demangler, Fortran modules of GCC
/// (`__m_MOD_a`) and Flang (`_QMmEa`) as `m::a`. Others are returned unchanged.
[[nodiscard]] std::string demangle(const char* name);

/// "ns::f(int) const" -> "ns::f"; also without a template's return type in front.
[[nodiscard]] std::string_view without_parameters(std::string_view demangled) noexcept;

/// A demangled name for tables, unchanged if it has at most `longest` bytes: otherwise without its
/// return type, with "..." in place of template arguments and parameters, and without its first
/// part if that is still too long. "void ns::f<int>(int) const" -> "ns::f<...>(...) const". Takes
/// names of arrays, too: "ns::f<...>(...) #2".
[[nodiscard]] std::string abbreviated(std::string_view name, std::size_t longest = 60);

/// Whether a demangled name is that of a function of this project's library. Its templates are
/// inlined into programs: an array belongs to the line that made it.
[[nodiscard]] bool is_of_this_library(std::string_view demangled) noexcept;

/// Removes the compiler's suffix for a clone or an outlined part: "solve._omp_fn.0" -> "solve".
[[nodiscard]] std::string_view without_clone_suffix(std::string_view name) noexcept;

/// Whether `asked` may refer to the function with this demangled name.
[[nodiscard]] bool names_function(std::string_view asked, std::string_view demangled) noexcept;

/// Whether the path is `suffix` or ends in it after a slash.
[[nodiscard]] bool path_ends_in(std::string_view path, std::string_view suffix) noexcept;

/// "solver.c:41"; the function if the line is unknown; empty if that is unknown, too.
[[nodiscard]] std::string short_name(const source_place& of);

// Inline: the launcher needs it, too, without ELF and DWARF.

/// "libsolver.so+0x1234": code without a symbol. `path`: the module's.
[[nodiscard]] inline std::string module_and_offset(std::string_view path, std::uint64_t offset) {
  return fmt::format("{}+{:#x}", last_part(path), offset);
}

} // namespace nodewise::symbols
