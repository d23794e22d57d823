// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/jobs/host_picture.hpp"
#include "cli/verbs/survey/view.hpp"
#include "report/table.hpp"
#include "survey/launcher.hpp"

namespace nodewise::cli {

namespace {

using report::tone;
using survey::host_machine;
using survey::surveyed_host;

constexpr std::size_t most_names = 6;
constexpr std::size_t most_rows = 16; // of all hosts that are drawn, unless one has more nodes
constexpr std::size_t most_problems = 5;

std::string head_text(const surveyed_job& of, const report::style& how) {
  const survey::job& job = of.what;
  const std::string_view launcher = survey::words_of(job.launcher).name;
  const std::string under = launcher.empty() ? "" : fmt::format(" under {}", launcher);
  const std::string name = job.name == "-" ? "job" : fmt::format("job {}", printable(job.name));
  const std::string ranks = job.missing.empty()
                                ? counted(job.surveyed(), "rank")
                                : fmt::format("{} of {}", job.surveyed(),
                                              counted(job.surveyed() + job.missing.size(), "rank"));
  return fmt::format(
      "{}{}: {} on {}, {} of each work\n{}\n", report::paint(how, tone::strong, name), under, ranks,
      counted(job.hosts.size(), "host"), counted(of.shape.workers, "thread"),
      report::paint(how, tone::faint, printable(job.hosts.front().ranks.front()->command)));
}

std::string where_text(const survey::finding& of, const survey::job& job) {
  std::string text;
  if (!of.ranks.empty()) {
    text = fmt::format("{} {}", of.ranks.size() == 1 ? "rank" : "ranks",
                       survey::ranks_text(of.ranks, most_names));
  }
  if (!of.hosts.empty()) {
    const std::string hosts = of.hosts.size() == job.hosts.size() && of.hosts.size() > 1
                                  ? fmt::format("all {} hosts", of.hosts.size())
                                  : survey::names_text(of.hosts, most_names);
    text += fmt::format("{}{}", text.empty() ? "on " : " on ", hosts);
  }
  return text;
}

std::string fixes_text(const std::vector<survey::fix>& fixes, const report::style& how) {
  std::string text;
  for (const survey::fix& fix : fixes) {
    text += fmt::format("    {}{}\n", report::wrap_on_terminal(fix.meaning, how, 4),
                        fix.line.empty() ? "" : ":");
    if (!fix.line.empty()) { // never wrapped: it is to be copied
      text += fmt::format("      {}\n", report::paint(how, tone::accent, fix.line));
    }
  }
  return text;
}

/// Findings in a row with the same fixes have them once, below the last.
std::string findings_text(const surveyed_job& of, const report::style& how) {
  if (of.findings.empty()) {
    return report::paint(how, tone::good,
                         "nothing is wrong with the placement of threads and memory") +
           "\n";
  }
  std::string text;
  for (std::size_t i = 0; i < of.findings.size(); ++i) {
    const survey::finding& each = of.findings[i];
    const std::string said = fmt::format("{}: {}; {}", survey::name_of(each.what), each.evidence,
                                         where_text(each, of.what));
    text += fmt::format("{} {}\n", report::paint(how, tone::bad, fmt::format("{:>2}.", i + 1)),
                        report::wrap_on_terminal(said, how, 4));
    const auto fixes = of.fixes_of(each);
    const bool same = i + 1 < of.findings.size() && of.fixes_of(of.findings[i + 1]) == fixes;
    text += same ? "" : fixes_text(fixes, how);
  }
  return text;
}

std::string pattern_text(const host_pattern& of, const report::style& how) {
  const surveyed_host& host = *of.first;
  const std::string names = survey::names_text(of.names, most_names);
  const std::string title =
      of.names.size() == 1
          ? names
          : fmt::format("{} with this picture: {}", counted(of.names.size(), "host"), names);
  std::string text = fmt::format("\n{}", report::paint(how, tone::strong, title));
  if (host.hardware == nullptr) {
    return text +
           fmt::format(", {}: the hardware is unknown, since the record of its first rank is "
                       "missing\n",
                       counted(host.ranks.size(), "rank"));
  }
  text += of.names.size() == 1 ? "\n" : fmt::format("; {} is\n", printable(host.name));
  report::table rows({report::right("node"), "cores", "ranks", report::right("threads"),
                      report::right("memory"), report::right("of ranks here")},
                     2);
  for (const std::vector<std::string>& row : host_rows(host)) {
    rows.add({row.begin(), row.end()});
  }
  return text + rows.to_string(how);
}

std::string hosts_text(const survey::job& of, const report::style& how) {
  const std::vector<host_pattern> patterns = patterns_of(of);
  std::string text;
  std::size_t shown = 0;
  std::size_t rows = 0;
  for (; shown < patterns.size(); ++shown) {
    const host_machine* const on = patterns[shown].first->hardware;
    rows += on == nullptr ? 1 : on->nodes.size();
    if (shown != 0 && rows > most_rows) {
      break;
    }
    text += pattern_text(patterns[shown], how);
  }
  if (shown < patterns.size()) {
    std::vector<std::string> names;
    for (std::size_t i = shown; i < patterns.size(); ++i) {
      names.insert(names.end(), patterns[i].names.begin(), patterns[i].names.end());
    }
    std::ranges::sort(names, survey::is_before);
    text += fmt::format("\n{} with other pictures: {}\n", counted(names.size(), "more host"),
                        survey::names_text(names, most_names));
  }
  return text +
         "\n  . idle   # bound threads   x more threads than processors   - threads that may "
         "move\n";
}

std::string problems_text(const survey::job& of, const report::style& how) {
  std::string text;
  for (std::size_t i = 0; i < std::min(of.problems.size(), most_problems); ++i) {
    text += report::warning_text(printable(of.problems[i]), how);
  }
  if (of.problems.size() > most_problems) {
    text += report::warning_text(
        fmt::format("{} more records were not used", of.problems.size() - most_problems), how);
  }
  return text;
}

} // namespace

std::string survey_text(const surveyed_job& what, const report::style& how) {
  return problems_text(what.what, how) + head_text(what, how) + "\n" + findings_text(what, how) +
         hosts_text(what.what, how);
}

} // namespace nodewise::cli
