// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace nodewise::symbols {

/// An executable mapping of a process, as in /proc/PID/maps or an event of perf.
struct code_mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;         ///< the byte after its last
  std::uint64_t file_offset = 0; ///< of its first byte
  std::string file;              ///< path; "[vdso]", "//anon" or "" for code in no file
};

/// The code mappings of a process. A later mapping replaces what it overlaps, so if the process
/// loads and unloads modules, the map holds for the time of the query.
class code_map {
 public:
  /// Ignores an empty mapping.
  void add(code_mapping mapping);
  /// nullptr if no code is mapped there. Valid until the next `add`.
  [[nodiscard]] const code_mapping* at(std::uint64_t address) const noexcept;
  /// The path of a mapped file by its last part; empty if there is none.
  [[nodiscard]] std::string file_named(std::string_view name) const;

 private:
  std::map<std::uint64_t, code_mapping> by_start_;
};

} // namespace nodewise::symbols
