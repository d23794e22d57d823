// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/streams.hpp"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <optional>
#include <string>

#include <fmt/core.h>

#include <nodewise/array.hpp>
#include <nodewise/error.hpp>
#include <nodewise/marker.h>

#include "measure/pinned.hpp"

namespace nodewise::measure {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t most_sweeps = 10'000;
/// Parts begin at line boundaries, so that threads share no line.
constexpr std::size_t elements_per_line = line_bytes / sizeof(double);

struct sweep_times {
  clock::time_point start;
  clock::time_point end;
};

/// Takes one sample: fresh arrays, filled by the threads that use them, a warm-up sweep, and then
/// enough sweeps for `least_sample`.
class sampling {
 public:
  sampling(const point& what, const stream_work& does, const bench& with)
      : arrays_(with, does.groups, what.pages), mark_(mark_of(what)), cpus_(arrays_.cpus()),
        times_(cpus_.size()), wrong_(cpus_.size()),
        together_(static_cast<std::ptrdiff_t>(cpus_.size())), kernel_(*with.kernel) {}

  /// GB/s.
  double take(bool check) {
    run_pinned(cpus_, [&](std::size_t k) { work(k, check); });
    const auto start = std::ranges::min(times_, {}, &sweep_times::start).start;
    const auto end = std::ranges::max(times_, {}, &sweep_times::end).end;
    const double seconds = std::chrono::duration<double>(end - start).count();
    return arrays_.counted_bytes() * static_cast<double>(sweeps_) / seconds / 1e9;
  }
  /// The first wrong result of a kernel, or nullopt.
  [[nodiscard]] std::optional<std::string> wrong() const {
    for (std::size_t k = 0; k < wrong_.size(); ++k) {
      if (wrong_[k]) {
        return fmt::format("{} on cpu {}: {}", arrays_.parts()[k].does->name, cpus_[k], *wrong_[k]);
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] const std::vector<region>& memory() const noexcept { return arrays_.memory(); }
  [[nodiscard]] std::optional<double> frequency() const noexcept { return frequency_; }

 private:
  void work(std::size_t k, bool check) {
    const stream_part& own = arrays_.parts()[k];
    fill(*own.does, own.with);
    together_.arrive_and_wait();
    const auto before = clock::now();
    own.does->run(own.with);
    together_.arrive_and_wait();
    if (k == 0) {
      const std::chrono::duration<double> one = clock::now() - before;
      sweeps_ = std::clamp<std::size_t>(
          static_cast<std::size_t>(least_sample / std::max(one, least_sample / most_sweeps)) + 1, 1,
          most_sweeps);
      NODEWISE_MARKER_START(mark_.c_str());
    }
    together_.arrive_and_wait();
    times_[k].start = clock::now();
    double result = 0;
    for (std::size_t i = 0; i < sweeps_; ++i) {
      result = own.does->run(own.with);
    }
    times_[k].end = clock::now();
    together_.arrive_and_wait();
    if (k == 0) {
      NODEWISE_MARKER_STOP(mark_.c_str());
      frequency_ = frequency_mhz(kernel_, cpus_.front());
    }
    together_.arrive_and_wait(); // checks before the mark would count as the kernel's traffic
    if (check) {
      wrong_[k] = verify(*own.does, own.with, sweeps_ + 1, result);
    }
  }

  stream_arrays arrays_;
  std::string mark_;
  std::vector<cpu_id> cpus_;
  std::vector<sweep_times> times_;
  std::vector<std::optional<std::string>> wrong_;
  std::barrier<> together_;
  std::size_t sweeps_ = 1;
  sys::kernel& kernel_;
  std::optional<double> frequency_;
};

} // namespace

stream_arrays::stream_arrays(const bench& with, const std::vector<stream_group>& groups,
                             page_size pages) {
  for (const stream_group& group : groups) {
    add(with, group, pages);
  }
}

void stream_arrays::add(const bench& with, const stream_group& group, page_size pages) {
  const std::size_t count = group.does->arrays;
  const std::size_t lines = group.bytes / count / line_bytes;
  const std::size_t threads = group.cpus.size();
  if (threads == 0 || lines < threads) {
    throw error(error_kind::usage, fmt::format("{} bytes for {} threads", group.bytes, threads),
                "each thread needs at least one cache line", "give a larger --size");
  }
  std::array<double*, 4> bases{};
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t stagger = detail::next_stagger(line_bytes);
    const std::uint64_t bytes = lines * line_bytes + stagger;
    const node_id own = k < group.array_nodes.size() ? group.array_nodes[k] : unknown_node;
    memory_.push_back(own == unknown_node
                          ? take_memory(with, bytes, group.memory, group.weights, pages)
                          : take_memory(with, bytes, own, pages));
    bases[k] = reinterpret_cast<double*>(memory_.back().data() + stagger);
  }
  for (std::size_t t = 0; t < threads; ++t) {
    const std::size_t first = lines * t / threads * elements_per_line;
    const std::size_t last = lines * (t + 1) / threads * elements_per_line;
    stream_part part{group.does, {}, group.cpus[t]};
    part.with.elements = last - first;
    for (std::size_t k = 0; k < count; ++k) {
      part.with.arrays[k] = bases[k] + first;
    }
    parts_.push_back(part);
  }
}

std::vector<cpu_id> stream_arrays::cpus() const {
  std::vector<cpu_id> all;
  std::ranges::transform(parts_, std::back_inserter(all), &stream_part::cpu);
  return all;
}

double stream_arrays::counted_bytes() const noexcept {
  double bytes = 0;
  for (const stream_part& each : parts_) {
    bytes += static_cast<double>(each.does->accesses(each.with) * each.does->counted_bytes());
  }
  return bytes;
}

void run_work(const point& what, const stream_work& does, const bench& with, outcome& into) {
  const patience waiting(with, into);
  do {
    sampling one(what, does, with);
    const double sample = one.take(into.samples.empty());
    if (const auto nonsense = one.wrong()) {
      into = {.samples = {}, .unavailable = *nonsense, .wrong = true};
      return;
    }
    if (into.samples.empty()) {
      look_at_memory(with, one.memory(), into);
      if (!into.unavailable.empty()) {
        return;
      }
    }
    into.samples.push_back(sample);
    into.frequency_mhz = one.frequency();
  } while (!waiting.has_enough(into));
}

} // namespace nodewise::measure
