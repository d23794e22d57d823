// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/profile_proof.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "report/envelope.hpp"

namespace nodewise::cli {

namespace {

/// Two runs of one program differ by as much.
constexpr double noise = 0.005;
/// A prediction that is so much better is worth another run.
constexpr double worth_a_run = 0.02;
constexpr double never = std::numeric_limits<double>::infinity();

/// Time where the machine has bandwidths, else remote traffic.
double cost_of(const advise::outcome& what) {
  return what.seconds ? *what.seconds : what.remote.value_or(never);
}

double cost_of(const counted_outcome& what) {
  return what.counted ? cost_of(*what.counted) : never;
}

/// Of the counted ones the one that costs least, if it costs less than the program as it ran.
std::optional<std::size_t> best_of(const std::vector<proof::candidate>& all,
                                   const std::vector<char>& allowed, const advise::outcome& plain) {
  std::optional<std::size_t> best;
  double least = cost_of(plain) * (1 - noise);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (allowed[i] != 0 && cost_of(all[i].result) < least) {
      least = cost_of(all[i].result);
      best = i;
    }
  }
  return best;
}

bool is_nearer(const counted_outcome& what, const advise::outcome& plain) {
  return what.counted && what.counted->remote.value_or(1) <= plain.remote.value_or(0) + noise;
}

} // namespace

bool changes_anything(const advise::proposal& what) {
  return !what.plan.objects.empty() || what.rebinds;
}

proof prove(const advise::proposal& what, std::vector<advise::alternative> others,
            const count_with_plan& run) {
  proof made;
  std::vector<char> allowed; // by position in `tried`
  double least = cost_of(what.before);
  if (changes_anything(what)) {
    made.tried.push_back({"plan", what.plan, what.after, run(what.plan)});
    allowed.push_back(1);
    if (!made.tried.front().result.counted) {
      made.best = 0;
      return made;
    }
    least = std::min(least, cost_of(made.tried.front().result));
  }
  std::ranges::sort(others, {}, [](const auto& each) { return cost_of(each.expected); });
  for (advise::alternative& each : others) {
    if (each.plan == what.plan || !(cost_of(each.expected) < least * (1 - worth_a_run))) {
      continue;
    }
    counted_outcome found = run(each.plan);
    const bool taken = !each.must_be_nearer || is_nearer(found, what.before);
    least = taken ? std::min(least, cost_of(found)) : least;
    allowed.push_back(taken ? 1 : 0);
    made.tried.push_back(
        {std::move(each.name), std::move(each.plan), each.expected, std::move(found)});
  }
  made.best = best_of(made.tried, allowed, what.before);
  return made;
}

nlohmann::ordered_json outcome_json(const advise::outcome& what) {
  return {{"remote", report::or_unavailable(what.remote)},
          {"seconds", report::or_unavailable(what.seconds)},
          {"binds", what.binds},
          {"whole_remote", report::or_unavailable(what.whole_remote)},
          {"whole_seconds", report::or_unavailable(what.whole_seconds)}};
}

nlohmann::ordered_json proof_json(const proof& what) {
  nlohmann::ordered_json tried = nlohmann::ordered_json::array();
  for (const proof::candidate& each : what.tried) {
    nlohmann::ordered_json one = {{"name", each.name}, {"predicted", outcome_json(each.predicted)}};
    if (each.result.counted) {
      one["counted"] = outcome_json(*each.result.counted);
    } else {
      one["problem"] = each.result.problem;
    }
    tried.push_back(std::move(one));
  }
  return {{"tried", std::move(tried)}, {"best", what.best ? what.tried[*what.best].name : "none"}};
}

} // namespace nodewise::cli
