// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/locate.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <exception>
#include <thread>

#include <sys/mman.h>
#include <unistd.h>

#include "observe/ended.hpp"

namespace nodewise::observe {

namespace {

using sys::address_range;
using sys::page_property;
using sys::pagemap_entry;

/// What one thread takes at a time: large enough to amortise its cost, small compared to a node.
constexpr std::uint64_t slice_pages = 8192;
/// For smaller ranges, a scan for present pages does not pay.
constexpr std::uint64_t small_range_pages = 512;

/// Reading a fresh page maps the zero page; its frame is visible if frames may be read.
std::optional<std::uint64_t> find_zero_frame(std::size_t page_bytes) {
  void* const page = ::mmap(nullptr, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    return std::nullopt;
  }
  (void)*static_cast<const volatile char*>(page);
  std::uint64_t bits = 0;
  const auto self = sys::real_process(static_cast<int>(::getpid()));
  const auto got =
      self->read_pagemap(reinterpret_cast<std::uintptr_t>(page) / page_bytes, {&bits, 1});
  ::munmap(page, page_bytes);
  const std::uint64_t frame = pagemap_entry(bits).frame();
  return got && got.value == 1 && frame != 0 ? std::optional(frame) : std::nullopt;
}

bool thp_is_on(sys::kernel& of) {
  const auto mode = of.read_file("/sys/kernel/mm/transparent_hugepage/enabled");
  const auto shared = of.read_file("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  return (mode && mode.value.find("[never]") == mode.value.npos) ||
         (shared && shared.value.find("[never]") == shared.value.npos &&
          shared.value.find("[deny]") == shared.value.npos);
}

} // namespace

std::string_view to_string(method how) noexcept {
  constexpr std::array<std::string_view, 3> names = {"pagemap", "move_pages", "numa_maps"};
  return names[static_cast<std::size_t>(how)];
}

void append(std::vector<page_run>& runs, const page_run& next) {
  if (next.pages == 0) {
    return;
  }
  if (!runs.empty() && runs.back().node == next.node && runs.back().huge == next.huge) {
    runs.back().pages += next.pages;
  } else {
    runs.push_back(next);
  }
}

locator::system locator::system::read(sys::kernel& from) {
  constexpr unsigned most_threads = 4;
  system all;
  all.page_bytes = from.base_page_bytes();
  all.thp_bytes = thp_is_on(from) ? from.thp_bytes() : 0;
  all.zero_frame = find_zero_frame(all.page_bytes);
  if (all.zero_frame) {
    all.frames = frame_map::read();
  }
  all.threads = std::clamp(std::thread::hardware_concurrency(), 1U, most_threads);
  return all;
}

locator::locator(sys::process& of, const system& on, method limit)
    : process_(of), system_(on), method_(limit) {
  probe();
}

void locator::probe() {
  can_scan_ = process_.scan(page_property::present, {0, system_.page_bytes}).errno_value == 0;
  std::uint64_t word = 0;
  frame_flags_ =
      system_.zero_frame && process_.read_frame_flags(*system_.zero_frame, {&word, 1}).value == 1;
  if (method_ == method::pagemap &&
      (!system_.zero_frame || system_.frames.empty() || !process_.read_pagemap(0, {&word, 1}))) {
    method_ = method::move_pages;
  }
  if (method_ == method::move_pages) {
    const std::uint64_t nowhere = 0;
    int status = 0;
    refused_errno_ = process_.query_pages({&nowhere, 1}, {&status, 1});
    if (refused_errno_ == ESRCH) {
      throw_ended(process_.pid());
    }
    method_ = refused_errno_ == 0 ? method::move_pages : method::numa_maps;
  }
}

std::vector<address_range> locator::present_parts(const range_facts& what) {
  const std::uint64_t pages = (what.where.last - what.where.first) / system_.page_bytes;
  const bool dense = what.resident_pages && *what.resident_pages * 2 >= pages;
  if (!can_scan_ || dense || pages <= small_range_pages) {
    return {what.where};
  }
  auto found = process_.scan(page_property::present, what.where);
  return found ? std::move(found.value) : std::vector{what.where};
}

std::vector<address_range> locator::huge_ranges(const range_facts& what) {
  const bool possible = can_scan_ && method_ != method::numa_maps && system_.thp_bytes != 0 &&
                        what.page_bytes <= system_.page_bytes &&
                        what.where.last - what.where.first >= system_.thp_bytes;
  return possible ? process_.scan(page_property::huge, what.where).value
                  : std::vector<address_range>{};
}

std::vector<locator::piece> locator::pieces_of(const range_facts& what) {
  const std::size_t page = system_.page_bytes;
  const std::uint64_t hugetlb_step = what.page_bytes > page ? what.page_bytes / page : 1;
  const std::vector<address_range> huge = huge_ranges(what);
  std::vector<piece> pieces;
  std::uint64_t at = what.where.first;
  const auto add = [&](std::uint64_t end, std::uint64_t step, bool is_absent, bool is_huge) {
    while (at < end) {
      const std::uint64_t pages =
          is_absent ? (end - at) / page : std::min((end - at) / page, slice_pages * step);
      pieces.push_back({(at - what.where.first) / page, pages, step, is_absent, is_huge, {}});
      at += pages * page;
    }
  };
  auto next_huge = huge.begin();
  for (const address_range& part : present_parts(what)) {
    add(part.first, 1, true, false);
    while (next_huge != huge.end() && next_huge->first < part.last) {
      add(next_huge->first, hugetlb_step, false, false);
      add(std::min(next_huge->last, part.last), system_.thp_bytes / page, false, true);
      ++next_huge;
    }
    add(part.last, hugetlb_step, false, false);
  }
  add(what.where.last, 1, true, false);
  return pieces;
}

std::optional<std::vector<address_range>> locator::present_ranges(const range_facts& what) {
  if (can_scan_) {
    auto found = process_.scan(page_property::present, what.where);
    return found ? std::optional(std::move(found.value)) : std::nullopt;
  }
  std::vector<address_range> found;
  std::vector<std::uint64_t> bits(slice_pages);
  for (std::uint64_t at = what.where.first; at < what.where.last;) {
    bits.resize(std::min(slice_pages, (what.where.last - at) / system_.page_bytes));
    const auto got = process_.read_pagemap(at / system_.page_bytes, bits);
    if (!got || got.value != bits.size()) {
      return std::nullopt;
    }
    for (const std::uint64_t each : bits) {
      if (pagemap_entry(each).present()) {
        if (found.empty() || found.back().last != at) {
          found.push_back({at, at});
        }
        found.back().last += system_.page_bytes;
      }
      at += system_.page_bytes;
    }
  }
  return found;
}

std::optional<std::vector<page_run>> locator::of_sole_node(const range_facts& what) {
  // With frame numbers available, reading the bits from the same file would save nothing.
  if (!what.sole_node || !what.resident_pages || method_ == method::numa_maps ||
      (method_ == method::pagemap && !can_scan_)) {
    return std::nullopt;
  }
  const auto present = present_ranges(what);
  std::uint64_t bytes = 0;
  for (const address_range& part : present.value_or(std::vector<address_range>{})) {
    bytes += part.last - part.first;
  }
  // The counts differ: zero pages are present, or the process has run on.
  if (!present || bytes != *what.resident_pages * system_.page_bytes) {
    return std::nullopt;
  }
  const std::vector<address_range> huge = huge_ranges(what);
  std::vector<page_run> runs;
  std::uint64_t at = what.where.first;
  const auto add = [&](std::uint64_t end, node_id node, bool is_huge) {
    if (at < end) {
      append(runs, {(end - at) / system_.page_bytes, node, is_huge});
      at = end;
    }
  };
  auto next_huge = huge.begin();
  for (const address_range& part : *present) {
    add(part.first, absent_page, false);
    for (; next_huge != huge.end() && next_huge->first < part.last; ++next_huge) {
      add(next_huge->first, *what.sole_node, false);
      add(std::min(next_huge->last, part.last), *what.sole_node, true);
    }
    add(part.last, *what.sole_node, false);
  }
  add(what.where.last, absent_page, false);
  ++counted_;
  return runs;
}

std::vector<page_run> locator::locate(const range_facts& what) {
  if (auto runs = of_sole_node(what)) {
    return std::move(*runs);
  }
  std::vector<piece> pieces = pieces_of(what);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      for (std::size_t i = 0; !failed && (i = next++) < pieces.size();) {
        ask(what, pieces[i]);
      }
    } catch (...) {
      if (!failed.exchange(true)) {
        failure = std::current_exception();
      }
    }
  };
  const auto threads = static_cast<unsigned>(std::min<std::size_t>(
      system_.threads, pieces.size() / 2)); // with fewer than two slices each, it does not pay
  {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads; ++i) {
      others.emplace_back(work);
    }
    work();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
  std::vector<page_run> runs;
  for (const piece& p : pieces) {
    for (const page_run& r : p.runs) {
      append(runs, r);
    }
  }
  return runs;
}

void locator::ask(const range_facts& what, piece& p) {
  if (p.is_absent) {
    p.runs.push_back({p.pages, absent_page, false});
    return;
  }
  switch (method_) {
  case method::pagemap:
    ask_pagemap(what, p);
    break;
  case method::move_pages:
    ask_move_pages(what, p);
    break;
  case method::numa_maps:
    present_bits(what, p);
    break;
  }
}

} // namespace nodewise::observe
