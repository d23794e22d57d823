// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Simulated races of candidate settings over recorded and synthetic noise: how often they declare a
// wrong winner, how often they find the best, how many runs they take; beside them, designs with a
// fixed number of runs, the best of three, and all runs of a candidate in a row.
//
//     races [--races 10000] [--noise bench/data/noise.json] [--output FILE] [--only TEXT]
#include <cstdio>
#include <fstream>
#include <string_view>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/numbers.hpp"
#include "races_simulated.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::races;
using nlohmann::json;

struct asked_for {
  std::size_t races = 10'000;
  std::string noise = "bench/data/noise.json";
  std::string output;
  std::string only;
};

asked_for parse(int count, char** words) {
  asked_for asked;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view flag = words[i];
    const std::string value = words[i + 1];
    if (flag == "--races") {
      asked.races = parse_number<std::size_t>(value).value_or(asked.races);
    } else if (flag == "--noise") {
      asked.noise = value;
    } else if (flag == "--output") {
      asked.output = value;
    } else if (flag == "--only") {
      asked.only = value;
    }
  }
  return asked;
}

/// Of each recorded program: as it was, and with its spread reduced to that of a quiet machine. The
/// shape stays: skewness, modes, disturbances, likeness of neighbours.
std::vector<noise_kind> recorded_kinds(const std::string& file) {
  std::ifstream in(file);
  const json recorded = json::parse(in);
  std::vector<noise_kind> all;
  for (const double quiet : {0.0, 0.01, 0.015, 0.02}) {
    for (const json& program : recorded.at("programs")) {
      noise_kind kind{.name = program.at("name").get<std::string>(), .recorded = true, .logs = {}};
      for (const double seconds : program.at("seconds").get<std::vector<double>>()) {
        kind.logs.push_back(std::log(seconds));
      }
      const double middle = tune::median_of(kind.logs);
      const double spread = tune::spread_of(kind.logs);
      for (double& each : kind.logs) {
        each = (each - middle) * (quiet > 0 ? quiet / spread : 1);
      }
      kind.name += quiet > 0 ? fmt::format(", scaled to {:g} %", 100 * quiet)
                             : fmt::format(", {:.1f} %", 100 * spread);
      all.push_back(std::move(kind));
    }
  }
  return all;
}

double share(std::size_t of, std::size_t all) {
  return all == 0 ? 0 : static_cast<double>(of) / static_cast<double>(all);
}

json as_json(const outcome& of) {
  return {{"wrong_winner", share(of.wrong, of.races)},
          {"good_choice", share(of.good, of.races)},
          {"leader_not_good", share(of.misled, of.races)},
          {"not_separated", share(of.undecided, of.races)},
          {"mean_runs", of.runs},
          {"runs_p95", of.all_runs[of.all_runs.size() * 95 / 100]},
          {"most_runs_of_a_candidate", of.most_of_one},
          {"gain_interval_holds", share(of.gains_hold, of.gains)},
          {"candidate_interval_holds", share(of.ratios_hold, of.ratios)}};
}

json compared(const noise_kind& kind, std::size_t candidates, std::size_t tries) {
  constexpr std::size_t most = 100;
  const truth equal(candidates, 0.0);
  const truth one = one_ahead(candidates);
  const auto wrong = [&](auto design) {
    return share_of(kind, tries, [&](noise& with) { return design(equal, with) != 0; });
  };
  const auto good = [&](auto design) {
    return share_of(kind, tries, [&](noise& with) { return is_good(one, design(one, with)); });
  };
  json fixed = {{"exact", runs_exact(kind, candidates, tries / 5, most)}};
  fixed["calibrated_logs"] = runs_calibrated(kind, candidates, scores::logs, tries / 5, most);
  fixed["calibrated_ranks"] = runs_calibrated(kind, candidates, scores::ranks, tries / 5, most);
  fixed["calibrated_savage"] = runs_calibrated(kind, candidates, scores::savage, tries / 5, most);
  return {{"fixed_runs_of_each", fixed},
          {"best_of_three_wrong", wrong(best_of_three)},
          {"best_of_three_good", good(best_of_three)},
          {"in_a_row_wrong", wrong(twelve_in_a_row)},
          {"in_a_row_good", good(twelve_in_a_row)}};
}

