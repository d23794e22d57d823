// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Points measured on this machine: that they end, that what they used was there, and what becomes
// of a refusal. No figure is held against a time.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>

#include <nodewise/affinity.hpp>
#include <nodewise/error.hpp>
#include <nodewise/topology.hpp>

#include "measure/memory.hpp"
#include "measure/pinned.hpp"
#include "measure/session.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise::measure {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::Ge;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::Not;
using testing::SizeIs;

constexpr std::uint64_t small = 4 << 20;

topology here() {
  return topology::from_sysfs();
}

bench quick() {
  static const topology on = here();
  return {.kernel = &sys::real_kernel(), .on = &on, .several_memories = false, .most_samples = 2};
}

/// Over as soon as each point has been visited once.
constexpr limits once{.time = std::chrono::nanoseconds(1)};

const progress_of_points untold = [](double, const point&) {};

TEST(Pinned, RunEachOnItsProcessorAtTheSameTime) {
  const topology on = here();
  std::vector<cpu_id> cpus;
  for (const cpu_id cpu : on.allowed_cpus()) {
    cpus.push_back(cpu);
  }
  std::vector<cpu_id> seen(cpus.size());
  std::atomic<std::size_t> there = 0;
  run_pinned(cpus, [&](std::size_t k) {
    seen[k] = current_cpu();
    ++there;
    while (there < cpus.size()) { // ends only if all run at once
    }
  });
  EXPECT_EQ(seen, cpus);
}

TEST(Pinned, ThatCannotBeBoundAreNotRun) {
  std::atomic<int> ran = 0;
  const cpu_id none{1023};
  EXPECT_THROW(
      run_pinned(std::array{*here().allowed_cpus().begin(), none}, [&](std::size_t) { ++ran; }),
      error);
  EXPECT_EQ(ran, 0);
}

TEST(Pinned, HandOverWhatABodyThrew) {
  EXPECT_THROW(run_pinned(std::array{*here().allowed_cpus().begin()},
                          [](std::size_t) { throw error(error_kind::usage, "x", "y", "z"); }),
               error);
}

TEST(Run, HasAFigureForEveryPoint) {
  const topology on = here();
  scope what{.experiments = full_set(), .bytes = small};
  for (const kernel& each : kernels()) {
    what.kernels.push_back(each.name);
  }
  auto points = plan_points(on, what);
  const std::size_t planned = points.size();
  std::vector<double> told;
  bench with = quick();
  with.several_memories = on.memory_nodes().size() > 1;
  const measurement found =
      measure_points(on, std::move(points), with, once,
                     [&](double share, const point&) { told.push_back(share); });
  EXPECT_THAT(told, SizeIs(planned));
  EXPECT_THAT(told, Each(AllOf(Ge(0), Le(1))));
  EXPECT_TRUE(found.is_complete());
  for (const record& each : found.records) {
    // Where the kernel has no huge pages to give, it says so, and where it moves none.
    EXPECT_TRUE(each.is_known() || about(each.of).has_own_pages)
        << to_string(each.of) << ": " << each.label << ": " << each.found.unavailable;
    EXPECT_THAT(each.found.samples, Each(Gt(0))) << each.label;
    EXPECT_FALSE(each.found.wrong) << each.found.unavailable;
  }
}

TEST(Run, VisitsAPointUntilItIsSureOrTimeIsUp) {
  const topology on = here();
  auto points = plan_points(on, {.experiments = {experiment::latency}, .bytes = small});
  points.resize(1);
  std::size_t visits = 0;
  const limits until{.time = std::chrono::milliseconds(300), .visits = 3, .most_samples = 18};
  const measurement found =
      measure_points(on, points, quick(), until, [&](double, const point&) { ++visits; });
  const outcome& latency = found.records.front().found;
  ASSERT_TRUE(found.records.front().is_known()) << latency.unavailable;
  EXPECT_THAT(latency.visits, SizeIs(visits));
  EXPECT_THAT(latency.visits, Each(6)); // a chain has so many
  EXPECT_THAT(latency.samples, SizeIs(6 * visits));
  EXPECT_LE(visits, 3U);
}

