// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "tune/race.hpp"

namespace nodewise::tune {

/// The figure of the next run of a candidate.
using figure_of = std::function<double(const run_request&)>;

inline std::vector<run_request> drive(race& one, const figure_of& figure) {
  std::vector<run_request> made;
  while (const auto next = one.next()) {
    made.push_back(*next);
    one.record(figure(*next));
  }
  return made;
}

} // namespace nodewise::tune
