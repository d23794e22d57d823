// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "tune/trial.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "model/random_numbers.hpp"
#include "tune/location.hpp"

namespace nodewise::tune {

namespace {

constexpr std::size_t first_block = 4;
constexpr std::size_t later_blocks = 2;
constexpr std::size_t most_arrangements = 100'000;
constexpr double rounding = 1e-12;

/// Bit k: run k of a block is the candidate's.
using block_pattern = std::uint32_t;
/// The patterns of all blocks, one after the other.
using arrangement = std::uint64_t;

std::vector<block_pattern> patterns_of(std::size_t runs_each) {
  std::vector<block_pattern> all;
  for (block_pattern each = 0; each < (block_pattern{1} << (2 * runs_each)); ++each) {
    if (static_cast<std::size_t>(std::popcount(each)) == runs_each) {
      all.push_back(each);
    }
  }
  return all;
}

/// The figures of a block, the candidate's first.
void append_figures(std::vector<double>& to, const trial_block& block, double margin) {
  for (const double each : block.candidate) {
    to.push_back(each - margin);
  }
  to.insert(to.end(), block.reference.begin(), block.reference.end());
}

/// The log-rank score of each value: 1/1 + ... + 1/(rank - 1), in whole steps, so that sums are
/// exact. Equal values share the mean of their scores.
std::vector<std::uint32_t> log_rank_scores(std::span<const double> values) {
  constexpr double steps = 128;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  std::vector<double> sums{0, 0}; // of the scores of all ranks below
  double score = 0;
  for (std::size_t rank = 1; rank < values.size(); ++rank) {
    score += 1 / static_cast<double>(rank);
    sums.push_back(sums.back() + score);
  }
  std::vector<std::uint32_t> scores;
  for (const double each : values) {
    const auto [low, high] = std::ranges::equal_range(sorted, each);
    const auto first = static_cast<std::size_t>(low - sorted.begin());
    const auto last = static_cast<std::size_t>(high - sorted.begin());
    const double mean = (sums[last] - sums[first]) / static_cast<double>(last - first);
    scores.push_back(static_cast<std::uint32_t>(std::lround(mean * steps)));
  }
  return scores;
}

/// The sum of scores of an arrangement: by block, the sum of each pattern.
class score_sums {
 public:
  score_sums(std::span<const std::uint32_t> scores, std::span<const trial_block> blocks) {
    std::size_t begin = 0;
    for (const trial_block& block : blocks) {
      const std::size_t runs = 2 * block.candidate.size();
      append_block(scores.subspan(begin, runs));
      bits_.push_back(runs);
      begin += runs;
    }
  }
  [[nodiscard]] std::uint32_t of(arrangement all) const noexcept {
    std::uint32_t sum = 0;
    for (std::size_t b = 0; b < bits_.size(); ++b) {
      sum += sums_[b][all & ((arrangement{1} << bits_[b]) - 1)];
      all >>= bits_[b];
    }
    return sum;
  }

 private:
  void append_block(std::span<const std::uint32_t> scores) {
    std::vector<std::uint32_t>& sums = sums_.emplace_back(std::size_t{1} << scores.size());
    for (std::size_t pattern = 1; pattern < sums.size(); ++pattern) {
      const auto lowest = static_cast<std::size_t>(std::countr_zero(pattern));
      sums[pattern] = sums[pattern & (pattern - 1)] + scores[lowest];
    }
  }
  std::vector<std::vector<std::uint32_t>> sums_;
  std::vector<std::size_t> bits_;
};

/// The arrangements that no look has rejected yet.
class arrangements {
 public:
  /// Each so far goes on with each pattern of the next block, or a random choice of these.
  void extend(std::size_t runs_each) {
    const std::vector<block_pattern> patterns = patterns_of(runs_each);
    std::vector<arrangement> longer;
    if (all_.size() * patterns.size() <= most_arrangements) {
      longer.reserve(all_.size() * patterns.size());
      for (const arrangement each : all_) {
        for (const block_pattern next : patterns) {
          longer.push_back(each | (arrangement{next} << bits_));
        }
      }
    } else {
      for (std::size_t i = 0; i < most_arrangements; ++i) {
        const arrangement begin = all_[random_.next() % all_.size()];
        longer.push_back(begin |
                         (arrangement{patterns[random_.next() % patterns.size()]} << bits_));
      }
    }
    all_ = std::move(longer);
    bits_ += 2 * runs_each;
  }