TEST(Run, TellsWhatTheOthersDidBesideAChase) {
  const topology on = here();
  auto points = plan_points(on, {.experiments = {experiment::loaded_latency}, .bytes = small});
  if (points.empty()) {
    GTEST_SKIP() << "one core: nobody could load";
  }
  points.resize(1);
  // On a loaded machine the other thread may not have run during the chase: repeat until it has.
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  std::vector<double> beside;
  do {
    const measurement found = measure_points(on, points, quick(), once, untold);
    ASSERT_THAT(found.records, SizeIs(1));
    beside = found.records[0].found.beside;
    EXPECT_THAT(beside, SizeIs(found.records[0].found.samples.size()));
  } while (std::ranges::none_of(beside, [](double moved) { return moved > 0; }) &&
           std::chrono::steady_clock::now() < give_up);
  EXPECT_THAT(beside, Contains(Gt(0)));
}

TEST(Run, KeepsWhatWasMeasuredWhenItIsStopped) {
  const topology on = here();
  auto points = plan_points(on, {.experiments = {experiment::kernels}, .bytes = small});
  ASSERT_GE(points.size(), 3U);
  std::size_t begun = 0;
  bench with = quick();
  with.stopped = [&] { return begun >= 2; };
  const measurement found =
      measure_points(on, points, with, once, [&](double, const point&) { ++begun; });
  EXPECT_FALSE(found.is_complete());
  EXPECT_TRUE(found.stopped);
  EXPECT_THAT(found.records, SizeIs(2));
  EXPECT_THAT(found.records[1].found.samples, Not(IsEmpty()));
}

TEST(Run, ATransferEndsAlsoWhereTwoTakeTurnsOnOneProcessor) {
  // As virtual processors may: each answer waits for the scheduler, and 20000 for a minute.
  const cpu_id cpu = *here().allowed_cpus().begin();
  const node_id node = *here().memory_nodes().begin();
  outcome found;
  visit_point(
      {.of = experiment::transfer, .label = "with itself", .work = transfer_work{cpu, cpu, node}},
      quick(), found);
  EXPECT_THAT(found.samples, SizeIs(1)) << found.unavailable;
  EXPECT_THAT(found.samples, Each(Gt(1000)));
}

/// Bytes asked of a node.
std::size_t bytes_on(const region& memory, node_id node) {
  std::size_t pages = 0;
  for (const extent& each : memory.placed().asked) {
    pages += each.owner == node ? each.pages() : 0;
  }
  return pages * memory.placed().base_page_bytes;
}

TEST(Memory, ByWeightIsInProportionAlsoWhereItIsLessThanAllTurns) {
  constexpr std::uint64_t block = 2 << 20;
  const std::array nodes{node_id{0}, node_id{1}};
  for (const auto& [weights, blocks, first] : {std::tuple{std::array{19U, 18U}, 8U, 4U},
                                               {std::array{1U, 3U}, 8U, 2U},
                                               {std::array{200U, 100U}, 6U, 4U},
                                               {std::array{1U, 1U}, 2U, 1U}}) {
    const region memory = take_memory(quick(), blocks * block, nodes, weights, page_size::base);
    EXPECT_EQ(bytes_on(memory, nodes[0]), first * block) << weights[0] << ":" << weights[1];
    EXPECT_EQ(bytes_on(memory, nodes[1]), (blocks - first) * block);
  }
}

TEST(Run, ANodeThatIsNotThereIsUnavailableAndTheOthersAreMeasured) {
  const topology on = here();
  auto points = plan_points(on, {.experiments = {experiment::latency}, .bytes = small});
  auto nowhere = points;
  std::get<chase_work>(nowhere.front().work).memory = node_id{1000};
  points.insert(points.begin(), nowhere.front());
  bench with = quick();
  with.several_memories = true;
  const measurement found = measure_points(on, points, with, once, untold);
  EXPECT_FALSE(found.records[0].is_known());
  EXPECT_THAT(found.records[0].found.unavailable, HasSubstr("node 1000"));
  if (on.machine().nodes.size() == 1) {
    EXPECT_TRUE(found.records[1].is_known()) << found.records[1].found.unavailable;
  }
}

TEST(Run, BuffersWithoutALineForEachThreadAreRefused) {
  const topology on = here();
  auto points = plan_points(on, {.experiments = {experiment::kernels}, .bytes = 64});
  const measurement found = measure_points(on, points, quick(), once, untold);
  for (const record& each : found.records) {
    EXPECT_FALSE(each.is_known());
    EXPECT_THAT(each.found.unavailable, HasSubstr("each thread needs at least one cache line"));
  }
}