/// In percent; "<4" if the design needs more than the 100 runs of each that were tried.
std::string of_fixed(double runs, const json& fixed, const char* name, std::size_t candidates) {
  const auto each = fixed.at(name).get<std::size_t>();
  return each == 0 ? "<4"
                   : fmt::format("{:.0f}", 100 * runs / static_cast<double>(each * candidates));
}

void print(const json& row, std::size_t candidates) {
  const json& equal = row.at("scenarios").at("all equal");
  const json& one = row.at("scenarios").at("one 5 % ahead");
  const json& beside = row.at("beside");
  const json& fixed = beside.at("fixed_runs_of_each");
  const double runs = one.at("mean_runs").get<double>();
  const auto percent = [](const json& of) { return 100 * of.get<double>(); };
  fmt::print(
      "{:28} {:2} {:6.2f} {:6.1f} {:6.1f} {:6.1f} {:4} {:4} {:4} {:4} {:5} {:5} {:5} {:6.1f} "
      "{:6.1f} {:6.1f} {:6.1f}\n",
      row.at("noise").get<std::string>(), candidates, percent(equal.at("wrong_winner")),
      percent(one.at("good_choice")), equal.at("mean_runs").get<double>(), runs,
      fixed.at("exact").get<int>(), fixed.at("calibrated_logs").get<int>(),
      fixed.at("calibrated_ranks").get<int>(), fixed.at("calibrated_savage").get<int>(),
      of_fixed(runs, fixed, "exact", candidates),
      of_fixed(runs, fixed, "calibrated_logs", candidates),
      of_fixed(runs, fixed, "calibrated_savage", candidates),
      percent(beside.at("best_of_three_wrong")), percent(beside.at("in_a_row_wrong")),
      percent(one.at("gain_interval_holds")), percent(one.at("candidate_interval_holds")));
  (void)std::fflush(stdout);
}

void print_head() {
  fmt::print(
      "wrong: a wrong winner, all equal, %; good: the best or one within 2 % of it is chosen, one "
      "5 % ahead, %\nruns=, runs5: mean of all runs in these two cases; fixed: runs of each "
      "candidate (exact test; calibrated on this noise: t, ranks, log-ranks)\n%ex, %t, %lr: "
      "runs5 as a share of the exact design and of those calibrated by t and by log-ranks; of3, "
      "row: wrong winners, all equal, %, of "
      "the best of three and of all runs in a row\ngain, ratio: intervals that hold the truth, "
      "%\n\n");
  fmt::print("{:28} {:>2} {:>6} {:>6} {:>6} {:>6} {:>19} {:5} {:5} {:5} {:>6} {:>6} {:>6} {:>6}\n",
             "noise", "K", "wrong", "good", "runs=", "runs5", "fixed", "%ex", "%t", "%lr", "of3",
             "row", "gain", "ratio");
}

} // namespace

int main(int count, char** words) {
  const asked_for asked = parse(count, words);
  std::vector<noise_kind> kinds = synthetic_kinds();
  for (noise_kind& each : recorded_kinds(asked.noise)) {
    kinds.push_back(std::move(each));
  }
  json all = json::array();
  print_head();
  for (const noise_kind& kind : kinds) {
    for (const std::size_t candidates : {std::size_t{8}, std::size_t{12}}) {
      if (kind.name.find(asked.only) == std::string::npos) {
        continue;
      }
      json row = {{"noise", kind.name}, {"candidates", candidates}};
      for (const scenario& each : scenarios(candidates)) {
        row["scenarios"][each.name] = as_json(simulate(kind, each.of, asked.races));
      }
      row["beside"] = compared(kind, candidates, asked.races);
      print(row, candidates);
      all.push_back(std::move(row));
    }
  }
  if (!asked.output.empty()) {
    std::ofstream(asked.output) << json({{"races", asked.races}, {"results", all}}).dump(1) << '\n';
  }
}
