// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Call chains of programs without frame pointers: from a thread's registers and a copy of a piece
// of its stack, by the call frame information (DWARF 5, section 6.4) of the files that its code
// comes from. The process may be gone.
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
  /// As a sample with PERF_SAMPLE_REGS_USER has them: `values` of the bits of `mask`, ascending.
  /// nullopt if pc or stack pointer are missing, or there are fewer values than bits.
  [[nodiscard]] static std::optional<registers>
  of_perf(processor of, std::uint64_t mask, std::span<const std::uint64_t> values) noexcept;
  /// For `sample_regs_user`: all that call frames may need. Kernels refuse x86-64's segments.
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
  /// nullopt where it is not known.
  [[nodiscard]] std::optional<std::uint64_t> get(std::uint64_t number) const noexcept;
  /// Nobody's number is ignored.
  void set(std::uint64_t number, std::uint64_t value) noexcept;
  void forget(std::uint64_t number) noexcept;
  void set_pc(std::uint64_t pc) noexcept { values_[pc_number()] = pc; }

 private:
  processor kind_;
  std::array<std::uint64_t, count> values_{};
  std::uint64_t known_ = 0; ///< a bit each
};

/// Bytes of the stack from `start` upwards.
struct stack_copy {
  std::uint64_t start = 0;
  std::span<const std::byte> bytes;

  /// nullopt if not all eight bytes are in the copy.
  [[nodiscard]] std::optional<std::uint64_t> word(std::uint64_t address) const noexcept;
};

/// Why a chain is no longer.
enum class chain_end {
  outermost, ///< all of it: the thread began here
  copy_ends, ///< the next caller is further up the stack than was copied
  no_module, ///< code that is in no file: generated while running, the vdso, an unknown mapping
  no_cfi,    ///< the file is gone, damaged, or says nothing of this code
  nonsense,  ///< what it says leads nowhere: a stack that does not shrink
  too_long,
};
[[nodiscard]] std::string_view to_string(chain_end why) noexcept;

struct unwound {
  /// Innermost first. The first is an instruction, the others are returns: the byte before each is
  /// in the instruction that called (of a frame that a signal interrupted: in what it interrupted).
  std::vector<std::uint64_t> addresses;
  chain_end why = chain_end::no_module;
};

/// Keeps what files say, for many chains of any number of processes. Not for several threads at
/// once.
class unwinder {
 public:
  unwinder();
  unwinder(unwinder&&) noexcept;
  unwinder& operator=(unwinder&&) noexcept;
  ~unwinder();

  /// At least one address, the pc. Files are opened by the map's paths.
  [[nodiscard]] unwound chain(const code_map& code, const registers& at, const stack_copy& stack,
                              std::size_t longest = 128);

 private:
  class files;
  std::unique_ptr<files> files_;
};

} // namespace nodewise::symbols
