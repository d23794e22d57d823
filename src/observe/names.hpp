// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Names for the mappings of a process.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "observe/area.hpp"
#include "observe/threads.hpp"
#include "symbols/module.hpp"

namespace nodewise::observe {

/// An executable or library in the address space.
struct loaded_module {
  std::string path;
  std::uint64_t start = 0; ///< of its lowest mapping
  bool deleted = false;    ///< the file was deleted or replaced
};

/// Opened modules, kept between observations.
class module_cache {
 public:
  /// nullopt if it cannot be opened. The path is in the root directory of process `pid`.
  std::optional<symbols::module> get(const loaded_module& which, int pid);

 private:
  std::map<std::string, std::optional<symbols::module>> opened_;
};

class name_finder {
 public:
  name_finder(std::span<const mapping> mappings, int pid, module_cache& cache);

  /// From the mapping itself. `huge`: its pages are hugetlb pages.
  [[nodiscard]] area_kind kind_of(std::size_t mapping_index, bool huge) const;
  [[nodiscard]] std::string name_of(std::size_t mapping_index) const;

  /// Static arrays of at least `least_bytes`, and what follows .bss as a range without a name.
  [[nodiscard]] std::vector<named_range> static_arrays(std::uint64_t least_bytes);
  /// Stacks of threads whose stack pointer is known, each at most `most_bytes` long.
  [[nodiscard]] std::vector<named_range> stacks(const std::vector<thread_facts>& threads,
                                                std::uint64_t most_bytes) const;
  /// The address of the agent's view, if the agent is loaded.
  [[nodiscard]] std::optional<std::uint64_t> agent_view();
  /// "solver.c:41", "solve", "libsolver.so+0x1234".
  [[nodiscard]] std::string code_name(std::uint64_t return_address);

 private:
  using identity = std::pair<std::string, std::uint64_t>; ///< device and inode
  [[nodiscard]] const loaded_module* module_of(const mapping& m) const;
  [[nodiscard]] const mapping* at(std::uint64_t address) const;
  std::span<const mapping> mappings_;
  int pid_;
  module_cache& cache_;
  std::map<identity, loaded_module> modules_;
  /// For anonymous memory right after a module's file: the module, since it may be its .bss.
  std::vector<const loaded_module*> before_;
};

} // namespace nodewise::observe
