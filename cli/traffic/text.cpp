// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <span>

#include <fmt/core.h>

#include "base/path.hpp"
#include "base/text.hpp"
#include "cli/traffic/view.hpp"
#include "report/bar.hpp"
#include "report/table.hpp"
#include "symbols/names.hpp"

namespace nodewise::cli {

namespace {

using report::breaking;
using report::right;
using report::tone;
using traffic::phase;

/// "solver[412]".
std::string program_text(const traffic::program& of) {
  return fmt::format("{}[{}]", last_part(of.name), traffic::pid_of(of.pid));
}

std::string programs_text(const traffic::counts& of) {
  std::vector<std::string> names;
  for (const traffic::program& p : of.programs) {
    if (p.pid != 0) {
      names.push_back(program_text(p));
    }
  }
  return names.empty() ? "programs without a name" : listed(names, 3);
}

std::string share_text(const report::style& how, const traffic::counts& of, phase when) {
  const auto share = traffic::totals(of, when).where.share();
  return fmt::format("{}: {}", traffic::phase_name(when),
                     share ? report::paint(how, *share < 1 ? tone::warning : tone::good,
                                           report::format_percent(*share) + " local")
                           : "no traffic");
}

/// Marks the count of a killed program, so that it is not taken for a whole run.
std::string killed_text(const traffic::counts& of, const report::style& how) {
  const bool any = std::ranges::any_of(
      of.programs, [&](const traffic::program& each) { return of.was_killed(each); });
  return any ? ", " + report::paint(how, tone::bad, "killed: counted until then") : "";
}

/// The verdict, which comes first.
std::string headline(const traffic::summary& what, const report::style& how) {
  return fmt::format("{} of {}{}\n  {}, {}\n{}", report::paint(how, tone::strong, "Memory traffic"),
                     programs_text(what.all), killed_text(what.all, how),
                     share_text(how, what.all, phase::use),
                     share_text(how, what.all, phase::initialisation),
                     what.judged == phase::use
                         ? ""
                         : "  There was almost no use phase: what follows is initialisation.\n");
}

/// Lines and bytes of both phases, by destination.
std::string totals_text(const traffic::summary& what, const report::style& how) {
  const auto use = traffic::totals(what.all, phase::use);
  const auto init = traffic::totals(what.all, phase::initialisation);
  report::table rows(
      {"", right("lines in use"), right("bytes"), right("in initialisation"), right("bytes")}, 2);
  const auto add = [&](const char* name, std::uint64_t in_use, std::uint64_t before, bool always) {
    if (always || in_use != 0 || before != 0) {
      rows.add({name, std::to_string(in_use), report::format_bytes(in_use * what.all.line_bytes),
                std::to_string(before), report::format_bytes(before * what.all.line_bytes)});
    }
  };
  add("local", use.where.local, init.where.local, true);
  add("remote", use.where.remote, init.where.remote, true);
  add("on an unknown node", use.where.unknown, init.where.unknown, false);
  add("of these streamed", use.lines.streams, init.lines.streams, false);
  add("written back", use.lines.write_backs, init.lines.write_backs, true);
  add("still dirty", use.dirty, init.dirty, false);
  return "\n" + rows.to_string(how);
}

std::string shared_text(const traffic::summary& what, const report::style& how) {
  constexpr std::size_t most = 5;
  report::table rows({breaking("shared line in"), right("transfers"), right("invalidations"),
                      right("rewrites"), breaking("written by"), "sharing"},
                     2);
  std::size_t shown = 0;
  for (const traffic::named_shared_line& line : what.shared) {
    const std::uint64_t times = line.what.transfers + line.what.invalidations + line.what.rewrites;
    if (shown == most || times < least_worth_a_row(what)) {
      break; // sorted: the worst come first
    }
    ++shown;
    rows.add({symbols::abbreviated(line.name), std::to_string(line.what.transfers),
              std::to_string(line.what.invalidations), std::to_string(line.what.rewrites),
              line.what.writers.to_string(),
              line.what.overlap ? report::cell{"true"} : report::cell{"false", tone::warning}});
  }
  return rows.below("Cache lines that processors write in turn", how, what.shared.size() - shown);
}

std::string regions_text(const traffic::summary& what, const report::style& how) {
  std::map<std::string, traffic::locality> by_name; // over all processes
  for (const traffic::region_traffic& r : what.all.regions) {
    by_name[r.name].add(r.from, r.to, r.lines.asked());
  }
  report::table rows(
      {breaking("region"), right("local"), right("local lines"), right("remote lines")}, 2);
  for (const auto& [name, where] : by_name) {
    rows.add({name, report::format_percent(where.share(), "-"), std::to_string(where.local),
              std::to_string(where.remote + where.unknown)});
  }
  return rows.below("Marked regions", how);
}

std::string omissions_text(const traffic::summary& what, const report::style& how) {
  return report::title_line("Not counted", how) +
         joined(not_counted(what.all), "", [&](const std::string& each) {
           return fmt::format("  {}\n", report::wrap_indented(each, how.width, 2));
         });
}

} // namespace

std::string listed(const std::vector<std::string>& names, std::size_t most) {
  const std::size_t shown = std::min(most, names.size());
  const std::string text = joined(std::span(names).first(shown), ", ");
  return shown == names.size() ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

std::string traffic_loads_text(const traffic::summary& what, const report::style& how) {
  constexpr std::size_t most_bars = 16;
  const auto loads = traffic::memory_loads(what.all, what.judged);
  const auto ratio = traffic::imbalance(loads);
  if (!ratio) {
    return {};
  }
  const auto whole = traffic::imbalance(traffic::memory_loads(what.all, std::nullopt));
  std::uint64_t sum = 0;
  for (const traffic::memory_load& load : loads) {
    sum += load.lines;
  }
  std::vector<report::share> shares;
  for (const traffic::memory_load& load : loads) {
    shares.push_back({fmt::format("node {}", load.node),
                      static_cast<double>(load.lines) / static_cast<double>(sum), load.node,
                      report::format_bytes(load.lines * what.all.line_bytes)});
  }
  return fmt::format(
      "{}{}  imbalance (busiest over mean): {:.2f}{}\n",
      report::title_line(
          fmt::format("Load of the memories in {}", traffic::phase_name(what.judged)), how),
      shares.size() <= most_bars ? report::share_bars(how, shares, 2) : "", *ratio,
      whole && what.judged == phase::use ? fmt::format(", with initialisation {:.2f}", *whole)
                                         : "");
}

std::vector<std::string> not_counted(const traffic::counts& of) {
  std::vector<std::string> all = {"fills by the kernel (read(2) into a buffer, zeroing of pages), "
                                  "instruction fetch, page walks"};
  std::ranges::transform(of.uncounted, std::back_inserter(all), &traffic::omission::text);
  for (const traffic::program& p : of.programs) {
    if (of.was_killed(p)) {
      all.push_back(program_text(p) + " was killed: its last memory may have no names");
    }
  }
  return all;
}

std::string traffic_text(const traffic::summary& what, const report::style& how,
                         const std::string& more) {
  if (traffic::totals(what.all, what.judged).where.total() == 0) {
    return fmt::format("{} of {}: no line was read from memory\n{}",
                       report::paint(how, tone::strong, "Memory traffic"), programs_text(what.all),
                       omissions_text(what, how));
  }
  return headline(what, how) + totals_text(what, how) + traffic_matrix_text(what, how) +
         traffic_loads_text(what, how) + traffic_objects_text(what, how) +
         traffic_lines_text(what, how) + regions_text(what, how) + shared_text(what, how) + more +
         omissions_text(what, how);
}

} // namespace nodewise::cli
