// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/profile/proof.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "report/envelope.hpp"

namespace nodewise::cli {

namespace {

/// Two runs of one program differ by this much.
constexpr double noise = 0.005;
/// A prediction better by this much is worth another run.
constexpr double worth_a_run = 0.02;
constexpr double never = std::numeric_limits<double>::infinity();

/// The time if the machine has bandwidths, else the remote share.
double cost_of(const advise::outcome& what) {
  return what.seconds ? *what.seconds : what.remote.value_or(never);
}

double cost_of(const counted_outcome& what) {
  return what.counted ? cost_of(*what.counted) : never;
}

/// Difference in the remote share between prediction and count. If threads always use the same
/// parts, runs differ by less than a point, and by the contents of caches.
constexpr double usual_difference = 0.02;
/// If the plan removes most of the remote traffic, caches may explain more of the rest.
constexpr double largest_difference = 0.05;
constexpr double part_of_gain = 0.2;

/// The cheapest counted candidate, if it costs less than the original run. Locality is counted but
/// the time is predicted: of candidates with about the same time, one with a clearly lower remote
/// share wins.
std::optional<std::size_t> best_of(const std::vector<proof::candidate>& all,
                                   const std::vector<char>& allowed, const advise::outcome& plain) {
  constexpr double about_as_long = 0.02;
  const auto cost = [&](std::size_t i) { return cost_of(all[i].result); };
  const auto remote = [&](std::size_t i) { return all[i].result.counted->remote.value_or(1); };
  std::vector<std::size_t> better; // cheaper than the plain run
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (allowed[i] != 0 && cost(i) < cost_of(plain) * (1 - noise)) {
      better.push_back(i);
    }
  }
  if (better.empty()) {
    return std::nullopt;
  }
  const std::size_t cheapest = *std::ranges::min_element(better, {}, cost);
  std::erase_if(better,
                [&](std::size_t i) { return cost(i) > cost(cheapest) * (1 + about_as_long); });
  const std::size_t nearest = *std::ranges::min_element(better, {}, remote);
  return remote(nearest) + usual_difference < remote(cheapest) ? nearest : cheapest;
}

/// Whether it matters which thread uses which pages.
bool is_by_thread(const plans::plan_file& plan) {
  using placements::kind;
  return std::ranges::any_of(plan.objects, [](const plans::entry& each) {
    return each.where.how == kind::blocked || each.where.how == kind::cyclic ||
           each.where.how == kind::thread || each.where.how == kind::map;
  });
}

bool is_as_predicted(const proof::candidate& what, const counted_outcome& result) {
  if (!result.counted || !result.counted->remote || !what.predicted.remote) {
    return true;
  }
  const double predicted = *what.predicted.remote;
  const double difference = std::abs(*result.counted->remote - predicted);
  const double gain = what.remote_before.value_or(predicted) - predicted;
  return difference <= usual_difference ||
         (difference <= largest_difference && difference <= part_of_gain * gain);
}

bool is_nearer(const counted_outcome& what, const advise::outcome& plain) {
  return what.counted && what.counted->remote.value_or(1) <= plain.remote.value_or(0) + noise;
}

} // namespace

bool proof::candidate::is_repeatable() const noexcept {
  return confirmed && is_as_predicted(*this, result);
}

bool changes_anything(const advise::proposal& what) {
  return !what.plan.objects.empty() || what.rebinds;
}

proof prove(const advise::proposal& what, std::vector<advise::alternative> others, bool by_chance,
            const count_with_plan& run) {
  proof made;
  std::vector<char> allowed; // indexed as `tried`
  double least = cost_of(what.before);
  if (changes_anything(what)) {
    made.tried.push_back({"plan", what.plan, what.after, run(what.plan), what.before.remote});
    const proof::candidate& plan = made.tried.front();
    if (!plan.result.counted) {
      made.best = 0;
      return made;
    }
    allowed.push_back(plan.is_repeatable() ? 1 : 0);
    least = plan.is_repeatable() ? std::min(least, cost_of(plan.result)) : least;
  }
  std::ranges::sort(others, {}, [](const auto& each) { return cost_of(each.expected); });
  for (advise::alternative& each : others) {
    if (each.plan == what.plan || !(cost_of(each.expected) < least * (1 - worth_a_run))) {
      continue;
    }
    counted_outcome found = run(each.plan);
    made.tried.push_back({std::move(each.name), std::move(each.plan), each.expected,
                          std::move(found), what.before.remote});
    const proof::candidate& tried = made.tried.back();
    const bool taken =
        tried.is_repeatable() && (!each.must_be_nearer || is_nearer(tried.result, what.before));
    least = taken ? std::min(least, cost_of(tried.result)) : least;
    allowed.push_back(taken ? 1 : 0);
  }
  made.best = best_of(made.tried, allowed, what.before);
  while (by_chance && made.best && is_by_thread(made.tried[*made.best].plan)) {
    proof::candidate& best = made.tried[*made.best];
    best.confirmed = is_as_predicted(best, run(best.plan));
    if (best.confirmed) {
      break;
    }
    allowed[*made.best] = 0;
    made.best = best_of(made.tried, allowed, what.before);
  }
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
  const auto candidate_json = [](const proof::candidate& each) {
    nlohmann::ordered_json one = {{"name", each.name}, {"predicted", outcome_json(each.predicted)}};
    if (each.result.counted) {
      one["counted"] = outcome_json(*each.result.counted);
      one["repeatable"] = each.is_repeatable();
    } else {
      one["problem"] = each.result.problem;
    }
    return one;
  };
  return {{"tried", report::json_list(what.tried, candidate_json)},
          {"best", what.best ? what.tried[*what.best].name : "none"}};
}

} // namespace nodewise::cli
