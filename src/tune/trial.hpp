// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Whether one candidate is faster than another, from blocks in which both run equally often in
// random order. The test may be repeated after each block.
//
// The test rests on the random order alone. If both candidates have the same distribution, each
// arrangement of a block's figures is equally likely, whatever the noise: skewed, with several
// modes, drifting. So counting arrangements gives the exact distribution of any statistic
// (E. J. G. Pitman, JRSS Supplement 4, 1937). The statistic is the candidate's sum of log-rank
// scores among all figures so far (I. R. Savage, Ann. Math. Stat. 27, 1956). Score differences are
// largest between the fastest runs and small between the slowest, because disturbances slow runs
// down.
//
// A test at 5 % that is repeated at each look errs more often than in 5 %. So each look spends a
// part of the error (K. K. G. Lan and D. L. DeMets, "Discrete sequential boundaries for clinical
// trials", Biometrika 70, 1983), and the boundary of a look is counted over the arrangements that
// no earlier look rejects (C. R. Mehta, N. Patel, P. Senchaudhuri and A. A. Tsiatis, "Exact
// permutational group sequential tests", Biometrics 50, 1994).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nodewise::tune {

/// The figures of one block: logarithms, of the same number of runs of both.
struct trial_block {
  std::vector<double> candidate;
  std::vector<double> reference;
};

/// The result of a test after the last look.
struct trial_test {
  bool rejected = false; ///< at this look or an earlier one
  /// Of the look that rejected, or of the last one, in the order of stages: earlier rejections
  /// count as more extreme (A. A. Tsiatis, G. L. Rosner and C. R. Mehta, Biometrics 40, 1984).
  double p = 1;
};

/// Tests the hypothesis that the candidate takes at least exp(margin) times as long as the
/// reference; to reject it is to claim that it takes less. `spent`: the error, 0..1, that is spent
/// until after each block, ascending, one for each block. A block has at most
/// 4 runs of each, and all blocks together 32. Exact for up to 12 runs of each in the blocks of
/// `trial_blocks`; from more than 100 000 arrangements, as many are drawn (the level then has a
/// standard error below 0.001).
[[nodiscard]] trial_test test_faster(std::span<const trial_block> blocks,
                                     std::span<const double> spent, double margin);
/// The same for the claim that the candidate takes longer than exp(margin) times the reference.
[[nodiscard]] trial_test test_slower(std::span<const trial_block> blocks,
                                     std::span<const double> spent, double margin);

/// The ratio of the candidate's figures to the reference's.
struct ratio_estimate {
  double ratio = 1;
  double low = 0;  ///< 0 if the runs do not bound it
  double high = 0; ///< infinite if the runs do not bound it
};
/// The estimate of J. L. Hodges and E. L. Lehmann (Ann. Math. Stat. 34, 1963): the median of all
/// differences within blocks. The interval holds all ratios that neither test rejects, each with
/// the error `spent`: a repeated confidence interval (C. Jennison and B. W. Turnbull, JRSS B 51,
/// 1989), valid whatever made the trial stop. With 5 % spent, each end is one-sided at 5 %. It
/// assumes that the two distributions differ by a factor.
[[nodiscard]] ratio_estimate estimate_ratio(std::span<const trial_block> blocks,
                                            std::span<const double> spent);

/// How a trial is cut into blocks: runs of each candidate in each block. The first block has up to
/// four, since fewer cannot reject; then two each.
[[nodiscard]] std::vector<std::size_t> trial_blocks(std::size_t runs_each);

/// The error spent until after each of these blocks if all of `error` is spent after `runs_each`
/// runs: in proportion to the runs (the power family of K. Kim and D. L. DeMets, Biometrika 74,
/// 1987).
[[nodiscard]] std::vector<double> spending(std::span<const std::size_t> blocks,
                                           std::size_t runs_each, double error);

/// Whether that many runs of each can reject at all at this error.
[[nodiscard]] bool can_reject(std::size_t runs_each, double error);

} // namespace nodewise::tune
