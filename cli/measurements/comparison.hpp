// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What changed between two measurements, figure by figure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "measure/measurement.hpp"

namespace nodewise::cli {

/// The verdict on a figure that both measurements have.
enum class judgement { other_work, few_visits, disturbed, alike, better, worse };
inline constexpr std::size_t judgements = 6;

/// "better", "too few visits"; empty for figures that are alike.
[[nodiscard]] std::string_view judgement_text(judgement what) noexcept;

struct compared_figure {
  const measure::record& before;
  const measure::record& after;
  measure::change found;
  judgement is;
};

/// Refers to both measurements.
struct compared_measurements {
  std::vector<compared_figure> figures; ///< that both know, in the order of the second
  /// A sentence if other things were measured, such as on another host; otherwise empty.
  std::string other_things;
  std::vector<std::string> counts; ///< sentences: how many figures are not better or worse, and why

  [[nodiscard]] std::size_t number_of(judgement what) const;
};

/// Only figures measured in the same way, often enough and undisturbed are called better or worse.
[[nodiscard]] compared_measurements compare(const measure::measurement& before,
                                            const measure::measurement& after);

} // namespace nodewise::cli
