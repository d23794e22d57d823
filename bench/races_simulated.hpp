// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Many simulated races over one kind of noise, and how they ended.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "races_fixed.hpp"
#include "tune/race.hpp"

namespace nodewise::races {

struct scenario {
  std::string name;
  truth of;
};

inline truth all_but_todays(std::size_t candidates, double ratio) {
  truth of(candidates, std::log(ratio));
  of[0] = 0;
  return of;
}

inline truth one_ahead(std::size_t candidates) {
  truth of(candidates, 0.0);
  of[candidates / 2] = std::log(0.95);
  return of;
}

inline std::vector<scenario> scenarios(std::size_t candidates) {
  std::vector<scenario> all{{"all equal", truth(candidates, 0.0)},
                            {"one 5 % ahead", one_ahead(candidates)},
                            {"ladder of 1 %", truth(candidates, 0.0)},
                            {"three within 1 %", truth(candidates, 0.0)},
                            {"today's 5 % ahead", all_but_todays(candidates, 1 / 0.95)}};
  for (std::size_t i = 1; i < candidates; ++i) {
    const std::size_t step = (i * 5) % candidates; // no divisor of 8 and 12: each step once
    all[2].of[i] = std::log(1 - 0.01 * static_cast<double>(step));
  }
  all[3].of[1] = std::log(0.95);
  all[3].of[2] = std::log(0.955);
  all[3].of[3] = std::log(0.96);
  return all;
}

/// Counts of races, and means over them.
struct outcome {
  std::size_t races = 0;
  std::size_t wrong = 0;     ///< a winner that is not better than today's setting
  std::size_t good = 0;      ///< the best or one within 2 % of it was chosen
  std::size_t misled = 0;    ///< the leader was more than 2 % from the best
  std::size_t undecided = 0; ///< not separated
  std::size_t most_of_one = 0;
  double runs = 0; ///< the mean
  std::vector<std::size_t> all_runs;
  std::size_t gains = 0; ///< intervals that were looked at, and those that hold the truth
  std::size_t gains_hold = 0;
  std::size_t ratios = 0;
  std::size_t ratios_hold = 0;
};

inline bool holds(const tune::ratio_estimate& interval, double log) {
  return std::log(interval.low) <= log + 1e-9 && log - 1e-9 <= std::log(interval.high);
}

inline void look_at_intervals(outcome& sum, const tune::race& of, const truth& truly) {
  const tune::race_standing last = of.standing();
  if (last.leader) {
    ++sum.gains;
    sum.gains_hold += holds(last.gain, truly[*last.leader] - truly[0]) ? 1U : 0U;
  }
  for (std::size_t i = 1; i < truly.size(); ++i) {
    ++sum.ratios;
    sum.ratios_hold += holds(last.candidates[i].to_todays, truly[i] - truly[0]) ? 1U : 0U;
  }
  for (const tune::candidate_standing& each : last.candidates) {
    sum.most_of_one = std::max(sum.most_of_one, each.race_runs + each.confirmation_runs);
  }
}

inline outcome simulate(const noise_kind& kind, const truth& of, std::size_t races) {
  constexpr std::size_t looked_at = 500;
  outcome sum{.races = races, .all_runs = {}};
  for (std::size_t i = 0; i < races; ++i) {
    noise with(kind, 1'000'003 * (i + 1));
    tune::race one({.candidates = of.size(), .seed = i + 1, .warm_ups = 0, .predicted = {}});
    std::size_t runs = 0;
    while (const auto run = one.next()) {
      one.record(std::exp(of[run->candidate] + with.next()));
      ++runs;
    }
    const bool won = one.result() == tune::verdict::winner;
    const std::size_t chosen = won ? *one.leader() : tune::todays;
    sum.wrong += won && of[chosen] >= 0 ? 1U : 0U;
    sum.good += is_good(of, chosen) ? 1U : 0U;
    sum.misled += one.leader() && !is_good(of, *one.leader()) ? 1U : 0U;
    sum.undecided += one.result() == tune::verdict::not_separated ? 1U : 0U;
    sum.runs += static_cast<double>(runs) / static_cast<double>(races);
    sum.all_runs.push_back(runs);
    if (i < looked_at) {
      look_at_intervals(sum, one, of);
    }
  }
  std::ranges::sort(sum.all_runs);
  return sum;
}

/// The share of tries that `is` returns true for.
template <class Is>
double share_of(const noise_kind& kind, std::size_t tries, const Is& is) {
  std::size_t hits = 0;
  for (std::size_t i = 0; i < tries; ++i) {
    noise with(kind, 1'000'003 * (i + 1) + 77);
    hits += is(with) ? 1U : 0U;
  }
  return static_cast<double>(hits) / static_cast<double>(tries);
}

/// The runs of each candidate that a full factorial needs, if its critical value is known from this
/// very noise: all equal, it declares a winner in 5 %. 0 if more than `most`.
inline std::size_t runs_calibrated(const noise_kind& kind, std::size_t candidates, scores by,
                                   std::size_t tries, std::size_t most) {
  const truth equal(candidates, 0.0);
  const truth one = one_ahead(candidates);
  for (std::size_t runs = 2; runs <= most; runs += runs < 12 ? 1 : runs / 8) {
    std::vector<double> by_chance;
    (void)share_of(kind, tries, [&](noise& with) {
      by_chance.push_back(largest_t(in_blocks(equal, runs, with), by).second);
      return true;
    });
    std::ranges::sort(by_chance);
    const double critical = by_chance[tries * 95 / 100];
    const double power = share_of(kind, tries, [&](noise& with) {
      const claim found = largest_t(in_blocks(one, runs, with), by);
      return found.second > critical && is_good(one, found.first);
    });
    if (power >= 0.95) {
      return runs;
    }
  }
  return 0;
}

/// Likewise for a full factorial whose test holds its error on any noise.
inline std::size_t runs_exact(const noise_kind& kind, std::size_t candidates, std::size_t tries,
                              std::size_t most) {
  const signed_ranks test(most);
  const truth one = one_ahead(candidates);
  for (std::size_t runs = 5; runs <= most; ++runs) {
    const double power = share_of(kind, tries, [&](noise& with) {
      const claim found = smallest_p(in_blocks(one, runs, with), test);
      return found.first != 0 && is_good(one, found.first);
    });
    if (power >= 0.95) {
      return runs;
    }
  }
  return 0;
}

/// The best of three runs in a row of each candidate; the winner has the least of all.
inline std::size_t best_of_three(const truth& of, noise& with) {
  const figures all = in_a_row(of, 3, with);
  std::size_t best = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    best = std::ranges::min(all[i]) < std::ranges::min(all[best]) ? i : best;
  }
  return best;
}

/// Twelve runs of each candidate in a row; the winner has the least mean of those that Student's t
/// finds ahead of today's setting at 5 %, as is often done.
inline std::size_t twelve_in_a_row(const truth& of, noise& with) {
  constexpr std::size_t runs = 12;
  constexpr double critical = 1.717; // one-sided 5 %, 22 degrees of freedom
  const figures all = in_a_row(of, runs, with);
  std::size_t best = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const double variance = (squares(all[0]) + squares(all[i])) / (2 * runs - 2);
    const double t = (mean(all[0]) - mean(all[i])) / std::sqrt(2 * variance / runs + 1e-18);
    best = t > critical && mean(all[i]) < mean(all[best]) ? i : best;
  }
  return best;
}

} // namespace nodewise::races
