// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/report/objects_report.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "agent/alloc/next.hpp"
#include "agent/alloc/objects.hpp"
#include "agent/asked.hpp"
#include "agent/clock.hpp"
#include "agent/messages.hpp"
#include "agent/modules.hpp"
#include "agent/page.hpp"
#include "agent/report/records.hpp"
#include "agent/report/residency.hpp"
#include "agent/trace/announce.hpp"
#include "agent/trace/numa_pin.hpp"
#include "agent/trace/stacks.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// Limits the report of a process that makes large objects in a loop: this many objects are
/// described when they are freed, and as many more of those that live to the end. An allocation is
/// a small record, and the only record of an object that never ends.
constexpr std::uint64_t max_records = 4096;

using counter = std::atomic<std::uint64_t>;

struct object_counts {
  alignas(64) counter objects{0}; ///< all threads write to it
  alignas(64) counter not_placed{0};
  counter refused{0};
  counter map_limited{0};
  counter files_refused{0};
  counter coarser{0}; ///< larger granules than requested, or interleaved: the map limit
  counter records{0};
  counter left_out{0};
  counter begin_ns{0};
  counter spent_ns{0}; ///< on objects that were freed
  std::atomic<int> refused_errno{0};
  std::atomic<int> file_errno{0}; ///< why pages of files were not moved
  struct {
    counter objects{0};
    counter placed{0};
  } of_rule[NODEWISE_AGENT_MAX_RULES];
};

constinit object_counts state;

/// To look up the pages of a freed object takes a tenth of the time of their first touch. So trace
/// mode does it for the first objects, and then as long as it stays below 1 % of the program's
/// time.
bool may_ask(std::uint64_t time_ns) noexcept {
  constexpr std::uint64_t always = 64;
  return !asked.trace || state.records <= always || state.spent_ns * 100 < time_ns - state.begin_ns;
}

/// Prints a message about some of the objects.
void say_of(const counter& some, const char* what) noexcept {
  if (some != 0) {
    say("nodewise: %s[%d]: %llu of %llu large objects %s\n", program_invocation_short_name,
        reporting.pid.load(), static_cast<unsigned long long>(some),
        static_cast<unsigned long long>(state.objects), what);
  }
}

void say_why(const counter& some, const char* call, int why, const char* so) noexcept {
  const char* const name = ::strerrorname_np(why);
  const char* const text = ::strerrordesc_np(why);
  char what[384];
  std::snprintf(what, sizeof what, "not placed: %s failed: %s (%s); %s", call,
                name == nullptr ? "an errno" : name, text == nullptr ? "?" : text, so);
  say_of(some, what);
}

/// Adds shares or runs to the record.
template <class Item>
void add(object_record& record, const Item* items, std::size_t count) noexcept {
  static_assert(sizeof(nodewise_agent_object) % alignof(Item) == 0);
  std::memcpy(record.rest + record.rest_bytes, items, count * sizeof(Item));
  record.rest_bytes += count * sizeof(Item);
}

void fill(object_record& record, const object& what) noexcept {
  nodewise_agent_object& fixed = record.fixed;
  fixed.sequence = what.sequence;
  fixed.start = reinterpret_cast<std::uintptr_t>(what.start);
  fixed.bytes = what.bytes;
  fixed.granule_bytes = what.granule_bytes;
  fixed.refused_errno = static_cast<std::uint32_t>(what.refused_errno);
  fixed.flags |= what.flags;
  fixed.extents = what.extents;
  fixed.object_kind = what.kind;
  fixed.blocks = what.blocks;
  fixed.rule = what.rule;
  copy_name(fixed.name, what.name == nullptr ? "" : what.name);
  name_code(what.caller, fixed.caller_module, fixed.caller_offset);
  for (int node = 0; node < NODEWISE_AGENT_MAX_NODES; ++node) {
    if (record.on_node[node] != 0) {
      const nodewise_agent_share share{record.on_node[node], node, 0};
      add(record, &share, 1);
      ++fixed.shares;
    }
  }
  if (asked.trace) {
    fixed.maker = what.made_by.tid;
    fixed.stack = what.made_by.stack;
    fixed.allocated_ns = what.made_by.ns;
    fixed.freed_ns = now_ns();
    add(record, record.run, fixed.runs);
  }
}

/// With `ask` it asks the kernel where the object's pages are, which is slow.
void write_object(const object& what, bool ask) noexcept {
  void* const memory = sys::raw::map(sizeof(object_record), PROT_READ | PROT_WRITE, 0);
  if (memory == nullptr) {
    ++reporting.no_memory;
    return;
  }
  auto& record = *static_cast<object_record*>(memory);
  record.fixed.pages = round_up(what.bytes, page_bytes()) / page_bytes();
  record.fixed.flags = ask ? 0 : NODEWISE_AGENT_NOT_ASKED;
  if (!ask || query(what, record)) {
    fill(record, what);
    tell(NODEWISE_AGENT_OBJECT, record.fixed.header, sizeof record.fixed + record.rest_bytes);
  } else {
    ++reporting.no_memory;
  }
  sys::raw::unmap(memory, sizeof(object_record));
}

/// The library that small blocks come from, unless it is the C library.
void name_allocator(nodewise_agent_start& record) noexcept {
  const module_of module(reinterpret_cast<const void*>(next.free));
  if (!module.is("libc") && !module.is("libnodewise")) {
    copy_name(record.allocator, module.name);
  }
}

} // namespace

