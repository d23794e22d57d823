// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/agent_report.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace nodewise::launch {

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

} // namespace nodewise::launch
