// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/agent_report.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "agent/protocol.h"

namespace nodewise::launch {

namespace {

/// A copy of the first bytes: records lie at any address, and may be shorter than they should be.
template <class Record>
std::optional<Record> copy(std::string_view bytes) {
  Record record;
  if (bytes.size() < sizeof record) {
    return std::nullopt;
  }
  bytes.copy(reinterpret_cast<char*>(&record), sizeof record);
  return record;
}

struct whole_record {
  nodewise_agent_header header;
  std::string_view bytes;
};

/// The record at the front, or nothing.
std::optional<whole_record> next_record(std::string_view bytes) {
  const auto header = copy<nodewise_agent_header>(bytes);
  if (!header || header->magic != NODEWISE_AGENT_MAGIC ||
      header->version != NODEWISE_AGENT_RECORDS || header->bytes < sizeof *header ||
      header->bytes > bytes.size()) {
    return std::nullopt;
  }
  bytes = bytes.substr(0, header->bytes);
  if (header->checksum != nodewise_agent_checksum(bytes.data(), bytes.size())) {
    return std::nullopt;
  }
  return whole_record{*header, bytes};
}

template <std::size_t Bytes>
std::string text_of(const char (&name)[Bytes]) {
  return {name, ::strnlen(name, Bytes)};
}

object_report::kind kind_of(std::uint32_t number) {
  switch (number) {
  case NODEWISE_AGENT_MAP:
    return object_report::kind::map;
  case NODEWISE_AGENT_STATIC:
    return object_report::kind::static_array;
  case NODEWISE_AGENT_GROUP:
    return object_report::kind::group;
  default:
    return object_report::kind::heap;
  }
}

void read_flags(object_report& into, std::uint32_t flags) {
  const auto has = [&](nodewise_agent_flag flag) { return (flags & std::uint32_t{flag}) != 0; };
  into.placed = has(NODEWISE_AGENT_PLACED);
  into.map_limited = has(NODEWISE_AGENT_MAP_LIMIT);
  into.reduced = has(NODEWISE_AGENT_REDUCED);
  into.live_at_end = has(NODEWISE_AGENT_LIVE_AT_END);
  into.resized = has(NODEWISE_AGENT_RESIZED);
  into.coarser = has(NODEWISE_AGENT_COARSER);
  into.interleaved = has(NODEWISE_AGENT_INTERLEAVED);
  into.base_pages = has(NODEWISE_AGENT_BASE_PAGES);
  into.partly_gone = has(NODEWISE_AGENT_PARTLY_GONE);
  into.many_threads = has(NODEWISE_AGENT_MANY_THREADS);
  into.no_threads = has(NODEWISE_AGENT_NO_THREADS);
  into.unasked = has(NODEWISE_AGENT_UNASKED);
}

object_report::cell cell_of(std::int16_t number) {
  using content = object_report::cell::content;
  if (number >= 0) {
    return {content::node, node_id{number}};
  }
  if (number == NODEWISE_AGENT_CELL_MIXED) {
    return {content::mixed, unknown_node};
  }
  return {number == NODEWISE_AGENT_CELL_EMPTY ? content::empty : content::unknown, unknown_node};
}

/// Nothing if the shares that it announces are not all there, or if its counts contradict each
/// other.
std::optional<object_report> object_of(std::string_view record) {
  const auto fixed = copy<nodewise_agent_object>(record);
  if (!fixed || fixed->cells > NODEWISE_AGENT_CELLS ||
      fixed->shares > (record.size() - sizeof *fixed) / sizeof(nodewise_agent_share) ||
      fixed->unknown > fixed->resident || fixed->on_owner > fixed->resident - fixed->unknown) {
    return std::nullopt;
  }
  object_report object;
  object.sequence = fixed->sequence;
  object.bytes = fixed->bytes;
  object.granule_bytes = fixed->granule_bytes;
  object.pages = fixed->pages;
  object.resident = fixed->resident;
  object.on_owner = fixed->on_owner;
  object.unknown = fixed->unknown;
  object.caller_module = text_of(fixed->caller_module);
  object.caller_offset = fixed->caller_offset;
  object.refused_errno = static_cast<int>(fixed->refused_errno);
  object.extents = fixed->extents;
  object.what = kind_of(fixed->object_kind);
  object.name = text_of(fixed->name);
  object.blocks = fixed->blocks;
  if (fixed->rule >= 0) {
    object.rule = static_cast<std::size_t>(fixed->rule);
  }
  read_flags(object, fixed->flags);
  for (std::size_t i = 0; i < fixed->cells; ++i) {
    object.strip.push_back(cell_of(fixed->strip[i]));
  }
  record.remove_prefix(sizeof *fixed);
  for (std::size_t i = 0; i < fixed->shares; ++i) {
    nodewise_agent_share share;
    record.copy(reinterpret_cast<char*>(&share), sizeof share, i * sizeof share);
    object.shares.push_back({node_id{share.node}, share.pages});
  }
  return object;
}

process_totals totals_of(const nodewise_agent_end& end) {
  process_totals totals;
  totals.objects = end.objects;
  totals.placed = end.placed;
  totals.refused = end.refused;
  totals.map_limited = end.map_limited;
  totals.left_out = end.left_out;
  totals.lost = end.lost;
  totals.refused_errno = static_cast<int>(end.refused_errno);
  totals.own_threads = end.own_threads;
  totals.pinned = end.pinned;
  totals.own_affinity = end.own_affinity;
  totals.stripped = end.stripped;
  totals.groups = end.groups;
  totals.pin_errno = static_cast<int>(end.pin_errno);
  return totals;
}

thread_report thread_of(const nodewise_agent_thread& record) {
  thread_report thread;
  thread.tid = record.tid;
  if (record.ordinal >= 0) {
    thread.ordinal = record.ordinal;
  }
  thread.name = text_of(record.name);
  thread.cpus = text_of(record.cpus);
  thread.start = text_of(record.start);
  thread.main = (record.flags & NODEWISE_AGENT_MAIN) != 0;
  thread.pinned = (record.flags & NODEWISE_AGENT_PINNED) != 0;
  thread.own_affinity = (record.flags & NODEWISE_AGENT_OWN_AFFINITY) != 0;
  return thread;
}

/// A process that became another program, and a number that was given out again, start anew.
process_report& process(run_report& report, int pid) {
  const auto found =
      std::find_if(report.processes.rbegin(), report.processes.rend(),
                   [&](const process_report& each) { return each.pid == pid && !each.totals; });
  if (found != report.processes.rend()) {
    return *found;
  }
  process_report unknown;
  unknown.pid = pid;
  return report.processes.emplace_back(std::move(unknown));
}

/// False if the record is not what its kind says.
bool take(run_report& report, const whole_record& record) {
  switch (record.header.kind) {
  case NODEWISE_AGENT_START:
    if (const auto start = copy<nodewise_agent_start>(record.bytes)) {
      process_report started;
      started.pid = record.header.pid;
      started.program = text_of(start->program);
      started.page_bytes = start->page_bytes;
      started.allocator = text_of(start->allocator);
      started.foreign_malloc = start->foreign_malloc != 0;
      report.processes.push_back(std::move(started));
      return true;
    }
    return false;
  case NODEWISE_AGENT_MADE:
    process(report, record.header.pid).made_objects = true;
    return true;
  case NODEWISE_AGENT_OBJECT:
    if (auto object = object_of(record.bytes)) {
      process(report, record.header.pid).objects.push_back(*std::move(object));
      return true;
    }
    return false;
  case NODEWISE_AGENT_THREAD:
    if (const auto thread = copy<nodewise_agent_thread>(record.bytes)) {
      process(report, record.header.pid).threads.push_back(thread_of(*thread));
      return true;
    }
    return false;
  case NODEWISE_AGENT_END:
    if (const auto end = copy<nodewise_agent_end>(record.bytes)) {
      process(report, record.header.pid).totals = totals_of(*end);
      return true;
    }
    return false;
  default:
    return false;
  }
}

} // namespace

std::optional<double> object_report::locality() const noexcept {
  if (resident <= unknown) {
    return std::nullopt;
  }
  return static_cast<double>(on_owner) / static_cast<double>(resident - unknown);
}

std::optional<std::size_t> count_workers(const process_report& process) {
  if (!process.totals || process.threads.empty()) {
    return std::nullopt;
  }
  if (process.totals->own_threads != 0) {
    return process.totals->own_threads;
  }
  std::size_t workers = 1;
  for (const thread_report& thread : process.threads) {
    // Not those of MPI and the like, which wait for messages.
    const bool works = thread.start.empty() || thread.start.starts_with("libgomp") ||
                       thread.start.starts_with("libomp") || thread.start.starts_with("libiomp") ||
                       thread.start.starts_with("libtbb");
    workers += !thread.main && works ? 1 : 0;
  }
  return workers;
}

run_report read_agent_report(std::string_view bytes) {
  run_report report;
  while (!bytes.empty()) {
    const auto record = next_record(bytes);
    if (record && take(report, *record)) {
      bytes.remove_prefix(record->bytes.size());
    } else {
      ++report.damaged_bytes;
      bytes.remove_prefix(1);
    }
  }
  for (process_report& each : report.processes) {
    std::sort(
        each.objects.begin(), each.objects.end(),
        [](const object_report& a, const object_report& b) { return a.sequence < b.sequence; });
  }
  return report;
}

completeness completeness_of(const run_report& report, std::size_t index) {
  const process_report& process = report.processes[index];
  if (process.totals) {
    return process.totals->lost == 0 && process.totals->left_out == 0 ? completeness::whole
                                                                      : completeness::cut_off;
  }
  const auto rest = std::span(report.processes).subspan(index + 1);
  const bool replaced = std::ranges::any_of(
      rest, [&](const process_report& later) { return later.pid == process.pid; });
  if (!replaced) {
    return completeness::died;
  }
  return process.made_objects ? completeness::replaced : completeness::whole;
}

} // namespace nodewise::launch
