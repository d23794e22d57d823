// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// When a program's threads were where, and when they used which memory: in intervals of equal
// length, so that the size has a bound.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "profile/profile.hpp"

namespace nodewise::attribution {

/// The intervals of an observation.
class interval_grid {
 public:
  interval_grid(std::uint64_t begin_ns, std::uint64_t end_ns) noexcept;

  /// Times outside of the observation belong to its first or last interval.
  [[nodiscard]] std::uint64_t at(std::uint64_t time_ns) const noexcept;
  [[nodiscard]] double length_s() const noexcept;

 private:
  std::uint64_t begin_ns_;
  std::uint64_t length_ns_;
};

/// Events arrive in the order of time.
class program_in_time {
 public:
  void see(std::uint64_t interval, profile::thread_index who, node_id where);
  void use(std::uint64_t interval, node_id from, node_id memory);

  /// Until `last`, the interval in which the thread ended.
  [[nodiscard]] std::vector<profile::node_run> seen(profile::thread_index who,
                                                    std::uint64_t last) const;
  [[nodiscard]] std::vector<profile::timed_uses> uses() const;

 private:
  struct thread_track {
    std::vector<profile::node_run> runs;      ///< before `interval`
    std::uint64_t interval = 0;               ///< of the latest sample
    std::map<node_id, std::uint64_t> samples; ///< in it
    node_id latest = unknown_node;
  };

  std::map<profile::thread_index, thread_track> threads_;
  std::map<std::uint64_t, std::map<std::pair<node_id, node_id>, double>> uses_;
};

} // namespace nodewise::attribution
