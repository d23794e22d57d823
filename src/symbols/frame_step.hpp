// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Steps from a frame to its caller's, by the rules for where code has saved the registers of its
// caller.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/byte_reader.hpp"
#include "symbols/thread_state.hpp"

namespace nodewise::symbols {

/// Where a register of the caller is. CFA: the canonical frame address, by convention the caller's
/// stack pointer.
struct frame_rule {
  enum class place : std::uint8_t {
    no_rule,
    lost,         ///< DW_CFA_undefined
    kept,         ///< in the same register
    memory,       ///< at CFA + offset
    cfa_sum,      ///< is CFA + offset
    register_sum, ///< is a register + offset
    memory_at,    ///< at the address that the expression gives
    computed,     ///< is the value of the expression
  };
  place where = place::no_rule;
  std::uint64_t from = 0;  ///< of register_sum
  std::int64_t offset = 0; ///< bytes
  byte_span expression;
};

/// The rules at one instruction.
struct frame_row {
  frame_rule cfa; ///< register_sum or computed
  /// By register; registers without a rule are omitted.
  std::vector<std::pair<std::uint64_t, frame_rule>> saved;
  std::uint64_t return_register = 0;
  bool signal = false; ///< a frame that the kernel made: its caller was interrupted, not calling

  [[nodiscard]] const frame_rule* of(std::uint64_t number) const noexcept {
    const auto found =
        std::ranges::find(saved, number, &std::pair<std::uint64_t, frame_rule>::first);
    return found == saved.end() ? nullptr : &found->second;
  }
};

/// Registers and memory of one frame; records whether memory outside the stack copy was read.
struct frame_values {
  const registers& of;
  const stack_copy& stack;
  bool beyond_copy = false;

  [[nodiscard]] std::optional<std::uint64_t> memory(std::uint64_t address) {
    const auto found = stack.word(address);
    beyond_copy = beyond_copy || !found;
    return found;
  }
};

/// Evaluates a DWARF expression (DWARF 5, section 2.5) of call frame information. nullopt if it
/// uses a forbidden operation or an unknown value, or does not end.
[[nodiscard]] std::optional<std::uint64_t>
evaluate(byte_span expression, std::optional<std::uint64_t> first, frame_values& values);

struct caller {
  std::optional<registers> at;         ///< pc and what else is known
  chain_end why = chain_end::nonsense; ///< if there is no caller
};
[[nodiscard]] caller caller_of(const registers& of, const frame_row& row, const stack_copy& stack);

} // namespace nodewise::symbols
