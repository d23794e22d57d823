// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The noise of simulated races: how much a run differs from its candidate's true figure.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "model/random_numbers.hpp"
#include "tune/location.hpp"

namespace nodewise::races {

/// Logarithms of figures, less their median. Recorded ones are taken in their order, from a random
/// place on, so that neighbours stay alike as they were; synthetic ones are drawn.
struct noise_kind {
  std::string name;
  bool recorded = false;
  std::vector<double> logs;
  double drift = 0;     ///< from one run to the next
  double disturbed = 0; ///< the share of runs that take 30 % longer
};

class noise {
 public:
  noise(const noise_kind& kind, std::uint64_t seed)
      : kind_(&kind), random_(seed), at_(random_.next() % kind.logs.size()) {}

  /// Of the next run.
  double next() {
    at_ = kind_->recorded ? (at_ + 1) % kind_->logs.size() : random_.next() % kind_->logs.size();
    const double slower = random_.uniform() < kind_->disturbed ? std::log(1.3) : 0;
    return kind_->logs[at_] + slower + kind_->drift * runs_++;
  }

 private:
  const noise_kind* kind_;
  model::random_numbers random_;
  std::size_t at_;
  int runs_ = 0;
};

/// By Box and Muller.
inline double normal(model::random_numbers& random) {
  const double radius = std::sqrt(2 * random.exponential());
  return radius * std::cos(6.283185307179586 * random.uniform());
}

template <class Draw>
noise_kind synthetic(std::string name, Draw draw) {
  constexpr std::size_t many = 20'000;
  model::random_numbers random(7);
  noise_kind kind{.name = std::move(name), .logs = {}};
  for (std::size_t i = 0; i < many; ++i) {
    kind.logs.push_back(draw(random));
  }
  const double middle = tune::median_of(kind.logs);
  for (double& each : kind.logs) {
    each -= middle;
  }
  return kind;
}

/// The drift of 2 % an hour, if a run takes a minute.
inline constexpr double drift_of_a_minute = 0.02 / 60;

inline std::vector<noise_kind> synthetic_kinds() {
  const auto gauss = [](double spread) {
    return [=](model::random_numbers& random) { return spread * normal(random); };
  };
  const auto skewed = [](model::random_numbers& random) {
    return 0.005 * normal(random) + 0.02 * random.exponential();
  };
  const auto bimodal = [](double apart) {
    return [=](model::random_numbers& random) {
      return 0.007 * normal(random) + (random.uniform() < 0.3 ? apart : 0);
    };
  };
  noise_kind drifting = synthetic("drifting, normal 2 %", gauss(0.02));
  drifting.drift = drift_of_a_minute;
  noise_kind disturbed = synthetic("disturbed, normal 2 %", gauss(0.02));
  disturbed.disturbed = 0.05;
  noise_kind disturbed_quiet = synthetic("disturbed, normal 1 %", gauss(0.01));
  disturbed_quiet.disturbed = 0.05;
  return {synthetic("normal 0.5 %", gauss(0.005)),
          synthetic("normal 1 %", gauss(0.01)),
          synthetic("normal 2 %", gauss(0.02)),
          synthetic("normal 3 %", gauss(0.03)),
          synthetic("skewed, 2 %", skewed),
          synthetic("bimodal, 3 % apart", bimodal(0.03)),
          synthetic("bimodal, 5 % apart", bimodal(0.05)),
          drifting,
          disturbed_quiet,
          disturbed};
}

} // namespace nodewise::races
