// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the user expects of a job, and how the job differs from it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "survey/finding.hpp"

namespace nodewise::survey {

/// Counts that the user expects; the others may be any.
struct expected_shape {
  std::optional<std::size_t> hosts;
  std::optional<std::size_t> ranks; ///< of the whole job
  std::optional<std::size_t> ranks_per_host;
  std::optional<std::size_t> threads; ///< of each rank that work
};

/// Reads "hosts=2,ranks-per-host=4". Throws `error` (usage) with the words that it accepts.
[[nodiscard]] expected_shape parse_expected_shape(std::string_view text);

/// One finding (`fault::other_shape`) for each count that differs. Missing ranks count as ranks.
[[nodiscard]] std::vector<finding> judge_shape(const job& of, const expected_shape& expected);

} // namespace nodewise::survey
