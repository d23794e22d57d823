// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which candidates stay in the race after a block. Nothing here is a claim: the rules trade runs
// against the risk of setting the best candidate aside, and bench/races.cpp measures that risk.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nodewise::tune {

/// A candidate in the race, with the logarithms of its figures, one for each block so far.
struct race_row {
  std::size_t candidate = 0;
  std::span<const double> logs;
  double predicted = 1; ///< only decides between equal figures
};

/// A row's robust location (skipped mean) and how many runs count in it.
struct ranked_row {
  std::size_t candidate = 0;
  double at = 0;
  std::size_t runs = 0;
};

/// In ascending order: the best first. All rows have the same number of runs. `spread`: of single
/// runs, from all candidates that had two, those set aside included.
[[nodiscard]] std::vector<ranked_row> ranked(std::span<const race_row> rows, double spread);

/// The standard error of the difference of two rows.
[[nodiscard]] double error_between(const ranked_row& a, const ranked_row& b, double spread);

/// The candidates that stay after a block, the best first; today's setting is among the rows and
/// stays. `candidates` began the race, which has at most `of_blocks` blocks. After the first block
/// there is no second run to judge the noise by: its upper bound is the spread among the
/// candidates, or `most_spread` if that is known. Then a candidate far behind the others stays if a
/// disturbance may be the reason.
[[nodiscard]] std::vector<std::size_t> staying(std::span<const race_row> rows,
                                               std::size_t candidates, std::size_t of_blocks,
                                               double spread, double most_spread);

/// The most blocks of a race between that many candidates, if each may have `most_runs`.
[[nodiscard]] std::size_t most_race_blocks(std::size_t candidates, std::size_t most_runs);

} // namespace nodewise::tune