void write_start(bool foreign_malloc) noexcept {
  nodewise_agent_start record = {};
  record.page_bytes = page_bytes();
  record.time_ns = now_ns();
  record.parent = ::getppid();
  record.foreign_malloc = foreign_malloc ? 1 : 0;
  copy_name(record.program, last_part(program_invocation_name));
  name_allocator(record);
  tell(NODEWISE_AGENT_START, record.header, sizeof record);
}

void tell_moved(const object& what) noexcept {
  announce_object(what);
  if (is_tracing() && what.pid == reporting.pid) {
    log_allocation(what, now_ns());
  }
}

void count_made(object& what) noexcept {
  what.sequence = state.objects++;
  what.pid = reporting.pid;
  announce_object(what);
  numa_pin_also();
  if (is_tracing()) {
    what.made_by = what.made_by.ns == 0 ? note_allocation(what.caller) : what.made_by;
    log_allocation(what, what.made_by.ns);
  }
  // Recorded in advance: a program that becomes another one by exec cannot report its objects.
  if (what.sequence == 0 && what.pid != 0 && asked.report != nullptr) {
    nodewise_agent_header record = {};
    tell(NODEWISE_AGENT_MADE, record, sizeof record);
  }
  if ((what.flags & (NODEWISE_AGENT_COARSER | NODEWISE_AGENT_INTERLEAVED)) != 0) {
    ++state.coarser;
  }
  const bool placed = (what.flags & NODEWISE_AGENT_PLACED) != 0;
  if (what.rule >= 0) {
    auto& of_rule = state.of_rule[what.rule];
    ++of_rule.objects;
    of_rule.placed += placed ? 1 : 0;
  }
  if (placed) {
    return;
  }
  ++state.not_placed;
  if ((what.flags & NODEWISE_AGENT_MAP_LIMIT) != 0) {
    ++state.map_limited;
  } else if (what.refused_errno != 0) {
    const bool is_file = what.kind == NODEWISE_AGENT_FILE;
    ++(is_file ? state.files_refused : state.refused);
    int none = 0;
    (is_file ? state.file_errno : state.refused_errno)
        .compare_exchange_strong(none, what.refused_errno);
  }
}

void report_freed(const object& what) noexcept {
  announce_freed(what);
  if (asked.report == nullptr || reporting.finished || what.pid == 0 || what.pid != reporting.pid) {
    return;
  }
  numa_pinned_pages += what.numa_pinned.pages;
  if (state.records++ >= max_records) {
    ++state.left_out;
    return;
  }
  const std::uint64_t begin = now_ns();
  write_object(what, may_ask(begin));
  state.spent_ns += now_ns() - begin;
}

void report_live(bool wait) noexcept {
  std::uint64_t records = 0;
  const auto report_one = [&records](object& what) {
    if (what.pid != reporting.pid) { // a copy in a forked child, or never counted
      return;
    }
    numa_pinned_pages += what.numa_pinned.pages;
    if (++records > max_records) {
      ++state.left_out;
      return;
    }
    what.flags |= NODEWISE_AGENT_LIVE_AT_END;
    write_object(what, true);
  };
  const auto all = objects.snapshot(wait);
  for (std::size_t i = 0; i < all.count; ++i) {
    report_one(all.objects[i]);
  }
  object_table::release(all);
  kept_memory.for_each_lent(report_one);
}

void count_objects_afresh() noexcept {
  for (counter* each :
       {&state.objects, &state.not_placed, &state.refused, &state.map_limited, &state.files_refused,
        &state.coarser, &state.records, &state.left_out, &state.spent_ns}) {
    *each = 0;
  }
  state.refused_errno = 0;
  state.file_errno = 0;
  for (std::size_t i = 0; i < asked.rule_count; ++i) {
    state.of_rule[i].objects = state.of_rule[i].placed = 0;
  }
  state.begin_ns = now_ns();
}

bool has_objects() noexcept {
  return state.objects != 0;
}

void count_objects(end_record& into) noexcept {
  nodewise_agent_end& totals = into.fixed;
  totals.objects = state.objects;
  totals.placed = totals.objects - state.not_placed;
  totals.refused = state.refused;
  totals.map_limited = state.map_limited;
  totals.left_out = state.left_out;
  totals.refused_errno = static_cast<std::uint32_t>(state.refused_errno.load());
  totals.rules = static_cast<std::uint32_t>(asked.rule_count);
  for (std::size_t i = 0; i < asked.rule_count; ++i) {
    into.matched[i] = {state.of_rule[i].objects, state.of_rule[i].placed};
  }
}

void say_what_is_not_placed() noexcept {
  if (state.refused != 0) {
    say_why(state.refused, "mbind", state.refused_errno,
            "their pages are where the program's own policy puts them");
  }
  if (state.files_refused != 0) {
    say_why(state.files_refused, "move_pages", state.file_errno,
            state.file_errno == EACCES
                ? "other processes have mapped pages of these files, or the kernel hides which "
                  "pages are cached: `nodewise warm` before they start says more"
                : "pages of these files stay where they are cached");
  }
  say_of(state.map_limited,
         "not placed: their policies would take more than half of vm.max_map_count; a larger "
         "--threshold makes fewer");
  say_of(state.coarser,
         "in larger granules or parts than requested, or interleaved: each takes a mapping, and "
         "all of them stay under half of vm.max_map_count");
}

} // namespace nodewise::agent
