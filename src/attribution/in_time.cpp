// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "attribution/in_time.hpp"

#include <algorithm>

namespace nodewise::attribution {

namespace {

void add_run(std::vector<profile::node_run>& to, std::uint64_t first, std::uint64_t end,
             node_id node) {
  if (first >= end) {
    return;
  }
  if (!to.empty() && to.back().node == node && to.back().first + to.back().count == first) {
    to.back().count += end - first;
  } else {
    to.push_back({first, end - first, node});
  }
}

node_id most_seen(const std::map<node_id, std::uint64_t>& samples) {
  return std::ranges::max_element(samples, {}, [](const auto& each) { return each.second; })->first;
}

} // namespace

interval_grid::interval_grid(std::uint64_t begin_ns, std::uint64_t end_ns) noexcept
    : begin_ns_(begin_ns),
      length_ns_(end_ns > begin_ns ? (end_ns - begin_ns) / profile::most_intervals + 1 : 1) {}

std::uint64_t interval_grid::at(std::uint64_t time_ns) const noexcept {
  const std::uint64_t since = time_ns > begin_ns_ ? time_ns - begin_ns_ : 0;
  return std::min(since / length_ns_, profile::most_intervals - 1);
}

double interval_grid::length_s() const noexcept {
  return static_cast<double>(length_ns_) * 1e-9;
}

void program_in_time::see(std::uint64_t interval, profile::thread_index who, node_id where) {
  thread_track& of = threads_[who];
  if (!of.samples.empty() && interval > of.interval) {
    add_run(of.runs, of.interval, of.interval + 1, most_seen(of.samples));
    add_run(of.runs, of.interval + 1, interval, of.latest);
    of.samples.clear();
  }
  of.interval = of.samples.empty() ? interval : of.interval;
  ++of.samples[where];
  of.latest = where;
}

void program_in_time::use(std::uint64_t interval, node_id from, node_id memory) {
  uses_[interval][{from, memory}] += 1;
}

std::vector<profile::node_run> program_in_time::seen(profile::thread_index who,
                                                     std::uint64_t last) const {
  const auto found = threads_.find(who);
  if (found == threads_.end()) {
    return {};
  }
  const thread_track& of = found->second;
  std::vector<profile::node_run> runs = of.runs;
  add_run(runs, of.interval, of.interval + 1, most_seen(of.samples));
  add_run(runs, of.interval + 1, last + 1, of.latest);
  return runs;
}

std::vector<profile::timed_uses> program_in_time::uses() const {
  std::vector<profile::timed_uses> made;
  for (const auto& [interval, between] : uses_) {
    profile::timed_uses& run = made.emplace_back(profile::timed_uses{interval, 1, {}});
    for (const auto& [nodes, amount] : between) {
      run.by.push_back({nodes.first, nodes.second, amount});
    }
  }
  return made;
}

} // namespace nodewise::attribution
