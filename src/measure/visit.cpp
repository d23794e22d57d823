// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/visit.hpp"

#include <algorithm>
#include <span>

#include <fmt/core.h>

namespace nodewise::measure {

namespace {

/// Whether samples agree so well that another would add little to the visit.
bool agree(std::span<const double> samples) {
  constexpr std::size_t least = 3;
  constexpr double apart = 0.01;
  if (samples.size() < least) {
    return false;
  }
  const auto [low, high] = std::ranges::minmax(samples);
  return high - low <= apart * high;
}

} // namespace

patience::patience(const bench& with, const outcome& before)
    : with_(&with), start_(std::chrono::steady_clock::now()), before_(before.samples.size()) {}

bool patience::has_enough(const outcome& so_far) const {
  const auto own = std::span(so_far.samples).subspan(before_);
  if (with_->stopped() || own.size() >= with_->most_samples || agree(own)) {
    return true;
  }
  // Another sample takes as long as these: skip it unless half of it fits into the time.
  const auto taken = std::chrono::steady_clock::now() - start_;
  return taken + taken / (2 * std::max<std::ptrdiff_t>(std::ssize(own), 1)) >= with_->time;
}

std::string mark_of(const point& what) {
  return fmt::format("{}: {}", to_string(what.of), what.label);
}

} // namespace nodewise::measure
