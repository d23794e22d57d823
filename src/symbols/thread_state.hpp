// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a call chain is found from: the registers of a thread, a copy of a part of its stack, and
// the code of its process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nodewise::symbols {

enum class processor { x86_64, aarch64 };

/// A thread's user registers, by DWARF's numbers for the processor.
class registers {
 public:
  static constexpr std::size_t count = 33;

  registers(processor of, std::uint64_t pc, std::uint64_t stack_pointer) noexcept : kind_(of) {
    set(pc_number(), pc);
    set(stack_pointer_number(), stack_pointer);
  }

  [[nodiscard]] processor kind() const noexcept { return kind_; }
  [[nodiscard]] std::uint64_t pc() const noexcept { return *values_[pc_number()]; }
  [[nodiscard]] std::size_t stack_pointer_number() const noexcept {
    return kind_ == processor::x86_64 ? 7 : 31;
  }
  [[nodiscard]] std::size_t pc_number() const noexcept {
    return kind_ == processor::x86_64 ? 16 : 32;
  }
  /// nullopt if it is not known.
  [[nodiscard]] std::optional<std::uint64_t> get(std::uint64_t number) const noexcept {
    return number < count ? values_[number] : std::nullopt;
  }
  /// Ignores a number that is not a register. nullopt: forgets its value.
  void set(std::uint64_t number, std::optional<std::uint64_t> value) noexcept {
    if (number < count) {
      values_[number] = value;
    }
  }
  void set_pc(std::uint64_t pc) noexcept { values_[pc_number()] = pc; }

 private:
  processor kind_;
  std::array<std::optional<std::uint64_t>, count> values_;
};

/// Bytes of the stack from `start` upwards.
struct stack_copy {
  std::uint64_t start = 0;
  std::span<const std::byte> bytes;

  /// nullopt if not all eight bytes are in the copy.
  [[nodiscard]] std::optional<std::uint64_t> word(std::uint64_t address) const noexcept {
    std::uint64_t value = 0;
    const std::uint64_t offset = address - start;
    if (address < start || bytes.size() < sizeof value || offset > bytes.size() - sizeof value) {
      return std::nullopt;
    }
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
};

/// An executable mapping of a process, as in /proc/PID/maps or an event of perf.
struct code_mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;         ///< the byte after its last
  std::uint64_t file_offset = 0; ///< of its first byte
  std::string file;              ///< path; "[vdso]", "//anon" or "" for code in no file
};

/// The code mappings of a process. A later mapping replaces what it overlaps, so if the process
/// loads and unloads modules, the map holds for the time of the query.
class code_map {
 public:
  /// Ignores an empty mapping.
  void add(code_mapping mapping);
  /// nullptr if no code is mapped there. Valid until the next `add`.
  [[nodiscard]] const code_mapping* at(std::uint64_t address) const noexcept;
  /// The path of a mapped file by its last part; empty if there is none.
  [[nodiscard]] std::string file_named(std::string_view name) const;

 private:
  std::map<std::uint64_t, code_mapping> by_start_;
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

} // namespace nodewise::symbols
