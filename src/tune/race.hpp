// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A race of candidate settings of one program, from its first run to the verdict. Pure computation:
// `next()` names the run to do, `record()` takes its figure. The state is a function of the options
// and of the list of events, so a race is resumed by replaying them.
//
// Selection and claim are separate.
//
// 1. The race selects. In each block every candidate that is still in the race runs once, in random
//    order, so that drift affects all alike (randomised complete blocks: R. A. Fisher, The Design
//    of Experiments). After a block, candidates that are probably not the best are set aside, and
//    ever fewer may stay (races: O. Maron and A. Moore, NIPS 6, 1993; M. López-Ibáñez et al., "The
//    irace package", 2016; successive halving: K. Jamieson and A. Talwalkar, AISTATS 2016). A
//    candidate that is set aside is not claimed to be slower.
// 2. The confirmation claims. The leader and today's setting run in blocks of random order
//    (trial.hpp). Its runs are fresh, so no correction for the number of candidates is necessary,
//    and the leader's luck in the race does not count. A false winner has at most the probability
//    `error`, whatever the noise, under the hypothesis that the leader's figures have today's
//    distribution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tune/selection.hpp"
#include "tune/trial.hpp"

namespace nodewise::tune {

/// The candidate with number 0: the setting of today, which runs in each block.
inline constexpr std::size_t todays = 0;

struct race_options {
  std::size_t candidates = 1; ///< with today's setting
  std::uint64_t seed = 1;     ///< of the order of runs
  /// Runs of today's setting that are made first and not compared: they fill caches of files.
  std::size_t warm_ups = 1;
  /// The last warm-up is also the run of today's setting in the first block: nothing is warmed up.
  bool warm_up_counts = false;
  /// Of a candidate, in race and confirmation together, without warm-ups; 6 to 32.
  std::size_t most_runs = 12;
  std::size_t most_runs_of_all = 0; ///< without warm-ups; 0: no limit
  double error = 0.05;              ///< the probability of a false claim, 0..1
  double equal = 0.01;              ///< ratios from 1 / (1 + equal) to 1 + equal count as equal
  bool higher_is_better = false;
  /// For each candidate the ratio of its figure to today's that a model predicts; empty if there is
  /// no prediction. It decides only between candidates whose measured figures are the same.
  std::vector<double> predicted = {};
  /// Candidates that pin their threads: their figures depend less on where threads happen to run.
  /// The best of them leads if it is behind the best of all by at most one standard error, or by at
  /// most half of `most_spread`.
  std::vector<std::size_t> pinned = {};
  /// Logarithms of figures have at most this standard deviation; infinity: unknown. A lead of more
  /// than three of it is confirmed, or not, by three runs of both.
  double most_spread = std::numeric_limits<double>::infinity();
};

enum class phase { warm_up, race, confirmation };

/// The next run.
struct run_request {
  std::size_t candidate = 0;
  std::size_t block = 0; ///< from 0 in each phase
  phase in = phase::race;

  friend bool operator==(const run_request&, const run_request&) = default;
};

enum class candidate_state {
  racing,       ///< also when the race has ended: it was never set aside
  set_aside,    ///< probably not the best; not claimed to be slower
  disqualified, ///< it crashed or gave a wrong result
  leader,       ///< selected for the confirmation
};

/// What is known of a candidate. Ratios are of its figures to today's; below 1 is better. (If
/// higher figures are better, they are ratios of reciprocals.)
struct candidate_standing {
  candidate_state state = candidate_state::racing;
  std::size_t race_runs = 0;
  std::size_t confirmation_runs = 0;
  double median = 0; ///< of its figures in race and confirmation, as recorded; 0 without figures
  /// From the race alone, in the blocks that both ran. The interval is approximate (Student's t of
  /// the pooled spread, 95 % for each candidate by itself); bench/races.cpp measures how often it
  /// holds the true ratio. 0 and infinity if no candidate ran twice, or this one not at all.
  ratio_estimate to_todays;
  ratio_estimate to_leader; ///< likewise; 1 and no bounds without a leader
  std::string reason;       ///< of the disqualification
};

enum class verdict {
  none,          ///< the race has not ended
  winner,        ///< the leader is faster than today's setting
  equal,         ///< the leader and today's setting differ by less than `equal`
  keep,          ///< no candidate was ahead of today's setting by more than `equal`, or the leader
                 ///< is slower
  not_separated, ///< the runs did not show a difference
  failed,        ///< today's setting was disqualified
};

/// What is known now.
struct race_standing {
  std::vector<candidate_standing> candidates;
  verdict result = verdict::none;
  std::optional<std::size_t> leader;
  /// The leader's figures to today's, from the confirmation alone; without one, 1 and no bounds.
  ratio_estimate gain;
  double p = 1;                   ///< of the confirmation's test that the leader is faster
  std::size_t warm_ups = 0;       ///< runs so far
  std::size_t runs = 0;           ///< without warm-ups
  std::size_t most_runs_left = 0; ///< if no other candidate is set aside
};

class race {
 public:
  /// Throws an error of kind usage if an option is out of its range.
  explicit race(race_options options);

