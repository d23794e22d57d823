// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/read_agent_report.hpp"

#include <algorithm>
#include <utility>

#include "launch/agent_records.hpp"

namespace nodewise::launch {

namespace {

/// A process that became another program, or a reused pid, gets a new entry.
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

/// False if the record is invalid for its kind.
bool take(run_report& report, const whole_record& record) {
  const int pid = record.header.pid;
  const auto add = [&](auto member, auto value) {
    if (value) {
      (process(report, pid).*member).push_back(*std::move(value));
    }
    return value.has_value();
  };
  switch (record.header.kind) {
  case NODEWISE_AGENT_START:
    if (auto started = start_of(record)) {
      report.processes.push_back(*std::move(started));
      return true;
    }
    return false;
  case NODEWISE_AGENT_MADE:
    process(report, pid).made_objects = true;
    return true;
  case NODEWISE_AGENT_HELPER:
    process(report, pid).helpers.push_back(record.header.tid);
    return true;
  case NODEWISE_AGENT_OBJECT:
    return add(&process_report::objects, object_of(record));
  case NODEWISE_AGENT_THREAD:
    return add(&process_report::threads, thread_of(record));
  case NODEWISE_AGENT_ALLOCATED:
    return add(&process_report::allocations, allocation_of(record));
  case NODEWISE_AGENT_STACK:
    return add(&process_report::stacks, stack_of(record));
  case NODEWISE_AGENT_WROTE:
    return add(&process_report::writes, write_of(record));
  case NODEWISE_AGENT_NUMA_PINNED:
    process(report, pid).numa_pinner = numa_pinner_of(record);
    return process(report, pid).numa_pinner.has_value();
  case NODEWISE_AGENT_END:
    if (auto totals = totals_of(record)) {
      process(report, pid).totals = *std::move(totals);
      return true;
    }
    return false;
  default:
    return false;
  }
}

} // namespace

run_report read_agent_report(std::string_view records) {
  run_report report;
  std::string_view bytes = records;
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
    std::ranges::sort(each.objects, {}, &object_report::sequence);
  }
  return report;
}

run_report read_agent_file(std::string_view file) {
  nodewise_agent_head head{};
  if (file.size() < sizeof head) {
    return {};
  }
  file.copy(reinterpret_cast<char*>(&head), sizeof head);
  const std::size_t used = std::min<std::uint64_t>(head.used, file.size());
  run_report report = read_agent_report(
      used > sizeof head ? file.substr(sizeof head, used - sizeof head) : std::string_view{});
  report.lost = head.lost;
  return report;
}

} // namespace nodewise::launch
