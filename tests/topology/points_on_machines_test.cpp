// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What would be measured on every recorded machine: all pairs, each core once, nothing forbidden.
#include "recorded_machines.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "measure/points.hpp"

namespace nodewise::test {

namespace {

using measure::experiment;
using measure::plan_points;
using measure::point;
using measure::stream_group;
using measure::stream_work;

class PointsOn : public testing::TestWithParam<recorded_machine> {
 protected:
  [[nodiscard]] const topology& on() const { return where_; }

 private:
  topology where_ = GetParam().load();
};

/// An old record tells no memory.
bool has_memory(const recorded_machine& each) {
  return !each.load().memory_nodes().empty();
}
std::vector<recorded_machine> machines_with_memory() {
  std::vector<recorded_machine> all;
  std::ranges::copy_if(recorded_machines(), std::back_inserter(all), has_memory);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Machines, PointsOn, testing::ValuesIn(machines_with_memory()),
                         test_name<testing::TestParamInfo<recorded_machine>>);

std::vector<point> of(const std::vector<point>& all, experiment which) {
  std::vector<point> some;
  std::ranges::copy_if(all, std::back_inserter(some),
                       [&](const point& each) { return each.of == which; });
  return some;
}

TEST(Points, OfAMachineWithoutMemoryAreRefused) {
  std::size_t without = 0;
  for (const recorded_machine& each : recorded_machines()) {
    if (!has_memory(each)) {
      ++without;
      EXPECT_THROW((void)plan_points(each.load(), {.experiments = measure::quick_set()}), error);
    }
  }
  EXPECT_LT(without, recorded_machines().size() / 2);
}

TEST_P(PointsOn, MatricesHaveEveryPairOfProcessorsAndMemory) {
  const auto all = plan_points(on(), {.experiments = measure::quick_set()});
  const std::size_t pairs = on().domains().size() * on().memory_nodes().size();
  for (const experiment matrix : {experiment::bandwidth, experiment::latency}) {
    std::set<std::pair<node_id, node_id>> seen;
    for (const point& each : of(all, matrix)) {
      seen.insert({each.from, each.to});
      EXPECT_TRUE(on().memory_nodes().contains(each.to));
    }
    EXPECT_EQ(seen.size(), pairs);
    EXPECT_EQ(of(all, matrix).size(), pairs);
  }
}

TEST_P(PointsOn, AllProcessorsWantEachMemoryOnce) {
  const auto all = plan_points(on(), {.experiments = measure::quick_set()});
  const auto contention = of(all, experiment::contention);
  EXPECT_EQ(contention.size(), on().memory_nodes().size());
  for (const point& each : contention) {
    const auto& groups = std::get<stream_work>(each.work).groups;
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(groups.front().memory, std::vector{each.to});
    // A thread a core: no two on one, none left out.
    std::size_t cores = 0;
    for (const core& one : on().machine().cores) {
      cpu_set usable;
      for (const domain& home : on().domains()) {
        usable = usable | (one.cpus & home.cpus);
      }
      std::size_t threads = 0;
      for (const cpu_id cpu : groups.front().cpus) {
        threads += usable.contains(cpu) ? 1U : 0U;
      }
      EXPECT_EQ(threads, usable.empty() ? 0U : 1U);
      cores += usable.empty() ? 0U : 1U;
    }
    EXPECT_EQ(groups.front().cpus.size(), cores);
  }
}

TEST_P(PointsOn, EachThreadRunsOnAProcessorThatIsAllowed) {
  for (const point& each : plan_points(on(), {.experiments = measure::full_set()})) {
    const auto* const streams = std::get_if<stream_work>(&each.work);
    for (const stream_group& group : streams ? streams->groups : std::vector<stream_group>{}) {
      EXPECT_FALSE(group.cpus.empty()) << each.label;
      EXPECT_GT(group.bytes, 0U) << each.label;
      for (const cpu_id cpu : group.cpus) {
        EXPECT_TRUE(on().allowed_cpus().contains(cpu)) << each.label;
        // Of a node's own processors only: a matrix row is one node's.
        EXPECT_TRUE(each.from == unknown_node || on().node_of(cpu) == each.from) << each.label;
      }
    }
  }
}

TEST_P(PointsOn, LabelsAreUniqueInTheirExperiment) {
  std::set<std::pair<experiment, std::string>> seen;
  for (const point& each : plan_points(on(), {.experiments = measure::full_set()})) {
    EXPECT_TRUE(seen.insert({each.of, each.label}).second)
        << to_string(each.of) << ": " << each.label;
  }
}

TEST_P(PointsOn, BuffersAreFourTimesTheCachesWhereMemoryAllows) {
  const auto all = plan_points(on(), {.experiments = {experiment::contention}});
  const std::uint64_t bytes = std::get<stream_work>(all.front().work).groups.front().bytes;
  std::uint64_t caches = 0;
  int last = 0;
  for (const cache& each : on().machine().caches) {
    last = std::max(last, each.level);
  }
  for (const cache& each : on().machine().caches) {
    caches += each.level == last ? each.size_bytes : 0;
  }
  std::uint64_t smallest = UINT64_MAX;
  for (const memory_node& node : on().machine().nodes) {
    if (on().memory_nodes().contains(node.id)) {
      smallest = std::min(smallest, node.memory_bytes);
    }
  }
  EXPECT_TRUE(bytes >= 4 * caches || bytes == smallest / 4);
  EXPECT_LE(bytes, std::max<std::uint64_t>(smallest / 4, 1));
  EXPECT_EQ(bytes < measure::enough_bytes(on()),
            measure::most_bytes(on(), {}) < measure::enough_bytes(on())); // and can be said
}

TEST_P(PointsOn, ChainsAreLongForTheCoreThatFollowsThem) {
  for (const point& each : plan_points(on(), {.experiments = {experiment::latency}})) {
    const auto& chase = std::get<measure::chase_work>(each.work);
    const std::uint64_t most = measure::most_bytes(on(), {});
    EXPECT_GE(chase.bytes, std::min(most, measure::enough_for_a_chain(on(), chase.cpu)));
    EXPECT_LE(chase.bytes, measure::enough_bytes(on()));
    for (const cache& own : on().machine().caches) {
      if (own.cpus.contains(chase.cpu)) {
        EXPECT_GE(chase.bytes, std::min(most, 4 * own.size_bytes)) << each.label;
      }
    }
  }
}

TEST_P(PointsOn, ANodesCoresSweepOverFourTimesTheCachesThatTheyReach) {
  for (const point& each : plan_points(on(), {.experiments = {experiment::bandwidth}})) {
    const stream_group& group = std::get<stream_work>(each.work).groups.front();
    std::uint64_t reached = 0;
    int last = 0;
    for (const cache& one : on().machine().caches) {
      last = std::max(last, one.level);
    }
    for (const cache& one : on().machine().caches) {
      const bool is_theirs =
          std::ranges::any_of(group.cpus, [&](cpu_id cpu) { return one.cpus.contains(cpu); });
      reached += one.level == last && is_theirs ? one.size_bytes : 0;
    }
    EXPECT_GE(group.bytes, std::min(measure::most_bytes(on(), {}), 4 * reached)) << each.label;
  }
}

TEST_P(PointsOn, TakeNoMoreThanThereIs) {
  const auto all = plan_points(on(), {.experiments = measure::full_set()});
  EXPECT_NO_THROW(measure::require_memory(on(), all, {}));
  EXPECT_THROW(measure::require_memory(on(), all, {.together = 1 << 20}), error);
  measure::memory_to_have little;
  for (const memory_node& node : on().machine().nodes) {
    little.by_node.emplace_back(node.memory_bytes / 64);
  }
  const auto fits = plan_points(on(), {.experiments = measure::full_set(), .memory = little});
  EXPECT_NO_THROW(measure::require_memory(on(), fits, little));
}

TEST_P(PointsOn, MemoryWithoutProcessorsIsMeasuredAndProcessorsWithoutMemoryMeasure) {
  const auto all = plan_points(on(), {.experiments = {experiment::latency}});
  for (const node_id node : on().memory_nodes()) {
    EXPECT_TRUE(std::ranges::any_of(all, [&](const point& each) { return each.to == node; }));
  }
  for (const domain& each : on().domains()) {
    EXPECT_TRUE(std::ranges::any_of(all, [&](const point& p) { return p.from == each.node; }));
  }
}

} // namespace

} // namespace nodewise::test