  /// The run to do now; nullopt when the race has ended.
  [[nodiscard]] std::optional<run_request> next() const;
  /// The figure of the run that `next()` names: seconds, or any other positive number. Throws an
  /// error of kind input, and changes nothing, if it is not finite and above 0; of kind usage if
  /// the race has ended.
  void record(double figure);
  /// Takes a candidate out, at any time; its remaining runs are dropped. If it is the leader, the
  /// next best that is still in the race is confirmed instead; if it is today's setting, the race
  /// has failed. Throws an error of kind usage if there is no such candidate.
  void disqualify(std::size_t candidate, std::string reason);
  /// Ends the race now, for example because the time for it is spent: nothing is claimed.
  void stop();

  /// Cheap; the intervals of `standing()` take milliseconds.
  [[nodiscard]] verdict result() const noexcept { return verdict_; }
  [[nodiscard]] std::optional<std::size_t> leader() const noexcept { return leader_; }
  [[nodiscard]] std::size_t runs() const noexcept { return runs_; } ///< without warm-ups
  [[nodiscard]] std::size_t most_runs_left() const; ///< if no other candidate is set aside
  [[nodiscard]] race_standing standing() const;

 private:
  struct entry {
    candidate_state state = candidate_state::racing;
    std::vector<double> race_logs; ///< by block; only of whole blocks
    std::vector<double> figures;   ///< of race and confirmation, as recorded
    std::size_t confirmation_runs = 0;
    std::string reason;
  };

  void count_run(std::size_t candidate, double figure);
  void start_block();
  void start_race_block();
  void start_confirmation();
  [[nodiscard]] ranked_row leader_of(const std::vector<ranked_row>& order, double most) const;
  void start_trial_block();
  void end_block();
  void end_race_block();
  void end_trial_block();
  void finish(verdict found);
  void shuffle_queue();
  [[nodiscard]] bool race_goes_on() const;
  [[nodiscard]] std::vector<std::size_t> survivors() const;
  [[nodiscard]] std::vector<race_row> rows() const; ///< of the survivors
  [[nodiscard]] double spread() const;
  [[nodiscard]] std::size_t runs_left() const;
  [[nodiscard]] verdict trial_verdict() const;
  [[nodiscard]] candidate_standing standing_of(std::size_t candidate) const;
  [[nodiscard]] ratio_estimate ratio(std::size_t candidate, std::size_t to) const;

  race_options options_;
  std::vector<entry> entries_;
  phase phase_ = phase::warm_up;
  std::size_t block_ = 0;
  std::vector<std::size_t> queue_;                   ///< of this block; the last one runs next
  std::vector<std::pair<std::size_t, double>> logs_; ///< of this block so far
  std::vector<trial_block> trial_;
  std::vector<std::size_t> trial_sizes_;
  std::vector<double> spent_;
  std::optional<std::size_t> leader_;
  verdict verdict_ = verdict::none;
  std::size_t warm_ups_ = 0;
  std::optional<double> counted_log_; ///< of the warm-up that counts, until its block begins
  std::size_t runs_ = 0;
};

} // namespace nodewise::tune
