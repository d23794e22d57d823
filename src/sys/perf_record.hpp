// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The records that the kernel writes into the ring of a perf event (perf_event_open(2)), as values.
// An incomplete or invalid record is reported as such and never read past its end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace nodewise::sys {

/// The registers of a program, by their DWARF numbers: what an unwinder starts from.
struct user_registers {
  static constexpr std::size_t most = 33;
  std::array<std::uint64_t, most> by_dwarf{};
  unsigned count = 0; ///< 17 on x86-64, 33 on AArch64 (the last is the program counter); 0: none
  std::uint64_t pc = 0;
  std::uint64_t sp = 0;
};

/// What each sample of a ring has besides instruction, task, time and address.
struct perf_layout {
  bool page_size = false;
  bool stack = false; ///< registers and a copy of the stack
  bool physical = false;
};

// The views are valid as long as the decoded record.

/// It does not contain the processor: each processor has its own ring, and every field costs space.
struct perf_sample {
  std::uint64_t ip = 0;
  int pid = 0;
  int tid = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t address = 0;    ///< 0 if the event has none
  std::uint64_t physical = 0;   ///< of the address; 0 if the kernel does not report it
  std::uint64_t page_bytes = 0; ///< of the page at the address; 0 if not reported
  user_registers registers;
  std::span<const std::byte> stack; ///< from registers.sp on
};
struct perf_mapping {
  int pid = 0;
  int tid = 0;
  std::uint64_t start = 0;
  std::uint64_t bytes = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t time_ns = 0;
  bool executable = false;
  std::string_view path; ///< "//anon" for anonymous memory
  std::span<const std::byte> build_id;
};
struct perf_task {
  int pid = 0;
  int parent_pid = 0;
  int tid = 0;
  int parent_tid = 0;
  std::uint64_t time_ns = 0;
  bool ended = false; ///< false: it began
};
struct perf_name {
  int pid = 0;
  int tid = 0;
  std::uint64_t time_ns = 0;
  bool by_exec = false;
  std::string_view name;
};
/// Records lost because the ring was full.
struct perf_lost {
  std::uint64_t count = 0;
};
/// A record of a type that is not needed here.
struct perf_other {};
/// A record that is shorter than its contents require.
struct perf_damaged {};

using perf_record = std::variant<perf_other, perf_damaged, perf_sample, perf_mapping, perf_task,
                                 perf_name, perf_lost>;

/// `bytes`: one whole record with its header.
[[nodiscard]] perf_record decode_record(std::span<const std::byte> bytes,
                                        const perf_layout& layout) noexcept;

/// The records between two positions of a ring; positions never wrap. A record across the ring's
/// end is joined.
class ring_walk {
 public:
  /// A record's header: type (4 bytes), misc (2), size (2).
  static constexpr std::size_t header_bytes = 8;
  static constexpr std::size_t most_bytes = 1 << 16;

  /// The size of `data` is a power of two. If the range is larger, only damage is counted.
  ring_walk(std::span<const std::byte> data, std::uint64_t tail, std::uint64_t head) noexcept
      : data_(data), tail_(tail), head_(head) {}

  /// Empty at the end. The bytes are valid until the next call.
  [[nodiscard]] std::span<const std::byte> next() noexcept;
  /// The number of invalid sizes; nothing can be read after one.
  [[nodiscard]] std::uint64_t damaged() const noexcept { return damaged_; }

 private:
  /// Copies bytes from the tail on to `joined_`.
  void join(std::size_t count) noexcept;
  [[nodiscard]] std::size_t tail_index() const noexcept {
    return static_cast<std::size_t>(tail_ & (data_.size() - 1));
  }
  std::span<const std::byte> data_;
  std::uint64_t tail_;
  std::uint64_t head_;
  std::uint64_t damaged_ = 0;
  std::array<std::byte, most_bytes> joined_;
};

} // namespace nodewise::sys
