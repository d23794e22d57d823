// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where code has saved the registers of its caller, at one of its instructions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "symbols/byte_reader.hpp"

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

} // namespace nodewise::symbols
