// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "base/counted.hpp"
#include "launch/agent_report.hpp"

namespace nodewise::launch {

namespace {

/// How to get more room in the file. Names the disk only if it was the reason.
std::string_view hint_for(room_limit limit, std::string_view remedy) {
  switch (limit) {
  case room_limit::disk:
    return "TMPDIR has no room for a larger one: set it to a directory with more";
  case room_limit::file_size:
    return "the limit of file sizes (ulimit -f) allows no larger one: raise it";
  case room_limit::none:
    break;
  }
  return remedy;
}

} // namespace

std::vector<std::string> losses_of(const run_report& report, std::string_view remedy) {
  std::vector<std::string> made;
  if (report.damaged_bytes != 0) {
    made.push_back(fmt::format("the agent's report has {} bytes that are not a whole record: a "
                               "process was killed while it wrote them, or still runs",
                               report.damaged_bytes));
  }
  const std::string full = fmt::format("the report file of {} KiB is full; {}",
                                       report.room_bytes / 1024, hint_for(report.limit, remedy));
  std::uint64_t rest = report.lost;
  for (const process_report& process : report.processes) {
    if (!process.totals) {
      continue;
    }
    const std::string name = fmt::format("{}[{}]", process.program, process.pid);
    const process_totals& totals = *process.totals;
    rest -= std::min(rest, totals.lost);
    if (totals.lost != 0) {
      made.push_back(fmt::format("{}: {} lost: {}", name, counted(totals.lost, "record"), full));
    }
    if (totals.no_memory != 0) {
      made.push_back(fmt::format("{}: {} not made: the process had no memory for them (ulimit -v?)",
                                 name, counted(totals.no_memory, "record")));
    }
  }
  if (rest != 0) {
    made.push_back(
        fmt::format("{} of processes without totals lost: {}", counted(rest, "record"), full));
  }
  return made;
}

} // namespace nodewise::launch
