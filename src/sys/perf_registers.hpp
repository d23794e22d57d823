// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which registers to request from perf, and their DWARF numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) || defined(__aarch64__)
#include <asm/perf_regs.h>
#endif

#include "sys/user_registers.hpp"

namespace nodewise::sys {

#if defined(__x86_64__)

/// In the kernel's order, which is the order of the values in a sample.
inline constexpr std::array perf_registers = {
    PERF_REG_X86_AX,  PERF_REG_X86_BX,  PERF_REG_X86_CX,  PERF_REG_X86_DX,  PERF_REG_X86_SI,
    PERF_REG_X86_DI,  PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_IP,  PERF_REG_X86_R8,
    PERF_REG_X86_R9,  PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12, PERF_REG_X86_R13,
    PERF_REG_X86_R14, PERF_REG_X86_R15};

constexpr void arrange_registers(const std::array<std::uint64_t, perf_registers.size()>& values,
                                 user_registers& into) noexcept {
  // System V ABI, AMD64 supplement, figure 3.36: rax rdx rcx rbx rsi rdi rbp rsp r8-r15, return.
  constexpr std::array<std::size_t, perf_registers.size()> number = {
      0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15};
  for (std::size_t i = 0; i < values.size(); ++i) {
    into.by_dwarf[number[i]] = values[i];
  }
  into.count = 17;
  into.pc = into.by_dwarf[16];
  into.sp = into.by_dwarf[7];
}

#elif defined(__aarch64__)

inline constexpr auto perf_registers = [] {
  std::array<int, PERF_REG_ARM64_PC + 1> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<int>(i);
  }
  return all;
}();

/// DWARF for the Arm 64-bit architecture: x0-x30 and sp have the kernel's numbers.
constexpr void arrange_registers(const std::array<std::uint64_t, perf_registers.size()>& values,
                                 user_registers& into) noexcept {
  for (std::size_t i = 0; i < PERF_REG_ARM64_PC; ++i) {
    into.by_dwarf[i] = values[i];
  }
  into.count = PERF_REG_ARM64_PC;
  into.pc = values[PERF_REG_ARM64_PC];
  into.sp = values[PERF_REG_ARM64_SP];
}

#else

// On other processors no stack is copied.
inline constexpr std::array<int, 0> perf_registers = {};
constexpr void arrange_registers(const std::array<std::uint64_t, 0>&, user_registers&) noexcept {}

#endif

/// attr.sample_regs_user.
inline constexpr std::uint64_t perf_register_mask = [] {
  std::uint64_t mask = 0;
  for (const int each : perf_registers) {
    mask |= std::uint64_t{1} << static_cast<unsigned>(each);
  }
  return mask;
}();

} // namespace nodewise::sys
