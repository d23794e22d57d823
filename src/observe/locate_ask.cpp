// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel queries of one thread for one piece of a range.
#include <algorithm>
#include <cerrno>
#include <span>

#include "observe/locate.hpp"
#include "observe/refused.hpp"

namespace nodewise::observe {

namespace {

using sys::raw::frame_of;
using sys::raw::is_present;
using sys::raw::is_shared_page;

constexpr std::uint64_t batch_pages = 2048;

/// For a mapped address, EFAULT means the zero page; before Linux 6.12 also untouched anonymous
/// memory, which is then not present. Linux 6.1 to 6.5 also returns ENOENT for a page that NUMA
/// balancing has unmapped to sample its use.
node_id node_if_present(const std::vector<std::uint64_t>& bits, std::uint64_t at, node_id node) {
  return at < bits.size() && is_present(bits[at]) ? node : absent_page;
}

} // namespace

void locator::ask_move_pages(const range_facts& what, piece& p) {
  std::vector<std::uint64_t> addresses(batch_pages);
  std::vector<int> status(batch_pages);
  std::uint64_t done = 0;
  while (done < p.pages) {
    const std::uint64_t count = std::min(batch_pages, (p.pages - done + p.step - 1) / p.step);
    const std::uint64_t start = what.where.first + (p.first + done) * system_.page_bytes;
    for (std::uint64_t i = 0; i < count; ++i) {
      addresses[i] = start + i * p.step * system_.page_bytes;
    }
    const int refused = process_.query_pages({addresses.data(), count}, {status.data(), count});
    if (refused == ESRCH) {
      throw_ended(process_.pid());
    }
    std::vector<std::uint64_t> bits;
    if (refused == 0 && std::ranges::any_of(std::span(status).first(count), [&](int answer) {
          return answer == -ENOENT || (answer == -EFAULT && what.private_memory);
        })) {
      bits = pagemap_bits(start / system_.page_bytes, count * p.step);
    }
    for (std::uint64_t i = 0; i < count;) {
      const int answer = refused == 0 ? status[i] : -EIO;
      std::uint64_t end = i + 1;
      while (end < count && status[end] == status[i] && bits.empty()) {
        ++end;
      }
      const node_id node = answer >= 0         ? node_id{answer}
                           : answer == -ENOENT ? node_if_present(bits, i * p.step, unknown_node)
                           : answer == -EFAULT && what.private_memory
                               ? node_if_present(bits, i * p.step, zero_page)
                               : unknown_node;
      const std::uint64_t base_pages = std::min((end - i) * p.step, p.pages - done);
      append(p.runs, {base_pages, node, p.huge && to_int(node) >= 0});
      done += base_pages;
      i = end;
    }
  }
}

std::vector<std::uint64_t> locator::pagemap_bits(std::uint64_t first_page, std::uint64_t pages) {
  std::vector<std::uint64_t> bits(pages);
  const auto got = process_.read_pagemap(first_page, bits);
  bits.resize(got ? got.value : 0);
  return bits;
}

std::optional<std::uint64_t> locator::flags_of(std::uint64_t frame) {
  std::uint64_t flags = 0;
  return process_.read_frame_flags(frame, {&flags, 1}).value == 1 ? std::optional(flags)
                                                                  : std::nullopt;
}

void locator::ask_pagemap(const range_facts& what, piece& p) {
  const std::uint64_t first_page = what.where.first / system_.page_bytes + p.first;
  const std::uint64_t huge_pages = system_.thp_bytes / system_.page_bytes;
  const auto entries_at = [&](std::uint64_t page, std::uint64_t count) {
    auto bits = pagemap_bits(page, count);
    if (bits.size() != count) {
      throw_ended(process_.pid());
    }
    return bits;
  };
  const auto node_of = [&](std::uint64_t entry, bool in_huge_page) {
    const std::uint64_t frame = frame_of(entry);
    if (!is_present(entry)) {
      return absent_page;
    }
    const bool zeros =
        what.private_memory && is_shared_page(entry) &&
        (frame == system_.zero_frame || (in_huge_page && has_flag(frame, sys::frame_is_zeros)));
    return zeros ? zero_page : system_.frames.node_of(frame);
  };
  if (p.step != 1) {
    for (std::uint64_t done = 0; done < p.pages; done += p.step) {
      const node_id node = node_of(entries_at(first_page + done, 1).front(), true);
      append(p.runs, {std::min(p.step, p.pages - done), node, p.huge && to_int(node) >= 0});
    }
    return;
  }
  const auto bits = entries_at(first_page, p.pages);
  /// Consecutive frames at an aligned address may be a huge page; only the flags show it.
  const auto huge_at = [&](std::uint64_t i) {
    if (can_scan_ || huge_pages == 0 || ((first_page + i) & (huge_pages - 1)) != 0 ||
        i + huge_pages > p.pages) {
      return false;
    }
    const std::uint64_t frame = frame_of(bits[i]);
    const std::uint64_t last = bits[i + huge_pages - 1];
    return is_present(bits[i]) && is_present(last) && frame % huge_pages == 0 &&
           frame_of(last) == frame + huge_pages - 1 && has_flag(frame, sys::frame_is_huge);
  };
  for (std::uint64_t i = 0; i < p.pages;) {
    const bool huge = huge_at(i);
    const std::uint64_t pages = huge ? huge_pages : 1;
    const node_id node = node_of(bits[i], huge);
    append(p.runs, {pages, node, huge && to_int(node) >= 0});
    i += pages;
  }
  ask_again(what, p);
}

void locator::ask_again(const range_facts& what, piece& p) {
  // Some frames are in no known block (hot-plugged memory, a device's memory): use the slower way.
  if (std::ranges::none_of(p.runs, [](const page_run& r) { return r.node == unknown_node; })) {
    return;
  }
  std::vector<page_run> runs;
  std::uint64_t at = p.first;
  for (const page_run& r : p.runs) {
    piece again{at, r.pages, 1, false, false, {}};
    at += r.pages;
    if (r.node == unknown_node) {
      ask_move_pages(what, again);
    } else {
      again.runs = {r};
    }
    for (const page_run& asked : again.runs) {
      append(runs, asked);
    }
  }
  p.runs = std::move(runs);
}

void locator::present_bits(const range_facts& what, piece& p) {
  const auto bits = pagemap_bits(what.where.first / system_.page_bytes + p.first, p.pages);
  if (bits.size() != p.pages) {
    p.runs.push_back({p.pages, what.resident_pages == 0U ? absent_page : unknown_node, false});
    return;
  }
  for (const std::uint64_t each : bits) {
    append(p.runs, {1, is_present(each) ? unknown_node : absent_page, false});
  }
}

} // namespace nodewise::observe
