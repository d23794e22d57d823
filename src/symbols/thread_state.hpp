// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a call chain starts from: the registers of a thread, and a copy of a part of its stack.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nodewise::symbols {

enum class processor { x86_64, aarch64 };

/// A thread's user registers, by DWARF's numbers for the processor.
class registers {
 public:
  static constexpr std::size_t count = 33;

  explicit registers(processor of, std::uint64_t pc, std::uint64_t stack_pointer) noexcept;

  [[nodiscard]] processor kind() const noexcept { return kind_; }
  [[nodiscard]] std::uint64_t pc() const noexcept { return values_[pc_number()]; }
  [[nodiscard]] std::size_t stack_pointer_number() const noexcept {
    return kind_ == processor::x86_64 ? 7 : 31;
  }
  [[nodiscard]] std::size_t pc_number() const noexcept {
    return kind_ == processor::x86_64 ? 16 : 32;
  }
  /// nullopt if it is not known.
  [[nodiscard]] std::optional<std::uint64_t> get(std::uint64_t number) const noexcept;
  /// Ignores a number that is not a register.
  void set(std::uint64_t number, std::uint64_t value) noexcept;
  void forget(std::uint64_t number) noexcept;
  void set_pc(std::uint64_t pc) noexcept { values_[pc_number()] = pc; }

 private:
  processor kind_;
  std::array<std::uint64_t, count> values_{};
  std::uint64_t known_ = 0; ///< one bit per register
};

/// Bytes of the stack from `start` upwards.
struct stack_copy {
  std::uint64_t start = 0;
  std::span<const std::byte> bytes;

  /// nullopt if not all eight bytes are in the copy.
  [[nodiscard]] std::optional<std::uint64_t> word(std::uint64_t address) const noexcept;
};

} // namespace nodewise::symbols
