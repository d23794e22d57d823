// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Two nodes of two cores. Each memory moves 1 GB/s and nothing else is a limit, so a time is that
// of the busier memory.
#include "cli/prediction/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/memory_words.hpp"
#include "unit/counts_files.hpp"
#include "unit/model_machines.hpp"

namespace nodewise::cli {
namespace {

using launch::run_options;
using traffic::phase;

const char* no_variable(const char* /*name*/) {
  return nullptr;
}

run_options options(bind_policy bind, const std::string& memory = "",
                    std::optional<std::size_t> threads = {}) {
  run_options made;
  made.bind = bind;
  made.threads = threads;
  if (!memory.empty()) {
    made.memory = launch::parse_placement(memory, "--memory");
  }
  return made;
}
run_options unbound(const std::string& memory = "") {
  return options(bind_policy::none, memory);
}

std::optional<predicted_ratio> predict(const std::string& lines, const run_options& setting,
                                       environment get = no_variable,
                                       machine on = test::equal_nodes(2, 2, 1)) {
  const traffic::counts counts = traffic::read_counts(traffic::counts_with(lines));
  return predict_settings(counts, phase::use, topology(std::move(on)), std::vector{setting}, get)
      .front();
}

/// The range before it is made wider.
void expect(const std::optional<predicted_ratio>& found, double low, double likely, double high) {
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->low * 1.1, low, 1e-9);
  EXPECT_NEAR(found->likely, likely, 1e-9);
  EXPECT_NEAR(found->high / 1.1, high, 1e-9);
}
void expect_one(const std::optional<predicted_ratio>& found) {
  ASSERT_TRUE(found);
  EXPECT_EQ(found->low, 1);
  EXPECT_EQ(found->likely, 1);
  EXPECT_EQ(found->high, 1);
}

/// Processor 0 initialised everything on node 0, and all use it: 400 lines of node 0.
const std::string serial = "cell 0 0 init 400 0 0 0\ncell 0 0 use 100 0 0 0\n"
                           "cell 1 0 use 100 0 0 0\ncell 2 0 use 100 0 0 0\n"
                           "cell 3 0 use 100 0 0 0\n";
/// All initialised their own part: 200 lines of each node.
const std::string parallel =
    "cell 0 0 init 100 0 0 0\ncell 1 0 init 100 0 0 0\ncell 2 1 init 100 0 0 0\n"
    "cell 3 1 init 100 0 0 0\ncell 0 0 use 100 0 0 0\ncell 1 0 use 100 0 0 0\n"
    "cell 2 1 use 100 0 0 0\ncell 3 1 use 100 0 0 0\n";

TEST(PredictSettings, TheCountedSettingTakesAsLong) {
  for (const std::string& lines : {serial, parallel}) {
    expect_one(predict(lines, unbound()));
    expect_one(predict(lines, unbound("local")));
  }
  // Also if the count has traffic that the rules for other settings would add to other threads.
  expect_one(predict(serial + "cell 3 1 use 0 0 0 1\n", unbound()));
}

TEST(PredictSettings, FixedPlacementsAreExact) {
  expect(predict(serial, unbound("interleave")), 0.5, 0.5, 0.5); // 200 of 400 lines on each
  expect(predict(serial, unbound("bind:1")), 1, 1, 1);
  expect(predict(serial, unbound("weighted:0=3,1=1")), 0.75, 0.75, 0.75);
  expect(predict(parallel, unbound("interleave")), 1, 1, 1);
  expect(predict(parallel, unbound("bind:0")), 2, 2, 2); // 400 instead of 200
  expect(predict(parallel, unbound("prefer:1")), 2, 2, 2);
  expect(predict(serial, options(bind_policy::close, "interleave")), 0.5, 0.5, 0.5);
}

TEST(PredictSettings, WeightsByBandwidthFollowTheMachine) {
  machine fast = test::grid(2, 2);
  test::set(fast, "bandwidth", 0, 0, 1, "GB/s");
  test::set(fast, "bandwidth", 1, 1, 3, "GB/s");
  // A quarter of the lines on node 0, as fast as three quarters on node 1.
  expect(predict(serial, unbound("weighted:auto"), no_variable, fast), 0.25, 0.25, 0.25);
}

TEST(PredictSettings, FirstTouchFollowsTheInitialisation) {
  // One processor: all pages go to the first thread's node again. All: each page to its user's.
  expect(predict(serial, options(bind_policy::close)), 1, 1, 1);
  expect(predict(parallel, options(bind_policy::close)), 1, 1, 1);
  // No initialisation was counted: half of each, so 300 of 400 lines are on one node.
  const std::string unknown = serial.substr(serial.find('\n') + 1);
  expect(predict(unknown, options(bind_policy::close)), 0.5, 0.75, 1);
}

TEST(PredictSettings, IsUncertainIfTheDataMayStayInTheCaches) {
  const std::string data = "program 7 7 a\npages 7 - 0x1000 16 0 400 0 200 200 0\n"; // 64 KiB
  machine with_caches = test::equal_nodes(2, 2, 1);
  const auto range_with = [&](std::uint64_t bytes) {
    with_caches.caches = {cache{}};
    with_caches.caches.front().size_bytes = bytes;
    return *predict(serial + data, options(bind_policy::close, "interleave"), no_variable,
                    with_caches);
  };
  EXPECT_NEAR(range_with(4096).high, 0.5 * 1.1, 1e-9);
  EXPECT_NEAR(range_with(40960).high, 0.5 * 2.5, 1e-9);
  EXPECT_NEAR(range_with(40960).low, 0.5 / 2.5, 1e-9);
}

TEST(PredictSettings, BlocksAreLocalOrAsRemoteAsCounted) {
  // Half of the traffic was remote, and evenly spread memories take as long as local ones here.
  expect(predict(serial, options(bind_policy::close, "blocked")), 0.5, 0.5, 0.5);
  expect(predict(serial, options(bind_policy::close, "cyclic:64K")), 0.5, 0.5, 0.5);
  // A path of 0.25 GB/s between the nodes: 100 lines cross it each way, which takes 400 against
  // 200 if all were local. Counted: 200 lines cross it, 800.
  machine paths = test::equal_nodes(2, 2, 1);
  test::set(paths, "bandwidth", 0, 1, 0.25, "GB/s");
  test::set(paths, "bandwidth", 1, 0, 0.25, "GB/s");
  expect(predict(serial, options(bind_policy::close, "blocked"), no_variable, paths), 0.25, 0.25,
         0.5);
  expect(predict(serial, options(bind_policy::close, "cyclic:64K"), no_variable, paths), 0.25, 0.5,
         0.5);
}

TEST(PredictSettings, CoversProgramsLimitedByTheirCores) {
  // Two threads spread over two nodes: as much traffic, half as many cores.
  expect(predict(parallel, options(bind_policy::spread, "", 2)), 1, 1, 2);
  // Both on node 0: what they touch is there, or stays evenly spread.
  expect(predict(parallel, options(bind_policy::close, "", 2)), 1, 2, 2);
  // From two threads to four: half the time if nothing but cores counts, and at most as long.
  const std::string two = "cell 0 0 init 100 0 0 0\ncell 2 1 init 100 0 0 0\n"
                          "cell 0 0 use 100 0 0 0\ncell 2 1 use 100 0 0 0\n";
  expect(predict(two, options(bind_policy::spread, "interleave")), 0.5, 1, 1);
}

TEST(PredictSettings, MoreThreadsMayBeIgnored) {
  // One thread; four under the setting, which take a quarter if they exist. A core moves 0.25 GB/s.
  const std::string one = "cell 0 0 init 100 0 0 0\ncell 0 0 use 100 0 0 0\n";
  expect(predict(one, options(bind_policy::close, "bind:0"), no_variable,
                 test::equal_nodes(2, 2, 10, 0.25)),
         0.25, 0.375, 1); // far cores draw 1/1.5 as much: 100/4 lines at 0.25/1.5 GB/s
}

TEST(PredictSettings, ThreadsRunWhereTheOptionsAllow) {
  run_options first_node = unbound("interleave");
  first_node.cpu_nodes = launch::typed_list{"0", "--cpunodebind"};
  machine on = test::equal_nodes(2, 2, 100, 1); // only cores are limits
  // Four threads on two cores; half of their lines take 1.5 times as long, before and after.
  expect(predict(parallel, first_node, no_variable, on), 2.5, 2.5, 2.5);
  const environment two_threads = [](const char* name) {
    return std::string_view(name) == "OMP_NUM_THREADS" ? "2" : nullptr;
  };
  expect(predict(parallel, options(bind_policy::spread, "interleave"), two_threads, on), 2.5, 2.5,
         2.5);
  expect(predict(parallel, options(bind_policy::spread, "interleave"), no_variable, on), 1.25, 1.25,
         1.25);
}

TEST(PredictSettings, DoesNotJudgeWhatItCannot) {
  run_options plan = unbound();
  plan.plan.emplace();
  run_options rules = unbound();
  rules.rules.emplace_back();
  run_options ranks = unbound();
  ranks.ranks_per = place_kind::nodes;
  run_options kernels = unbound();
  kernels.memory = launch::numactl_choice(placements::kind::interleave, "all", "-w",
                                          launch::policy_variant::by_kernel_weights);
  run_options balancing = unbound("bind:0");
  balancing.balancing = true;
  for (const run_options& each : {plan, rules, ranks, kernels, balancing, unbound("bind:7")}) {
    EXPECT_EQ(predict(serial, each), std::nullopt);
  }
  EXPECT_THROW((void)predict("cell 0 0 init 1 0 0 0\n", unbound()), error);
}

TEST(PredictSettings, DataMustFitIntoTheNodes) {
  // 300 000 pages of 4 KiB are more than the 1 GiB of a node.
  traffic::counts counts = traffic::read_counts(traffic::counts_with(serial));
  counts.pages.push_back({.pid = 7, .object = {}, .first = 0, .count = 300000, .to = node_id{0}});
  const topology on(test::equal_nodes(2, 2, 1));
  const auto found = predict_settings(
      counts, phase::use, on, std::vector{unbound("bind:1"), unbound("bind:0,1")}, no_variable);
  EXPECT_FALSE(found[0]);
  EXPECT_TRUE(found[1]);
}

} // namespace
} // namespace nodewise::cli
