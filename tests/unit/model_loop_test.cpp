// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/loop.hpp"

#include <functional>

#include <gmock/gmock.h>

#include <nodewise/error.hpp>

#include "model/predict.hpp"
#include "unit/model_machines.hpp"

namespace nodewise {
namespace {

using model::costs_of;
using model::machine_costs;
using model::page_map;
using model::schedule_kind;
using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr std::size_t doubles_of_a_page = 512;

machine_costs nodes_of_one_core(int nodes) {
  return costs_of(test::equal_nodes(nodes, 1, 1));
}

TEST(PageMap, BlocksAndTurnsSayTheSamePageByPageAndInSum) {
  const std::vector<page_map> maps = {page_map::of_blocks({{3, 0}, {5, 2}, {9, 1}}),
                                      page_map::in_turn({0, 1, 2}), page_map::in_turn({2, 0}, 3),
                                      page_map::in_turn({1}),
                                      page_map::in_turn({0, 1, 2}).staggered(2)};
  for (const page_map& map : maps) {
    for (std::size_t first = 0; first < 12; ++first) {
      for (std::size_t last = first; last < 40; ++last) {
        std::vector<double> counted(3, 0);
        for (std::size_t page = first; page < last; ++page) {
          counted[map.node_of(page)] += 2;
        }
        std::vector<double> summed(3, 0);
        map.add_pages(static_cast<double>(first), static_cast<double>(last), 2, summed);
        ASSERT_THAT(summed, ElementsAre(DoubleNear(counted[0], 1e-9), DoubleNear(counted[1], 1e-9),
                                        DoubleNear(counted[2], 1e-9)));
      }
    }
  }
}

TEST(PageMap, ABlockEndsWhereAnotherNodeBegins) {
  const page_map blocks = page_map::of_blocks({{3, 0}, {5, 2}});
  EXPECT_EQ(blocks.end_of_block(0), 3U);
  EXPECT_EQ(blocks.end_of_block(3), std::numeric_limits<std::size_t>::max());
  EXPECT_EQ(page_map::in_turn({0, 1}, 4).end_of_block(5), 8U);
  EXPECT_EQ(page_map::in_turn({1}).end_of_block(5), std::numeric_limits<std::size_t>::max());
}

TEST(PageMap, NoNodeIsRefused) {
  EXPECT_THROW((void)page_map::of_blocks({}), error);
  EXPECT_THROW((void)page_map::in_turn({}), error);
  EXPECT_THROW((void)page_map::in_turn({0}, 0), error);
}

TEST(FreeMemory, WhatDoesNotFitGoesToTheNearestWithRoom) {
  model::free_memory room({10, 4, 100}, {{0, 1, 2}, {1, 0, 2}, {2, 1, 0}});
  const page_map first = room.place(test::on_node(0), 12);
  EXPECT_EQ(first.node_of(9), 0U);
  EXPECT_EQ(first.node_of(10), 1U);
  const page_map second = room.place(page_map::in_turn({0, 1}), 6);
  EXPECT_EQ(second.node_of(1), 1U);
  EXPECT_EQ(second.node_of(5), 2U);
  EXPECT_EQ(room.left(1), 0U);
  EXPECT_THROW((void)room.place(test::on_node(0), 1000), error);
}

TEST(Loop, KernelsMoveWhatStreamAndTheCachesSay) {
  const machine_costs on = nodes_of_one_core(1);
  const auto moved = [&](const char* name) {
    const model::loop of = test::local_loop(on, name, 1000);
    return std::pair(model::useful_bytes(of) / 8000, total_bytes(model::traffic_of(on, of)) / 8000);
  };
  EXPECT_EQ(moved("load"), std::pair(1.0, 1.0));
  EXPECT_EQ(moved("store"), std::pair(1.0, 2.0));
  EXPECT_EQ(moved("copy"), std::pair(2.0, 3.0));
  EXPECT_EQ(moved("triad"), std::pair(3.0, 4.0));
  EXPECT_EQ(moved("schoenauer"), std::pair(4.0, 5.0));
  EXPECT_EQ(moved("multiply-add"), std::pair(4.0, 4.0));
}

TEST(Loop, StoresPastTheCachesReadNothing) {
  const machine_costs on = nodes_of_one_core(1);
  model::loop of = test::local_loop(on, "copy", 1000);
  of.arrays[0].streaming = true;
  EXPECT_DOUBLE_EQ(total_bytes(model::traffic_of(on, of)), 16000);
}

TEST(Loop, EverySchedulesTrafficAddsUp) {
  const machine_costs on = costs_of(test::equal_nodes(4, 2, 1));
  for (const model::shape form : {model::shape::flat, model::shape::triangular}) {
    for (const schedule_kind kind :
         {schedule_kind::fixed, schedule_kind::dynamic, schedule_kind::guided,
          schedule_kind::random, schedule_kind::even}) {
      for (const std::size_t chunk : {std::size_t{0}, std::size_t{16}}) {
        model::loop of = test::loop_on(on, "triad", test::in_turn_over(4), 500 * 1000);
        of.form = form;
        of.how = {kind, chunk};
        EXPECT_NEAR(total_bytes(model::traffic_of(on, of)), 500e3 * 8 * 4, 1)
            << static_cast<int>(kind) << ", " << chunk;
      }
    }
  }
}

// Hager and Wellein, problem 8.4: the last of T threads has (2T - 1) / T^2 of the work.
TEST(Loop, EqualBlocksOfATriangleLeaveTheLastThreadNearlyTwice) {
  for (const int threads : {2, 4, 8}) {
    const machine_costs on = nodes_of_one_core(threads);
    model::loop of = test::local_loop(on, "load", 8 << 20);
    of.form = model::shape::triangular;
    of.maps.assign(1, model::first_touch(on, of));
    const double n = threads;
    EXPECT_NEAR(test::rate(on, of) / 1e9 / n, n / (2 * n - 1), 2e-3);
    of.how.kind = schedule_kind::even;
    of.maps.assign(1, model::first_touch(on, of));
    EXPECT_NEAR(test::rate(on, of) / 1e9 / n, 1, 5e-3) << "but for whole pages";
  }
}

TEST(Loop, FirstTouchFollowsTheSchedule) {
  const machine_costs on = nodes_of_one_core(2);
  model::loop of = test::loop_on(on, "load", test::on_node(0), 8 * doubles_of_a_page);
  const page_map blocks = model::first_touch(on, of);
  EXPECT_EQ(blocks.node_of(3), 0U);
  EXPECT_EQ(blocks.node_of(4), 1U);
  of.how.chunk = doubles_of_a_page;
  const page_map turns = model::first_touch(on, of);
  EXPECT_EQ(turns.node_of(0), 0U);
  EXPECT_EQ(turns.node_of(1), 1U);
  EXPECT_EQ(turns.node_of(2), 0U);
  of.how.chunk = doubles_of_a_page / 4; // who comes first to a page has it
  const page_map pieces = model::first_touch(on, of);
  for (std::size_t page = 0; page < 8; ++page) {
    EXPECT_EQ(pieces.node_of(page), 0U);
  }
}

TEST(Loop, FirstTouchOfAPoolIsAnybodys) {
  const machine_costs on = nodes_of_one_core(4);
  const auto pages_by = [&](schedule_kind kind) {
    model::loop of = test::loop_on(on, "load", test::on_node(0), 4096 * doubles_of_a_page);
    of.how = {kind, 64};
    std::vector<double> pages(4, 0);
    model::first_touch(on, of).add_pages(0, 4096, 1, pages);
    EXPECT_EQ(model::first_touch(on, of), model::first_touch(on, of));
    return pages;
  };
  // Each page is one of four threads': off by 200 or more with less than
  // 2 exp(-4096 KL(0.299, 0.25)) = 3e-11, by Chernoff.
  EXPECT_THAT(pages_by(schedule_kind::dynamic), ::testing::Each(DoubleNear(1024, 200)));
  EXPECT_THAT(pages_by(schedule_kind::random), ::testing::Each(DoubleNear(1024, 200)));
  // The first chunk is a quarter of all, the next a quarter of the rest.
  EXPECT_THAT(pages_by(schedule_kind::guided), ::testing::Contains(::testing::Ge(1024)));
}

TEST(Loop, WhatOneScheduleTouchesItFindsAgain) {
  const machine_costs on = nodes_of_one_core(4);
  for (const std::size_t elements : {std::size_t{1} << 18, std::size_t{1} << 28}) {
    for (const model::schedule how : {model::schedule{},
                                      {schedule_kind::fixed, 512},
                                      {schedule_kind::fixed, 1536},
                                      {schedule_kind::even, 0}}) {
      for (const model::shape form : {model::shape::flat, model::shape::triangular}) {
        model::loop of = test::loop_on(on, "load", test::on_node(0), elements);
        of.how = how;
        of.form = form;
        of.maps.assign(1, model::first_touch(on, of));
        double far = 0;
        for (const model::thread_traffic& thread : model::traffic_of(on, of).threads) {
          far += total_bytes(thread) - thread.read[on.cores[thread.core].node];
        }
        // A row of a triangle may end within a page, and so may a block.
        const double borders =
            static_cast<double>(of.chunk() == 0 ? 4 : of.iterations() / of.chunk()) * 4096;
        EXPECT_LE(far, form == model::shape::flat && of.chunk() > 0 ? 1 : borders)
            << how.chunk << " of " << elements;
      }
    }
  }
}

TEST(Loop, ElementsOfAnySizeKnowTheirPage) {
  model::loop of;
  of.element_bytes = 2056;
  of.elements = 1'000'000;
  EXPECT_EQ(of.pages(), 501'954U);
  EXPECT_EQ(of.page_of(1), 0U);
  EXPECT_EQ(of.page_of(2), 1U);
  EXPECT_EQ(of.first_element_of_page(1), 2U);
  of.element_bytes = 3 * 4096;
  EXPECT_EQ(of.page_of(2), 6U);
  EXPECT_EQ(of.first_element_of_page(4), 2U);
}

TEST(Loop, BlocksAreThoseOfTheOpenMPRuntimes) {
  model::loop of;
  of.elements = 10;
  of.cores = {0, 1, 2, 3};
  std::vector<std::size_t> ends;
  for (std::size_t t = 0; t < 4; ++t) {
    ends.push_back(model::block_of(of, t).last);
  }
  EXPECT_THAT(ends, ElementsAre(3, 6, 8, 10));
}

TEST(Loop, NonsenseIsRefused) {
  const machine_costs on = nodes_of_one_core(2);
  const model::loop good = test::local_loop(on, "triad", 1000);
  const auto refused = [&](const std::function<void(model::loop&)>& spoil) {
    model::loop bad = good;
    spoil(bad);
    EXPECT_THROW((void)model::traffic_of(on, bad), error);
    EXPECT_THROW((void)model::predict(on, bad), error);
    if (bad.maps.size() == bad.arrays.size()) {
      EXPECT_THROW((void)model::first_touch(on, bad), error);
    }
  };
  refused([](model::loop& l) { l.cores.clear(); });
  refused([](model::loop& l) { l.cores = {7}; });
  refused([](model::loop& l) { l.elements = 0; });
  refused([](model::loop& l) { l.elements = std::size_t{1} << 62U; });
  refused([](model::loop& l) { l.element_bytes = 0; });
  refused([](model::loop& l) { l.page_bytes = 0; });
  refused([](model::loop& l) { l.maps.pop_back(); });
}

TEST(Loop, EveryOddLoopHasATime) {
  const machine_costs on = nodes_of_one_core(4);
  for (const std::size_t elements : {1U, 2U, 3U, 5U, 1000U}) {
    for (const schedule_kind kind :
         {schedule_kind::fixed, schedule_kind::dynamic, schedule_kind::guided,
          schedule_kind::random, schedule_kind::even}) {
      for (const std::size_t chunk :
           {std::size_t{0}, std::size_t{1}, std::size_t{600}, std::size_t{1} << 62U}) {
        for (const model::shape form : {model::shape::flat, model::shape::triangular}) {
          model::loop of = test::local_loop(on, "triad", elements);
          of.how = {kind, chunk};
          of.form = form;
          const double seconds = model::predict(on, of).result.seconds;
          EXPECT_GT(seconds, 0);
          EXPECT_LT(seconds, 1);
        }
      }
    }
  }
}

TEST(Loop, RandomAccessIsLimitedByLinesInFlight) {
  machine two = test::equal_nodes(2, 1, 100);
  for (int n = 0; n < 2; ++n) {
    test::set(two, "latency", n, n, 100, "ns");
    test::set(two, "latency", n, 1 - n, 150, "ns");
    test::set(two, "lines_in_flight", n, n, 10, "lines");
  }
  const machine_costs on = costs_of(two);
  model::loop of = test::loop_on(on, "load", test::on_node(0));
  of.random_access = true;
  of.cores = {0};
  EXPECT_NEAR(test::rate(on, of), 10 * 64 / 100e-9, 1e3);
  of.cores = {1};
  EXPECT_NEAR(test::rate(on, of), 10 * 64 / 150e-9, 1e3);
  of.maps.assign(1, test::in_turn_over(2));
  EXPECT_NEAR(test::rate(on, of), 10 * 64 / 125e-9, 1e3);
}

// Hager and Wellein, figure 8.9: a file cache fills node 0, a part s of its data goes to the next
// node. Performance 1 / (1 + s); with the nodes' zone lists, node 0's next is always node 1.
TEST(Loop, AFileCacheOnOneNodeHalvesTheRateAtWorst) {
  const machine_costs on = nodes_of_one_core(4);
  model::loop of = test::local_loop(on, "load", std::size_t{4} << 20);
  const std::size_t pages = of.pages();
  for (const double spill : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const auto own = static_cast<std::size_t>(static_cast<double>(pages / 4) * (1 - spill));
    model::free_memory room({own, pages, pages, pages},
                            {{0, 1, 2, 3}, {1, 0, 2, 3}, {2, 3, 0, 1}, {3, 2, 1, 0}});
    model::loop filled = of;
    filled.maps = {room.place(of.maps.front(), pages)};
    EXPECT_NEAR(test::rate(on, filled) / 4e9, 1 / (1 + spill), 1e-3) << spill;
  }
}

} // namespace
} // namespace nodewise