  /// One look: rejects the arrangements with the lowest sums while `spent` allows it. `p` is that
  /// of the `observed` sum.
  trial_test look(const score_sums& sums, std::uint32_t observed, double spent) {
    std::vector<std::uint32_t> counted(1);
    for (const arrangement each : all_) {
      const std::uint32_t sum = sums.of(each);
      counted.resize(std::max<std::size_t>(counted.size(), sum + 1));
      ++counted[sum];
    }
    const double weight = all_.empty() ? 0 : (1 - rejected_) / static_cast<double>(all_.size());
    double share = rejected_;
    double p = rejected_;
    std::size_t boundary = 0;
    for (std::size_t sum = 0; sum < counted.size(); ++sum) {
      share += weight * counted[sum];
      p = sum <= observed ? share : p;
      if (share <= spent + rounding) {
        boundary = sum;
        rejected_after_ = share;
      }
    }
    const bool rejected = observed <= boundary && p <= spent + rounding;
    std::erase_if(all_, [&](arrangement each) { return sums.of(each) <= boundary; });
    rejected_ = std::max(rejected_, rejected_after_);
    return {rejected, std::min(p, 1.0)};
  }

 private:
  std::vector<arrangement> all_{0};
  std::size_t bits_ = 0;
  double rejected_ = 0;
  double rejected_after_ = 0;
  model::random_numbers random_{1};
};

std::vector<trial_block> swapped(std::span<const trial_block> blocks) {
  std::vector<trial_block> all;
  for (const trial_block& each : blocks) {
    all.push_back({each.reference, each.candidate});
  }
  return all;
}

/// The point between `accepted` and `rejected` at which the test changes its answer.
template <class Rejects>
double edge(double accepted, double rejected, const Rejects& rejects) {
  constexpr int halvings = 24;
  for (int i = 0; i < halvings; ++i) {
    const double middle = std::midpoint(accepted, rejected);
    (rejects(middle) ? rejected : accepted) = middle;
  }
  return rejected;
}

std::vector<double> differences(std::span<const trial_block> blocks) {
  std::vector<double> all;
  for (const trial_block& block : blocks) {
    for (const double candidate : block.candidate) {
      for (const double reference : block.reference) {
        all.push_back(candidate - reference);
      }
    }
  }
  return all;
}

} // namespace

trial_test test_faster(std::span<const trial_block> blocks, std::span<const double> spent,
                       double margin) {
  arrangements left;
  std::vector<double> figures;
  arrangement observed = 0;
  trial_test now;
  for (std::size_t b = 0; b < blocks.size() && !now.rejected; ++b) {
    const std::size_t runs_each = blocks[b].candidate.size();
    observed |= ((arrangement{1} << runs_each) - 1) << figures.size();
    append_figures(figures, blocks[b], margin);
    const score_sums sums(log_rank_scores(figures), blocks.first(b + 1));
    left.extend(runs_each);
    now = left.look(sums, sums.of(observed), spent[b]);
  }
  return now;
}

trial_test test_slower(std::span<const trial_block> blocks, std::span<const double> spent,
                       double margin) {
  return test_faster(swapped(blocks), spent, -margin);
}

ratio_estimate estimate_ratio(std::span<const trial_block> blocks, std::span<const double> spent) {
  const std::vector<double> all = differences(blocks);
  if (all.empty()) {
    return {1, 0, std::numeric_limits<double>::infinity()};
  }
  const double middle = median_of(all);
  const auto [least, most] = std::ranges::minmax(all);
  const double beyond = (most - least) / 100 + 1e-6;
  const auto faster = [&](double than) { return test_faster(blocks, spent, than).rejected; };
  const auto slower = [&](double than) { return test_slower(blocks, spent, than).rejected; };
  ratio_estimate found{std::exp(middle), 0, std::numeric_limits<double>::infinity()};
  if (faster(most + beyond)) {
    found.high = std::exp(edge(middle, most + beyond, faster));
  }
  if (slower(least - beyond)) {
    found.low = std::exp(edge(middle, least - beyond, slower));
  }
  return found;
}

std::vector<std::size_t> trial_blocks(std::size_t runs_each) {
  std::vector<std::size_t> blocks;
  while (runs_each > 0) {
    blocks.push_back(std::min(runs_each, blocks.empty() ? first_block : later_blocks));
    runs_each -= blocks.back();
  }
  return blocks;
}

std::vector<double> spending(std::span<const std::size_t> blocks, std::size_t runs_each,
                             double error) {
  std::vector<double> spent;
  std::size_t runs = 0;
  for (const std::size_t each : blocks) {
    runs += each;
    spent.push_back(runs >= runs_each
                        ? error
                        : error * static_cast<double>(runs) / static_cast<double>(runs_each));
  }
  return spent;
}

bool can_reject(std::size_t runs_each, double error) {
  double arrangements_of_all = 1;
  for (const std::size_t each : trial_blocks(runs_each)) {
    arrangements_of_all *= static_cast<double>(patterns_of(each).size());
  }
  return arrangements_of_all * error >= 1;
}

} // namespace nodewise::tune
