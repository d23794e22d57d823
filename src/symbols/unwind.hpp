// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Call chains of programs without frame pointers, from a thread's registers, a copy of a part of
// its stack, and the call frame information (DWARF 5, section 6.4) of the files with its code. The
// process need not exist any more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "symbols/code_map.hpp"

namespace nodewise::symbols {

enum class processor { x86_64, aarch64 };

/// A thread's user registers, by DWARF's numbers for the processor.
class registers {
 public:
  static constexpr std::size_t count = 33;

  explicit registers(processor of, std::uint64_t pc, std::uint64_t stack_pointer) noexcept;
  /// From a sample with PERF_SAMPLE_REGS_USER: `values` of the bits of `mask`, ascending. nullopt
  /// if pc or stack pointer are missing, or there are fewer values than bits.
  [[nodiscard]] static std::optional<registers>
  of_perf(processor of, std::uint64_t mask, std::span<const std::uint64_t> values) noexcept;
  /// For `sample_regs_user`: all registers that call frames may need. Kernels refuse x86-64's
  /// segments.
  [[nodiscard]] static constexpr std::uint64_t perf_mask(processor of) noexcept {
    return of == processor::x86_64 ? 0xff01ff : 0x1ffffffff;
  }

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

/// Why a chain ends.
enum class chain_end {
  outermost, ///< complete: the thread began here
  copy_ends, ///< the next caller is above the copied part of the stack
  no_module, ///< code in no file: generated at run time, the vdso, an unknown mapping
  no_cfi,    ///< the file is gone, damaged, or does not describe this code
  nonsense,  ///< the information is invalid: the stack does not shrink
  too_long,
};
[[nodiscard]] std::string_view to_string(chain_end why) noexcept;

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
  unwinder(unwinder&&) noexcept;
  unwinder& operator=(unwinder&&) noexcept;
  ~unwinder();

  /// Returns at least one address, the pc. Opens files by the map's paths.
  [[nodiscard]] unwound chain(const code_map& code, const registers& at, const stack_copy& stack,
                              std::size_t longest = 128);

 private:
  class files;
  std::unique_ptr<files> files_;
};

} // namespace nodewise::symbols
