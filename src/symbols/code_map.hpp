// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace nodewise::symbols {

/// An executable mapping of a process, as a line of /proc/PID/maps or an event of perf has it.
struct code_mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;         ///< the byte after its last
  std::uint64_t file_offset = 0; ///< of its first byte
  std::string file;              ///< path; "[vdso]", "//anon", "" for what is in no file
};

/// Where a process had which code. Of a process that loads and unloads modules it is as good as the
/// time at which it is asked: a later mapping replaces what it overlaps.
class code_map {
 public:
  /// An empty mapping is left out.
  void add(code_mapping mapping);
  /// nullptr where no code is mapped. Good until the next `add`.
  [[nodiscard]] const code_mapping* at(std::uint64_t address) const noexcept;
  /// The path of a mapped file by its last part; empty if there is none.
  [[nodiscard]] std::string file_named(std::string_view name) const;

 private:
  std::map<std::uint64_t, code_mapping> by_start_;
};

} // namespace nodewise::symbols
