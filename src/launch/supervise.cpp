// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/supervise.hpp"

#include <algorithm>

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
  const std::string ran = std::to_string(*workers);
  warnings.push_back(name + " ran with " + ran + " threads, and was laid out for " +
                     std::to_string(what.layout->size()) + ": give --threads " + ran);
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
      how.warnings.push_back((rule.entry ? "--plan " + what.planned->name + ": " : "--rule ") +
                             rule.text + ": no array fits it");
    }
  }
  how.rules_fit = how.rules_fit && !(what.planned && what.planned->is_incomplete());
}

void judge(const plan& what, outcome& how) {
  how.warnings = losses_of(how.report, "a larger --threshold makes fewer records");
  const auto warn = [&](std::string text) { how.warnings.push_back(std::move(text)); };
  if (how.report.processes.empty()) {
    warn("the agent has reported nothing: it was not loaded, or could not map its report file");
  }
  for (std::size_t i = 0; i < how.report.processes.size(); ++i) {
    const process_report& process = how.report.processes[i];
    const std::string name = process.program + "[" + std::to_string(process.pid) + "]";
    if (process.foreign_malloc) {
      warn(name + " brings its own malloc: nothing of it is placed or reported");
    }
    const completeness told = completeness_of(how.report, i);
    if (told == completeness::died) {
      warn(name + " did not end by exit: what it had not freed is unknown");
    } else if (told == completeness::replaced) {
      warn(name + " became another program: what it had not freed is unknown");
    }
    judge_team(what, process, name, how.warnings);
    if (process.totals && process.totals->stripped != 0 && what.agent->places_memory()) {
      warn(name + ": static arrays of " + std::to_string(process.totals->stripped) +
           " of its files have no symbols: left alone");
    }
    if (process.totals && process.totals->left_out != 0) {
      warn(name + ": " + std::to_string(process.totals->left_out) +
           " more objects without a report of their own");
    }
  }
  judge_rules(what, how);
}

} // namespace

std::uint64_t objects_of_rule(const process_report& process, std::size_t rule) {
  const auto told = std::ranges::count_if(
      process.objects, [&](const object_report& object) { return object.rule == rule; });
  const bool more = process.totals && process.totals->left_out != 0;
  return more && rule < process.totals->rules.size() ? process.totals->rules[rule].objects
                                                     : static_cast<std::uint64_t>(told);
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
