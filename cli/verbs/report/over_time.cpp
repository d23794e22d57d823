// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/verbs/report/arrays_picture.hpp"
#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/profile.hpp"
#include "drawing/chart.hpp"
#include "drawing/colours.hpp"

namespace nodewise::cli {

namespace {

using html::cell_kind;

constexpr std::size_t most_threads_drawn = 64;
constexpr std::uint64_t steps =
    drawing::strip_columns; ///< of a strip: its runs begin and end with them

double observed_s(const profile::profile& of) {
  double longest = 0;
  for (const profile::program& each : of.programs) {
    longest = std::max(longest, each.interval_s * static_cast<double>(profile::most_intervals));
  }
  return longest;
}

/// Programs of several profiles have intervals of different lengths; the strips have one scale.
class time_scale {
 public:
  explicit time_scale(const profile::profile& of)
      : step_s_(observed_s(of) / static_cast<double>(steps)) {}

  [[nodiscard]] double step_s() const noexcept { return step_s_; }
  [[nodiscard]] drawing::strip_run run_of(const profile::program& in, std::uint64_t first,
                                          std::uint64_t count) const {
    const auto step = [&](std::uint64_t interval) {
      return static_cast<std::uint64_t>(
          std::llround(static_cast<double>(interval) * in.interval_s / step_s_));
    };
    return {step(first), step(first + count) - step(first), {}};
  }

