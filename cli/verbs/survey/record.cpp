// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/survey/record.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <memory>

#include <sys/wait.h>
#include <unistd.h>

#include <nodewise/topology.hpp>

#include "base/text.hpp"
#include "cli/frame/paths.hpp"
#include "doctor/settings.hpp"
#include "launch/counted.hpp"
#include "observe/thread_watch.hpp"
#include "report/output_name.hpp"

namespace nodewise::cli {

namespace {

using launch::object_report;

/// Variables that decide where threads run; of each rank's environment.
constexpr std::array thread_variables = {"OMP_NUM_THREADS",   "OMP_PLACES",      "OMP_PROC_BIND",
                                         "GOMP_CPU_AFFINITY", "KMP_AFFINITY",    "KMP_HW_SUBSET",
                                         "SLURM_CPU_BIND",    "OMP_THREAD_LIMIT"};

launch::run_options options_of(const invocation& given) {
  launch::run_options options;
  options.report = true;
  options.quiet = true;
  options.agent = paths::of_this_process().prefix + "/lib/nodewise/libnodewise-agent.so";
  options.command = given.program;
  return options;
}

std::map<std::string, std::string> read_all_settings() {
  const doctor::settings found = doctor::read_settings(sys::real_kernel());
  std::map<std::string, std::string> all;
  all["kernel"] = found.kernel_release.value_or("");
  all["transparent huge pages"] = found.thp.value_or("");
  all["numa_balancing"] = found.numa_balancing ? std::to_string(*found.numa_balancing) : "";
  for (const char* const name : thread_variables) {
    if (const char* const value = std::getenv(name)) {
      all[fmt::format("env.{}", name)] = value;
    }
  }
  return all;
}

/// The objects of a process, without those whose memory a later one had again.
std::vector<const object_report*> distinct_objects(const launch::process_report& process) {
  std::vector<const object_report*> all;
  for (const object_report& each : process.objects) {
    all.push_back(&each);
  }
  // Sorted by address, of overlapping ones the last allocated stays.
  std::ranges::sort(all, [](const object_report* a, const object_report* b) {
    return std::pair(a->start, a->sequence) < std::pair(b->start, b->sequence);
  });
  std::vector<const object_report*> kept;
  for (const object_report* const each : all) {
    const bool overlaps = !kept.empty() && each->start < kept.back()->start + kept.back()->bytes;
    if (!overlaps) {
      kept.push_back(each);
    } else if (each->sequence > kept.back()->sequence) {
      kept.back() = each;
    }
  }
  return kept;
}

void add_memory(survey::rank_record& into, const launch::run_report& from) {
  for (const launch::process_report& process : from.processes) {
    for (const object_report* const object : distinct_objects(process)) {
      for (const object_report::share& share : object->shares) {
        into.bytes[share.node] += share.pages * process.page_bytes;
      }
      into.unknown_bytes += object->unknown * process.page_bytes;
    }
  }
}

/// Adds what the agent reports of the threads that lived at the end of their process: the last look
/// from outside may be old by then.
void add_last_facts(std::vector<observe::watched_thread>& seen, const launch::run_report& from) {
  for (const launch::process_report& process : from.processes) {
    for (const launch::thread_report& thread : process.threads) {
      if (!thread.last_cpu || !thread.busy_ms) {
        continue;
      }
      auto found = std::ranges::find_if(seen, [&](const observe::watched_thread& each) {
        return each.pid == process.pid && each.tid == thread.tid;
      });
      if (found == seen.end()) {
        seen.emplace_back();
        found = std::prev(seen.end());
        found->pid = process.pid;
        found->tid = thread.tid;
      }
      found->busy_ms = std::max(found->busy_ms, *thread.busy_ms);
      try {
        found->allowed = cpu_set::parse(thread.cpus);
        found->ran = found->ran & found->allowed;
      } catch (const error&) { // cut off: what was seen from outside stays
        continue;
      }
      if (found->allowed.contains(*thread.last_cpu)) {
        found->ran.insert(*thread.last_cpu);
      }
    }
  }
}

void add_threads(survey::rank_record& into, std::vector<observe::watched_thread> seen,
                 const launch::run_report& from) {
  // At a program's end the agent's own processes write its records.
  for (const launch::process_report& process : from.processes) {
    std::erase_if(seen, [&](const observe::watched_thread& each) {
      return std::ranges::find(process.helpers, each.pid) != process.helpers.end();
    });
  }
  add_last_facts(seen, from);
  const auto workers = observe::workers_among(seen);
  for (const observe::watched_thread& each : workers) {
    into.workers.push_back({each.allowed, each.ran, each.busy_ms});
  }
  into.helpers = seen.size() - workers.size();
}

/// Only devices that decide where ranks should be.
std::vector<survey::near_device> devices_near(const machine& all) {
  std::vector<survey::near_device> found;
  for (const device& each : all.devices) {
    if (!each.nodes.empty() &&
        (each.kind == "fabric" || each.kind == "network" || each.kind == "gpu")) {
      found.push_back({each.name, each.kind, each.nodes});
    }
  }
  return found;
}

void add_host(survey::rank_record& into, const topology& here) {
  into.host = report::output_facts::of_this_process().host;
  const survey::host_machine hardware = survey::host_machine_of(here.machine());
  into.machine = survey::id_of(hardware);
  into.settings = read_all_settings();
  if (into.local.value_or(0) == 0) {
    into.hardware = hardware;
    try {
      into.devices = devices_near(topology::system().machine());
    } catch (const error&) { // the record is of use without devices
      into.devices.clear();
    }
  }
}

} // namespace

recorded_rank record_rank(const invocation& given, const survey::launched_rank& launched) {
  const topology here = topology::from_sysfs();
  const launch::plan plan = launch::make_plan(options_of(given), here);
  recorded_rank made;
  made.record.job = launched.job;
  made.record.launcher = launched.launcher;
  made.record.rank = launched.rank;
  made.record.ranks = launched.ranks;
  made.record.local = launched.local;
  made.record.started = static_cast<std::uint64_t>(std::time(nullptr));
  made.record.allowed = here.allowed_cpus();
  made.record.command = cut(joined(given.program, " ", shell_word), 200);
  std::unique_ptr<observe::thread_watch> watch;
  std::vector<observe::watched_thread> seen;
  made.end = launch::supervise(plan, sys::real_kernel(),
                               {.begin =
                                    [&](int pid) {
                                      watch = std::make_unique<observe::thread_watch>(
                                          pid, launch::stand_aside);
                                    },
                                .end = [&] { seen = watch->stop(); }});
  add_host(made.record, here);
  add_threads(made.record, std::move(seen), made.end.report);
  add_memory(made.record, made.end.report);
  if (WIFSIGNALED(made.end.wait_status)) {
    made.record.signal = WTERMSIG(made.end.wait_status);
  } else {
    made.record.exit_code = WEXITSTATUS(made.end.wait_status);
  }
  return made;
}

} // namespace nodewise::cli
