// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/start.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "launch/counted.hpp"
#include "launch/executable.hpp"
#include "launch/numa_balancing.hpp"
#include "launch/report_file.hpp"
#include "sys/programs.hpp"

namespace nodewise::launch {

namespace {

/// EPERM and ENOSYS come from a container's system call filter, other errors from the kernel.
std::string hint_for(int errno_value, const char* otherwise) {
  return errno_value == EPERM || errno_value == ENOSYS
             ? "a container's seccomp filter forbids it: run it with CAP_SYS_NICE, or with a "
               "profile that permits the call"
             : otherwise;
}

void set_variables(const std::vector<variable>& variables) {
  for (const variable& each : variables) {
    const int failed = each.value ? ::setenv(each.name.c_str(), each.value->c_str(), 1)
                                  : ::unsetenv(each.name.c_str());
    if (failed != 0) {
      throw error(error_kind::system, fmt::format("the variable {}", each.name), "it was not set",
                  "free some memory", errno);
    }
  }
}

/// Makes the kernel place the program's first pages (its stack, what the loader writes) on the node
/// of thread 0. exec moves a process to an idle processor, and the main thread is bound later, so
/// the pages could be on any node. The agent ends this policy. If the kernel refuses, the pages
/// stay where they are.
void prefer_node_of_first_thread(const plan& what, sys::kernel& kernel) {
  if (!what.agent || !what.layout || what.memory) {
    return;
  }
  const node_id node = what.layout->threads().front().node;
  const auto now = kernel.get_mempolicy();
  if (node != unknown_node && now && now.value == sys::policy::system_default) {
    (void)kernel.set_mempolicy(sys::preferred_at_start, node_set{node});
  }
}

/// A team of another size than the memory layout has other blocks of a loop. A single thread is a
/// helper of the program, such as a script's shell, and the table shows it.
void judge_team(const plan& what, const process_report& process, const std::string& name,
                std::vector<std::string>& warnings) {
  const auto workers = count_workers(process);
  if (!what.layout || what.agent->owners.empty() || process.objects.empty() || !workers ||
      *workers == 1 || *workers == what.layout->size()) {
    return;
  }
  warnings.push_back(fmt::format(
      "{0} ran with {1} threads, but its memory was laid out for {2}: give --threads {1}", name,
      *workers, what.layout->size()));
}

/// A rule that matches nothing is most likely a typing error; such an entry of a plan is from
/// another program or input.
void judge_rules(const plan& what, outcome& how) {
  for (std::size_t i = 0; i < what.agent->rules.size(); ++i) {
    const bool fitted = std::ranges::any_of(how.report.processes, [&](const auto& process) {
      return objects_of_rule(process, i) != 0;
    });
    if (!fitted) {
      how.rules_fit = false;
      const agent_rule& rule = what.agent->rules[i];
      how.warnings.push_back(
          rule.entry ? fmt::format("--plan {}: {}: no array matches", what.planned->name, rule.text)
                     : fmt::format("--rule {}: no array matches", rule.text));
    }
  }
  how.rules_fit = how.rules_fit && !(what.planned && what.planned->is_incomplete());
}

void judge(const plan& what, outcome& how) {
  how.warnings = losses_of(how.report, "a larger --threshold makes fewer records");
  const auto warn = [&](std::string text) { how.warnings.push_back(std::move(text)); };
  if (how.report.processes.empty()) {
    warn("the agent reported nothing: it was not loaded, or could not map its report file");
  }
  for (std::size_t i = 0; i < how.report.processes.size(); ++i) {
    const process_report& process = how.report.processes[i];
    const std::string name = fmt::format("{}[{}]", process.program, process.pid);
    if (process.foreign_malloc) {
      warn(fmt::format("{} overrides malloc: none of its memory is placed or reported", name));
    }
    const completeness reported = completeness_of(how.report, i);
    if (reported == completeness::died || reported == completeness::replaced) {
      warn(fmt::format("{} {}: the memory that it had not freed is unknown", name,
                       reported == completeness::died ? "did not end by exit"
                                                      : "became another program"));
    }
    judge_team(what, process, name, how.warnings);
    if (process.totals && process.totals->stripped != 0 && what.agent->places_memory()) {
      warn(fmt::format("{}: static arrays of {} of its files have no symbols and are not placed",
                       name, process.totals->stripped));
    }
    if (process.totals && process.totals->left_out != 0) {
      warn(fmt::format("{}: {} more objects without their own report", name,
                       process.totals->left_out));
    }
  }
  judge_rules(what, how);
}

} // namespace

cpu_set widen_affinity(sys::kernel& kernel) {
  const auto before = kernel.get_affinity(0);
  // More than any machine has: the kernel uses those that exist and the cpuset allows.
  const cpu_set all = cpu_set::range(cpu_id{0}, cpu_id{(1 << 14) - 1});
  const int refused = before ? kernel.set_affinity(0, all) : before.errno_value;
  if (refused != 0) {
    throw error(error_kind::system, "all processors of the cpuset", "sched_setaffinity was refused",
                hint_for(refused, "leave --all out"), refused);
  }
  return before.value;
}

void apply(const plan& what, const std::string& report_file, sys::kernel& kernel) {
  if (what.affinity) {
    const int refused = kernel.set_affinity(0, *what.affinity);
    if (refused != 0) {
      throw error(error_kind::system, fmt::format("processors {}", what.affinity->to_string()),
                  "sched_setaffinity was refused",
                  hint_for(refused, "choose among those that `nodewise topo` shows as allowed"),
                  refused);
    }
  }
  if (what.memory) {
    const int refused = kernel.set_mempolicy(what.memory->mode, what.memory->nodes);
    if (refused != 0) {
      const policy_words& words = words_of(what.memory->mode);
      throw error(error_kind::system,
                  fmt::format("memory {}{}", words.applied, what.memory->nodes.to_string()),
                  "set_mempolicy was refused", hint_for(refused, words.hint), refused);
    }
  }
  if (what.huge_pages) {
    const int refused = kernel.disable_huge_pages(!*what.huge_pages);
    if (refused != 0) {
      throw error(error_kind::system, fmt::format("huge pages {}", *what.huge_pages ? "on" : "off"),
                  "prctl(PR_SET_THP_DISABLE) was refused",
                  hint_for(refused, "leave --huge-pages out"), refused);
    }
  }
  prefer_node_of_first_thread(what, kernel);
  set_variables(what.variables);
  if (what.agent) {
    set_variables(agent_variables(*what.agent, report_file));
  }
}

void become(const plan& what) {
  NODEWISE_MARKER_SAY(NODEWISE_MARKER_OBSERVE); // from here on this task belongs to the program
  throw why_not_started(what.command.front(), sys::execute(what.command));
}

std::uint64_t objects_of_rule(const process_report& process, std::size_t rule) {
  const auto reported = std::ranges::count(process.objects, rule, &object_report::rule);
  const bool more = process.totals && process.totals->left_out != 0;
  return more && rule < process.totals->by_rule.size() ? process.totals->by_rule[rule].objects
                                                       : static_cast<std::uint64_t>(reported);
}

outcome supervise(const plan& what, sys::kernel& kernel, const beside_program& beside) {
  std::optional<report_file> report;
  if (what.supervised) {
    report.emplace(report_file::for_objects);
  }
  std::optional<numa_balancing_switch> balancing;
  std::optional<std::string> not_restored;
  outcome how;
  static_cast<sys::child_end&>(how) = sys::run_child(
      [&] {
        apply(what, report ? report->name() : "", kernel);
        become(what);
      },
      [&](int pid) {
        if (what.numa_balancing) {
          balancing.emplace(*what.numa_balancing, kernel);
        }
        if (beside.begin) {
          beside.begin(pid);
        }
      },
      [&] {
        not_restored = balancing ? balancing->restore() : std::nullopt;
        if (beside.end) {
          beside.end();
        }
      });
  if (how.started && report && what.agent) {
    how.report = report->read();
    judge(what, how);
  }
  if (not_restored) {
    how.warnings.push_back(*std::move(not_restored));
  }
  return how;
}

} // namespace nodewise::launch
