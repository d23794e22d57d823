// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How a log keeps samples: 24 bytes each, by processor; and which pages it has seen.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nodewise::observe {

struct packed_sample {
  std::uint64_t time_ns;
  std::uint64_t address;
  std::uint32_t ip : 22;   ///< number of the instruction's address
  std::uint32_t node : 10; ///< of the page, plus 1; 0: unknown
  std::uint32_t task : 24; ///< number of the thread
  std::uint32_t page : 5;  ///< log2 of its bytes, less page_log_base; 0: unknown
  std::uint32_t kind : 2;  ///< sample_kind
  std::uint32_t first : 1; ///< the first of its page; valid once the log has marked firsts

  static constexpr unsigned page_log_base = 11;
  static constexpr std::uint32_t most_tasks = 1U << 24;
  static constexpr std::uint32_t most_ips = 1U << 22;
  static constexpr std::uint32_t most_nodes = (1U << 10) - 1;

  /// Evenly spread over samples, and the same at each call.
  [[nodiscard]] std::uint64_t lot() const noexcept {
    // The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
    std::uint64_t x = time_ns ^ address << 20 ^ task;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9U;
    x = (x ^ x >> 27) * 0x94D049BB133111EBU;
    return x ^ x >> 31;
  }
};
static_assert(sizeof(packed_sample) == 24);

/// Values by their numbers, in the order of their first use.
struct numbered_values {
  std::vector<std::uint64_t> values;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;

  std::uint32_t number_of(std::uint64_t value) {
    const auto number = static_cast<std::uint32_t>(values.size());
    const auto [found, added] = numbers.try_emplace(value, number);
    if (added) {
      values.push_back(value);
    }
    return found->second;
  }
};

/// Samples of one processor. A deque grows without a copy.
struct sample_stream {
  static constexpr std::size_t step = 2048; ///< samples; how memory is counted

  int cpu;
  std::deque<packed_sample> samples;
  bool sorted = true;

  [[nodiscard]] std::size_t used_bytes() const noexcept {
    return (samples.size() + step - 1) / step * step * sizeof(packed_sample);
  }
  void append(const packed_sample& what) {
    sorted = sorted && (samples.empty() || samples.back().time_ns <= what.time_ns);
    samples.push_back(what);
  }
  /// The kernel writes in time order, with rare exceptions.
  void sort() {
    if (!std::exchange(sorted, true)) {
      std::ranges::sort(samples, {}, &packed_sample::time_ns);
    }
  }
};

/// Iterates over several streams in time order.
class stream_merge {
 public:
  struct place {
    std::size_t stream;
    std::size_t index;
  };

  explicit stream_merge(const std::vector<sample_stream>& streams)
      : streams_(streams), next_(streams.size()) {
    for (std::size_t s = 0; s < streams.size(); ++s) {
      push(s);
    }
  }
  [[nodiscard]] std::optional<place> next() {
    if (ahead_.empty()) {
      return std::nullopt;
    }
    const std::size_t stream = ahead_.top().stream;
    ahead_.pop();
    const place found{stream, next_[stream]++};
    push(stream);
    return found;
  }

 private:
  struct head {
    std::uint64_t time_ns;
    std::size_t stream;
    friend auto operator<=>(const head&, const head&) = default;
  };
  void push(std::size_t stream) {
    if (next_[stream] < streams_[stream].samples.size()) {
      ahead_.push({streams_[stream].samples[next_[stream]].time_ns, stream});
    }
  }
  const std::vector<sample_stream>& streams_;
  std::vector<std::size_t> next_;
  std::priority_queue<head, std::vector<head>, std::greater<>> ahead_;
};

/// Pages of processes: one bit each, in blocks of 512 adjacent pages, since pages are mostly
/// adjacent.
class page_set {
 public:
  /// False if the page was in the set already.
  bool insert(int pid, std::uint64_t page) {
    const key block{page / block_pages, pid};
    if (last_ == nullptr || !(block == last_key_)) {
      last_ = &blocks_[block];
      last_key_ = block;
    }
    std::uint64_t& word = (*last_)[page % block_pages / 64];
    const std::uint64_t bit = std::uint64_t{1} << (page % 64);
    const bool added = (word & bit) == 0;
    word |= bit;
    return added;
  }
  [[nodiscard]] std::size_t used_bytes() const noexcept {
    constexpr std::size_t node = sizeof(key) + sizeof(bits) + 2 * sizeof(void*);
    return blocks_.size() * node + blocks_.bucket_count() * sizeof(void*);
  }

 private:
  static constexpr std::uint64_t block_pages = 512;
  using bits = std::array<std::uint64_t, block_pages / 64>;
  struct key {
    std::uint64_t block = 0;
    int pid = 0;
    friend bool operator==(const key&, const key&) = default;
  };
  struct hash {
    std::size_t operator()(const key& of) const noexcept {
      // Fibonacci hashing; the blocks of a process follow one another.
      return (of.block ^ static_cast<std::uint64_t>(of.pid) << 40) * 0x9E3779B97F4A7C15U;
    }
  };
  std::unordered_map<key, bits, hash> blocks_;
  key last_key_;
  bits* last_ = nullptr; ///< nodes of an unordered_map stay where they are
};

} // namespace nodewise::observe
