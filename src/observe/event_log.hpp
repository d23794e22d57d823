// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The recorded events of a program, in bounded memory and in time order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "observe/packed_sample.hpp"
#include "observe/sample.hpp"

namespace nodewise::observe {

/// A stack_copy that owns its bytes.
struct kept_stack {
  access_sample at;
  sys::user_registers registers;
  std::vector<std::byte> bytes;
};

/// Keeps every sample until its memory is used up. Then it thins repeated samples of a page: it
/// drops half of them, those to come included, and half again if that is not enough. The first
/// sample of each page is kept as long as the first samples alone fit. The choice depends only on a
/// sample's time and address, so that the rest is evenly spread and each repeat stands for
/// `repeat_weight`.
class event_log {
 public:
  /// `page_bytes`: of a base page, a power of two.
  explicit event_log(std::size_t limit_bytes = std::size_t{512} << 20,
                     std::size_t page_bytes = 4096);

  void take(const access_sample& what);
  void take(const stack_copy& what);
  void take(module_mapped what);
  void take(task_event what);
  void take(const thread_sighting& what);

  /// Sorts everything by time. Call it before reading, and again after taking more events.
  void finish();

  /// Keeps in a finished log only the process `pid` (from its first exec on, or from the beginning)
  /// and the processes that it has forked since.
  void keep_program(int pid, beginning from);

  /// Iterates over the samples in time order. The log must not change meanwhile.
  class reader {
   public:
    explicit reader(const event_log& of) : log_(of), merge_(of.streams_) {}
    [[nodiscard]] std::optional<access_sample> next();

   private:
    const event_log& log_;
    stream_merge merge_;
  };
  [[nodiscard]] reader read() const { return reader(*this); }

  // Each ascending by time.
  [[nodiscard]] const std::vector<kept_stack>& stacks() const noexcept { return stacks_; }
  [[nodiscard]] const std::vector<module_mapped>& modules() const noexcept { return modules_; }
  [[nodiscard]] const std::vector<task_event>& tasks() const noexcept { return tasks_; }
  [[nodiscard]] const std::vector<thread_sighting>& sightings() const noexcept {
    return sightings_;
  }

  [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }
  /// Dropped to bound memory: samples; stack copies; modules, task events and sightings.
  [[nodiscard]] std::uint64_t thinned() const noexcept { return thinned_; }
  [[nodiscard]] std::uint64_t thinned_stacks() const noexcept { return thinned_stacks_; }
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
  /// How many repeats each kept one stands for: 1, 2, 4, ...
  [[nodiscard]] std::uint64_t repeat_weight() const noexcept {
    return std::uint64_t{1} << repeats_halved_;
  }
  /// Whether first samples of pages may be missing.
  [[nodiscard]] bool firsts_thinned() const noexcept { return firsts_halved_ != 0; }
  [[nodiscard]] std::size_t used_bytes() const noexcept;

 private:
  struct task_ids {
    int pid;
    int tid;
  };
  [[nodiscard]] access_sample unpack(const packed_sample& what, int cpu) const;
  [[nodiscard]] packed_sample pack(const access_sample& what);
  [[nodiscard]] task_ids ids_of(const packed_sample& what) const noexcept {
    const std::uint64_t key = tasks_seen_.values[what.task];
    return {static_cast<int>(key >> 32), static_cast<int>(key)};
  }
  [[nodiscard]] std::uint32_t ip_number(std::uint64_t ip);
  [[nodiscard]] sample_stream& stream_of(int cpu);
  [[nodiscard]] bool is_first(const packed_sample& what);
  [[nodiscard]] bool stays(const packed_sample& what) const noexcept;
  [[nodiscard]] bool has_room(std::size_t bytes) noexcept;
  void mark_firsts();
  void thin();
  void count_stack_bytes() noexcept;

  std::size_t limit_bytes_;
  unsigned page_shift_;
  std::vector<sample_stream> streams_;
  std::map<int, std::size_t> stream_by_cpu_;
  numbered_values tasks_seen_; ///< pid and tid, each 32 bits
  numbered_values ips_;
  page_set pages_; ///< with a sample; maintained once thinning has begun
  bool marked_ = false;
  unsigned repeats_halved_ = 0;
  unsigned firsts_halved_ = 0;

  std::vector<kept_stack> stacks_;
  std::size_t stack_bytes_ = 0;
  unsigned stacks_halved_ = 0;
  std::vector<module_mapped> modules_;
  std::vector<task_event> tasks_;
  std::vector<thread_sighting> sightings_;
  std::size_t other_bytes_ = 0; ///< of the last three

  std::uint64_t samples_ = 0;
  std::uint64_t thinned_ = 0;
  std::uint64_t thinned_stacks_ = 0;
  std::uint64_t left_out_ = 0;
};

/// A thread was seen on a different processor than before; it moved at some time in between.
struct migration {
  std::uint64_t time_ns = 0; ///< when it was seen there
  int pid = 0;
  int tid = 0;
  int from_cpu = -1;
  int to_cpu = -1;
};
/// From all samples and sightings of a finished log, ascending by time.
[[nodiscard]] std::vector<migration> migrations_of(const event_log& log);

} // namespace nodewise::observe
