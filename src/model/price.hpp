// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Computes the time of traffic, and which parts of the machine it waits for. Memories, links and
// cores are shared max-min fairly; a thread that has ended leaves its share to the others
// (docs/model.md).
#pragma once

#include "model/traffic.hpp"

namespace nodewise::model {

enum class resource_kind {
  memory, ///< of a node
  link,
  core,   ///< the lines that a node's cores can have in flight
  thread, ///< a thread's own limit if memory cost nothing
};

/// A part of the machine in a prediction.
struct resource_load {
  resource_kind kind = resource_kind::memory;
  std::size_t at = 0;     ///< position of the node, or of the link
  double bytes_per_s = 0; ///< its capacity
  double busy = 0;        ///< 0..1, over the whole time
  double bound = 0;       ///< 0..1: share of the threads' time spent waiting for it
};

struct prediction {
  double seconds = 0;
  double bytes = 0;
  std::vector<resource_load> loads; ///< of all that is used; the one that binds most first

  [[nodiscard]] double bytes_per_s() const noexcept { return seconds > 0 ? bytes / seconds : 0; }
};

/// Records what each shared part of the machine does over time.
class ledger {
 public:
  /// Resources are those of `of`: memories, links, then cores of the nodes in `core_nodes`.
  ledger(const machine_costs& on, const fair_share& of, std::vector<std::size_t> core_nodes);

  /// Advances time: all active flows go on at the rates last solved.
  void pass(const std::vector<flow>& flows, double seconds);
  [[nodiscard]] double seconds() const noexcept { return seconds_; }

  /// The loads of all resources that were used; those waited for most come first.
  [[nodiscard]] std::vector<resource_load> loads() const;

 private:
  [[nodiscard]] resource_load named(std::size_t resource) const;

  const machine_costs& on_;
  const fair_share& share_;
  std::vector<std::size_t> core_nodes_;
  std::vector<double> moved_; ///< by resource
  std::vector<double> bound_; ///< thread seconds, by resource
  double own_bound_ = 0;
  double thread_seconds_ = 0;
  double seconds_ = 0;
};

enum class work {
  fixed,  ///< each thread has its own: static schedules; ends with the last thread
  pooled, ///< faster threads do more: dynamic schedules; all end together
};

/// Throws `error` (input) for traffic with a node without memory.
[[nodiscard]] prediction price(const machine_costs& on, const traffic& what,
                               work how = work::fixed);

} // namespace nodewise::model
