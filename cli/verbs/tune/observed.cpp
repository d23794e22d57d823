// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/tune/observed.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <sstream>

#include <unistd.h>

#include <fmt/core.h>

#include "sys/kernel.hpp"
#include "tune/detection.hpp"

namespace nodewise::cli {

namespace {

/// Begin of each run, in seconds of running time since the first one.
std::vector<double> begins_of(const std::vector<tune::logged_run>& runs) {
  std::vector<double> begins;
  double passed = 0;
  for (const tune::logged_run& each : runs) {
    begins.push_back(passed);
    passed += each.wall_s;
  }
  return begins;
}

/// Processor time since the start of the system, of all programs and the kernel, also that which
/// other virtual machines took. The first line of /proc/stat counts in clock ticks: user, nice,
/// system, idle, iowait, irq, softirq, steal.
std::optional<double> busy_seconds() {
  std::istringstream file(sys::real_kernel().read_file("/proc/stat").value);
  std::string word;
  file >> word;
  std::array<double, 8> ticks{};
  for (double& each : ticks) {
    file >> each;
  }
  constexpr std::size_t idle = 3;
  constexpr std::size_t waiting = 4;
  return file ? std::optional((std::accumulate(ticks.begin(), ticks.end(), 0.0) - ticks[idle] -
                               ticks[waiting]) /
                              static_cast<double>(::sysconf(_SC_CLK_TCK)))
              : std::nullopt;
}

std::string percent_text(double ratio) {
  return fmt::format("{:.1f} %", ratio * 100);
}

} // namespace

void conditions_watch::before_run(const machine& of) {
  busy_before_ = watches_others_ ? busy_seconds() : std::nullopt;
  for (const memory_node& node : of.nodes) {
    const auto now = sys::read_node_memory(sys::real_kernel(), node.id);
    if (now && now->total_bytes != 0) {
      seen& known =
          nodes_.try_emplace(node.id, seen{now->total_bytes, now->free_bytes, 0}).first->second;
      known.least = std::min(known.least, now->free_bytes);
      known.most = std::max(known.most, now->free_bytes);
    }
  }
}

void conditions_watch::after_run(const sys::timed_end& run) {
  constexpr std::uint64_t notable = std::uint64_t{1} << 20;
  ++runs_;
  disk_runs_ += run.disk_bytes >= notable ? 1 : 0;
  most_disk_bytes_ = std::max(most_disk_bytes_, run.disk_bytes);
  const auto busy = busy_seconds();
  if (busy && busy_before_) {
    seconds_ += run.wall_seconds;
    others_seconds_ += *busy - *busy_before_ - run.user_seconds - run.system_seconds;
  }
}

std::vector<std::string> conditions_watch::remarks() const {
  std::vector<std::string> made;
  for (const auto& [node, known] : nodes_) {
    if (known.most - known.least > known.total / 10) {
      made.push_back(fmt::format("the free memory of node {} differed between runs: {} to {}", node,
                                 report::format_bytes(known.least),
                                 report::format_bytes(known.most)));
    }
  }
  if (disk_runs_ != 0) {
    made.push_back(fmt::format("{} of {} runs read from disks, up to {}: their files were not all "
                               "in the page cache",
                               disk_runs_, runs_, report::format_bytes(most_disk_bytes_)));
  }
  constexpr double least_seconds = 1; // the kernel counts hundredths
  constexpr double few = 0.1;
  if (seconds_ >= least_seconds && others_seconds_ > few * seconds_) {
    made.push_back(
        fmt::format("other programs used {:.1f} processors during the runs, which favours "
                    "settings with fewer threads; repeat this on an idle machine",
                    others_seconds_ / seconds_));
  }
  return made;
}

void add_observations(tuned& to, const conditions_watch& conditions) {
  std::ranges::move(conditions.remarks(), std::back_inserter(to.remarks));
  if (!to.lab.empty()) { // figures are counts
    return;
  }
  std::vector<double> logs;
  std::vector<std::size_t> candidates;
  std::vector<tune::logged_run> runs;
  std::vector<std::vector<double>> rows(to.settings.size());
  for (const tune::logged_run& each : to.runs) {
    if (each.run.in != tune::phase::warm_up) {
      logs.push_back(std::log(each.figure));
      candidates.push_back(each.run.candidate);
      rows[each.run.candidate].push_back(logs.back());
      runs.push_back(each);
    }
  }
  const std::vector<double> noise = tune::residuals(logs, candidates);
  constexpr double sure = 0.01;
  constexpr double shortest = 60; // a trend of a few seconds says nothing of an hour
  const std::vector<double> begins = begins_of(runs);
  const bool is_long = !begins.empty() && begins.back() - begins.front() >= shortest;
  if (const auto trend = tune::trend_of(begins, noise); is_long && trend.p < sure) {
    to.remarks.push_back(fmt::format("figures drifted by {} an hour; runs in random order are "
                                     "affected alike",
                                     percent_text(trend.per_hour)));
  }
  if (const auto modes = tune::modes_of(noise); modes.two) {
    to.remarks.push_back(fmt::format("runs fall into two groups, {} apart; {} of them are in the "
                                     "slower one",
                                     percent_text(modes.apart), percent_text(modes.slow_share)));
  }
  if (const auto disturbed = tune::disturbed_runs(noise).size(); disturbed != 0) {
    to.remarks.push_back(
        fmt::format("{} of {} runs took much longer than the others of their setting", disturbed,
                    noise.size()));
  }
  if (const auto first = tune::first_runs_of(rows); first.p < sure) {
    to.remarks.push_back(
        fmt::format("the first runs of settings took {:.2f} times as long as later "
                    "ones",
                    first.ratio));
  }
}

} // namespace nodewise::cli
