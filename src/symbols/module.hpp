// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Reads names, source lines and sizes of the machine code and static data of an executable or a
// shared object, using libelf and libdw.
//
// Every offset counts from the lowest mapped address of the module. Add it to the module's start in
// /proc/PID/maps, whether the module is position-independent or not.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbols/names.hpp"

namespace nodewise::symbols {

/// An array or variable in writable static memory.
struct data_object {
  std::string name;         ///< demangled; without the compiler's ".7" if that stays unique
  std::uint64_t offset = 0; ///< of its first byte
  std::uint64_t bytes = 0;  ///< its length
};

/// An ELF executable or shared object. Not thread-safe, since it caches results; copies share them.
class module {
 public:
  /// nullopt if the file cannot be read or is neither an executable nor a shared object.
  [[nodiscard]] static std::optional<module> open(const std::string& file);

  /// From the lowest to the highest mapped address, .bss included.
  [[nodiscard]] std::uint64_t mapped_bytes() const;
  /// No .symtab, neither in the file nor in a separate debug file under /usr/lib/debug with the
  /// same build id.
  [[nodiscard]] bool stripped() const;
  /// Writable static data of at least `least_bytes`, ascending by offset, each byte once: of
  /// several names for one object the public one is kept. Excludes thread-local data and data that
  /// is read-only once the program has been linked.
  [[nodiscard]] std::vector<data_object> data_objects(std::uint64_t least_bytes) const;
  /// The place in the source: the innermost inlined function that is not of the C++ library, the
  /// compiler's own headers or this project's library, and the line in it; if all are, the
  /// innermost that is not of the first two. Only a symbol's name if there is no DWARF; nullopt if
  /// there is no symbol either. For a return address, pass the byte before.
  [[nodiscard]] std::optional<source_place> locate(std::uint64_t offset) const;
  /// The same with all functions that were inlined there, innermost first, each with its line or
  /// the line that calls the previous one. Empty if `locate` finds nothing.
  [[nodiscard]] std::vector<source_place> inlined_places(std::uint64_t offset) const;
  /// The offset of code by its place in the file; nullopt if there is no code there.
  [[nodiscard]] std::optional<std::uint64_t> offset_at(std::uint64_t file_offset) const;
  /// The machine code of a source line, with that of functions inlined there, ascending; "solver.c"
  /// also matches ".../solver.c".
  [[nodiscard]] std::vector<code_range> ranges_of_line(std::string_view file_suffix,
                                                       int line) const;
  /// The machine code of a function and of its compiler-made parts (inlined copies, clones,
  /// outlined loops of OpenMP), ascending and merged. The name may be mangled, demangled, without
  /// parameters or scopes, and in Fortran with or without the underscore.
  [[nodiscard]] std::vector<code_range> ranges_of_function(std::string_view name) const;

 private:
  struct contents;
  explicit module(std::shared_ptr<contents> all) : all_(std::move(all)) {}
  std::shared_ptr<contents> all_;
};

/// The build id of an ELF file, unique to a program, in lower-case hexadecimal. Empty if the file
/// has none, cannot be read or is not an ELF file.
[[nodiscard]] std::string build_id(const std::string& file);

/// Whether an ELF file imports a function whose symbol begins with one of these; false if it cannot
/// be read.
[[nodiscard]] bool imports_any(const std::string& file, std::span<const std::string_view> symbols);

/// The path of the loader that a program's file names; empty if it is static or not an ELF file.
[[nodiscard]] std::string interpreter(const std::string& file);

} // namespace nodewise::symbols
