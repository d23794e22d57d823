// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/verbs/survey/view.hpp"
#include "report/table.hpp"
#include "survey/launcher.hpp"
#include "survey/memory.hpp"
#include "survey/threads.hpp"

namespace nodewise::cli {

namespace {

using report::tone;
using survey::host_machine;
using survey::rank_record;
using survey::surveyed_host;

constexpr std::size_t most_names = 6;
constexpr std::size_t most_rows = 16; // of all hosts that are drawn, unless one has more nodes
constexpr std::size_t most_problems = 5;
constexpr std::size_t most_cores = 48; // of a node, in its picture

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

/// '.' no thread may run on the core, '#' as many bound to it as it has hardware threads, or fewer;
/// 'x' more; '-' only threads that may also run elsewhere.
std::string cores_picture(const std::vector<cpu_set>& cores, const std::vector<cpu_set>& masks,
                          const host_machine::node& node) {
  std::string picture;
  for (const cpu_set& core : cores) {
    if (!node.cpus.intersects(core)) {
      continue;
    }
    std::size_t bound = 0;
    bool reached = false;
    for (const cpu_set& mask : masks) {
      reached = reached || mask.intersects(core);
      bound += !mask.empty() && core.includes(mask) ? 1U : 0U;
    }
    picture += bound > core.size() ? 'x' : bound != 0 ? '#' : reached ? '-' : '.';
  }
  return picture.size() > most_cores
             ? fmt::format("{} +{}", picture.substr(0, most_cores), picture.size() - most_cores)
             : picture;
}

/// A row of the table of hosts: a node with the ranks and the memory on it.
std::vector<report::cell> node_row(const surveyed_host& host, const std::vector<cpu_set>& masks,
                                   const host_machine::node& node) {
  std::vector<int> ranks;
  std::size_t threads = 0;
  std::uint64_t bytes = 0;
  std::uint64_t own = 0;
  for (const rank_record* const rank : host.ranks) {
    std::size_t here = 0;
    for (const cpu_set& mask : survey::masks_of(*rank)) {
      here += mask.intersects(node.cpus) ? 1U : 0U;
    }
    threads += here;
    if (here != 0) {
      ranks.push_back(rank->rank);
    }
    const auto found = rank->bytes.find(node.id);
    const std::uint64_t its = found == rank->bytes.end() ? 0 : found->second;
    bytes += its;
    own += survey::thread_nodes(*rank, *host.hardware).contains(node.id) ? its : 0;
  }
  const std::string share =
      bytes == 0 || node.cpus.empty()
          ? "-"
          : report::format_percent(static_cast<double>(own) / static_cast<double>(bytes));
  return {std::to_string(to_int(node.id)),
          node.cpus.empty() ? "no processors" : cores_picture(host.hardware->cores, masks, node),
          ranks.empty() ? "-" : survey::ranks_text(ranks, most_names),
          std::to_string(threads),
          bytes == 0 ? "-" : report::format_bytes(bytes),
          share};
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
  std::vector<cpu_set> masks; // of all workers
  for (const rank_record* const rank : host.ranks) {
    for (cpu_set& mask : survey::masks_of(*rank)) {
      masks.push_back(std::move(mask));
    }
  }
  for (const host_machine::node& node : host.hardware->nodes) {
    rows.add(node_row(host, masks, node));
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

/// Where memory is beside the threads, roughly: hosts differ a little without a reason.
std::string memory_key(const surveyed_host& host) {
  std::string key;
  for (const rank_record* const rank : host.ranks) {
    const survey::memory_use use = survey::memory_of(*rank, *host.hardware);
    key += use.is_away() ? fmt::format("a{}", to_int(use.fullest)) : "-";
  }
  return key;
}

} // namespace

std::vector<host_pattern> patterns_of(const survey::job& of) {
  std::vector<host_pattern> all;
  std::map<std::string, std::size_t> known;
  for (const surveyed_host& host : of.hosts) {
    const std::string memory = host.hardware == nullptr ? "" : memory_key(host);
    const auto [found, is_new] =
        known.emplace(fmt::format("{}/{}", survey::layout_key(host), memory), all.size());
    if (is_new) {
      all.push_back({&host, {}});
    }
    all[found->second].names.push_back(host.name);
  }
  std::ranges::sort(all, [](const host_pattern& a, const host_pattern& b) {
    return a.names.size() != b.names.size() ? a.names.size() > b.names.size()
                                            : survey::is_before(a.first->name, b.first->name);
  });
  return all;
}

std::string survey_text(const surveyed_job& what, const report::style& how) {
  return problems_text(what.what, how) + head_text(what, how) + "\n" + findings_text(what, how) +
         hosts_text(what.what, how);
}

} // namespace nodewise::cli
