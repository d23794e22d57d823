// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Call chains of programs without frame pointers, from a thread's registers, a copy of a part of
// its stack, and the call frame information (DWARF 5, section 6.4) of the files with its code. The
// process need not exist any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/thread_state.hpp"

namespace nodewise::symbols {

struct unwound {
  /// Innermost first. The first is an instruction, the others are returns: the byte before each is
  /// in the instruction that called (of a frame that a signal interrupted: in what it interrupted).
  std::vector<std::uint64_t> addresses;
  chain_end why = chain_end::no_module;
};

/// Caches what it reads from files, for many chains of any number of processes. Not thread-safe.
class unwinder {
 public:
  unwinder();

  /// Returns at least one address, the pc. Opens files by the map's paths.
  [[nodiscard]] unwound chain(const code_map& code, const registers& at, const stack_copy& stack,
                              std::size_t longest = 128);

 private:
  struct code_file;
  using files = std::unordered_map<std::string, code_file>; ///< by path
  std::shared_ptr<files> files_;                            ///< opened so far; copies share them
};

} // namespace nodewise::symbols
