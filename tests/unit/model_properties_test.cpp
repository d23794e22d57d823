// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What must hold of any price, on some hundreds of random machines.
#include <algorithm>
#include <functional>

#include <gmock/gmock.h>

#include "model/predict.hpp"
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
    model::dice dice(seed);
    const machine_costs on = costs_of(test::random_machine(dice, 0.7));
    const traffic what = test::random_traffic(dice, on, 1e9);
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
    model::dice dice(seed);
    const machine_costs on = costs_of(test::random_machine(dice, 0.7));
    double bound = 0;
    for (const model::resource_load& load : price(on, test::random_traffic(dice, on, 1e9)).loads) {
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
    model::dice dice(seed);
    const machine_costs on = costs_of(test::random_machine(dice, 0.7));
    expect_never_slower(on, test::random_traffic(dice, on, 1e9), work::fixed);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

// With unlike mixes, or where far traffic wastes memory, fairness can cost a pool something:
// docs/model.md, "When not to believe it".
TEST(ModelProperties, MoreBandwidthIsNeverSlowerForAPoolWithOneMix) {
  for (std::uint64_t seed = 0; seed < machines; ++seed) {
    model::dice dice(seed);
    const machine_costs on = costs_of(test::random_machine(dice, 1));
    traffic what = test::random_traffic(dice, on, 1e9);
    for (model::thread_traffic& thread : what.threads) {
      thread.read = what.threads.front().read;
      thread.written = what.threads.front().written;
    }
    expect_never_slower(on, what, work::pooled);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(ModelProperties, EverythingFasterByAFactorTakesThatMuchLess) {
  for (std::uint64_t seed = 0; seed < machines; ++seed) {
    model::dice dice(seed);
    machine_costs on = costs_of(test::random_machine(dice, 0.7));
    const traffic what = test::random_traffic(dice, on, 1e9);
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
    model::dice dice(seed);
    const machine first = test::random_machine(dice, 0.7);
    std::vector<int> number(first.nodes.size());
    std::iota(number.begin(), number.end(), 0);
    std::ranges::rotate(number,
                        number.begin() + static_cast<std::ptrdiff_t>(dice.next() % number.size()));
    const machine_costs on = costs_of(first);
    const machine_costs other = costs_of(renumbered(first, number));
    const traffic what = test::random_traffic(dice, on, 1e9);
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
  // 256 threads in two kinds of cores, all a little different: taken in groups, and by hand.
  const machine_costs on = costs_of(test::equal_nodes(2, 128, 100, 1));
  model::dice dice(7);
  traffic all;
  double most = 0;
  double sum = 0;
  for (std::size_t core = 0; core < 256; ++core) {
    const double bytes = 1e9 * (1 + 0.01 * dice.uniform());
    const std::size_t own = on.cores[core].node;
    all.threads.push_back({core, {own == 0 ? bytes : 0, own == 1 ? bytes : 0}, {0, 0}});
    most = std::max(most, bytes);
    sum += bytes;
  }
  EXPECT_NEAR(price(on, all).seconds, sum / 200e9, 0.01 * sum / 200e9);
}

TEST(ModelProperties, AChangedInputChangesTheTimeByThatMuchWhereItBinds) {
  const machine_costs on = costs_of(test::equal_nodes(2, 4, 10, 8));
  const model::loop usual = test::loop_on(on, "triad", test::on_node(0));
  const auto seconds = [&](const machine_costs& machine) {
    return price(machine, model::traffic_of(machine, usual)).seconds;
  };
  for (const model::sensitivity& each : model::sensitivities(on, seconds)) {
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

TEST(ModelProperties, TheBestPlacementIsNeverWorseThanTheOthers) {
  for (std::uint64_t seed = 0; seed < machines; ++seed) {
    model::dice dice(seed);
    const machine_costs on = costs_of(test::random_machine(dice, 0.7));
    const std::vector<model::alternative> all =
        model::alternatives(on, test::random_traffic(dice, on, 1e9));
    ASSERT_EQ(all.size(), 3U);
    ASSERT_TRUE(std::ranges::is_sorted(all, {}, &model::alternative::seconds));
    ASSERT_GT(all.front().seconds, 0);
  }
}

} // namespace
} // namespace nodewise
