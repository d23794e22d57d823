// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "launch/agent_report.hpp"

namespace nodewise::launch {

namespace {

std::string records(std::uint64_t count) {
  return count == 1 ? "1 record" : std::to_string(count) + " records";
}

/// Why the file was full, and how to get more room. Names the disk only if it was the reason.
std::string want_of_room(const run_report& report, std::string_view remedy) {
  const std::string file =
      "the report file of " + std::to_string(report.room_bytes / 1024) + " KiB is full; ";
  switch (report.limit) {
  case room_limit::disk:
    return file + "TMPDIR has no room for a larger one: set it to a directory with more";
  case room_limit::file_size:
    return file + "the limit of file sizes (ulimit -f) allows no larger one: raise it";
  case room_limit::none:
    break;
  }
  return file + std::string(remedy);
}

} // namespace

std::vector<std::string> losses_of(const run_report& report, std::string_view remedy) {
  std::vector<std::string> made;
  if (report.damaged_bytes != 0) {
    made.push_back("the agent's report has " + std::to_string(report.damaged_bytes) +
                   " bytes that are no whole record: a process was killed while it wrote them, or "
                   "still runs");
  }
  std::uint64_t rest = report.lost;
  for (const process_report& process : report.processes) {
    if (!process.totals) {
      continue;
    }
    const std::string name = process.program + "[" + std::to_string(process.pid) + "]: ";
    const process_totals& totals = *process.totals;
    rest -= std::min(rest, totals.lost);
    if (totals.lost != 0) {
      made.push_back(name + records(totals.lost) + " lost: " + want_of_room(report, remedy));
    }
    if (totals.no_memory != 0) {
      made.push_back(name + records(totals.no_memory) +
                     " not made: the process had no memory for them (ulimit -v?)");
    }
  }
  if (rest != 0) {
    made.push_back(records(rest) +
                   " of processes without totals lost: " + want_of_room(report, remedy));
  }
  return made;
}

} // namespace nodewise::launch
