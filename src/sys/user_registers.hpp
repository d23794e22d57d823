// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nodewise::sys {

/// The registers of a program, by their DWARF numbers: what an unwinder starts from.
struct user_registers {
  static constexpr std::size_t most = 33;
  std::array<std::uint64_t, most> by_dwarf{};
  unsigned count = 0; ///< 17 on x86-64 (the last is the program counter), 32 on AArch64; 0: none
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
};

} // namespace nodewise::sys
