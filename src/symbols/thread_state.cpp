// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/thread_state.hpp"

#include <cstring>

namespace nodewise::symbols {

registers::registers(processor of, std::uint64_t pc, std::uint64_t stack_pointer) noexcept
    : kind_(of) {
  set(pc_number(), pc);
  set(stack_pointer_number(), stack_pointer);
}

std::optional<std::uint64_t> registers::get(std::uint64_t number) const noexcept {
  return number < count && ((known_ >> number) & 1U) != 0 ? std::optional(values_[number])
                                                          : std::nullopt;
}

void registers::set(std::uint64_t number, std::uint64_t value) noexcept {
  if (number < count) {
    values_[number] = value;
    known_ |= std::uint64_t{1} << number;
  }
}

void registers::forget(std::uint64_t number) noexcept {
  if (number < count) {
    known_ &= ~(std::uint64_t{1} << number);
  }
}

std::optional<std::uint64_t> stack_copy::word(std::uint64_t address) const noexcept {
  const std::uint64_t offset = address - start;
  if (address < start || bytes.size() < sizeof offset || offset > bytes.size() - sizeof offset) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

} // namespace nodewise::symbols
