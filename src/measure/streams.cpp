// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <barrier>

#include <fmt/core.h>

#include <nodewise/marker.h>

#include "measure/memory.hpp"
#include "measure/pinned.hpp"

namespace nodewise::measure {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t most_sweeps = 10'000;

/// One sample: fresh arrays, filled by the threads that use them, a warm-up sweep, and then enough
/// sweeps for `least_sample`.
class sampling {
 public:
  sampling(const point& what, const stream_work& does, const bench& with)
      : mark_(mark_of(what)), cpus_(needs_of(what.work).threads), starts_(cpus_.size()),
        ends_(cpus_.size()), wrong_(cpus_.size()),
        together_(static_cast<std::ptrdiff_t>(cpus_.size())), kernel_(*with.kernel) {
    for (const stream_group& group : does.groups) {
      arrays_.add(with, group, what.pages);
    }
  }

  void take(const bench& with, outcome& into) {
    const bool is_first = into.samples.empty();
    run_pinned(cpus_, [&](std::size_t k) { work(k, is_first); });
    for (std::size_t k = 0; k < wrong_.size(); ++k) {
      if (wrong_[k]) {
        into = {.samples = {},
                .unavailable = fmt::format("{} on cpu {}: {}", arrays_.parts[k].does->name,
                                           cpus_[k], *wrong_[k]),
                .wrong = true};
        return;
      }
    }
    if (is_first) {
      look_at_memory(with, arrays_.memory, into);
    }
    if (into.unavailable.empty()) {
      into.samples.push_back(gb_per_s());
      into.frequency_mhz = frequency_;
    }
  }

 private:
  void work(std::size_t k, bool check) {
    const stream_part& own = arrays_.parts[k];
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
    starts_[k] = clock::now();
    double result = 0;
    for (std::size_t i = 0; i < sweeps_; ++i) {
      result = own.does->run(own.with);
    }
    ends_[k] = clock::now();
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
  [[nodiscard]] double gb_per_s() const {
    double bytes = 0;
    for (const stream_part& each : arrays_.parts) {
      bytes += static_cast<double>(each.counted_bytes(each.with));
    }
    const std::chrono::duration<double> time = std::ranges::max(ends_) - std::ranges::min(starts_);
    return bytes * static_cast<double>(sweeps_) / time.count() / 1e9;
  }

  stream_arrays arrays_;
  std::string mark_;
  std::vector<cpu_id> cpus_;
  std::vector<clock::time_point> starts_;
  std::vector<clock::time_point> ends_;
  std::vector<std::optional<std::string>> wrong_;
  std::barrier<> together_;
  std::size_t sweeps_ = 1;
  sys::kernel& kernel_;
  std::optional<double> frequency_;
};

} // namespace

void run_work(const point& what, const stream_work& does, const bench& with, outcome& into) {
  take_samples(with, into, [&] { sampling(what, does, with).take(with, into); });
}

} // namespace nodewise::measure
