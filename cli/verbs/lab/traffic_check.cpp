// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/lab/traffic_check.hpp"

#include <cmath>
#include <set>

#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/numbers.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/lab/counted_run.hpp"
#include "cli/lab/runner.hpp"
#include "cli/start/flags.hpp"
#include "cli/traffic/view.hpp"
#include "cli/verbs/lab/flags.hpp"
#include "report/envelope.hpp"
#include "symbols/names.hpp"

namespace nodewise::cli {

namespace {

using traffic::locality;
using traffic::phase;

/// A decimal number without an exponent.
std::optional<double> decimal(std::string_view text) {
  const auto value = parse_real(text, std::chars_format::fixed);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

double read_share(std::string_view text) {
  std::string_view digits = text;
  const bool percent = digits.ends_with('%');
  digits.remove_suffix(percent ? 1 : 0);
  while (percent && digits.ends_with(' ')) {
    digits.remove_suffix(1);
  }
  const auto value = decimal(digits);
  const double share = value.value_or(-1) / (percent ? 100 : 1);
  if (!(share >= 0 && share <= 1)) {
    throw error(error_kind::usage, fmt::format("{} {}", option_name(flags::min_local), text),
                "it is not a share", "write a number from 0 to 1 or a percentage: 0.95, 95%");
  }
  return share;
}

double read_imbalance(std::string_view text) {
  const double ratio = decimal(text).value_or(0);
  if (!(ratio >= 1)) {
    throw error(error_kind::usage, fmt::format("{} {}", option_name(flags::max_imbalance), text),
                "an imbalance is at least 1",
                "write a number from 1 (all equal) to the number of memories: 1.5");
  }
  return ratio;
}

template <class Of>
locality sum(const traffic_limits& asked, Of&& in_phase) {
  locality all;
  for (const phase when : {phase::initialisation, phase::use}) {
    if (!asked.when || *asked.when == when) {
      all += in_phase(when);
    }
  }
  return all;
}

[[noreturn]] void refuse_object(const std::string& asked, const traffic::summary& found) {
  constexpr std::size_t most = 20;
  std::set<std::string> names;
  for (const traffic::named_site& site : found.sites) {
    if (site.what.kind != traffic::object_kind::other) {
      names.insert(symbols::abbreviated(site.name.label));
    }
  }
  throw error(error_kind::usage, fmt::format("{} {}", option_name(flags::object), asked),
              "the program has no such array",
              names.empty() ? "no array is known; leave --object out"
                            : "these are known: " + listed({names.begin(), names.end()}, most));
}

/// The phase that is judged; if both are, the worse one.
phase phase_to_show(const traffic::summary& found, const traffic_limits& asked) {
  const locality use = traffic::totals(found.all, phase::use).where;
  const locality before = traffic::totals(found.all, phase::initialisation).where;
  return asked.when.value_or(traffic::is_worse(before, use) ? phase::initialisation : phase::use);
}

/// Keeps what fails, worst first; removes the parts that reach the limit.
void keep_offending(traffic::summary& of, const traffic_limits& asked) {
  const auto is_fine = [&](const locality& where) {
    return where.total() == 0 || *where.share() >= *asked.min_local;
  };
  std::erase_if(of.sites, [&](const traffic::named_site& site) {
    const bool meant =
        asked.objects.empty() || std::ranges::any_of(asked.objects, [&](const std::string& name) {
          return site.answers_to(name);
        });
    return !meant || is_fine(sum(asked, [&](phase when) { return site.what.where(when); }));
  });
  std::ranges::sort(of.sites, [&](const auto& a, const auto& b) {
    return traffic::is_worse(a.what.where(of.judged), b.what.where(of.judged));
  });
  std::erase_if(of.lines, [&](const traffic::source_line& line) {
    // Source lines are not counted by array: a line may also access others.
    return !asked.objects.empty() ||
           is_fine(sum(asked, [&](phase each) { return line.fills[traffic::index_of(each)]; }));
  });
  const std::size_t when = traffic::index_of(of.judged);
  std::ranges::sort(of.lines, [&](const auto& a, const auto& b) {
    return traffic::is_worse(a.fills[when], b.fills[when]);
  });
}

constexpr std::string_view check_command = "nodewise lab check";

void require_complete(const invocation& given) {
  const auto incomplete = [](const char* what, const char* hint) {
    throw error(error_kind::usage, std::string(check_command), what, hint);
  };
  if (given.operands.size() > 1) {
    incomplete("it takes options and a program",
               "name the machine by --on, as in --on lab:4x2, and write -- before the program");
  }
  if (!given.has(flags::on)) {
    incomplete("the machine is missing", "add for example --on lab:4x2");
  }
  if (given.program.empty()) {
    incomplete("the program is missing", "write it after --");
  }
}

/// The command inside is `run`, which places the program and loads the agent. The counter needs the
/// agent to know the arrays. If nothing is placed, there is nothing to warn about.
std::vector<std::string> checked_run(const invocation& given) {
  invocation inside;
  inside.verb = find_verb("run");
  for (const invocation::option& each : given.options) {
    if (std::ranges::find(flags::run_placement, each.what) != flags::run_placement.end()) {
      inside.options.push_back(each);
    }
  }
  if (inside.options.empty() || given.has(flags::quiet)) {
    inside.options.push_back({&flags::quiet, ""});
  }
  inside.program = given.program;
  return inside.arguments_without({});
}

/// Prints the verdict on standard output, or on standard error if the result goes there.
/// `whose` is empty, or names the host.
void print_verdict(const traffic_verdict& verdict, const traffic_limits& asked,
                   const invocation& given, const std::string& whose) {
  const bool form_out = given.selected_form() != nullptr && !given.has(flags::output);
  const int stream = form_out ? STDERR_FILENO : STDOUT_FILENO;
  if (verdict.passed() && given.has(flags::quiet)) {
    return;
  }
  const report::style how = style_of(stream, given);
  const auto look = verdict.passed() ? report::tone::good : report::tone::bad;
  std::string text = fmt::format("{}: {}{}\n", check_command, whose,
                                 report::paint(how, look, verdict.text(asked)));
  if (!verdict.passed() && asked.max_imbalance) {
    text += traffic_loads_text(verdict.offending, how);
  }
  if (!verdict.passed() && asked.min_local) {
    text +=
        traffic_objects_text(verdict.offending, how) + traffic_lines_text(verdict.offending, how);
  }
  form_out ? write_error(text) : write_out(text);
}

/// A failed command is not checked, whatever was counted before.
[[noreturn]] void end_unchecked(const counted_run& run, const invocation& given) {
  if (!run.lab_failed()) {
    write_error(report::error_text(
        error(error_kind::input, fmt::format("{}: {}", check_command, given.program.front()),
              fmt::format("it failed with status {} and was not checked", run.end.exit_code()),
              "the program must end with status 0"),
        style_of(STDERR_FILENO, given)));
  }
  sys::end_as(run.end);
}

} // namespace

std::string when_text(const traffic_limits& asked) {
  return asked.when ? fmt::format("in {}", traffic::phase_name(*asked.when)) : "in both phases";
}

traffic_limits read_traffic_limits(const invocation& given) {
  traffic_limits asked;
  if (const auto text = given.text(flags::min_local)) {
    asked.min_local = read_share(*text);
  }
  if (const auto text = given.text(flags::max_imbalance)) {
    asked.max_imbalance = read_imbalance(*text);
  }
  if (!asked.min_local && !asked.max_imbalance) {
    throw error(error_kind::usage, "nodewise lab check", "there is nothing to check",
                "give --min-local 0.95, --max-imbalance 1.5 or both");
  }
  const std::string_view when = given.text(flags::phase).value_or("use");
  asked.when = when == "all"   ? std::nullopt
               : when == "use" ? std::optional(phase::use)
                               : std::optional(phase::initialisation);
  const auto names = given.texts(flags::object);
  asked.objects.assign(names.begin(), names.end());
  if (!asked.objects.empty() && !asked.min_local) {
    throw error(error_kind::usage, option_name(flags::object) + " without --min-local",
                "the imbalance is of whole memories, not of objects", "add --min-local 0.95");
  }
  return asked;
}

traffic_verdict judge_traffic(const traffic::summary& found, const traffic_limits& asked) {
  traffic_verdict verdict;
  const auto add_share = [&](expectation of, std::string what, const locality& where) {
    const auto share = where.total() >= least_lines_to_judge ? where.share() : std::nullopt;
    verdict.findings.push_back(
        {of, std::move(what), share, *asked.min_local, share && *share >= *asked.min_local});
  };
  if (asked.min_local && asked.objects.empty()) {
    add_share(expectation::local, "all traffic",
              sum(asked, [&](phase when) { return traffic::totals(found.all, when).where; }));
  }
  for (const std::string& name : asked.objects) {
    locality where;
    bool known = false;
    for (const traffic::named_site& site : found.sites) {
      if (site.answers_to(name)) {
        known = true;
        where += sum(asked, [&](phase when) { return site.what.where(when); });
      }
    }
    if (!known) {
      refuse_object(name, found);
    }
    add_share(expectation::object_local, name, where);
  }
  if (asked.max_imbalance) {
    const auto ratio = traffic::imbalance(traffic::memory_loads(found.all, asked.when));
    verdict.findings.push_back({expectation::balanced, "imbalance of the memories", ratio,
                                *asked.max_imbalance, ratio && *ratio <= *asked.max_imbalance});
  }
  verdict.offending = found;
  verdict.offending.judged = phase_to_show(found, asked);
  if (asked.min_local) {
    keep_offending(verdict.offending, asked);
  }
  return verdict;
}

bool traffic_verdict::passed() const noexcept {
  return std::ranges::all_of(findings, &finding::passed);
}

std::string traffic_verdict::text(const traffic_limits& asked) const {
  const bool good = passed();
  std::string text;
  for (const finding& each : findings) {
    if (each.passed != good) {
      continue; // a failure lists only the failed findings
    }
    text += fmt::format("{}{} {}: ", text.empty() ? "" : "; ", each.what, when_text(asked));
    if (!each.found) {
      text += fmt::format("nothing was counted, or too little to judge (fewer than {} lines)",
                          least_lines_to_judge);
    } else if (each.of == expectation::balanced) {
      text += fmt::format("{:.2f} (at most {:.2f} required)", *each.found, each.limit);
    } else {
      text += fmt::format("{} local (at least {} required)", report::format_percent(*each.found),
                          report::format_percent(each.limit));
    }
  }
  return (good ? "passed: " : "failed: ") + text;
}

nlohmann::ordered_json traffic_verdict::json(const traffic_limits& asked) const {
  const auto finding_json = [](const finding& each) -> nlohmann::ordered_json {
    return {{"what", each.what},
            {"found", report::or_unavailable(each.found)},
            {each.of == expectation::balanced ? "at_most" : "at_least", each.limit},
            {"passed", each.passed}};
  };
  return {{"passed", passed()},
          {"phase", asked.when ? traffic::to_string(*asked.when) : "all"},
          {"findings", report::json_list(findings, finding_json)}};
}

namespace {

nlohmann::ordered_json check_json_of(const checked_traffic& what) {
  auto result = traffic_json(what.found, what.on, what.settings);
  result["check"] = what.verdict.json(what.asked);
  return result;
}

} // namespace

std::string check_json(const checked_traffic& what) {
  return report::json_text(check_json_of(what));
}

namespace {

/// The checks of a machine, or of the hosts of a cluster.
class checked_hosts {
 public:
  checked_hosts(const invocation& given, const traffic_limits& asked, const counted_run& run,
                std::span<const topology> hosts)
      : given_(given), asked_(asked), hosts_(hosts) {
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      found_.push_back(traffic::summarise(run.read(host)));
      verdicts_.push_back(judge_traffic(found_.back(), asked));
      settings_.push_back(guest_settings(given, found_.back().all));
    }
  }

