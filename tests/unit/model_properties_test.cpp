// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What must hold of any price, on some hundreds of random machines.
#include <algorithm>
#include <functional>

#include <gmock/gmock.h>

#include "model/predict.hpp"
#include "model/random_numbers.hpp"
#include "unit/model_machines.hpp"

namespace nodewise {
namespace {

using model::costs_of;
using model::machine_costs;
using model::price;
using model::traffic;
using model::work;

constexpr std::uint64_t machines = 400;

/// Each capacity of a machine by itself.
std::vector<double*> capacities(machine_costs& of) {
  std::vector<double*> all;
  for (model::figure& each : of.memory) {
    all.push_back(&each.value);
  }
  for (model::link& each : of.links) {
    all.push_back(&each.bytes_per_s.value);
  }
  for (model::figure& each : of.core) {
    all.push_back(&each.value);
  }
  return all;
}

TEST(ModelProperties, NothingMovesMoreThanItsCapacity) {
  for (std::uint64_t seed = 0; seed < machines; ++seed) {
    model::random_numbers random(seed);
    const machine_costs on = costs_of(test::random_machine(random, 0.7));
    const traffic what = test::random_traffic(random, on, 1e9);
    for (const work how : {work::fixed, work::pooled}) {
      const model::prediction told = price(on, what, how);
      for (std::size_t n = 0; n < on.size() && how == work::fixed; ++n) {
        double moved = 0; // of a pool nobody is told who does how much
        for (const model::thread_traffic& thread : what.threads) {
          moved += thread.read[n] + thread.written[n];
        }
        ASSERT_LE(moved, on.memory[n].value * told.seconds * (1 + 1e-9)) << "seed " << seed;
      }
      for (const model::resource_load& load : told.loads) {
        ASSERT_LE(load.busy, 1 + 1e-9) << "seed " << seed;
      }
    }
  }
}

TEST(ModelProperties, SomethingBindsAllTheTime) {
  for (std::uint64_t seed = 0; seed < machines; ++seed) {
    model::random_numbers random(seed);
    const machine_costs on = costs_of(test::random_machine(random, 0.7));
    double bound = 0;
    for (const model::resource_load& load :
         price(on, test::random_traffic(random, on, 1e9)).loads) {
      bound += load.bound;
    }
    ASSERT_NEAR(bound, 1, 1e-6) << "seed " << seed;
  }
}

/// For every capacity alone: 30 % more of it.
void expect_never_slower(const machine_costs& on, const traffic& what, work how) {
  const double before = price(on, what, how).seconds;
  machine_costs more = on;
  for (double* capacity : capacities(more)) {
    const double was = *capacity;
    *capacity = was * 1.3;
    EXPECT_LE(price(more, what, how).seconds, before * (1 + 1e-9));
    *capacity = was;
  }
}

TEST(ModelProperties, MoreBandwidthIsNeverSlower) {
  for (std::uint64_t seed = 0; seed < machines; ++seed) {
    model::random_numbers random(seed);
    const machine_costs on = costs_of(test::random_machine(random, 0.7));
    expect_never_slower(on, test::random_traffic(random, on, 1e9), work::fixed);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

// With unlike mixes, or where far traffic wastes memory, fairness can cost a pool something:
// docs/model.md, "When not to believe it".
TEST(ModelProperties, MoreBandwidthIsNeverSlowerForAPoolWithOneMix) {
  for (std::uint64_t seed = 0; seed < machines; ++seed) {
    model::random_numbers random(seed);
    const machine_costs on = costs_of(test::random_machine(random, 1));
    traffic what = test::random_traffic(random, on, 1e9);
    for (model::thread_traffic& thread : what.threads) {
      thread.read = what.threads.front().read;
      thread.written = what.threads.front().written;
    }
    expect_never_slower(on, what, work::pooled);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

struct cost_of_fairness {
  double share = 0; ///< of the cases: the time rose
  double worst = 1; ///< by this factor
};
/// Work that is unequal, on each machine with each capacity raised alone by 30 %.
cost_of_fairness raise_each_capacity(work how) {
  double cases = 0;
  cost_of_fairness found;
  for (std::uint64_t seed = 0; seed < machines; ++seed) {
    model::random_numbers random(seed);
    const machine_costs on = costs_of(test::random_machine(random, 0.7));
    traffic what = test::random_traffic(random, on, 1e9);
    for (model::thread_traffic& thread : what.threads) {
      const double part = random.uniform();
      for (std::size_t n = 0; n < on.size(); ++n) {
        thread.read[n] *= part;
        thread.written[n] *= part;
      }
    }
    const double before = price(on, what, how).seconds;
    machine_costs more = on;
    for (double* capacity : capacities(more)) {
      const double was = *capacity;
      *capacity = was * 1.3;
      const double ratio = price(more, what, how).seconds / before;
      *capacity = was;
      ++cases;
      found.share += ratio > 1 + 1e-9 ? 1 : 0;
      found.worst = std::max(found.worst, ratio);
    }
  }
  found.share /= cases;
  ::testing::Test::RecordProperty("share", std::to_string(found.share));
  ::testing::Test::RecordProperty("worst", std::to_string(found.worst));
  return found;
}

// What docs/model.md admits: fairness gives a thread that may go faster what a later one needed.
TEST(ModelProperties, MoreBandwidthMayCostUnequalWorkButSeldomAndLittle) {
  const cost_of_fairness found = raise_each_capacity(work::fixed);
  EXPECT_GT(found.share, 0) << "then the page can say more";
  EXPECT_LT(found.share, 0.01);
  EXPECT_LT(found.worst, 1.05);
}

TEST(ModelProperties, MoreBandwidthMayCostAPoolOfUnlikeMixesButSeldom) {
  const cost_of_fairness found = raise_each_capacity(work::pooled);
  EXPECT_GT(found.share, 0) << "then the page can say more";
  EXPECT_LT(found.share, 0.03);
  EXPECT_LT(found.worst, 1.2);
}

TEST(ModelProperties, EverythingFasterByAFactorTakesThatMuchLess) {
  for (std::uint64_t seed = 0; seed < machines; ++seed) {
    model::random_numbers random(seed);
    machine_costs on = costs_of(test::random_machine(random, 0.7));
    const traffic what = test::random_traffic(random, on, 1e9);
    const double before = price(on, what).seconds;
    for (double* capacity : capacities(on)) {
      *capacity *= 1.7;
    }
    ASSERT_NEAR(price(on, what).seconds * 1.7, before, before * 1e-9) << "seed " << seed;
  }
}

/// The machine with its nodes in another order.
machine renumbered(const machine& of, const std::vector<int>& number) {
  machine other = of;
  const auto to = [&](node_id node) {
    return node_id{number[static_cast<std::size_t>(to_int(node))]};
  };
  for (memory_node& node : other.nodes) {
    node.id = to(node.id);
  }
  std::ranges::sort(other.nodes, {}, &memory_node::id);
  for (parameter& each : other.parameters) {
    each.from = to(each.from);
    each.to = to(each.to);
  }
  return other;
}

TEST(ModelProperties, RenumberingNodesRenumbersTheAnswer) {
  for (std::uint64_t seed = 0; seed < machines; ++seed) {
    model::random_numbers random(seed);
    const machine first = test::random_machine(random, 0.7);
    std::vector<int> number(first.nodes.size());
    std::iota(number.begin(), number.end(), 0);
    std::ranges::rotate(number, number.begin() +
                                    static_cast<std::ptrdiff_t>(random.next() % number.size()));
    const machine_costs on = costs_of(first);
    const machine_costs other = costs_of(renumbered(first, number));
    const traffic what = test::random_traffic(random, on, 1e9);
    traffic moved = what;
    for (std::size_t t = 0; t < what.threads.size(); ++t) {
      moved.threads[t].core = *other.core_of(on.cores[what.threads[t].core].cpus.front());
      for (std::size_t n = 0; n < on.size(); ++n) {
        moved.threads[t].read[static_cast<std::size_t>(number[n])] = what.threads[t].read[n];
        moved.threads[t].written[static_cast<std::size_t>(number[n])] = what.threads[t].written[n];
      }
    }
    const double seconds = price(on, what).seconds;
    ASSERT_NEAR(price(other, moved).seconds, seconds, seconds * 1e-9) << "seed " << seed;
  }
}

TEST(ModelProperties, ManyDifferentThreadsAreNearlyPricedAsTheyAre) {
  // Two nodes whose memories bind, 256 threads that all differ a little: taken in groups.
  const machine_costs on = costs_of(test::equal_nodes(2, 128, 100, 1));
  model::random_numbers random(7);
  traffic all;
  double sum = 0;
  for (std::size_t core = 0; core < 256; ++core) {
    const double bytes = 1e9 * (1 + 0.01 * random.uniform());
    const std::size_t own = on.cores[core].node;
    all.threads.push_back({core, {own == 0 ? bytes : 0, own == 1 ? bytes : 0}, {0, 0}});
    sum += bytes;
  }
  EXPECT_NEAR(price(on, all).seconds, sum / 200e9, 0.01 * sum / 200e9);
}

TEST(ModelProperties, OneOfManyThreadsWithMuchMoreWorkEndsByItself) {
  const machine_costs on = costs_of(test::equal_nodes(1, 200, 1000, 1));
  traffic all;
  for (std::size_t core = 0; core < 199; ++core) {
    all.threads.push_back({core, {1e6 * static_cast<double>(core + 1)}, {0}});
  }
  all.threads.push_back({199, {100e9}, {0}});
  EXPECT_NEAR(price(on, all).seconds, 100, 0.1);
}

/// Whatever is told of a loop, no memory moved more than it can.
TEST(ModelProperties, NoReadingMovesMoreThanTheMemoriesTogether) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    model::random_numbers random(seed);
    const machine_costs on = costs_of(test::random_machine(random, 0.7));
    double most = 0;
    for (const model::figure& memory : on.memory) {
      most += memory.value;
    }
    model::loop of = test::loop_on(on, "triad", test::in_turn_over(on.size()), 1 << 20);
    of.how.kind = static_cast<model::schedule_kind>(random.next() % 5);
    of.how.chunk = std::size_t{1} << (random.next() % 22);
    of.form = random.next() % 2 == 0 ? model::shape::flat : model::shape::triangular;
    if (random.next() % 2 == 0) {
      of.maps.assign(3, model::first_touch(on, of));
    }
    const model::loop_prediction found = predict(on, of);
    for (const double seconds : {found.result.seconds, found.mixed_s, found.in_step_s.value_or(1e9),
                                 found.drifting_s.value_or(1e9)}) {
      ASSERT_GT(seconds, 0) << "seed " << seed;
      ASSERT_LE(found.result.bytes / seconds, most * (1 + 1e-9)) << "seed " << seed;
    }
    ASSERT_GE(found.drifting_s.value_or(1e9), found.mixed_s) << "seed " << seed;
  }
}

TEST(ModelProperties, AChangedInputChangesTheTimeByThatMuchWhereItBinds) {
  const machine_costs on = costs_of(test::equal_nodes(2, 4, 10, 8));
  const model::loop usual = test::loop_on(on, "triad", test::on_node(0));
  const auto seconds = [&](const machine_costs& machine) {
    return price(machine, model::traffic_of(machine, usual)).seconds;
  };
  const std::vector<model::sensitivity> all = model::sensitivities(on, {}, seconds);
  ASSERT_EQ(all.size(), 5U);
  for (const model::sensitivity& each : all) {
    if (each.what == model::input::memory) {
      EXPECT_NEAR(each.less, 1 / 0.9 - 1, 1e-9);
      EXPECT_NEAR(each.more, 1 / 1.1 - 1, 1e-9);
      EXPECT_EQ(each.from, model::origin::measured);
    } else if (each.what == model::input::core) {
      EXPECT_NEAR(each.less, 0, 1e-9);
      EXPECT_NEAR(each.more, 0, 1e-9);
    }
  }
}

TEST(ModelProperties, AlternativesMoveTheSameBytesElsewhere) {
  const machine_costs on = costs_of(test::equal_nodes(4, 2, 10));
  const std::vector<model::alternative> all =
      model::alternatives(on, model::traffic_of(on, test::loop_on(on, "triad", test::on_node(0))));
  ASSERT_EQ(all.size(), 3U);
  for (const model::alternative& each : all) { // four memories of 10 GB/s, whoever uses them
    EXPECT_NEAR(each.seconds, 4 * 8 * (1 << 22) / 40e9, 1e-9) << each.name;
  }
}

TEST(ModelProperties, AlternativesOfRandomAccessGoByTheirOwnLatency) {
  machine two = test::equal_nodes(2, 1, 100);
  test::set(two, "latency", 0, 0, 100, "ns");
  test::set(two, "latency", 0, 1, 200, "ns");
  const machine_costs on = costs_of(two);
  model::loop far = test::loop_on(on, "load", test::on_node(1));
  far.random_access = true;
  far.cores = {0};
  const double asked = price(on, model::traffic_of(on, far)).seconds;
  const std::vector<model::alternative> all = alternatives(on, model::traffic_of(on, far));
  EXPECT_EQ(all.front().name, "on the node of its thread");
  EXPECT_NEAR(asked / all.front().seconds, 2, 1e-9);
}

} // namespace
} // namespace nodewise
