// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <barrier>

#include "measure/memory.hpp"
#include "measure/pinned.hpp"

namespace nodewise::measure {

namespace {

using clock = std::chrono::steady_clock;

double gb_per_s(std::size_t bytes, std::chrono::duration<double> time) {
  return static_cast<double>(bytes) / time.count() / 1e9;
}

/// Pages `first` to `last` of a region.
void touch(const region& memory, std::size_t first, std::size_t last, std::size_t page_bytes) {
  for (std::size_t page = first; page < last; ++page) {
    *static_cast<volatile std::byte*>(memory.data() + page * page_bytes) = std::byte{1};
  }
}

/// Checks, once, that touched memory has the requested nodes and pages. Without huge pages, a point
/// about them would measure base pages.
bool has_requested_pages(const point& what, const bench& with, const region& memory,
                         outcome& into) {
  constexpr double most = 0.9;
  if (!into.samples.empty()) {
    return true;
  }
  look_at_memory(with, {&memory, 1}, into);
  if (what.pages == page_size::transparent_huge && into.in_huge_pages.value_or(0) < most) {
    into.unavailable = "the kernel gave base pages: /sys/kernel/mm/transparent_hugepage/enabled is "
                       "never, or memory is fragmented";
  }
  return into.unavailable.empty();
}

} // namespace

void run_work(const point& what, const touch_work& does, const bench& with, outcome& into) {
  const std::size_t page = with.kernel->base_page_bytes();
  const std::size_t pages = does.bytes / page;
  const std::size_t threads = does.cpus.size();
  take_samples(with, into, [&] {
    const region memory = take_memory(with, does.bytes, std::array{does.memory}, {}, what.pages);
    std::vector<clock::time_point> starts(threads);
    std::vector<clock::time_point> ends(threads);
    std::barrier<> together(static_cast<std::ptrdiff_t>(threads));
    run_pinned(does.cpus, [&](std::size_t k) {
      together.arrive_and_wait();
      starts[k] = clock::now();
      touch(memory, pages * k / threads, pages * (k + 1) / threads, page);
      ends[k] = clock::now();
    });
    if (has_requested_pages(what, with, memory, into)) {
      into.samples.push_back(
          gb_per_s(pages * page, std::ranges::max(ends) - std::ranges::min(starts)));
    }
  });
}

void run_work(const point& what, const migration_work& does, const bench& with, outcome& into) {
  const std::size_t page = with.kernel->base_page_bytes();
  take_samples(with, into, [&] {
    region memory = take_memory(with, does.bytes, std::array{does.from}, {}, what.pages);
    run_pinned(std::array{does.cpu}, [&](std::size_t) {
      touch(memory, 0, does.bytes / page, page);
      if (!has_requested_pages(what, with, memory, into)) {
        return;
      }
      const auto before = clock::now();
      const migration moved = memory.migrate(bound(does.to));
      const auto time = clock::now() - before;
      if (moved.moved != 0) {
        into.samples.push_back(gb_per_s(moved.moved * page, time));
      } else {
        into.unavailable =
            moved.refused.empty()
                ? "no page was moved"
                : "cannot move pages: " + errno_text(moved.refused.front().errno_value);
      }
    });
  });
}

} // namespace nodewise::measure
