// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/agent_report.hpp"

#include <algorithm>
#include <cstring>

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
  std::memcpy(&record, bytes.data(), sizeof record);
  return record;
}

/// The bytes of the whole record at the front, or nothing.
std::string_view whole_record(std::string_view bytes) {
  const auto header = copy<nodewise_agent_header>(bytes);
  if (!header || header->magic != NODEWISE_AGENT_MAGIC ||
      header->version != NODEWISE_AGENT_RECORDS || header->bytes < sizeof *header ||
      header->bytes > bytes.size() ||
      header->checksum != nodewise_agent_checksum(bytes.data(), header->bytes)) {
    return {};
  }
  return bytes.substr(0, header->bytes);
}

std::string text_of(const char (&name)[NODEWISE_AGENT_NAME_BYTES]) {
  return {name, ::strnlen(name, sizeof name)};
}

object_report::cell cell_of(std::int16_t number) {
  using content = object_report::cell::content;
  if (number >= 0) {
    return {content::node, node_id{number}};
  }
  return {number == NODEWISE_AGENT_CELL_EMPTY ? content::empty : content::unknown, unknown_node};
}

/// Nothing if the shares that it announces are not all there.
std::optional<object_report> object_of(std::string_view record) {
  const auto fixed = copy<nodewise_agent_object>(record);
  if (!fixed || fixed->cells > NODEWISE_AGENT_CELLS ||
      fixed->shares > (record.size() - sizeof *fixed) / sizeof(nodewise_agent_share)) {
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
  object.placed = (fixed->flags & NODEWISE_AGENT_PLACED) != 0;
  object.map_limited = (fixed->flags & NODEWISE_AGENT_MAP_LIMIT) != 0;
  object.reduced = (fixed->flags & NODEWISE_AGENT_REDUCED) != 0;
  object.live_at_end = (fixed->flags & NODEWISE_AGENT_LIVE_AT_END) != 0;
  object.resized = (fixed->flags & NODEWISE_AGENT_RESIZED) != 0;
  for (std::size_t i = 0; i < fixed->cells; ++i) {
    object.strip.push_back(cell_of(fixed->strip[i]));
  }
  record.remove_prefix(sizeof *fixed);
  for (std::size_t i = 0; i < fixed->shares; ++i) {
    const auto share = copy<nodewise_agent_share>(record);
    object.shares.push_back({node_id{share->node}, share->pages});
    record.remove_prefix(sizeof *share);
  }
  return object;
}

process_totals totals_of(const nodewise_agent_end& end) {
  return {end.objects,
          end.placed,
          end.refused,
          end.map_limited,
          end.left_out,
          end.lost,
          static_cast<int>(end.refused_errno)};
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
bool take(run_report& report, std::string_view record) {
  const auto header = copy<nodewise_agent_header>(record);
  switch (header->kind) {
  case NODEWISE_AGENT_START:
    if (const auto start = copy<nodewise_agent_start>(record)) {
      process_report started;
      started.pid = header->pid;
      started.program = text_of(start->program);
      started.page_bytes = start->page_bytes;
      started.foreign_malloc = start->foreign_malloc != 0;
      report.processes.push_back(std::move(started));
      return true;
    }
    return false;
  case NODEWISE_AGENT_OBJECT:
    if (auto object = object_of(record)) {
      process(report, header->pid).objects.push_back(*std::move(object));
      return true;
    }
    return false;
  case NODEWISE_AGENT_END:
    if (const auto end = copy<nodewise_agent_end>(record)) {
      process(report, header->pid).totals = totals_of(*end);
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

run_report read_agent_report(std::string_view bytes) {
  run_report report;
  while (!bytes.empty()) {
    const std::string_view record = whole_record(bytes);
    if (!record.empty() && take(report, record)) {
      bytes.remove_prefix(record.size());
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

} // namespace nodewise::launch
