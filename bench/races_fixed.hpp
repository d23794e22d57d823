// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a race is compared with: designs that decide in advance how often each candidate runs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "races_noise.hpp"

namespace nodewise::races {

/// The logarithm of each candidate's true figure; 0 is today's setting.
using truth = std::vector<double>;
/// Figures by candidate, all equally many.
using figures = std::vector<std::vector<double>>;

/// Whether choosing a candidate counts as right: it is the best or within 2 % of it.
inline bool is_good(const truth& of, std::size_t candidate) {
  return of[candidate] - std::ranges::min(of) <= std::log(1.02) + 1e-9;
}

/// Each block runs every candidate once. The order in a block does not matter to these noises
/// except through their neighbours, so it is that of the numbers, rotated.
inline figures in_blocks(const truth& of, std::size_t runs, noise& with) {
  figures all(of.size());
  for (std::size_t block = 0; block < runs; ++block) {
    for (std::size_t i = 0; i < of.size(); ++i) {
      const std::size_t candidate = (i + block * 5) % of.size();
      all[candidate].push_back(of[candidate] + with.next());
    }
  }
  return all;
}

inline figures in_a_row(const truth& of, std::size_t runs, noise& with) {
  figures all(of.size());
  for (std::size_t candidate = 0; candidate < of.size(); ++candidate) {
    for (std::size_t i = 0; i < runs; ++i) {
      all[candidate].push_back(of[candidate] + with.next());
    }
  }
  return all;
}

/// What replaces the figures before means are compared.
enum class scores { logs, ranks, savage };

inline void replace_by_ranks(figures& all, scores by) {
  std::vector<double*> sorted;
  for (auto& row : all) {
    for (double& each : row) {
      sorted.push_back(&each);
    }
  }
  std::ranges::sort(sorted, [](const double* a, const double* b) { return *a < *b; });
  double tail = 0;
  for (std::size_t i = sorted.size(); i > 0; --i) {
    const double rank = static_cast<double>(i);
    tail += 1 / rank;
    *sorted[i - 1] = by == scores::ranks ? rank : -tail;
  }
}

inline double mean(std::span<const double> of) {
  double sum = 0;
  for (const double each : of) {
    sum += each;
  }
  return sum / static_cast<double>(of.size());
}

/// The sum of squared distances to the mean.
inline double squares(std::span<const double> of) {
  const double middle = mean(of);
  double sum = 0;
  for (const double each : of) {
    sum += (each - middle) * (each - middle);
  }
  return sum;
}

/// A candidate and how far it is ahead of today's setting, in standard errors.
using claim = std::pair<std::size_t, double>;

/// C. W. Dunnett's statistic (JASA 50, 1955): the largest t of a candidate against today's setting,
/// with the spread of all candidates pooled.
inline claim largest_t(figures all, scores by) {
  if (by != scores::logs) {
    replace_by_ranks(all, by);
  }
  const double runs = static_cast<double>(all.front().size());
  double rest = 0;
  claim best{0, -std::numeric_limits<double>::infinity()};
  const double today = mean(all.front());
  for (std::size_t i = 0; i < all.size(); ++i) {
    rest += squares(all[i]);
    const double ahead = today - mean(all[i]);
    if (i > 0 && ahead > best.second) {
      best = {i, ahead};
    }
  }
  const double variance = rest / (runs - 1) / static_cast<double>(all.size());
  return {best.first, best.second / std::sqrt(2 * variance / runs + 1e-18)};
}

/// The exact one-sided p of F. Wilcoxon's signed-rank test that the differences are below 0.
class signed_ranks {
 public:
  /// For up to that many differences.
  explicit signed_ranks(std::size_t most) {
    counts_.push_back({1.0});
    for (std::size_t n = 1; n <= most; ++n) {
      const std::vector<double>& before = counts_.back();
      std::vector<double> now(n * (n + 1) / 2 + 1);
      for (std::size_t sum = 0; sum < now.size(); ++sum) {
        now[sum] = (sum < before.size() ? before[sum] / 2 : 0) +
                   (sum >= n && sum - n < before.size() ? before[sum - n] / 2 : 0);
      }
      counts_.push_back(std::move(now));
    }
  }
  [[nodiscard]] double p(std::vector<double> differences) const {
    std::ranges::sort(differences, {}, [](double each) { return std::abs(each); });
    std::size_t positive = 0;
    for (std::size_t i = 0; i < differences.size(); ++i) {
      positive += differences[i] > 0 ? i + 1 : 0;
    }
    const std::vector<double>& chances = counts_[differences.size()];
    double sum = 0;
    for (std::size_t i = 0; i <= positive; ++i) {
      sum += chances[i];
    }
    return sum;
  }

 private:
  std::vector<std::vector<double>> counts_;
};

/// The candidate with the least p and that p's tail, corrected for the number of candidates.
inline claim smallest_p(const figures& all, const signed_ranks& test) {
  claim best{0, std::numeric_limits<double>::infinity()};
  double ahead = std::numeric_limits<double>::infinity();
  for (std::size_t i = 1; i < all.size(); ++i) {
    std::vector<double> differences;
    for (std::size_t k = 0; k < all[i].size(); ++k) {
      differences.push_back(all[i][k] - all[0][k]);
    }
    const double middle = tune::median_of(differences);
    const double p = test.p(std::move(differences)) * static_cast<double>(all.size() - 1);
    if (p <= 0.05 && middle < ahead) {
      ahead = middle;
      best = {i, p};
    }
  }
  return best;
}

} // namespace nodewise::races