 private:
  double step_s_;
};

std::size_t threads_seen(const profile::program& in) {
  return in.interval_s > 0 ? static_cast<std::size_t>(std::ranges::count_if(
                                 in.threads, [](const auto& each) { return !each.seen.empty(); }))
                           : 0;
}

std::string name_of(const profile::thread& which) {
  return which.main ? "main" : fmt::format("{} {}", which.name, which.tid);
}

void add_each_thread(const profile::program& in, const time_scale& scale, drawing::strips& into) {
  for (const profile::thread& each : in.threads) {
    if (each.seen.empty()) {
      continue;
    }
    drawing::strip& band = into.bands.emplace_back(drawing::strip{name_of(each), {}});
    for (const profile::node_run& run : each.seen) {
      band.runs.push_back(scale.run_of(in, run.first, run.count));
      band.runs.back().shares = {{run.node, 1}};
    }
  }
}

/// How the threads were divided among nodes in each interval.
void add_all_threads(const profile::program& in, const time_scale& scale, drawing::strips& into) {
  std::map<std::uint64_t, std::map<node_id, double>> threads;
  for (const profile::thread& each : in.threads) {
    for (const profile::node_run& run : each.seen) {
      for (std::uint64_t i = run.first; i < run.first + run.count; ++i) {
        threads[i][run.node] += 1;
      }
    }
  }
  drawing::strip& band = into.bands.emplace_back(drawing::strip{in.name, {}});
  for (const auto& [interval, nodes] : threads) {
    double all = 0;
    for (const auto& [node, count] : nodes) {
      all += count;
    }
    band.runs.push_back(scale.run_of(in, interval, 1));
    for (const auto& [node, count] : nodes) {
      band.runs.back().shares.emplace_back(node, count / all);
    }
  }
}

std::size_t all_threads_seen(const profile::profile& of) {
  std::size_t seen = 0;
  for (const profile::program& each : of.programs) {
    seen += threads_seen(each);
  }
  return seen;
}

void add_threads_in_time(const profile_parts& of, std::size_t seen, html::section& made,
                         report_page& into) {
  const time_scale scale(of.what);
  const bool each_alone = seen <= most_threads_drawn;
  std::vector<drawn_array> rows;
  for (const profile::program& each : of.what.programs) {
    if (const std::size_t threads = threads_seen(each); threads > 0) {
      drawing::strips drawn{steps, {}, "seconds", scale.step_s()};
      each_alone ? add_each_thread(each, scale, drawn) : add_all_threads(each, scale, drawn);
      rows.push_back({fmt::format("{}, {}, from 0 s to {:.3g} s", each.name,
                                  counted(threads, "thread"), observed_s(of.what)),
                      {std::move(drawn)}});
    }
  }
  into.add_figure(
      made, "threads-in-time",
      picture_of_arrays("Where threads were over time",
                        "A strip for each thread, or for all threads of a program, from the start "
                        "of the observation to its end, coloured by node.",
                        rows),
      fmt::format("{} An interval without a sample has the node where the thread was last seen. "
                  "Dashed: it was not seen, or did not run.",
                  each_alone ? "A strip for each thread."
                             : fmt::format("A strip for each program, which shows how its threads "
                                           "were divided among nodes: more than {} were seen.",
                                           most_threads_drawn)),
      {});
}

/// Sampled accesses in one interval.
struct timed_sum {
  double local = 0;
  double remote = 0;
  double unknown = 0;
};

std::map<double, timed_sum> sums_in(const profile::program& in) {
  std::map<double, timed_sum> all; // by the middle of the interval
  for (const profile::timed_uses& run : in.uses_in_time) {
    const double middle =
        (static_cast<double>(run.first) + static_cast<double>(run.count) / 2) * in.interval_s;
    timed_sum& sum = all[middle];
    for (const profile::node_use& each : run.by) {
      const bool known = each.from != unknown_node && each.memory != unknown_node;
      (!known ? sum.unknown : each.from == each.memory ? sum.local : sum.remote) += each.amount;
    }
  }
  return all;
}

std::string why_no_times(const profile::profile& of) {
  const auto sampled = [](const profile::program& each) {
    return each.use_from == profile::use_source::hinting_faults;
  };
  if (of.seen.counts) {
    return "the lab counts cache lines without their times";
  }
  if (std::ranges::none_of(of.programs, sampled)) {
    return "accesses were not sampled";
  }
  return std::ranges::all_of(of.programs,
                             [](const auto& each) { return each.uses_in_time.empty(); })
             ? "the profile has no times of accesses"
             : "too few accesses with a known node of their memory were sampled";
}

constexpr double enough_accesses = 20; // the share of fewer says little

struct remote_in_time {
  drawing::chart drawn; ///< a line for each program with enough accesses; may have none
  html::table numbers;
};

remote_in_time remote_shares_in_time(const profile::profile& of) {
  remote_in_time made{{"Remote share of the sampled accesses", {"time (s)"}, {"remote (%)"}, {}},
                      {"Sampled accesses over time",
                       {{"program"},
                        {"time", cell_kind::number},
                        {"local", cell_kind::number},
                        {"remote", cell_kind::number},
                        {"unknown", cell_kind::number}},
                       {}}};
  std::vector<drawing::chart_line>& lines = made.drawn.lines;
  for (const profile::program& each : of.programs) {
    drawing::chart_line line{
        each.name, drawing::node_colour(node_id{static_cast<int>(lines.size() % 8)}), {}};
    for (const auto& [time_s, sum] : sums_in(each)) {
      made.numbers.rows.push_back({each.name, fmt::format("{:.3g} s", time_s),
                                   fmt::format("{:g}", sum.local), fmt::format("{:g}", sum.remote),
                                   fmt::format("{:g}", sum.unknown)});
      if (sum.local + sum.remote >= enough_accesses) {
        line.points.push_back({time_s, sum.remote / (sum.local + sum.remote) * 100});
      }
    }
    if (!line.points.empty()) {
      lines.push_back(std::move(line));
    }
  }
  return made;
}

void add_remote_in_time(const remote_in_time& of, html::section& made, report_page& into) {
  into.add_figure(
      made, "remote-in-time",
      pictured("Remote share over time", "A line for each program.", of.drawn),
      fmt::format("Of sampled accesses, in intervals with at least {:g} of them. The kernel "
                  "samples the pages in turn, so an interval shows the pages whose turn it was.",
                  enough_accesses),
      of.numbers, &of.drawn);
}

} // namespace

std::vector<std::string> add_over_time(const profile_parts& of, report_page& into) {
  std::vector<std::string> unavailable;
  const std::size_t threads = all_threads_seen(of.what);
  const remote_in_time remote = remote_shares_in_time(of.what);
  if (threads == 0) {
    unavailable.emplace_back("where threads were over time: the profile has no times at which "
                             "threads were seen");
  }
  if (remote.drawn.lines.empty()) {
    unavailable.push_back("the remote share over time: " + why_no_times(of.what));
  }
  if (threads == 0 && remote.drawn.lines.empty()) {
    return unavailable;
  }
  html::section& made = into.add_section("time", "Over time");
  if (threads > 0) {
    add_threads_in_time(of, threads, made, into);
  }
  if (!remote.drawn.lines.empty()) {
    add_remote_in_time(remote, made, into);
  }
  if (of.is_counted()) {
    made.remark(
        "Times are those of the virtual machine. It runs the program many times slower than "
        "a real machine, and not evenly: the order of events is right, lengths are not.");
  }
  return unavailable;
}

} // namespace nodewise::cli
