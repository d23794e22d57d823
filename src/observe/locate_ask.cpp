// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel queries of one thread for one piece of a range.
#include <algorithm>
#include <cerrno>
#include <span>

#include "observe/ended.hpp"
#include "observe/locate.hpp"

namespace nodewise::observe {

namespace {

using sys::pagemap_entry;

constexpr std::uint64_t batch_pages = 2048;

/// For a mapped address, EFAULT means the zero page; before Linux 6.12 also untouched anonymous
/// memory, which is then not present. Linux 6.1 to 6.5 also returns ENOENT for a page that NUMA
/// balancing has unmapped to sample its use.
node_id node_if_present(const std::vector<std::uint64_t>& bits, std::uint64_t at, node_id node) {
  return at < bits.size() && pagemap_entry(bits[at]).present() ? node : absent_page;
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

bool locator::is_huge(std::uint64_t frame) {
  std::uint64_t flags = 0;
  return frame_flags_ && process_.read_frame_flags(frame, {&flags, 1}).value == 1 &&
         (flags & sys::frame_is_huge) != 0;
}

bool locator::is_zero(std::uint64_t frame, bool in_huge_page) {
  if (frame == system_.zero_frame) {
    return true;
  }
  std::uint64_t flags = 0;
  return in_huge_page && frame_flags_ && process_.read_frame_flags(frame, {&flags, 1}).value == 1 &&
         (flags & sys::frame_is_zeros) != 0;
}

void locator::ask_pagemap(const range_facts& what, piece& p) {
  const std::uint64_t first_page = what.where.first / system_.page_bytes + p.first;
  const std::uint64_t huge_pages = system_.thp_bytes / system_.page_bytes;
  std::vector<std::uint64_t> bits(p.step == 1 ? p.pages : 1);
  const auto read = [&](std::uint64_t page) {
    const auto got = process_.read_pagemap(page, bits);
    if (!got || got.value != bits.size()) {
      throw_ended(process_.pid());
    }
  };
  const auto node_of = [&](pagemap_entry e, bool in_huge_page) {
    if (!e.present()) {
      return absent_page;
    }
    return what.private_memory && !e.exclusive() && is_zero(e.frame(), in_huge_page)
               ? zero_page
               : system_.frames.node_of(e.frame());
  };
  if (p.step != 1) {
    for (std::uint64_t done = 0; done < p.pages; done += p.step) {
      read(first_page + done);
      const node_id node = node_of(pagemap_entry(bits[0]), true);
      append(p.runs, {std::min(p.step, p.pages - done), node, p.huge && to_int(node) >= 0});
    }
    return;
  }
  read(first_page);
  /// Consecutive frames at an aligned address may be a huge page; only the flags show it.
  const auto huge_at = [&](std::uint64_t i) {
    if (can_scan_ || huge_pages == 0 || ((first_page + i) & (huge_pages - 1)) != 0 ||
        i + huge_pages > p.pages) {
      return false;
    }
    const pagemap_entry e(bits[i]);
    const pagemap_entry end(bits[i + huge_pages - 1]);
    return e.present() && end.present() && e.frame() % huge_pages == 0 &&
           end.frame() == e.frame() + huge_pages - 1 && is_huge(e.frame());
  };
  std::uint64_t i = 0;
  page_run run;
  while (i < p.pages) {
    const bool huge = huge_at(i);
    const std::uint64_t step = huge ? huge_pages : 1;
    const node_id node = node_of(pagemap_entry(bits[i]), huge);
    const bool counts_as_huge = huge && to_int(node) >= 0;
    if (node != run.node || counts_as_huge != run.huge) {
      append(p.runs, run);
      run = {0, node, counts_as_huge};
    }
    run.pages += step;
    i += step;
  }
  append(p.runs, run);
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
    piece part{at, r.pages, 1, false, false, {}};
    at += r.pages;
    if (r.node != unknown_node) {
      append(runs, r);
      continue;
    }
    ask_move_pages(what, part);
    for (const page_run& asked : part.runs) {
      append(runs, asked);
    }
  }
  p.runs = std::move(runs);
}

void locator::present_bits(const range_facts& what, piece& p) {
  std::vector<std::uint64_t> bits(p.pages);
  const auto got = process_.read_pagemap(what.where.first / system_.page_bytes + p.first, bits);
  if (!got || got.value != bits.size()) {
    const bool nothing = what.resident_pages && *what.resident_pages == 0;
    p.runs.push_back({p.pages, nothing ? absent_page : unknown_node, false});
    return;
  }
  for (std::size_t i = 0; i < bits.size();) {
    const bool present = pagemap_entry(bits[i]).present();
    std::size_t end = i + 1;
    while (end < bits.size() && pagemap_entry(bits[end]).present() == present) {
      ++end;
    }
    append(p.runs, {end - i, present ? unknown_node : absent_page, false});
    i = end;
  }
}

} // namespace nodewise::observe