TEST(Points, AreThereForWhatIsNamedOnly) {
  const topology on(test::grid(2, 2));
  const auto points =
      plan_points(on, {.experiments = {experiment::kernels}, .bytes = small, .kernels = {"load"}});
  ASSERT_THAT(points, SizeIs(1));
  const auto& groups = std::get<stream_work>(points.front().work).groups;
  ASSERT_THAT(groups, SizeIs(2)); // each node's cores on their own memory
  EXPECT_EQ(groups[1].memory.front(), node_id{1});
  EXPECT_EQ(groups[0].bytes + groups[1].bytes, small);
  EXPECT_THROW((void)plan_points(on, {.experiments = {experiment::kernels}, .kernels = {"lode"}}),
               error);
}

TEST(Points, AreMissingOnOneCoreOnlyOfExperimentsThatNeedMore) {
  const topology on(test::grid(1, 1));
  for (const experiment each : full_set()) {
    EXPECT_EQ(plan_points(on, {.experiments = {each}}).empty(), !about(each).needs.empty())
        << to_string(each);
    EXPECT_EQ(parse_experiment(to_string(each)), each);
  }
}

TEST(Points, LoadTheFirstNodeThatHasTwoCores) {
  machine uneven = test::grid(2, 2);
  uneven.nodes[0].cpus = {cpu_id{0}};
  uneven.cores.erase(uneven.cores.begin() + 1);
  const auto points = plan_points(topology(uneven), {.experiments = {experiment::loaded_latency}});
  ASSERT_FALSE(points.empty());
  EXPECT_EQ(points.front().from, node_id{1});
  EXPECT_THAT(
      plan_points(topology(test::grid(2, 1)), {.experiments = {experiment::loaded_latency}}),
      IsEmpty());
}

TEST(Points, AreByWeightWhereThereAreBandwidthsToWeighBy) {
  const auto labels = [](const machine& on, std::vector<experiment> some) {
    std::vector<std::string> all;
    for (const point& each : plan_points(topology(on), {.experiments = std::move(some)})) {
      if (each.of == experiment::interleave) {
        all.push_back(each.label);
      }
    }
    return all;
  };
  machine two = test::grid(2, 2);
  using testing::ElementsAre;
  EXPECT_THAT(labels(two, {experiment::interleave}), ElementsAre("local", "in turn"));
  EXPECT_THAT(labels(two, {experiment::bandwidth, experiment::interleave}),
              ElementsAre("local", "in turn", "by weight"));
  two.parameters.push_back({"bandwidth", node_id{0}, node_id{0}, 100, "GB/s", "HMAT"});
  EXPECT_THAT(labels(two, {experiment::interleave}), ElementsAre("local", "in turn", "by weight"));
}

TEST(Buffers, ThatDoNotFitAreRefusedAndNameThePoint) {
  const topology on(test::grid(2, 2)); // nodes of 1 GiB
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  const auto points = [&](experiment of, std::uint64_t bytes) {
    return plan_points(on, {.experiments = {of}, .bytes = bytes});
  };
  const auto complaint = [&](const std::vector<point>& all, const memory_to_have& memory) {
    try {
      require_memory(on, all, memory);
    } catch (const error& e) {
      return std::string(e.what());
    }
    return std::string("fits");
  };
  EXPECT_EQ(complaint(points(experiment::contention, gib), {}), "fits");
  EXPECT_THAT(complaint(points(experiment::contention, gib + gib / 8), {}),
              HasSubstr("contention: all -> node 0"));
  EXPECT_EQ(complaint(points(experiment::kernels, 2 * gib), {}), "fits"); // half on each node
  EXPECT_THAT(complaint(points(experiment::kernels, 2 * gib), {.together = gib}),
              HasSubstr("has only 1024 MiB"));
  EXPECT_THAT(complaint(points(experiment::latency, gib), {}), HasSubstr("latency"));
  // A chain, and as much beside it.
  EXPECT_EQ(complaint(points(experiment::latency, gib * 3 / 4), {}), "fits");
  EXPECT_THAT(complaint(points(experiment::loaded_latency, gib * 3 / 4), {}),
              HasSubstr("loaded-latency"));
  EXPECT_THAT(complaint(points(experiment::latency, gib / 2), {.by_node = {gib / 4, gib}}),
              HasSubstr("node 0 has only 256 MiB"));
}

TEST(Points, ShareTheTimeThereIs) {
  using namespace std::chrono_literals;
  EXPECT_EQ(share_of(24s, 12), 2s);
  EXPECT_EQ(share_of(24s, 1000), 200ms); // nobody measures in less
}

} // namespace
} // namespace nodewise::measure
