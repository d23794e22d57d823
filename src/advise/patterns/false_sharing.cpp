// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Cache lines that several threads write, each its own bytes.
#include <map>

#include "advise/patterns.hpp"

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

contention contention_of(const analysis& of, const positions& sites) {
  contention all;
  for (const std::size_t i : of.items_of(sites)) {
    for (const profile::contested_line& line : of.items[i].what->contested) {
      if (line.same_bytes || line.writers <= 1) {
        continue;
      }
      all.transfers += static_cast<double>(line.transfers);
      all.rewrites += static_cast<double>(line.rewrites);
      all.writers = std::max(all.writers, static_cast<double>(line.writers));
      ++all.lines;
      if (line.written_at) {
        all.written_at[profile::label_of(*line.written_at)] +=
            static_cast<double>(line.transfers + line.rewrites);
      }
    }
  }
  return all;
}

positions false_sharing_sites(const analysis& of, const std::vector<char>&) {
  const double lines = sum_over(of.items, &item::units);
  return positions_below(of.sites.size(), [&](std::size_t s) {
    const double transfers = contention_of(of, {s}).at_most();
    return transfers >= static_cast<double>(often) && transfers >= of_lines * lines;
  });
}

double transfer_seconds(const analysis_input& of) {
  double longest = 0;
  const model::machine_costs& on = of.costs;
  for (std::size_t a = 0; a < on.size(); ++a) {
    for (std::size_t b = 0; b < on.size() && on.local_latency_s[a]; ++b) {
      longest = std::max(longest, on.local_latency_s[a]->value * on.latency_ratio(a, b));
    }
  }
  return longest > 0 ? longest : assumed_transfer_s;
}

gain worth_of_lines(const analysis& of, const contention& what) {
  gain made;
  const prediction now = predict(of, {flow_under(of, {}, of.swept)});
  const double transfer_s = transfer_seconds(of);
  // Writers of a line wait for it in turn.
  const double waiting =
      what.at_most() * transfer_s / static_cast<double>(std::max<std::size_t>(what.lines, 1));
  if (!of.absolute || !(now.seconds > 0)) {
    made.how = gain::kind::unavailable;
    made.note = "the cost of a transfer between caches, compared with the program's other work, is "
                "unknown";
    return made;
  }
  made.how = gain::kind::at_most;
  made.after_s = now.seconds + what.rewrites * own_store_s / std::max(what.writers, 1.0);
  made.before_s = *made.after_s + waiting;
  made.ratio = made.high = *made.before_s / *made.after_s;
  made.low = 1;
  made.binds_before = "cache lines that cores take from each other";
  made.binds_after = binds_in(of, now);
  made.note = fmt::format("if every store waits, and nothing else happens while a line is moved "
                          "({} ns each)",
                          number(transfer_s * 1e9));
  return made;
}

suspicion describe_false_sharing(const analysis& of, const positions& sites) {
  const contention all = contention_of(of, sites);
  suspicion made{
      .title = fmt::format("{}: threads write different bytes of the same cache lines (false "
                           "sharing)",
                           names_of(of, sites)),
      .evidence = {fmt::format("{} moved from core to core {:.0f} times",
                               counted(all.lines, "line"), all.transfers),
                   fmt::format("up to {:.0f} processors write one line, never the same bytes",
                               all.writers)},
      .worth = worth_of_lines(of, all)};
  if (all.rewrites > 0) {
    made.evidence.push_back(fmt::format("{:.0f} more stores wrote a line again: each may have to "
                                        "wait for it where all processors run at once",
                                        all.rewrites));
    made.remarks.emplace_back("the lab's processors take turns: how many of these stores collide "
                              "with another thread's is unknown");
  }
  if (!all.written_at.empty()) {
    const auto most =
        std::ranges::max_element(all.written_at, {}, [](const auto& each) { return each.second; });
    made.evidence.push_back(fmt::format("most are written at {}", most->first));
  }
  return made;
}

std::vector<cure> false_sharing_cures(const subject& /*of*/, const remedy& with) {
  return {{"C++", with.what,
           "struct alignas(64) per_thread {\n  double value; // in C: _Alignas(64)\n};\n"}};
}

} // namespace

const detector false_sharing(pattern::false_sharing, needs_counts, false_sharing_sites,
                             describe_false_sharing, false_sharing_cures,
                             {"give each thread's data a cache line of its own"}, scope::program);

} // namespace nodewise::advise
