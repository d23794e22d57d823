// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Cache lines that several threads write, each its own bytes.
#include <algorithm>
#include <map>

#include "advise/pattern_tools.hpp"

namespace nodewise::advise {

namespace {

// Time to move a line between cores of different nodes, if the machine's figure is unknown.
constexpr double assumed_transfer_s = 150e-9;
// Time of a store that is read again in a core's own cache: four or five cycles.
constexpr double own_store_s = 2e-9;
constexpr std::uint64_t often = 1000;
constexpr double of_lines = 0.02; // of the lines that memory moved

struct contention {
  double transfers = 0; ///< counted
  double rewrites = 0;  ///< stores that may also be transfers
  double writers = 0;   ///< of the worst line
  std::size_t lines = 0;
  std::map<std::string, double> written_at; ///< transfers and rewrites, by label

  [[nodiscard]] double at_most() const { return transfers + rewrites; }
};

contention contention_of(const profile::object& what) {
  contention made;
  for (const profile::contested_line& line : what.contested) {
    if (!line.same_bytes && line.writers > 1) {
      made.transfers += static_cast<double>(line.transfers);
      made.rewrites += static_cast<double>(line.rewrites);
      made.writers = std::max(made.writers, static_cast<double>(line.writers));
      ++made.lines;
      if (line.written_at) {
        made.written_at[profile::label_of(*line.written_at)] +=
            static_cast<double>(line.transfers + line.rewrites);
      }
    }
  }
  return made;
}

contention contention_of(const analysis& of, const std::vector<std::size_t>& sites) {
  contention all;
  for (const std::size_t s : sites) {
    for (const std::size_t i : of.input.sites()[s].items) {
      const contention one = contention_of(*of.input.items()[i].what);
      all.transfers += one.transfers;
      all.rewrites += one.rewrites;
      all.writers = std::max(all.writers, one.writers);
      all.lines += one.lines;
      for (const auto& [label, amount] : one.written_at) {
        all.written_at[label] += amount;
      }
    }
  }
  return all;
}

std::vector<std::size_t> false_sharing_sites(const analysis& of, const std::vector<char>&) {
  double lines = 0;
  for (const item& each : of.input.items()) {
    lines += each.units;
  }
  std::vector<std::size_t> found;
  for (std::size_t s = 0; s < of.input.sites().size(); ++s) {
    const double transfers = contention_of(of, {s}).at_most();
    if (transfers >= static_cast<double>(often) && transfers >= of_lines * lines) {
      found.push_back(s);
    }
  }
  return found;
}

double transfer_seconds(const analysis_input& of) {
  double longest = 0;
  const model::machine_costs& on = of.costs();
  for (std::size_t a = 0; a < on.size(); ++a) {
    for (std::size_t b = 0; b < on.size() && on.local_latency_s[a]; ++b) {
      longest = std::max(longest, on.local_latency_s[a]->value * on.latency_ratio(a, b));
    }
  }
  return longest > 0 ? longest : assumed_transfer_s;
}

gain worth_of_lines(const analysis& of, const contention& what) {
  gain made;
  const told now = tell(of.input, of.input.costs(), {flow_under(of.input, {}, of.swept)});
  // Writers of a line wait for it in turn.
  const double waiting = what.at_most() * transfer_seconds(of.input) /
                         static_cast<double>(std::max<std::size_t>(what.lines, 1));
  if (!of.input.absolute() || !(now.seconds > 0)) {
    made.how = gain::kind::unavailable;
    made.note = "what a transfer between caches costs beside the program's other work is not known";
    return made;
  }
  made.how = gain::kind::at_most;
  made.after_s = now.seconds + what.rewrites * own_store_s / std::max(what.writers, 1.0);
  made.before_s = *made.after_s + waiting;
  made.ratio = made.high = *made.before_s / *made.after_s;
  made.low = 1;
  made.binds_before = "lines that cores take from one another";
  made.binds_after = binds_in(of.input, now);
  made.note = "if every store waits, and nothing else is done while a line is on its way (" +
              number(transfer_seconds(of.input) * 1e9) + " ns each)";
  return made;
}

suspicion describe_false_sharing(const analysis& of, const std::vector<std::size_t>& sites) {
  const contention all = contention_of(of, sites);
  const auto whole = [](double value) { return std::to_string(static_cast<std::uint64_t>(value)); };
  suspicion made{.title = names_of(of.input, sites) + ": threads write different bytes of the same "
                                                      "cache lines (false sharing)",
                 .evidence = {count_of(all.lines, "line") + " went from core to core " +
                                  whole(all.transfers) + " times",
                              "up to " + whole(all.writers) +
                                  " processors write one line, never the same bytes"},
                 .worth = worth_of_lines(of, all)};
  if (all.rewrites > 0) {
    made.evidence.push_back(whole(all.rewrites) +
                            " more stores wrote a line again: each may have "
                            "to wait for it where all processors run at once");
    made.remarks.emplace_back("the lab's processors take turns: how many of these stores meet "
                              "another thread's is not known");
  }
  if (!all.written_at.empty()) {
    const auto most =
        std::ranges::max_element(all.written_at, {}, [](const auto& each) { return each.second; });
    made.evidence.push_back("most are written at " + most->first);
  }
  return made;
}

} // namespace

const detector false_sharing{.what = pattern::false_sharing,
                             .needs = needs_counts,
                             .explains_objects = false,
                             .placement_cures = false,
                             .sites = false_sharing_sites,
                             .describe = describe_false_sharing};

} // namespace nodewise::advise
