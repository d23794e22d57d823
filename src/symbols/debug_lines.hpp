// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The DWARF information of a module. Addresses here are those of the file, not offsets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <elfutils/libdw.h>

#include "symbols/names.hpp"

namespace nodewise::symbols {

class debug_lines {
 public:
  /// `from` must outlive this. It may be null; then nothing is known.
  explicit debug_lines(Dwarf* from) : dwarf_(from) {}

  /// Innermost first; empty if nothing is known.
  [[nodiscard]] std::vector<source_place> places(Dwarf_Addr address);
  [[nodiscard]] std::vector<code_range> of_line(std::string_view file_suffix, int line);
  [[nodiscard]] std::vector<code_range> of_function(std::string_view name);

 private:
  /// A function, or a copy of one that was inlined; `depth` grows inwards.
  struct instance {
    std::string function; ///< demangled
    std::string plain;    ///< DW_AT_name: its name in the source
    int depth = 0;
    std::size_t parent = none; ///< what it was inlined into
    std::string call_file;     ///< of the call, for an inlined copy
    int call_line = 0;
    std::vector<code_range> code;
  };
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  struct unit {
    Dwarf_Die skeleton{}; ///< has the line table
    Dwarf_Die die{};      ///< has the functions; another one with -gsplit-dwarf
    bool indexed = false;
    std::vector<instance> instances;
  };

  /// Read at the first call.
  [[nodiscard]] std::vector<unit>& units();
  void index(unit& of);
  /// Adds the code of the functions and copies for which `is` holds.
  template <class Is>
  void add_code(unit& of, std::vector<code_range>& into, const Is& is);
  void collect(unit& into, Dwarf_Die* die, std::size_t parent, int depth);
  [[nodiscard]] unit* unit_of(Dwarf_Addr address);
  [[nodiscard]] static std::size_t innermost(const unit& in, Dwarf_Addr address);

  Dwarf* dwarf_;
  bool read_ = false;
  std::vector<unit> units_;
  /// Ascending by first address: where each unit's code is.
  struct unit_code {
    code_range where;
    std::size_t unit;
  };
  std::vector<unit_code> code_;
};

[[nodiscard]] bool contain(const std::vector<code_range>& ranges, Dwarf_Addr address);
/// Ascending; ranges that touch or overlap become one.
[[nodiscard]] std::vector<code_range> merged(std::vector<code_range> ranges);

} // namespace nodewise::symbols
