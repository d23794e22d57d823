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

#include <fmt/core.h>

#include "base/numbers.hpp"
#include "observe/refused.hpp"
#include "topology/small_file.hpp"

namespace nodewise::observe {

namespace {

using sys::address_range;
using sys::page_property;
using topology_detail::numbered_entries;
using topology_detail::read_record_file;
using topology_detail::read_small_file;

/// What one thread takes at a time: large enough to amortise its cost, small compared to a node.
constexpr std::uint64_t slice_pages = 8192;
/// For smaller ranges, a scan for present pages does not pay.
constexpr std::uint64_t small_range_pages = 512;

std::uint64_t frames_per_block(const std::string& root) {
  const auto text = read_small_file(root + "/sys/devices/system/memory/block_size_bytes");
  const auto bytes = parse_number<std::uint64_t>(text.value_or(""), 16);
  return bytes.value_or(0) / static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

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
  const std::uint64_t frame = sys::raw::frame_of(bits);
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

void frame_map::add_block(std::uint64_t block, node_id node) {
  constexpr std::uint64_t most = std::uint64_t{1} << 24; // blocks of 128 MiB: two exabytes
  if (block >= most) {
    return;
  }
  if (block >= blocks_.size()) {
    blocks_.resize(block + 1, unknown_node);
  }
  node_id& at = blocks_[block];
  at = at == unknown_node || at == node ? node : shared_block;
}

frame_map frame_map::read(const std::string& root) {
  frame_map map(frames_per_block(root),
                parse_zoneinfo(read_record_file(root + "/proc/zoneinfo").value_or("")));
  const std::string nodes = root + "/sys/devices/system/node";
  for (const int node : numbered_entries(nodes, "node").value_or(std::vector<int>{})) {
    for (const int block : numbered_entries(fmt::format("{}/node{}", nodes, node), "memory")
                               .value_or(std::vector<int>{})) {
      map.add_block(static_cast<std::uint64_t>(block), node_id{node});
    }
  }
  return map;
}

node_id frame_map::node_by_zone(std::uint64_t frame) const noexcept {
  node_id found = unknown_node;
  for (const zone_span& zone : zones_) {
    if (zone.first <= frame && frame < zone.last) {
      if (found != unknown_node && found != zone.node) {
        return unknown_node;
      }
      found = zone.node;
    }
  }
  return found;
}

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
    : process_(of), system_(on), method_(limit),
      can_scan_(of.scan(page_property::present, {0, on.page_bytes}).errno_value == 0),
      frame_flags_(on.zero_frame && flags_of(*on.zero_frame)) {
  std::uint64_t word = 0;
  if (method_ == method::pagemap &&
      (!on.zero_frame || on.frames.empty() || !of.read_pagemap(0, {&word, 1}))) {
    method_ = method::move_pages;
  }
  if (method_ == method::move_pages) {
    const std::uint64_t nowhere = 0;
    int status = 0;
    refused_errno_ = of.query_pages({&nowhere, 1}, {&status, 1});
    if (refused_errno_ == ESRCH) {
      throw_ended(of.pid());
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

std::vector<locator::stretch> locator::parts_of(const range_facts& what,
                                                std::span<const address_range> present) {
  const std::vector<address_range> huge = huge_ranges(what);
  std::vector<stretch> parts;
  std::uint64_t at = what.where.first;
  const auto add = [&](std::uint64_t end, bool is_absent, bool is_huge) {
    if (at < end) {
      parts.push_back({{at, end}, is_absent, is_huge});
      at = end;
    }
  };
  auto next_huge = huge.begin();
  for (const address_range& each : present) {
    add(each.first, true, false);
    for (; next_huge != huge.end() && next_huge->first < each.last; ++next_huge) {
      add(next_huge->first, false, false);
      add(std::min(next_huge->last, each.last), false, true);
    }
    add(each.last, false, false);
  }
  add(what.where.last, true, false);
  return parts;
}

std::vector<locator::piece> locator::pieces_of(const range_facts& what) {
  const std::size_t page = system_.page_bytes;
  const std::uint64_t hugetlb_step = what.page_bytes > page ? what.page_bytes / page : 1;
  std::vector<piece> pieces;
  for (const stretch& from : parts_of(what, present_parts(what))) {
    const std::uint64_t usual_step = from.is_absent ? 1 : hugetlb_step;
    const std::uint64_t step = from.is_huge ? system_.thp_bytes / page : usual_step;
    for (std::uint64_t at = from.where.first; at < from.where.last;) {
      const std::uint64_t left = (from.where.last - at) / page;
      const std::uint64_t pages = from.is_absent ? left : std::min(left, slice_pages * step);
      pieces.push_back(
          {(at - what.where.first) / page, pages, step, from.is_absent, from.is_huge, {}});
      at += pages * page;
    }
  }
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
      if (sys::raw::is_present(each)) {
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
  std::vector<page_run> runs;
  for (const stretch& each : parts_of(what, *present)) {
    append(runs, {(each.where.last - each.where.first) / system_.page_bytes,
                  each.is_absent ? absent_page : *what.sole_node, each.is_huge});
  }
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
