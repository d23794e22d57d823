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

namespace nodewise::sys {

/// A register's number in perf's masks, and in DWARF.
struct perf_register {
  unsigned perf;
  std::size_t dwarf;
};

// The registers are in the kernel's order, which is the order of the values in a sample.

#if defined(__x86_64__)

// DWARF: System V ABI, AMD64 supplement, figure 3.36.
inline constexpr std::array<perf_register, 17> perf_registers = {{
    {PERF_REG_X86_AX, 0},
    {PERF_REG_X86_BX, 3},
    {PERF_REG_X86_CX, 2},
    {PERF_REG_X86_DX, 1},
    {PERF_REG_X86_SI, 4},
    {PERF_REG_X86_DI, 5},
    {PERF_REG_X86_BP, 6},
    {PERF_REG_X86_SP, 7},
    {PERF_REG_X86_IP, 16},
    {PERF_REG_X86_R8, 8},
    {PERF_REG_X86_R9, 9},
    {PERF_REG_X86_R10, 10},
    {PERF_REG_X86_R11, 11},
    {PERF_REG_X86_R12, 12},
    {PERF_REG_X86_R13, 13},
    {PERF_REG_X86_R14, 14},
    {PERF_REG_X86_R15, 15},
}};
inline constexpr std::size_t dwarf_sp = 7;
inline constexpr std::size_t dwarf_pc = 16;

#elif defined(__aarch64__)

// DWARF for the Arm 64-bit architecture: x0-x30 and sp have the kernel's numbers.
inline constexpr auto perf_registers = [] {
  std::array<perf_register, PERF_REG_ARM64_PC + 1> all{};
  for (unsigned i = 0; i < all.size(); ++i) {
    all[i] = {i, i};
  }
  return all;
}();
inline constexpr std::size_t dwarf_sp = PERF_REG_ARM64_SP;
inline constexpr std::size_t dwarf_pc = PERF_REG_ARM64_PC;

#else

// On other processors no stack is copied.
inline constexpr std::array<perf_register, 0> perf_registers = {};
inline constexpr std::size_t dwarf_sp = 0;
inline constexpr std::size_t dwarf_pc = 0;

#endif

/// attr.sample_regs_user.
inline constexpr std::uint64_t perf_register_mask = [] {
  std::uint64_t mask = 0;
  for (const perf_register& each : perf_registers) {
    mask |= std::uint64_t{1} << each.perf;
  }
  return mask;
}();

} // namespace nodewise::sys
