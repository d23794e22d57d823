// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "base/last_part.hpp"
#include "symbols/source_place.hpp"

namespace nodewise::symbols {

/// The source name for a linker's name: C++ by the ABI's demangler, Fortran modules of GCC
/// (`__m_MOD_a`) and Flang (`_QMmEa`) as `m::a`. Others are returned unchanged.
[[nodiscard]] std::string demangle(const char* name);

/// "ns::f(int) const" -> "ns::f"; also without a template's return type in front.
[[nodiscard]] std::string_view without_parameters(std::string_view demangled) noexcept;

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
