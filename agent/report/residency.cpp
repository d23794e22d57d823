// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/report/residency.hpp"

#include <algorithm>
#include <bit>

#include "agent/alloc/extents.hpp"
#include "agent/asked.hpp"
#include "agent/own_descriptors.hpp"
#include "agent/page.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

constexpr std::size_t batch_pages = 4096;
constexpr std::size_t max_single_questions = std::size_t{1} << 16;

/// Results for a page that are not a node.
constexpr int absent = NODEWISE_AGENT_CELL_EMPTY;
constexpr int unlocated = NODEWISE_AGENT_CELL_UNKNOWN;

/// The buffers of one query; too large for the stack of a thread that frees an object.
struct scratch {
  void* page[batch_pages];
  int where[batch_pages];
  unsigned char in_memory[batch_pages];
  std::uint64_t entry[batch_pages];
  std::uint32_t of_cell[NODEWISE_AGENT_MAX_NODES];
};

/// Used if move_pages was refused. get_mempolicy by address would bring an absent page into memory,
/// so it is called only for pages that mincore reports as present, and for every `stride`-th page.
void ask_one_by_one(scratch& s, std::size_t first, std::size_t count, std::size_t stride) noexcept {
  const bool known = ::mincore(s.page[0], count * page_bytes(), s.in_memory) == 0;
  long entries = 0;
  auto read = [&] { entries = sys::raw::read_pagemap(s.page[0], page_bytes(), s.entry, count); };
  with_own_descriptors(read);
  for (std::size_t i = 0; i < count; ++i) {
    // The zero page, or a page shared with a forked process, was not placed by this process.
    const bool shared = static_cast<long>(i) < entries && sys::raw::is_shared_page(s.entry[i]);
    int node = unlocated;
    if (known && (s.in_memory[i] & 1) == 0) {
      node = absent;
    } else if (known && !shared && (first + i) % stride == 0 &&
               sys::raw::get_mempolicy(&node, nullptr, 0, s.page[i],
                                       sys::get_node | sys::get_by_address) < 0) {
      node = unlocated;
    }
    s.where[i] = node;
  }
}

/// Converts the status of move_pages for a page: its node or -errno. EFAULT means the shared zero
/// page: the page was read but never written, and has no memory of its own.
int meaning(int status) noexcept {
  if (status >= 0) {
    return status < NODEWISE_AGENT_MAX_NODES ? status : unlocated;
  }
  return status == -ENOENT || status == -EFAULT ? absent : unlocated;
}

/// The node that the agent has bound the page to (agent/trace/numa_pin.hpp), or -1.
int node_pinned_to(const void* at) noexcept {
  int mode = 0;
  constexpr int word_bits = sizeof(unsigned long) * 8;
  unsigned long mask[NODEWISE_AGENT_MAX_NODES / word_bits] = {};
  const long answer =
      sys::raw::get_mempolicy(&mode, mask, sizeof mask / sizeof mask[0], at, sys::get_by_address);
  if (answer < 0 || mode != static_cast<int>(sys::policy::bind_and_balance)) {
    return -1;
  }
  const unsigned long* const word =
      std::find_if(std::begin(mask), std::end(mask), [](unsigned long bits) { return bits != 0; });
  return word == std::end(mask)
             ? -1
             : static_cast<int>((word - mask) * word_bits) + std::countr_zero(*word);
}

/// Linux 6.1 to 6.5: move_pages reports a page that NUMA balancing has unmapped to sample its users
/// as absent. mincore reports it as present, and needs no open file as pagemap does. Pages that the
/// agent bound (agent/trace/numa_pin.hpp) are on the node of their policy. The nodes of the others
/// cannot be found without using the pages.
void find_unmapped(scratch& s, std::size_t count) noexcept {
  const bool missing = std::find(s.where, s.where + count, -ENOENT) != s.where + count;
  if (!missing || ::mincore(s.page[0], count * page_bytes(), s.in_memory) != 0) {
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (s.where[i] == -ENOENT && (s.in_memory[i] & 1) != 0) {
      const int node = node_pinned_to(s.page[i]);
      s.where[i] = node >= 0 ? node : -EBUSY;
    }
  }
}

void ask(scratch& s, const object& what, std::size_t first, std::size_t count,
         nodewise_agent_object& into) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    s.page[i] = what.start + (first + i) * page_bytes();
  }
  if ((into.flags & NODEWISE_AGENT_REDUCED) == 0 &&
      sys::raw::move_pages(0, count, s.page, nullptr, s.where, 0) == 0) {
    find_unmapped(s, count);
    std::transform(s.where, s.where + count, s.where, meaning);
    return;
  }
  into.flags |= NODEWISE_AGENT_REDUCED;
  ask_one_by_one(s, first, count, into.pages / max_single_questions + 1);
}

