// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/predict.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

namespace nodewise::model {

namespace {

bool shorter_than_a_page(const loop& of) {
  const double elements = static_cast<double>(of.chunk()) * static_cast<double>(of.elements) /
                          static_cast<double>(of.iterations());
  return elements * static_cast<double>(of.element_bytes) < static_cast<double>(of.page_bytes);
}

reading reading_for(const loop& of) {
  if (of.random_access || of.chunk() == 0) {
    return reading::mixed;
  }
  const bool meet_in_a_page = !of.how.is_pooled() && shorter_than_a_page(of);
  return meet_in_a_page || !drifts(of) ? reading::in_step : reading::drifting;
}

bool are_near(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr double same_share = 1e-3; // of shares
  return std::ranges::equal(a, b, [](double x, double y) { return std::abs(x - y) <= same_share; });
}

/// The most that a thread draws: the mean over the threads, several of which may share a core.
double thread_rate(const machine_costs& on, const loop& what) {
  const std::set<std::size_t> used(what.cores.begin(), what.cores.end());
  double sum = 0;
  for (const std::size_t core : used) {
    sum += on.core[on.cores[core].node].value;
  }
  return sum / static_cast<double>(what.threads());
}

prediction priced(const machine_costs& on, const loop& what) {
  return price(on, traffic_of(on, what), what.how.is_pooled() ? work::pooled : work::fixed);
}

/// A pooled loop of very many threads: in each part of it they queue at the memories that hold it.
double queued_seconds(const machine_costs& on, const loop& what) {
  constexpr std::size_t parts = 64;
  const auto page_bytes = static_cast<double>(what.page_bytes);
  const auto element_bytes = static_cast<double>(what.element_bytes);
  const double pages = static_cast<double>(what.elements) * element_bytes / page_bytes / parts;
  const double core = thread_rate(on, what);
  std::vector<double> rates;
  std::ranges::transform(on.memory, std::back_inserter(rates), &figure::value);
  double seconds = 0;
  double part_rate = 0;
  std::vector<double> before; // arrays in turn have the same shares everywhere
  for (std::size_t p = 0; p < parts; ++p) {
    std::vector<double> bytes(on.size(), 0);
    for (std::size_t a = 0; a < what.arrays.size(); ++a) {
      const element_cost cost = cost_of(what, what.arrays[a]);
      what.maps[a].add_pages(static_cast<double>(p) * pages, static_cast<double>(p + 1) * pages,
                             (cost.read + cost.written) * page_bytes / element_bytes, bytes);
    }
    const double sum = sum_of(bytes);
    std::ranges::for_each(bytes, [&](double& each) { each /= sum; });
    if (!are_near(bytes, before)) {
      part_rate = closed_network_rate(bytes, rates, what.threads(), core);
      before = bytes;
    }
    seconds += sum / part_rate;
  }
  return seconds;
}

} // namespace

double closed_network_rate(const std::vector<double>& shares, const std::vector<double>& rates,
                           std::size_t threads, double thread_rate) {
  std::vector<double> demands; // seconds of a memory per byte
  double apart = 0;            // seconds per byte that do not hold up other threads
  for (std::size_t m = 0; m < shares.size(); ++m) {
    if (shares[m] <= 0) {
      continue;
    }
    // Seidmann: a memory that serves k threads at once is modelled as one server k times as fast,
    // plus a delay for the rest of the time that a thread would need alone.
    demands.push_back(shares[m] / rates[m]);
    apart += std::max(0.0, shares[m] / thread_rate - shares[m] / rates[m]);
  }
  std::vector<double> queues(demands.size(), 0);
  double rate = 0;
  for (std::size_t n = 1; n <= threads; ++n) {
    double seconds = apart;
    for (std::size_t m = 0; m < demands.size(); ++m) {
      seconds += demands[m] * (1 + queues[m]);
    }
    rate = static_cast<double>(n) / seconds;
    for (std::size_t m = 0; m < demands.size(); ++m) {
      queues[m] = rate * demands[m] * (1 + queues[m]);
    }
  }
  return rate;
}

std::string_view to_string(reading of) noexcept {
  constexpr std::array names = {"mixed", "in step", "drifting"};
  return names[static_cast<std::size_t>(of)];
}

loop_prediction predict(const machine_costs& on, const loop& what) {
  loop_prediction made{
      .result = priced(on, what), .by = reading_for(what), .useful_bytes = useful_bytes(what)};
  made.mixed_s = made.result.seconds;
  if (what.random_access) {
    return made;
  }
  if (what.threads() > most_players) {
    made.by = what.how.is_pooled() ? reading::drifting : reading::mixed;
    if (what.how.is_pooled()) {
      // The network models memories and cores; the mix also models links and far memory.
      made.drifting_s = std::max(made.mixed_s, queued_seconds(on, what));
      made.result.seconds = *made.drifting_s;
    }
    return made;
  }
  prediction in_step = replay(on, what, pace::in_step);
  made.in_step_s = in_step.seconds;
  if (made.by == reading::in_step) {
    made.result = std::move(in_step);
  }
  if (drifts(what)) {
    prediction drifting = replay(on, what, pace::drifting);
    // A rate does not include the wait for the last thread; the mix does.
    drifting.seconds = std::max(drifting.seconds, made.mixed_s);
    made.drifting_s = drifting.seconds;
    if (made.by == reading::drifting) {
      made.result = std::move(drifting);
    }
  }
  return made;
}

double seconds_by(const machine_costs& on, const loop& what, reading by, std::size_t pieces) {
  const bool played = what.threads() <= most_players;
  if (by == reading::in_step && played) {
    return replay(on, what, pace::in_step, pieces).seconds;
  }
  const double mixed = priced(on, what).seconds;
  if (by == reading::mixed) {
    return mixed;
  }
  return std::max(mixed, played ? replay(on, what, pace::drifting, pieces).seconds
                                : queued_seconds(on, what));
}

} // namespace nodewise::model
