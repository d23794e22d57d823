// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Checks that several patterns share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "advise/patterns.hpp"
#include "advise/words.hpp"
#include "base/counted.hpp"

namespace nodewise::advise {

/// Whether a site is large enough to report: by its traffic or by its bytes.
[[nodiscard]] bool is_worth_a_look(const analysis_input& of, const site& which);

/// Sites for which `is(item, shape)` holds for nearly all of their use.
template <class Is>
[[nodiscard]] positions sites_where(const analysis& of, const std::vector<char>& free,
                                    const Is& is) {
  constexpr double nearly_all = 0.8;
  return positions_below(free.size(), [&](std::size_t s) {
    const site& each = of.input.sites()[s];
    if (free[s] == 0 || !is_worth_a_look(of.input, each)) {
      return false;
    }
    const double so = sum_over(each.items, [&](std::size_t i) {
      const item& one = of.input.items()[i];
      return is(one, of.shapes[i]) ? one.bytes() : 0;
    });
    return so > 0 && so >= nearly_all * each.bytes;
  });
}
/// Sites of which nearly all was used, whether they are free or not.
[[nodiscard]] positions sites_in_use(const analysis& of);

/// One thread touched it, so that it is on one node, and other nodes use it.
[[nodiscard]] bool is_serial(const item& what, const shape& how);
/// Share of remote traffic from which placement matters.
inline constexpr double some_remote = 0.05;

/// "a, b and c".
[[nodiscard]] std::string names_of(const analysis_input& of, const positions& sites);
/// The mean of `value(shape)` over the sites' items, weighted by the bytes that they moved.
template <class Value>
[[nodiscard]] double mean_over(const analysis& of, const positions& sites, const Value& value) {
  double all = 0;
  double sum = 0;
  for (const std::size_t i : of.input.items_of(sites)) {
    all += of.input.items()[i].bytes();
    sum += of.input.items()[i].bytes() * std::invoke(value, of.shapes[i]);
  }
  return all > 0 ? sum / all : 0;
}
/// The shape of the sites' object that moved most.
[[nodiscard]] const shape& greatest(const analysis& of, const positions& sites);

/// Lines on which threads touched it, where its pages are, and which threads use it.
[[nodiscard]] std::vector<std::string> usual_evidence(const analysis& of, const positions& sites);
/// Observations that contradict each other.
[[nodiscard]] std::vector<std::string> usual_doubts(const analysis& of, const positions& sites);
/// "NAMES: PROBLEM", with the usual evidence and doubts.
[[nodiscard]] suspicion usual(const analysis& of, const positions& sites, std::string_view problem);

} // namespace nodewise::advise
