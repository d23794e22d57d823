// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <vector>

#include <fmt/core.h>

#include "base/joined.hpp"
#include "base/last_part.hpp"
#include "cli/traffic/view.hpp"
#include "report/bar.hpp"
#include "report/table.hpp"
#include "report/wrap.hpp"

namespace nodewise::cli {

namespace {

using report::align;
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
  const std::array both = {traffic::totals(what.all, phase::use),
                           traffic::totals(what.all, phase::initialisation)};
  report::table rows({{""},
                      {"lines in use", align::right},
                      {"bytes", align::right},
                      {"in initialisation", align::right},
                      {"bytes", align::right}},
                     2);
  const auto add = [&](const char* name, std::uint64_t in_use, std::uint64_t before, bool always) {
    if (always || in_use != 0 || before != 0) {
      rows.add({name, std::to_string(in_use), report::format_bytes(in_use * what.all.line_bytes),
                std::to_string(before), report::format_bytes(before * what.all.line_bytes)});
    }
  };
  add("local", both[0].where.local, both[1].where.local, true);
  add("remote", both[0].where.remote, both[1].where.remote, true);
  add("on an unknown node", both[0].where.unknown, both[1].where.unknown, false);
  add("of these streamed", both[0].lines.streams, both[1].lines.streams, false);
  add("written back", both[0].lines.write_backs, both[1].lines.write_backs, true);
  add("still dirty", both[0].dirty, both[1].dirty, false);
  return "\n" + rows.to_string(how);
}

std::string shared_text(const traffic::summary& what, const report::style& how) {
  constexpr std::size_t most = 5;
  if (what.shared.empty()) {
    return {};
  }
  report::table rows({{"shared line in", align::left, true},
                      {"transfers", align::right},
                      {"invalidations", align::right},
                      {"rewrites", align::right},
                      {"written by", align::left, true},
                      {"sharing"}},
                     2);
  std::size_t shown = 0;
  for (const traffic::named_shared_line& line : what.shared) {
    const std::uint64_t times = line.what.transfers + line.what.invalidations + line.what.rewrites;
    if (shown == most || times < least_worth_a_row(what)) {
      break; // sorted: the worst come first
    }
    ++shown;
    rows.add({line.name, std::to_string(line.what.transfers),
              std::to_string(line.what.invalidations), std::to_string(line.what.rewrites),
              line.what.writers.to_string(),
              line.what.overlap ? report::cell{"true"} : report::cell{"false", tone::warning}});
  }
  if (rows.empty()) {
    return {};
  }
  const std::size_t more = what.shared.size() - shown;
  return part_title("Cache lines that processors write in turn", how) + rows.to_string(how) +
         (more != 0 ? fmt::format("  and {} more\n", more) : "");
}

std::string regions_text(const traffic::summary& what, const report::style& how) {
  std::map<std::string, traffic::locality> by_name; // over all processes
  for (const traffic::region_traffic& r : what.all.regions) {
    by_name[r.name].add(r.from, r.to, r.lines.asked());
  }
  if (by_name.empty()) {
    return {};
  }
  report::table rows({{"region", align::left, true},
                      {"local", align::right},
                      {"local lines", align::right},
                      {"remote lines", align::right}},
                     2);
  for (const auto& [name, where] : by_name) {
    rows.add({name, report::format_percent(where.share(), "-"), std::to_string(where.local),
              std::to_string(where.remote + where.unknown)});
  }
  return part_title("Marked regions", how) + rows.to_string(how);
}

std::string omissions_text(const traffic::summary& what, const report::style& how) {
  return part_title("Not counted", how) +
         joined(not_counted(what.all), "", [&](const std::string& each) {
           return fmt::format("  {}\n", report::wrap_indented(each, how.width, 2));
         });
}

} // namespace

std::string part_title(std::string_view text, const report::style& how) {
  return fmt::format("\n{}\n", report::paint(how, tone::strong, text));
}

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
      part_title(fmt::format("Load of the memories in {}", traffic::phase_name(what.judged)), how),
      shares.size() <= most_bars ? report::share_bars(how, shares, 2) : "", *ratio,
      whole && what.judged == phase::use ? fmt::format(", with initialisation {:.2f}", *whole)
                                         : "");
}

std::vector<std::string> not_counted(const traffic::counts& of) {
  std::vector<std::string> all = {"fills by the kernel (read(2) into a buffer, zeroing of pages), "
                                  "instruction fetch, page walks"};
  for (const traffic::omission& each : of.uncounted) {
    all.push_back(each.text);
  }
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
