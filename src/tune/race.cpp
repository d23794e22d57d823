// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "tune/race.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "model/random_numbers.hpp"
#include "tune/location.hpp"

namespace nodewise::tune {

namespace {

constexpr std::size_t least_runs = 6;
constexpr std::size_t most_runs_possible = 32; // test_faster takes no more
constexpr std::size_t runs_to_confirm = 8;     // the first block of a confirmation
constexpr std::size_t fewest_that_reject = 3;  // at an error of 5 %: 1 of 20 arrangements
constexpr double spreads_of_a_far_lead = 3;
constexpr double finest_clock = 1e-5; // as a share of a run

void require_option(bool holds, const char* answered, const char* hint) {
  if (!holds) {
    throw error(error_kind::usage, "starting a race", answered, hint);
  }
}

void check_options(const race_options& options) {
  require_option(options.candidates >= 1, "there is no candidate", "pass at least today's setting");
  require_option(options.most_runs >= least_runs && options.most_runs <= most_runs_possible,
                 "the number of runs of a candidate is out of range", "choose 6 to 32");
  require_option(options.error > 0 && options.error <= 0.5, "the error is out of range",
                 "choose a probability above 0 and up to 0.5, such as 0.05");
  require_option(options.equal >= 0 && options.equal < 1, "the margin of equality is out of range",
                 "choose a share from 0 to 1, such as 0.01");
  require_option(options.most_spread > 0, "the bound of the spread is not above 0",
                 "pass a standard deviation of logarithms, or infinity");
  require_option(options.predicted.empty() || options.predicted.size() == options.candidates,
                 "the number of predictions is not that of the candidates",
                 "pass one for each candidate, or none");
  require_option(
      std::ranges::all_of(options.pinned, [&](auto each) { return each < options.candidates; }),
      "a pinned candidate has a number that no candidate has", "pass numbers of candidates");
}

/// A confirmation that is unlikely to show a difference any more ends: at the beginning if its p is
/// above 0.6, towards the end if it is above 0.1. This makes no error more likely.
bool is_futile(double p, double spent_share) {
  return p > 0.6 - 0.5 * spent_share;
}

} // namespace

race::race(race_options options) : options_(std::move(options)) {
  check_options(options_);
  entries_.resize(options_.candidates);
  if (options_.candidates == 1) {
    finish(verdict::keep);
  } else {
    start_block();
  }
}

std::optional<run_request> race::next() const {
  if (verdict_ != verdict::none) {
    return std::nullopt;
  }
  return run_request{queue_.back(), block_, phase_};
}

void race::record(double figure) {
  if (verdict_ != verdict::none) {
    throw error(error_kind::usage, "recording a run", "the race has ended", "begin another race");
  }
  if (!std::isfinite(figure) || figure <= 0) {
    throw error(error_kind::input, "recording a run",
                fmt::format("{} is not a finite figure above 0", figure),
                "repeat the run, or disqualify the candidate");
  }
  const std::size_t candidate = queue_.back();
  queue_.pop_back();
  const double log = std::log(figure) * (options_.higher_is_better ? -1 : 1);
  warm_ups_ += phase_ == phase::warm_up ? 1U : 0U;
  if (phase_ != phase::warm_up) {
    count_run(candidate, figure);
    logs_.emplace_back(candidate, log);
  } else if (options_.warm_up_counts && warm_ups_ == options_.warm_ups) {
    count_run(candidate, figure);
    counted_log_ = log;
  }
  if (queue_.empty()) {
    end_block();
  }
}

void race::count_run(std::size_t candidate, double figure) {
  ++runs_;
  entry& of = entries_[candidate];
  of.figures.push_back(figure);
  of.confirmation_runs += phase_ == phase::confirmation ? 1U : 0U;
}

void race::disqualify(std::size_t candidate, std::string reason) {
  if (candidate >= entries_.size()) {
    throw error(error_kind::usage, "disqualifying a candidate",
                fmt::format("there is no candidate {}", candidate),
                "pass a number below that of the candidates");
  }
  entry& of = entries_[candidate];
  of.state = candidate_state::disqualified;
  of.reason = std::move(reason);
  if (verdict_ != verdict::none) {
    return;
  }
  if (candidate == todays) {
    finish(verdict::failed);
  } else if (leader_ == candidate) {
    start_confirmation();
  } else if (std::erase(queue_, candidate) > 0 && queue_.empty()) {
    end_block();
  }
}

void race::stop() {
  if (verdict_ == verdict::none) {
    finish(verdict::not_separated);
  }
}

void race::finish(verdict found) {
  verdict_ = found;
  queue_.clear();
}

/// Starts what comes after a whole block.
void race::start_block() {
  if (warm_ups_ < options_.warm_ups) {
    queue_.assign(1, todays);
    block_ = warm_ups_;
  } else if (race_goes_on()) {
    start_race_block();
  } else {
    start_confirmation();
  }
}

void race::end_block() {
  switch (phase_) {
  case phase::warm_up:
    return start_block();
  case phase::race:
    return end_race_block();
  case phase::confirmation:
    return end_trial_block();
  }
}

/// The order depends on the seed, the phase and the block alone, so that a replay has the same.
void race::shuffle_queue() {
  model::random_numbers seeds(options_.seed);
  const auto of_phase = static_cast<std::uint64_t>(phase_) << 32U;
  model::random_numbers random(seeds.next() ^ of_phase ^ block_);
  for (std::size_t i = queue_.size(); i > 1; --i) {
    const auto other = static_cast<std::size_t>(random.uniform() * static_cast<double>(i));
    std::swap(queue_[i - 1], queue_[other]);
  }
}

bool race::race_goes_on() const {
  const std::size_t blocks = entries_[todays].race_logs.size();
  const std::size_t still = survivors().size();
  // Without a prediction a first block is better than a guess, even if no run is left to confirm.
  const bool must = blocks == 0 && options_.predicted.empty();
  return still > 2 && blocks < most_race_blocks(options_.candidates, options_.most_runs) &&
         runs_left() >= still + (must ? 0 : runs_to_confirm);
}

void race::start_race_block() {
  phase_ = phase::race;
  block_ = entries_[todays].race_logs.size();
  logs_.clear();
  queue_ = survivors();
  if (counted_log_) {
    logs_.emplace_back(todays, *counted_log_);
    counted_log_.reset();
    std::erase(queue_, todays);
  }
  shuffle_queue();
}

void race::end_race_block() {
  for (const auto& [candidate, log] : logs_) {
    entries_[candidate].race_logs.push_back(log);
  }
  const std::vector<std::size_t> stay = staying(
      rows(), options_.candidates, most_race_blocks(options_.candidates, options_.most_runs),
      spread(), options_.most_spread);
  for (const std::size_t each : survivors()) {
    if (std::ranges::find(stay, each) == stay.end()) {
      entries_[each].state = candidate_state::set_aside;
    }
  }
  start_block();
}

void race::start_confirmation() {
  leader_.reset();
  trial_.clear();
  const std::vector<ranked_row> order = ranked(rows(), spread());
  const bool raced = !entries_[todays].race_logs.empty();
  const auto at = [&](std::size_t candidate) {
    return std::ranges::find(order, candidate, &ranked_row::candidate)->at;
  };
  // A lead that would count as equal is not worth a confirmation.
  if (order.size() < 2 || (raced && at(todays) <= order.front().at + std::log1p(options_.equal))) {
    finish(verdict::keep);
    return;
  }
  const ranked_row leader = leader_of(order, raced ? at(todays) - std::log1p(options_.equal)
                                                   : std::numeric_limits<double>::infinity());
  leader_ = leader.candidate;
  entries_[*leader_].state = candidate_state::leader;
  const std::size_t most_so_far =
      std::max(entries_[todays].figures.size(), entries_[*leader_].figures.size());
  // A lead far beyond the known spread is confirmed by the fewest runs that can: three each.
  const bool far = raced && can_reject(fewest_that_reject, options_.error) &&
                   at(todays) - leader.at > spreads_of_a_far_lead * options_.most_spread;
  const std::size_t most_each = std::min({options_.most_runs - most_so_far, runs_left() / 2,
                                          far ? fewest_that_reject : options_.most_runs});
  trial_sizes_ = trial_blocks(most_each);
  spent_ = spending(trial_sizes_, most_each, options_.error);
  if (can_reject(most_each, options_.error)) {
    start_trial_block();
  } else {
    finish(verdict::not_separated);
  }
}

/// The best but today's, or a pinned one that is as good as far as the noise shows, even if it was
/// set aside after the last block. Its location is below `most`.
ranked_row race::leader_of(const std::vector<ranked_row>& order, double most) const {
  const ranked_row& best = order[order.front().candidate == todays ? 1 : 0];
  const std::size_t blocks = entries_[best.candidate].race_logs.size();
  std::vector<race_row> pinned;
  for (const std::size_t each : options_.pinned) {
    const entry& of = entries_[each];
    const bool raced = blocks > 0 && of.race_logs.size() == blocks;
    if (each != todays && raced && of.state != candidate_state::disqualified) {
      pinned.push_back({each, of.race_logs, 1});
    }
  }
  if (pinned.empty()) {
    return best;
  }
  const double noise = spread();
  const ranked_row steady = ranked(pinned, noise).front();
  const double known_noise = std::isfinite(options_.most_spread) ? options_.most_spread / 2 : 0;
  const double hidden = std::max(error_between(steady, best, noise), known_noise);
  return steady.at - best.at <= hidden && steady.at < most ? steady : best;
}

void race::start_trial_block() {
  phase_ = phase::confirmation;
  block_ = trial_.size();
  logs_.clear();
  queue_.assign(trial_sizes_[block_], todays);
  queue_.insert(queue_.end(), trial_sizes_[block_], leader_.value_or(todays));
  shuffle_queue();
}

void race::end_trial_block() {
  trial_block& block = trial_.emplace_back();
  for (const auto& [candidate, log] : logs_) {
    (candidate == todays ? block.reference : block.candidate).push_back(log);
  }
  const verdict found = trial_verdict();
  if (found == verdict::none) {
    start_trial_block();
  } else {
    finish(found);
  }
}

verdict race::trial_verdict() const {
  const trial_test faster = test_faster(trial_, spent_, 0);
  if (faster.rejected) {
    return verdict::winner;
  }
  const double margin = std::log1p(options_.equal);
  if (test_faster(trial_, spent_, margin).rejected &&
      test_slower(trial_, spent_, -margin).rejected) {
    return verdict::equal;
  }
  if (test_slower(trial_, spent_, 0).rejected) {
    return verdict::keep;
  }
  const bool last = trial_.size() == trial_sizes_.size();
  return last || is_futile(faster.p, spent_[trial_.size() - 1] / options_.error)
             ? verdict::not_separated
             : verdict::none;
}

std::vector<std::size_t> race::survivors() const {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].state == candidate_state::racing) {
      all.push_back(i);
    }
  }
  return all;
}

std::vector<race_row> race::rows() const {
  std::vector<race_row> all;
  for (const std::size_t each : survivors()) {
    all.push_back({each, entries_[each].race_logs,
                   options_.predicted.empty() ? 1 : options_.predicted[each]});
  }
  return all;
}

double race::spread() const {
  std::vector<std::vector<double>> runs;
  runs.reserve(entries_.size());
  for (const entry& each : entries_) {
    runs.push_back(each.race_logs);
  }
  return std::max(pooled_spread(runs), finest_clock);
}

std::size_t race::runs_left() const {
  return options_.most_runs_of_all == 0 ? std::numeric_limits<std::size_t>::max()
                                        : options_.most_runs_of_all - runs_;
}

} // namespace nodewise::tune
