// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/page_work.hpp"

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <utility>

#include <nodewise/distribution.hpp>
#include <nodewise/error.hpp>

#include "measure/memory.hpp"
#include "measure/pinned.hpp"

namespace nodewise::measure {

namespace {

using clock = std::chrono::steady_clock;

double seconds(clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

/// Pages `first` to `last` of a region.
void touch(const region& memory, std::size_t first, std::size_t last, std::size_t page_bytes) {
  for (std::size_t page = first; page < last; ++page) {
    *static_cast<volatile std::byte*>(memory.data() + page * page_bytes) = std::byte{1};
  }
}

/// Sets `unavailable` if a point about huge pages did not get them: it would measure base pages.
void require_pages(const point& what, outcome& into) {
  constexpr double most = 0.9;
  if (what.pages == page_size::transparent_huge && into.in_huge_pages.value_or(0) < most) {
    into.samples.clear();
    into.unavailable = "the kernel gave base pages: /sys/kernel/mm/transparent_hugepage/enabled is "
                       "never, or memory is fragmented";
  }
}

} // namespace

void run_work(const point& what, const touch_work& does, const bench& with, outcome& into) {
  const patience waiting(with, into);
  const std::size_t page = with.kernel->base_page_bytes();
  do {
    std::vector<region> memory;
    memory.push_back(take_memory(with, does.bytes, does.memory, what.pages));
    const std::size_t pages = does.bytes / page;
    const std::size_t threads = does.cpus.size();
    std::vector<std::pair<clock::time_point, clock::time_point>> times(threads);
    std::barrier<> together(static_cast<std::ptrdiff_t>(threads));
    run_pinned(does.cpus, [&](std::size_t k) {
      together.arrive_and_wait();
      times[k].first = clock::now();
      touch(memory.front(), pages * k / threads, pages * (k + 1) / threads, page);
      times[k].second = clock::now();
    });
    const auto start = std::ranges::min(times, {}, &decltype(times)::value_type::first).first;
    const auto end = std::ranges::max(times, {}, &decltype(times)::value_type::second).second;
    if (into.samples.empty()) {
      look_at_memory(with, memory, into);
      require_pages(what, into);
      if (!into.unavailable.empty()) {
        return;
      }
    }
    into.samples.push_back(static_cast<double>(pages * page) / seconds(end - start) / 1e9);
  } while (!waiting.has_enough(into));
}

void run_work(const point& what, const migration_work& does, const bench& with, outcome& into) {
  const patience waiting(with, into);
  const std::size_t page = with.kernel->base_page_bytes();
  do {
    std::vector<region> memory;
    memory.push_back(take_memory(with, does.bytes, does.from, what.pages));
    migration moved;
    double time = 0;
    run_pinned(std::array{does.cpu}, [&](std::size_t) {
      touch(memory.front(), 0, does.bytes / page, page);
      if (into.samples.empty()) {
        look_at_memory(with, memory, into);
        require_pages(what, into);
      }
      if (into.unavailable.empty()) {
        const auto before = clock::now();
        moved = memory.front().migrate(bound(does.to));
        time = seconds(clock::now() - before);
      }
    });
    if (into.unavailable.empty() && moved.moved == 0) {
      into.unavailable = moved.refused.empty() ? "no page was moved"
                                               : "cannot move pages: " +
                                                     errno_text(moved.refused.front().errno_value);
    }
    if (!into.unavailable.empty()) {
      return;
    }
    into.samples.push_back(static_cast<double>(moved.moved * page) / time / 1e9);
  } while (!waiting.has_enough(into));
}

} // namespace nodewise::measure
