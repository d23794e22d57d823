// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Threads that cannot choose their memory: formulas against loops that are played event by event.

#include <cmath>

#include <gmock/gmock.h>

#include "model/predict.hpp"
#include "model/random_numbers.hpp"
#include "unit/model_machines.hpp"

namespace nodewise {
namespace {

using model::closed_network_rate;
using model::costs_of;
using model::machine_costs;
using model::pace;
using model::replay;
using model::schedule_kind;

constexpr std::size_t page = 512; // doubles

std::vector<double> even(std::size_t n) {
  return std::vector<double>(n, 1.0 / static_cast<double>(n));
}
std::vector<double> ones(std::size_t n) {
  return std::vector<double>(n, 1.0);
}

/// Hager and Wellein, problem 8.1: the mean over all configurations, as if each lasted equally
/// long.
double configuration_mean_rate(const std::vector<double>& shares, const std::vector<double>& rates,
                               std::size_t threads) {
  double sum = 0;
  for (std::size_t m = 0; m < shares.size(); ++m) {
    sum += rates[m] * (1 - std::pow(1 - shares[m], static_cast<double>(threads)));
  }
  return sum;
}

TEST(Queueing, Problem81InBothReadings) {
  EXPECT_DOUBLE_EQ(configuration_mean_rate(even(2), ones(2), 2), 1.5);
  EXPECT_DOUBLE_EQ(closed_network_rate(even(2), ones(2), 2), 4.0 / 3);
  for (const std::size_t n : {2U, 4U, 8U, 64U}) {
    const auto x = static_cast<double>(n);
    EXPECT_NEAR(configuration_mean_rate(even(n), ones(n), n), x * (1 - std::pow(1 - 1 / x, x)),
                1e-9);
    EXPECT_NEAR(closed_network_rate(even(n), ones(n), n), x * x / (2 * x - 1), 1e-9);
  }
}

/// Memories at random, a page at a time, until all is done. Of 400000 services the mean has a
/// deviation of about 1 / sqrt(400000) = 0.16 %: a hundredth is six of them (2e-9), and the numbers
/// are the same everywhere.
double played(std::size_t nodes, pace how) {
  const machine_costs on = costs_of(test::equal_nodes(static_cast<int>(nodes), 1, 1));
  model::loop of = test::loop_on(on, "load", test::in_turn_over(nodes), std::size_t{1} << 28);
  of.how = {schedule_kind::random, page};
  return replay(on, of, how, 400'000).bytes_per_s() / 1e9;
}

TEST(Queueing, Problem81AgreesWithWhatIsPlayed) {
  for (const std::size_t n : {2U, 4U, 8U}) {
    const double expected = closed_network_rate(even(n), ones(n), n);
    EXPECT_NEAR(played(n, pace::drifting) / expected, 1, 0.01) << n;
    EXPECT_NEAR(played(n, pace::in_step) / expected, 1, 0.01) << n << ", all pieces alike";
  }
}

// The other reading: every configuration lasts as long as any other. Threads throw dice anew at
// every tick, and a memory that has any of them gives what it has.
TEST(Queueing, MeanOverConfigurationsAgreesWithDice) {
  constexpr int ticks = 200'000;
  for (const std::size_t n : {2U, 4U, 8U}) {
    model::random_numbers random(n);
    double sum = 0;
    for (int tick = 0; tick < ticks; ++tick) {
      std::vector<bool> busy(n, false);
      for (std::size_t thread = 0; thread < n; ++thread) {
        busy[random.next() % n] = true;
      }
      sum += static_cast<double>(std::ranges::count(busy, true));
    }
    // A tick's count has a deviation of 0.33 to 0.17 of its mean for n = 2 to 8: that of the mean
    // of all is 0.08 % or less, and a hundredth thirteen of them.
    EXPECT_NEAR(sum / ticks / configuration_mean_rate(even(n), ones(n), n), 1, 0.01) << n;
  }
}

TEST(Queueing, UnequalMemoriesAgreeWithWhatIsPlayed) {
  machine three = test::equal_nodes(3, 2, 1);
  test::set(three, "bandwidth", 1, 1, 2, "GB/s");
  const machine_costs on = costs_of(three);
  model::loop of =
      test::loop_on(on, "load", model::page_map::in_turn({0, 0, 1, 2}), std::size_t{1} << 28);
  of.how = {schedule_kind::random, page};
  const double expected = closed_network_rate({0.5, 0.25, 0.25}, {1, 2, 1}, 6);
  EXPECT_NEAR(replay(on, of, pace::drifting, 400'000).bytes_per_s() / 1e9 / expected, 1, 0.01);
}

TEST(Queueing, ThreadsThatCannotSaturateAMemoryQueueLess) {
  const machine_costs on = costs_of(test::equal_nodes(4, 2, 1, 0.5));
  model::loop of = test::loop_on(on, "load", test::in_turn_over(4), std::size_t{1} << 28);
  of.how = {schedule_kind::random, page};
  machine_costs near = on; // latencies do not differ in the formula
  for (model::figure& each : near.latency) {
    each.value = 1;
  }
  const double simulated = replay(near, of, pace::drifting, 400'000).bytes_per_s() / 1e9;
  const double formula = closed_network_rate(even(4), ones(4), 8, 0.5);
  EXPECT_NEAR(formula / simulated, 1, 0.10) << "an approximation here";
  EXPECT_GT(simulated, closed_network_rate(even(4), ones(4), 4));
}

/// Figure 8.7 of Hager and Wellein: four nodes of one thread each, pages in turn, a start-up cost a
/// chunk, the Schoenauer triad with stores past the caches. In units of one memory.
double figure_8_7(std::size_t chunk, bool staggered, pace how) {
  const machine_costs on = costs_of(test::equal_nodes(4, 1, 1));
  model::loop of = test::loop_on(on, "schoenauer", test::in_turn_over(4), std::size_t{1} << 24);
  of.arrays[0].streaming = true;
  of.how.chunk = chunk;
  of.chunk_start_s = 16 * 32 / 1e9; // as long as 16 elements take one thread alone
  for (std::size_t array = 0; staggered && array < of.maps.size(); ++array) {
    of.maps[array] = of.maps[array].staggered(array);
  }
  return replay(on, of, how).bytes_per_s() / 1e9;
}

TEST(Replay, ChunksBelowAPageMeetInOneMemory) {
  for (const std::size_t chunk : {16U, 32U, 64U, 128U}) {
    EXPECT_LT(figure_8_7(chunk, false, pace::in_step), 1.01) << chunk;
  }
  EXPECT_LT(figure_8_7(256, false, pace::in_step), 2.01);
  EXPECT_GT(figure_8_7(512, false, pace::in_step), 3.8) << "a page for each thread";
}

TEST(Replay, StaggeredArraysFillTheHole) {
  double before = 0;
  for (const std::size_t chunk : {16U, 32U, 64U, 128U, 256U, 512U}) {
    const double now = figure_8_7(chunk, true, pace::in_step);
    EXPECT_GT(now, before) << chunk << ": only the start of a chunk costs";
    EXPECT_GT(now, 4 / (1 + 4 * 16.0 / static_cast<double>(chunk)) - 0.01) << chunk;
    before = now;
  }
  EXPECT_GT(before, 3.8);
}

TEST(Replay, LongChunksOfThreadsAdriftAreAClosedNetwork) {
  EXPECT_NEAR(figure_8_7(8192, false, pace::drifting), 16.0 / 7, 0.05);
}

TEST(Replay, DynamicChunksOfBlockedArraysFollowOneAnotherThroughTheNodes) {
  const machine_costs on = costs_of(test::equal_nodes(4, 1, 1));
  model::loop of = test::local_loop(on, "load", std::size_t{1} << 24);
  EXPECT_NEAR(replay(on, of, pace::in_step).bytes_per_s() / 1e9, 4, 1e-6);
  of.how = {schedule_kind::dynamic, page};
  EXPECT_NEAR(replay(on, of, pace::drifting).bytes_per_s() / 1e9, 1, 0.01)
      << "all are always in the same block";
}

TEST(Replay, GivesTheSameAsThePriceWhereNothingChanges) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    model::random_numbers random(seed);
    const machine_costs on = costs_of(test::random_machine(random, 0.7));
    const model::loop of = test::local_loop(on, "triad", 1 << 20);
    const double seconds = price(on, model::traffic_of(on, of)).seconds;
    ASSERT_NEAR(replay(on, of, pace::in_step).seconds, seconds, seconds * 1e-2) << "seed " << seed;
  }
}

TEST(Replay, IsTheSameEveryTime) {
  EXPECT_EQ(figure_8_7(1024, false, pace::drifting), figure_8_7(1024, false, pace::drifting));
}

TEST(Predict, TellsWhatItTakesTheThreadsToDo) {
  const machine_costs on = costs_of(test::equal_nodes(4, 1, 1));
  model::loop of = test::loop_on(on, "triad", test::in_turn_over(4), std::size_t{1} << 22);
  EXPECT_EQ(predict(on, of).by, model::reading::mixed);
  of.how = {schedule_kind::fixed, 64};
  EXPECT_EQ(predict(on, of).by, model::reading::in_step);
  of.how = {schedule_kind::fixed, 4096};
  EXPECT_EQ(predict(on, of).by, model::reading::drifting);
  of.how = {schedule_kind::dynamic, 64};
  const model::loop_prediction found = predict(on, of);
  EXPECT_EQ(found.by, model::reading::drifting);
  EXPECT_EQ(found.result.seconds, *found.drifting_s);
  EXPECT_DOUBLE_EQ(found.useful_bytes, 3.0 * 8 * (1 << 22));
  of.random_access = true;
  EXPECT_FALSE(predict(on, of).in_step_s);
}

TEST(Predict, VeryManyThreadsQueueByFormula) {
  const machine_costs on = costs_of(test::equal_nodes(8, 32, 1));
  model::loop of = test::loop_on(on, "triad", test::in_turn_over(8), std::size_t{1} << 24);
  of.how = {schedule_kind::dynamic, page};
  const model::loop_prediction found = predict(on, of);
  EXPECT_NEAR(found.result.bytes / found.result.seconds / 1e9,
              closed_network_rate(even(8), ones(8), 256), 0.05);
  of.maps.assign(3, model::first_touch(on, of = test::local_loop(on, "triad", 1 << 24)));
  of.how = {schedule_kind::dynamic, page};
  EXPECT_NEAR(predict(on, of).result.bytes / predict(on, of).result.seconds / 1e9, 1, 0.05);
}

TEST(Predict, AThreadMoreThanCanBePlayedChangesLittle) {
  machine two = test::equal_nodes(2, 65, 20, 0.5);
  test::set(two, "link_bandwidth", 0, 1, 4, "GB/s");
  test::set(two, "link_bandwidth", 1, 0, 4, "GB/s");
  const machine_costs on = costs_of(two);
  const auto seconds = [&](std::size_t threads) {
    model::loop of = test::loop_on(on, "load", test::in_turn_over(2), std::size_t{1} << 26);
    of.how = {schedule_kind::dynamic, page};
    of.cores.clear();
    for (std::size_t t = 0; t < threads; ++t) {
      of.cores.push_back(t % 2 * 65 + t / 2);
    }
    return predict(on, of).result.seconds;
  };
  EXPECT_NEAR(seconds(129) / seconds(128), 1, 0.05);
}

TEST(Predict, FewChunksAreNotLuck) {
  const machine_costs on = costs_of(test::equal_nodes(1, 4, 10));
  model::loop of = test::loop_on(on, "triad", test::on_node(0), 1 << 20);
  of.how = {schedule_kind::dynamic, 1 << 18};
  EXPECT_EQ(predict(on, of).by, model::reading::in_step);
  EXPECT_FALSE(predict(on, of).drifting_s);
}

} // namespace
} // namespace nodewise
