// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From a frame to its caller's.
#pragma once

#include <cstdint>
#include <optional>

#include "symbols/byte_reader.hpp"
#include "symbols/cfi.hpp"
#include "symbols/unwind.hpp"

namespace nodewise::symbols {

/// Registers and memory of one frame, and whether more of it was asked for than is known.
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

/// A DWARF expression (DWARF 5, section 2.5) as call frame information uses them: nullopt for what
/// it may not do, what is not known, and what does not end.
[[nodiscard]] std::optional<std::uint64_t>
evaluate(byte_span expression, std::optional<std::uint64_t> first, frame_values& values);

struct caller {
  std::optional<registers> at;         ///< pc and what else is known
  chain_end why = chain_end::nonsense; ///< where there is none
};
[[nodiscard]] caller caller_of(const registers& of, const frame_row& row, const stack_copy& stack);

} // namespace nodewise::symbols
