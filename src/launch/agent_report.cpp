// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/agent_report.hpp"

#include <algorithm>
#include <span>

#include "base/text.hpp"

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
  // Excludes threads of MPI and the like, which wait for messages.
  const auto works = [](const thread_report& thread) {
    return !thread.main &&
           (thread.start.empty() ||
            std::ranges::any_of(
                std::array{"libgomp", "libomp", "libiomp", "libtbb"},
                [&](const char* runtime) { return thread.start.starts_with(runtime); }));
  };
  return 1 + static_cast<std::size_t>(std::ranges::count_if(process.threads, works));
}

completeness completeness_of(const run_report& report, std::size_t index) {
  const process_report& process = report.processes[index];
  if (process.totals) {
    const process_totals& totals = *process.totals;
    return totals.lost == 0 && totals.no_memory == 0 && totals.left_out == 0
               ? completeness::whole
               : completeness::cut_off;
  }
  const auto rest = std::span(report.processes).subspan(index + 1);
  if (std::ranges::find(rest, process.pid, &process_report::pid) == rest.end()) {
    return completeness::died;
  }
  return process.made_objects ? completeness::replaced : completeness::whole;
}

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
