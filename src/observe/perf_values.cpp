// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/perf_values.hpp"

#include <unistd.h>

namespace nodewise::observe {

namespace {

std::string digits_of(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::byte each : bytes) {
    const auto value = std::to_integer<unsigned>(each);
    text += digits[value >> 4];
    text += digits[value & 15];
  }
  return text;
}

} // namespace

access_sample sample_of(const sys::perf_sample& record, int cpu, const frame_map& frames) {
  static const auto frame_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const node_id node =
      record.physical == 0 ? unknown_node : frames.node_of(record.physical / frame_bytes);
  return {record.time_ns,     record.address,    record.ip, record.pid, record.tid, cpu,
          sample_kind::fault, record.page_bytes, node};
}

module_mapped module_of(const sys::perf_mapping& record) {
  module_mapped module;
  module.pid = record.pid;
  module.time_ns = record.time_ns;
  module.start = record.start;
  module.end = record.start + record.bytes;
  module.file_offset = record.file_offset;
  module.executable = record.executable;
  module.path = record.path;
  module.build_id = digits_of(record.build_id);
  return module;
}

task_event event_of(const sys::perf_task& record) {
  task_event event;
  event.time_ns = record.time_ns;
  event.what = record.ended                      ? task_change::ended
               : record.pid == record.parent_pid ? task_change::thread_started
                                                 : task_change::process_forked;
  event.pid = record.pid;
  event.tid = record.tid;
  event.parent_pid = record.parent_pid;
  event.parent_tid = record.parent_tid;
  return event;
}

task_event event_of(const sys::perf_name& record) {
  task_event event;
  event.time_ns = record.time_ns;
  event.what = record.by_exec ? task_change::executed : task_change::named;
  event.pid = record.pid;
  event.tid = record.tid;
  event.name = record.name;
  return event;
}

} // namespace nodewise::observe