/// Counts the pages of a cell of the strip until the next one begins.
class strip_writer {
 public:
  strip_writer(scratch& s, nodewise_agent_object& into) noexcept
      : of_node_(s.of_cell), into_(into) {
    into.cells =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(into.pages, NODEWISE_AGENT_CELLS));
  }

  void add(std::size_t page, int where) noexcept {
    const std::size_t cell = page * into_.cells / into_.pages;
    if (cell != cell_) {
      finish();
      cell_ = cell;
    }
    if (where == unlocated) {
      ++unknown_;
    } else if (where >= 0) {
      ++of_node_[where];
      highest_ = std::max(highest_, where);
    }
  }

  void finish() noexcept {
    int commonest = unknown_ != 0 ? unlocated : absent;
    std::uint32_t most = unknown_;
    std::uint32_t all = unknown_;
    for (int node = 0; node <= highest_; ++node) {
      all += of_node_[node];
      if (of_node_[node] > most) {
        most = of_node_[node];
        commonest = node;
      }
      of_node_[node] = 0;
    }
    into_.strip[cell_] = static_cast<std::int16_t>(
        most * 2 > all || all == 0 ? commonest : NODEWISE_AGENT_CELL_MIXED);
    unknown_ = 0;
    highest_ = -1;
  }

 private:
  std::uint32_t* of_node_;
  nodewise_agent_object& into_;
  std::size_t cell_ = 0;
  std::uint32_t unknown_ = 0;
  int highest_ = -1;
};

/// Whether a page is where its placement wants it; called for ascending pages.
class owner_cursor {
 public:
  explicit owner_cursor(const object& what) noexcept : what_(what), extents_(what_) {
    what_.mapped_bytes += what_.cut_bytes; // extents begin where the placed object began
  }

  [[nodiscard]] bool is_home(int node, std::size_t offset_bytes) noexcept {
    if (what_.where == nullptr) {
      return false;
    }
    const placements::traits& about = placements::traits_of(what_.where->kind);
    if (!about.has_homes || (what_.flags & NODEWISE_AGENT_INTERLEAVED) != 0) {
      return false;
    }
    if (about.divided == placements::division::none) {
      const owner_list& owners = what_.where->owners;
      return std::any_of(owners.run, owners.run + owners.runs,
                         [node](const owner_run& each) { return each.node == node; });
    }
    while (what_.cut_bytes + offset_bytes >= now_.end && extents_.next(now_)) {
    }
    return node == now_.node;
  }

 private:
  object what_;
  extent_cursor extents_;
  extent now_{0, 0, -1};
};

/// Adds one more page, above all earlier ones.
void add_to_runs(object_record& into, std::size_t page, int node) noexcept {
  std::uint32_t& runs = into.fixed.runs;
  nodewise_agent_run* const last = runs == 0 ? nullptr : &into.run[runs - 1];
  if (last != nullptr && last->node == node && last->first + last->count == page &&
      last->count != UINT32_MAX) {
    ++last->count;
  } else if (runs < NODEWISE_AGENT_MAX_RESIDENT_RUNS &&
             (into.fixed.flags & NODEWISE_AGENT_RUNS_CUT) == 0) {
    into.run[runs++] = {page, 1, node};
  } else {
    into.fixed.flags |= NODEWISE_AGENT_RUNS_CUT;
  }
}

} // namespace

bool query(const object& what, object_record& into) noexcept {
  void* const memory = sys::raw::map(sizeof(scratch), PROT_READ | PROT_WRITE, 0);
  if (memory == nullptr) {
    return false;
  }
  auto& s = *static_cast<scratch*>(memory);
  nodewise_agent_object& counts = into.fixed;
  strip_writer strip(s, counts);
  owner_cursor owners(what);
  for (std::size_t first = 0; first < counts.pages; first += batch_pages) {
    const std::size_t now = std::min(counts.pages - first, batch_pages);
    ask(s, what, first, now, counts);
    for (std::size_t i = 0; i < now; ++i) {
      const int where = s.where[i];
      strip.add(first + i, where);
      if (where == absent) {
        continue;
      }
      ++counts.resident;
      if (asked.trace) {
        add_to_runs(into, first + i, where);
      }
      if (where == unlocated) {
        ++counts.unknown;
        continue;
      }
      ++into.on_node[where];
      counts.on_owner += owners.is_home(where, (first + i) * page_bytes()) ? 1U : 0U;
    }
  }
  strip.finish();
  sys::raw::unmap(memory, sizeof(scratch));
  return true;
}

} // namespace nodewise::agent