  [[nodiscard]] bool passed() const {
    return std::ranges::all_of(verdicts_, &traffic_verdict::passed);
  }

  void write() const {
    if (hosts_.size() == 1) {
      write_form(given_, check_forms, of(0));
      return;
    }
    std::vector<nlohmann::ordered_json> results;
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      results.push_back(check_json_of(of(host)));
    }
    write_form<json_maker>(given_, json_only, [&] { return cluster_traffic_json(results); });
  }

  void print() const {
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      print_verdict(verdicts_[host], asked_, given_,
                    hosts_.size() == 1 ? "" : cluster_host(host) + ": ");
    }
  }

 private:
  [[nodiscard]] checked_traffic of(std::size_t host) const {
    return {found_[host], hosts_[host].machine(), settings_[host],
            asked_,       verdicts_[host],        given_.program.front()};
  }

  const invocation& given_;
  const traffic_limits& asked_;
  std::span<const topology> hosts_;
  std::vector<traffic::summary> found_;
  std::vector<traffic_verdict> verdicts_;
  std::vector<nlohmann::ordered_json> settings_;
};

} // namespace

int verbs::lab_check(const invocation& given) {
  require_complete(given);
  const traffic_limits asked = read_traffic_limits(given);
  const paths from = paths::of_this_process();
  const std::vector<topology> hosts = hosts_of_on(given, from);
  check_output(given);
  if (hosts.size() > 1 && form_to_write(given) == &flags::sarif) {
    throw error(error_kind::usage, "--sarif with a cluster", "SARIF has one result for a line",
                "use --json, which has one for each host");
  }
  check_plan_for_lab(given);
  const counted_run run =
      run_counted(from, with_command(runner_words(given, hosts), from, checked_run(given)));
  if (run.end.wait_status != 0) {
    end_unchecked(run, given);
  }
  const checked_hosts checked(given, asked, run, hosts);
  checked.write();
  checked.print();
  return checked.passed() ? exit_code::ok : exit_code::check_failed;
}

} // namespace nodewise::cli
