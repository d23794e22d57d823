// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Steps from a frame to its caller's.
#pragma once

#include <cstdint>
#include <optional>

#include "symbols/chain_end.hpp"
#include "symbols/frame_row.hpp"
#include "symbols/thread_state.hpp"

namespace nodewise::symbols {

/// Registers and memory of one frame; records whether memory outside the stack copy was read.
class frame_values {
 public:
  frame_values(const registers& of, const stack_copy& stack) : of_(of), stack_(stack) {}

  [[nodiscard]] std::optional<std::uint64_t> memory(std::uint64_t address) {
    const auto found = stack_.word(address);
    beyond_copy_ = beyond_copy_ || !found;
    return found;
  }
  [[nodiscard]] std::optional<std::uint64_t> get(std::uint64_t number) const {
    return of_.get(number);
  }
  [[nodiscard]] bool beyond_copy() const { return beyond_copy_; }

 private:
  const registers& of_;
  const stack_copy& stack_;
  bool beyond_copy_ = false;
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
