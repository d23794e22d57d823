// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/predict.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/queueing.hpp"
#include "model/replay.hpp"

namespace nodewise::model {

namespace {

bool shorter_than_a_page(const loop& of) {
  return of.how.chunk > 0 && of.how.chunk < of.elements_of_a_page();
}

reading reading_for(const loop& of) {
  if (of.random_access || (!of.how.is_pooled() && of.how.chunk == 0)) {
    return reading::mixed;
  }
  return !of.how.is_pooled() && shorter_than_a_page(of) ? reading::in_step : reading::drifting;
}

bool are_near(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr double near_enough = 1e-3; // of shares
  return std::ranges::equal(a, b,
                            [](double x, double y) { return std::abs(x - y) <= near_enough; });
}

/// A pooled loop of very many threads: in each part of it they queue at the memories that have it.
double queued_seconds(const machine_costs& on, const loop& what) {
  constexpr std::size_t parts = 64;
  double seconds = 0;
  double part_rate = 0;
  std::vector<double> before; // arrays that go in turn have the same everywhere
  const double page = static_cast<double>(what.elements_of_a_page());
  const double part = static_cast<double>(what.elements) / parts;
  std::vector<double> rates;
  double core = 0;
  rates.reserve(on.size());
  for (const figure& memory : on.memory) {
    rates.push_back(memory.value);
  }
  for (const std::size_t c : what.cores) {
    core += on.core[on.cores[c].node].value / static_cast<double>(what.threads());
  }
  for (std::size_t p = 0; p < parts; ++p) {
    std::vector<double> bytes(on.size(), 0);
    for (std::size_t a = 0; a < what.arrays.size(); ++a) {
      const element_cost cost = cost_of(what, what.arrays[a]);
      what.maps[a].add_pages(static_cast<double>(p) * part / page,
                             static_cast<double>(p + 1) * part / page,
                             page * (cost.read + cost.written), bytes);
    }
    const double sum = std::accumulate(bytes.begin(), bytes.end(), 0.0);
    for (double& each : bytes) {
      each /= sum;
    }
    if (!are_near(bytes, before)) {
      part_rate = closed_network_rate(bytes, rates, what.threads(), core);
      before = bytes;
    }
    seconds += sum / part_rate;
  }
  return seconds;
}

} // namespace

std::string_view to_string(reading of) noexcept {
  switch (of) {
  case reading::in_step:
    return "in step";
  case reading::drifting:
    return "drifting";
  case reading::mixed:
    break;
  }
  return "mixed";
}

loop_prediction predict(const machine_costs& on, const loop& what) {
  const traffic all = traffic_of(on, what);
  loop_prediction result;
  result.by = reading_for(what);
  result.useful_bytes = useful_bytes(what);
  result.told = price(on, all, what.how.is_pooled() ? work::pooled : work::fixed);
  result.mixed_s = result.told.seconds;
  if (what.random_access) {
    return result;
  }
  if (what.threads() > most_players) {
    if (what.how.is_pooled()) {
      result.drifting_s = queued_seconds(on, what);
      result.told.seconds = *result.drifting_s;
    } else {
      result.by = reading::mixed;
    }
    return result;
  }
  prediction in_step = replay(on, what, pace::in_step);
  prediction drifting = replay(on, what, pace::drifting);
  result.in_step_s = in_step.seconds;
  result.drifting_s = drifting.seconds;
  if (result.by == reading::in_step) {
    result.told = std::move(in_step);
  } else if (result.by == reading::drifting) {
    result.told = std::move(drifting);
  }
  return result;
}

} // namespace nodewise::model
