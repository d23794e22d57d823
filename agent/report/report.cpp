// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/report/report.hpp"

#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "agent/alloc/next.hpp"
#include "agent/asked.hpp"
#include "agent/clock.hpp"
#include "agent/modules.hpp"
#include "agent/page.hpp"
#include "agent/report/records.hpp"
#include "agent/report/residency.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// The record of an object with room for all its shares and runs, and the data it is made from.
struct object_record {
  nodewise_agent_object fixed;
  /// The shares, followed by the runs.
  char rest[NODEWISE_AGENT_MAX_NODES * sizeof(nodewise_agent_share) +
            NODEWISE_AGENT_MAX_RESIDENT_RUNS * sizeof(nodewise_agent_run)];
  std::size_t rest_bytes;
  residency found;

  template <class Item>
  void add(const Item* items, std::size_t count) noexcept {
    std::memcpy(rest + rest_bytes, items, count * sizeof(Item));
    rest_bytes += count * sizeof(Item);
  }
};
static_assert(sizeof(nodewise_agent_object) % alignof(nodewise_agent_run) == 0);

void fill(object_record& record, const object& what) noexcept {
  nodewise_agent_object& fixed = record.fixed;
  fixed.sequence = what.sequence;
  fixed.start = reinterpret_cast<std::uintptr_t>(what.start);
  fixed.bytes = what.bytes;
  fixed.granule_bytes = what.granule_bytes;
  fixed.pages = record.found.pages;
  fixed.resident = record.found.resident;
  fixed.on_owner = record.found.on_owner;
  fixed.unknown = record.found.unknown;
  fixed.refused_errno = static_cast<std::uint32_t>(what.refused_errno);
  fixed.flags = what.flags;
  if (record.found.reduced) {
    fixed.flags |= NODEWISE_AGENT_REDUCED;
  }
  fixed.extents = what.extents;
  fixed.cells = record.found.cells;
  std::memcpy(fixed.strip, record.found.strip, sizeof fixed.strip);
  fixed.object_kind = what.kind;
  fixed.blocks = what.blocks;
  fixed.rule = what.rule;
  copy_name(fixed.name, what.name == nullptr ? "" : what.name);
  name_code(what.caller, fixed.caller_module, fixed.caller_offset);
  for (int node = 0; node < NODEWISE_AGENT_MAX_NODES; ++node) {
    if (record.found.on_node[node] != 0) {
      const nodewise_agent_share share{record.found.on_node[node], node, 0};
      record.add(&share, 1);
      ++fixed.shares;
    }
  }
}

void fill_trace(object_record& record, const object& what) noexcept {
  nodewise_agent_object& fixed = record.fixed;
  fixed.maker = what.made_by.tid;
  fixed.stack = what.made_by.stack;
  fixed.allocated_ns = what.made_by.ns;
  fixed.freed_ns = now_ns();
  fixed.runs = record.found.runs;
  if (record.found.runs_cut) {
    fixed.flags |= NODEWISE_AGENT_RUNS_CUT;
  }
  record.add(record.found.run, fixed.runs);
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

void write_object(const object& what, bool ask) noexcept {
  void* const memory = sys::raw::map(sizeof(object_record), PROT_READ | PROT_WRITE, 0);
  if (memory == nullptr) {
    ++reporting.no_memory;
    return;
  }
  auto& record = *static_cast<object_record*>(memory);
  if (!ask || query(what, record.found)) {
    fill(record, what);
    if (asked.trace) {
      fill_trace(record, what);
    }
    if (!ask) {
      record.fixed.pages = round_up(what.bytes, page_bytes()) / page_bytes();
      record.fixed.flags |= NODEWISE_AGENT_NOT_ASKED;
    }
    tell(NODEWISE_AGENT_OBJECT, record.fixed.header, sizeof record.fixed + record.rest_bytes);
  } else {
    ++reporting.no_memory;
  }
  sys::raw::unmap(memory, sizeof(object_record));
}

} // namespace nodewise::agent
