// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How a log keeps samples: 24 bytes each, in chunks, by processor.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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

/// Samples of one processor; grows without a copy.
class sample_stream {
 public:
  explicit sample_stream(int cpu) : cpu_(cpu) {}

  [[nodiscard]] int cpu() const noexcept { return cpu_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t used_bytes() const noexcept { return chunks_.size() * sizeof(chunk); }
  [[nodiscard]] bool full() const noexcept { return size_ == chunks_.size() * chunk_samples; }
  [[nodiscard]] const packed_sample& operator[](std::size_t i) const noexcept {
    return (*chunks_[i / chunk_samples])[i % chunk_samples];
  }
  [[nodiscard]] packed_sample& operator[](std::size_t i) noexcept {
    return (*chunks_[i / chunk_samples])[i % chunk_samples];
  }

  void append(const packed_sample& what) {
    if (full()) {
      chunks_.push_back(std::make_unique_for_overwrite<chunk>());
    }
    sorted_ = sorted_ && (size_ == 0 || (*this)[size_ - 1].time_ns <= what.time_ns);
    (*this)[size_++] = what;
  }
  /// Keeps only the samples for which `stays` is true.
  template <class Stays>
  void keep(Stays&& stays) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      if (stays((*this)[i])) {
        (*this)[kept++] = (*this)[i];
      }
    }
    size_ = kept;
    chunks_.resize((size_ + chunk_samples - 1) / chunk_samples);
  }
  /// The kernel writes in time order, with rare exceptions.
  void sort() {
    if (sorted_) {
      return;
    }
    std::vector<packed_sample> all;
    all.reserve(size_);
    for (std::size_t i = 0; i < size_; ++i) {
      all.push_back((*this)[i]);
    }
    std::ranges::sort(all, {}, &packed_sample::time_ns);
    for (std::size_t i = 0; i < size_; ++i) {
      (*this)[i] = all[i];
    }
    sorted_ = true;
  }

 private:
  static constexpr std::size_t chunk_samples = 2048;
  using chunk = std::array<packed_sample, chunk_samples>;
  int cpu_;
  std::vector<std::unique_ptr<chunk>> chunks_;
  std::size_t size_ = 0;
  bool sorted_ = true;
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
    std::ranges::pop_heap(ahead_, std::greater{});
    const std::size_t stream = ahead_.back().stream;
    ahead_.pop_back();
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
    if (next_[stream] < streams_[stream].size()) {
      ahead_.push_back({streams_[stream][next_[stream]].time_ns, stream});
      std::ranges::push_heap(ahead_, std::greater{});
    }
  }
  const std::vector<sample_stream>& streams_;
  std::vector<std::size_t> next_;
  std::vector<head> ahead_;
};

} // namespace nodewise::observe
