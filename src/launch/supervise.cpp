// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/supervise.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "launch/report_file.hpp"
#include "launch/start.hpp"

namespace nodewise::launch {

namespace {

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

std::uint64_t objects_of_rule(const process_report& process, std::size_t rule) {
  const auto reported = std::ranges::count(process.objects, rule, &object_report::rule);
  const bool more = process.totals && process.totals->left_out != 0;
  return more && rule < process.totals->rules.size() ? process.totals->rules[rule].objects
                                                     : static_cast<std::uint64_t>(reported);
}

outcome supervise(const plan& what, sys::kernel& kernel) {
  const report_file report(report_file::for_objects);
  outcome how;
  static_cast<child_end&>(how) = run_child([&] {
    apply(what, report.name(), kernel);
    become(what);
  });
  if (how.started && what.agent) {
    how.report = report.read();
    judge(what, how);
  }
  return how;
}

} // namespace nodewise::launch
