// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/fair_share.hpp"

#include <algorithm>

namespace nodewise::model {

namespace {

// Rates are sums of many steps: a rate this near to a limit has reached it.
constexpr double near_enough = 1e-12;

} // namespace

void fair_share::start(const std::vector<flow>& flows) {
  level_ = 0;
  room_ = capacities_;
  load_.assign(capacities_.size(), 0);
  users_.assign(capacities_.size(), 0);
  full_.assign(capacities_.size(), 0);
  rates_.assign(flows.size(), 0);
  limiters_.assign(flows.size(), own_limit);
  stopped_.assign(flows.size(), 1);
  touched_.clear();
  rising_.clear();
  rising_from_ = 0;
  for (std::size_t f = 0; f < flows.size(); ++f) {
    if (!flows[f].active) {
      continue;
    }
    rising_.push_back(f);
    stopped_[f] = 0;
    for (const resource_use& use : flows[f].uses) {
      if (users_[use.resource]++ == 0) {
        touched_.push_back(use.resource);
      }
      load_[use.resource] += flows[f].members * use.amount;
    }
  }
  summed_ = load_;
  std::ranges::sort(rising_, {}, [&](std::size_t f) { return std::pair(flows[f].most, f); });
}

void fair_share::stop(const std::vector<flow>& flows, std::size_t which, std::size_t limiter) {
  stopped_[which] = 1;
  rates_[which] = level_;
  limiters_[which] = limiter;
  for (const resource_use& use : flows[which].uses) {
    const std::size_t r = use.resource;
    load_[r] -= flows[which].members * use.amount;
    --users_[r];
    // After large loads have stopped, add up the rest again to remove their rounding error.
    constexpr double cancelled = 1e-6;
    if (users_[r] != 0 && load_[r] < cancelled * summed_[r]) {
      load_[r] = summed_[r] = load_of(flows, r);
    }
  }
}

double fair_share::load_of(const std::vector<flow>& flows, std::size_t resource) const {
  double sum = 0;
  for (std::size_t i = rising_from_; i < rising_.size(); ++i) {
    const flow& each = flows[rising_[i]];
    for (const resource_use& use : each.uses) {
      sum += stopped_[rising_[i]] == 0 && use.resource == resource ? each.members * use.amount : 0;
    }
  }
  return sum;
}

void fair_share::stop_at_own_limit(const std::vector<flow>& flows) {
  for (; rising_from_ < rising_.size(); ++rising_from_) {
    const std::size_t f = rising_[rising_from_];
    if (stopped_[f] != 0) {
      continue;
    }
    if (flows[f].most > level_ * (1 + near_enough)) {
      return;
    }
    stop(flows, f, own_limit);
  }
}

void fair_share::stop_at_full(const std::vector<flow>& flows, std::size_t tightest) {
  full_[tightest] = 1; // regardless of rounding, so that each step stops a flow
  for (const std::size_t r : touched_) {
    if (users_[r] != 0 && room_[r] <= near_enough * capacities_[r]) {
      full_[r] = 1;
    }
  }
  for (std::size_t i = rising_from_; i < rising_.size(); ++i) {
    const std::size_t f = rising_[i];
    if (stopped_[f] != 0) {
      continue;
    }
    const auto by = std::ranges::find_if(
        flows[f].uses, [this](const resource_use& use) { return full_[use.resource] != 0; });
    if (by != flows[f].uses.end()) {
      stop(flows, f, by->resource);
    }
  }
}

void fair_share::solve(const std::vector<flow>& flows) {
  start(flows);
  stop_at_own_limit(flows);
  while (rising_from_ < rising_.size()) {
    double step = flows[rising_[rising_from_]].most - level_;
    std::size_t tightest = own_limit; // the resource that ends the step, or a flow's own limit
    for (const std::size_t r : touched_) {
      if (users_[r] != 0 && room_[r] / load_[r] < step) {
        step = room_[r] / load_[r];
        tightest = r;
      }
    }
    step = std::max(step, 0.0);
    level_ += step;
    if (step == std::numeric_limits<double>::infinity()) {
      stop_at_own_limit(flows);
      return;
    }
    for (const std::size_t r : touched_) {
      if (users_[r] != 0) {
        room_[r] -= step * load_[r];
      }
    }
    if (tightest != own_limit) {
      stop_at_full(flows, tightest);
    }
    stop_at_own_limit(flows);
  }
}

} // namespace nodewise::model
