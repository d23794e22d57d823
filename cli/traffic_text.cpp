// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <vector>

#include "cli/traffic_view.hpp"
#include "report/bar.hpp"
#include "report/table.hpp"
#include "report/wrap.hpp"

namespace nodewise::cli {

namespace {

using report::align;
using report::tone;
using traffic::phase;

std::string title(const report::style& how, const std::string& text) {
  return "\n" + report::paint(how, tone::strong, text) + "\n";
}

/// "solver[412]".
std::string program_text(const traffic::program& of) {
  return of.name.substr(of.name.rfind('/') + 1) + "[" + std::to_string(traffic::pid_of(of.pid)) +
         "]";
}

std::string programs_text(const traffic::counts& of) {
  constexpr std::size_t most = 3;
  std::string text;
  std::size_t shown = 0;
  std::size_t known = 0;
  for (const traffic::program& p : of.programs) {
    if (p.pid == 0) {
      continue;
    }
    ++known;
    if (shown < most) {
      text += (text.empty() ? "" : ", ") + program_text(p);
      ++shown;
    }
  }
  if (known > shown) {
    text += " and " + std::to_string(known - shown) + " more";
  }
  return text.empty() ? "programs without a name" : text;
}

std::string share_text(const report::style& how, const traffic::counts& of, phase when) {
  const auto share = traffic::totals(of, when).where.share();
  return phase_name(when) + ": " +
         (share ? report::paint(how, *share < 1 ? tone::warning : tone::good,
                                report::format_percent(*share) + " local")
                : "no traffic");
}

/// Marks the count of a killed program, so that it is not taken for a whole run.
std::string killed_text(const traffic::counts& of, const report::style& how) {
  const bool any = std::ranges::any_of(
      of.programs, [&](const traffic::program& each) { return of.was_killed(each); });
  return any ? ", " + report::paint(how, tone::bad, "killed: counted up to there") : std::string{};
}

/// The verdict, which comes first.
std::string headline(const traffic::summary& what, const report::style& how) {
  return report::paint(how, tone::strong, "Memory traffic") + " of " + programs_text(what.all) +
         killed_text(what.all, how) + "\n  " + share_text(how, what.all, phase::use) + ", " +
         share_text(how, what.all, phase::initialisation) + "\n" +
         (what.judged == phase::use
              ? std::string{}
              : "  There was no use phase to speak of: what follows is initialisation.\n");
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
  std::string text = title(how, "Cache lines that processors write in turn") + rows.to_string(how);
  if (what.shared.size() > shown) {
    text += "  and " + std::to_string(what.shared.size() - shown) + " more\n";
  }
  return text;
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
    const auto share = where.share();
    rows.add({name, share ? report::format_percent(*share) : "-", std::to_string(where.local),
              std::to_string(where.remote + where.unknown)});
  }
  return title(how, "Marked regions") + rows.to_string(how);
}

std::string omissions_text(const traffic::summary& what, const report::style& how) {
  std::string text = title(how, "Not counted");
  for (const std::string& each : not_counted(what.all)) {
    text += "  " + report::wrap_indented(each, how.width, 2) + "\n";
  }
  return text;
}

} // namespace

std::string two_decimals(double value) {
  std::array<char, 48> text{};
  (void)std::snprintf(text.data(), text.size(), "%.2f", value);
  return text.data();
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
  shares.reserve(loads.size());
  for (const traffic::memory_load& load : loads) {
    shares.push_back({"node " + std::to_string(to_int(load.node)),
                      static_cast<double>(load.lines) / static_cast<double>(sum), load.node,
                      report::format_bytes(load.lines * what.all.line_bytes)});
  }
  return title(how, "Load of the memories in " + phase_name(what.judged)) +
         (shares.size() <= most_bars ? report::share_bars(how, shares, 2) : std::string{}) +
         "  imbalance (busiest over mean): " + two_decimals(*ratio) +
         (whole && what.judged == phase::use ? ", with initialisation " + two_decimals(*whole)
                                             : "") +
         "\n";
}

std::string phase_name(traffic::phase when) {
  return when == phase::use ? "use" : "initialisation";
}

std::vector<std::string> not_counted(const traffic::counts& of) {
  std::vector<std::string> all = {"fills by the kernel (read(2) into a buffer, zeroing of pages), "
                                  "instruction fetch, page walks"};
  for (const traffic::omission& each : of.uncounted) {
    all.push_back(each.text);
  }
  for (const traffic::program& p : of.programs) {
    if (of.was_killed(p)) {
      all.push_back(program_text(p) + " was killed: what it had last may be without names");
    }
  }
  return all;
}

std::string traffic_text(const traffic::summary& what, const report::style& how,
                         const std::string& more) {
  if (traffic::totals(what.all, what.judged).where.total() == 0) {
    return report::paint(how, tone::strong, "Memory traffic") + " of " + programs_text(what.all) +
           ": no line was read from memory\n" + omissions_text(what, how);
  }
  return headline(what, how) + totals_text(what, how) + traffic_matrix_text(what, how) +
         traffic_loads_text(what, how) + traffic_objects_text(what, how) +
         traffic_lines_text(what, how) + regions_text(what, how) + shared_text(what, how) + more +
         omissions_text(what, how);
}

} // namespace nodewise::cli
