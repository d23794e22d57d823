// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/perf_values.hpp"

#include <unistd.h>

#include <fmt/core.h>

namespace nodewise::observe {

namespace {

std::string digits_of(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte each : bytes) {
    text += fmt::format("{:02x}", std::to_integer<unsigned>(each));
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
  return {.pid = record.pid,
          .time_ns = record.time_ns,
          .start = record.start,
          .end = record.start + record.bytes,
          .file_offset = record.file_offset,
          .executable = record.executable,
          .path = std::string(record.path),
          .build_id = digits_of(record.build_id)};
}

task_event event_of(const sys::perf_task& record) {
  return {.time_ns = record.time_ns,
          .what = record.ended                      ? task_change::ended
                  : record.pid == record.parent_pid ? task_change::thread_started
                                                    : task_change::process_forked,
          .pid = record.pid,
          .tid = record.tid,
          .parent_pid = record.parent_pid,
          .parent_tid = record.parent_tid,
          .name = {}};
}

task_event event_of(const sys::perf_name& record) {
  return {.time_ns = record.time_ns,
          .what = record.by_exec ? task_change::executed : task_change::named,
          .pid = record.pid,
          .tid = record.tid,
          .name = std::string(record.name)};
}

} // namespace nodewise::observe
