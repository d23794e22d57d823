// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The shapes of all items together: owners of rows, and what threads sweep through.
#include <algorithm>

#include "advise/shape.hpp"

namespace nodewise::advise {

namespace {

/// Marks rows that have an owner, as their neighbours show: threads work on different rows.
void mark_owned(const analysis_input& of, const std::vector<site_part>& parts,
                std::vector<shape>& shapes) {
  constexpr double more_than_equal = 1.5;
  const double least = more_than_equal / static_cast<double>(of.nodes());
  for (const site_part& part : parts) {
    for (std::size_t k = 0; k < part.items.size(); ++k) {
      shapes[part.items[k]].owned = part.owner && part.shares[k] >= least;
    }
  }
}

} // namespace

analysis::analysis(const analysis_input& of) : input(of) {
  for (const item& each : of.items()) {
    shapes.push_back(shape_of(of, each));
  }
  for (const site& each : of.sites()) {
    parts.push_back(parts_of_site(of, each.items));
    mark_owned(of, parts.back(), shapes);
  }
  double anyones = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    anyones += shapes[i].anyones() ? of.items()[i].bytes() : 0;
  }
  constexpr double most = 0.5;
  if (!of.assumed() && anyones > most * of.bytes()) {
    for (const shape& each : shapes) {
      swept.push_back(each.anyones() ? 1 : 0);
    }
  }
}

bool are_scattered(const analysis& of, const positions& items) {
  return std::ranges::any_of(items, [&](std::size_t i) { return of.shapes[i].scattered(); });
}

double remote_bytes(const analysis& of, const positions& items) {
  return sum_over(items,
                  [&](std::size_t i) { return of.shapes[i].remote * of.input.items()[i].bytes(); });
}

} // namespace nodewise::advise
