// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Schedules in virtual time: workers that take a known time for each page, and nobody's clock.
#include <nodewise/schedule.hpp>

#include <algorithm>
#include <functional>
#include <queue>
#include <random>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include <nodewise/detail/page_list_cache.hpp>

#include "unit/grid_machine.hpp"

namespace nodewise {
namespace {

using test::grid;
using test::memory_only;

thread_map team(int nodes, int cores) {
  const topology where(grid(nodes, cores));
  return {where, team_layout(where, bind_policy::close)};
}

/// What a simulated loop came to. Bytes are pages.
struct outcome {
  loop_statistics done;
  double idle = 0; ///< share of all workers' time, 0..1
  std::vector<int> times_done;
};

/// `time_of(page)` is what a page takes, wherever it is done.
outcome simulate(std::span<const extent> extents, const thread_map& threads, schedule how,
                 const std::function<double(std::size_t)>& time_of) {
  const page_lists pages(extents, threads);
  chunk_queue queue(pages, threads, how);
  outcome result;
  result.times_done.resize(extents.back().last_page);
  using event = std::pair<double, std::size_t>; // when a worker is free
  std::priority_queue<event, std::vector<event>, std::greater<>> free;
  for (const worker& each : threads.workers()) {
    free.emplace(0.0, each.number);
  }
  double last = 0;
  double busy = 0;
  while (!free.empty()) {
    const auto [now, number] = free.top();
    free.pop();
    const worker& me = threads.workers()[number];
    const auto next = queue.next(me);
    if (!next) {
      continue;
    }
    double took = 0;
    pages.for_runs(next->list, next->first, next->last, [&](const page_lists::run& run) {
      const bool local = run.home == me.team;
      (local ? result.done.bytes_local : result.done.bytes_stolen) +=
          run.last_page - run.first_page;
      for (std::size_t page = run.first_page; page < run.last_page; ++page) {
        took += time_of(page);
        ++result.times_done[page];
      }
    });
    busy += took;
    last = std::max(last, now + took);
    free.emplace(now + took, number);
  }
  result.idle = 1 - busy / (last * static_cast<double>(threads.workers().size()));
  return result;
}

constexpr std::size_t pages = 1 << 14;

double triangle(std::size_t page) {
  return static_cast<double>(page) + 1;
}

void expect_each_page_once(const outcome& of) {
  EXPECT_TRUE(std::ranges::all_of(of.times_done, [](int times) { return times == 1; }));
}

TEST(Schedule, BalancedWorkStaysAtHome) {
  const thread_map threads = team(4, 4);
  std::mt19937 noise(1);
  std::uniform_real_distribution<double> about(0.95, 1.05);
  const auto done = simulate(blocked(threads.owners()).extents(pages), threads,
                             schedule::local_first(), [&](std::size_t) { return about(noise); });
  expect_each_page_once(done);
  // The 4096 pages of a team take as many times the mean, with a deviation of 0.029 * 64 = 1.8:
  // teams end within a chunk of 32 pages of each other, and five chunks of 512 may be stolen at the
  // end. The noise is the same every time.
  EXPECT_GE(*done.done.locality(), 0.99);
  EXPECT_LT(done.idle, 0.05);
}

TEST(Schedule, TriangularWorkInCyclicBlocksStaysAtHome) {
  const thread_map threads = team(4, 4);
  const block_cyclic by({node_id{0}, node_id{1}, node_id{2}, node_id{3}}, 16);
  const auto done = simulate(by.extents(pages), threads, schedule::local_first(), triangle);
  expect_each_page_once(done);
  EXPECT_GE(*done.done.locality(), 0.90);
  EXPECT_LT(done.idle, 0.05);
}

TEST(Schedule, TriangularWorkInEqualBlocksIsEvenedOut) {
  const thread_map threads = team(4, 4);
  const auto extents = blocked(threads.owners()).extents(pages);
  const auto stolen = simulate(extents, threads, schedule::local_first(), triangle);
  expect_each_page_once(stolen);
  // No schedule does better: the last node has 7 of 16 parts of the work, and a fair share is 4.
  EXPECT_GE(*stolen.done.locality(), 0.80);
  EXPECT_LT(stolen.idle, 0.05);

  const auto kept = simulate(extents, threads, schedule::local_first(0, steal::never), triangle);
  EXPECT_EQ(kept.done.locality(), 1.0);
  EXPECT_GT(kept.idle, 0.40);
}

TEST(Schedule, GuidedEvensOutWithFewerChunks) {
  const thread_map threads = team(4, 4);
  const auto done =
      simulate(blocked(threads.owners()).extents(pages), threads, schedule::guided(4), triangle);
  expect_each_page_once(done);
  EXPECT_LT(done.idle, 0.05);
}

TEST(Schedule, AnyIsLocalByChanceOnly) {
  const thread_map threads = team(4, 4);
  std::mt19937 noise(1);
  std::uniform_real_distribution<double> about(0.5, 1.5);
  const auto done = simulate(blocked(threads.owners()).extents(pages), threads, schedule::any(4),
                             [&](std::size_t) { return about(noise); });
  expect_each_page_once(done);
  // 4096 chunks, each at home with a quarter: off by so much with less than
  // 2 exp(-4096 KL(0.3, 0.25)) = 9e-12.
  EXPECT_NEAR(*done.done.locality(), 0.25, 0.05);
}

TEST(Schedule, OwnedPartsAreTheBlocksOfTheDistribution) {
  for (const auto& [nodes, cores] : {std::pair{1, 1}, {2, 4}, {4, 2}, {3, 5}}) {
    const thread_map threads = team(nodes, cores);
    for (const std::size_t n : {std::size_t{1}, std::size_t{7}, std::size_t{1024}, pages}) {
      const page_lists lists(blocked(threads.owners()).extents(n), threads);
      std::size_t next = 0;
      for (const worker& me : threads.workers()) {
        const chunk part = owned_part(lists, threads, me);
        EXPECT_EQ(part.list, me.team);
        lists.for_runs(part.list, part.first, part.last, [&](const page_lists::run& run) {
          EXPECT_EQ(run.first_page, next);
          EXPECT_EQ(run.home, me.team);
          next = run.last_page;
        });
      }
      EXPECT_EQ(next, n);
    }
  }
}

TEST(Schedule, PagesOfAMemoryWithoutWorkersGoToTheNearestTeams) {
  machine made = grid(2, 1);
  made.nodes.push_back(memory_only(2));
  made.distances = {{10, 21, 14}, {21, 10, 24}, {14, 24, 10}};
  const topology where(made);
  const thread_map threads(where, team_layout(where, bind_policy::close));
  const page_lists lists(bound(node_id{2}).extents(100), threads);
  EXPECT_EQ(lists.pages(0), 100U);
  EXPECT_EQ(lists.pages(1), 0U);
  EXPECT_EQ(lists.pages(lists.everything()), 100U);
  // Nobody knows how far this one is: all teams take part.
  const page_lists shared(bound(node_id{9}).extents(101), threads);
  EXPECT_EQ(shared.pages(0) + shared.pages(1), 101U);
  EXPECT_LE(std::max(shared.pages(0), shared.pages(1)), 51U);
}

/// Random owners in random pieces.
std::vector<extent> random_extents(std::mt19937& random, int nodes) {
  std::vector<extent> made;
  std::size_t page = 0;
  const auto count = std::uniform_int_distribution<std::size_t>(1, 40)(random);
  for (std::size_t k = 0; k < count; ++k) {
    const auto length = std::uniform_int_distribution<std::size_t>(1, 50)(random);
    made.push_back(
        {page, page + length, node_id{std::uniform_int_distribution<int>(-1, nodes)(random)}});
    page += length;
  }
  return made;
}

TEST(Schedule, EveryScheduleHandsOutEachPageOnce) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const int nodes = std::uniform_int_distribution<int>(1, 5)(random);
    const thread_map threads = team(nodes, std::uniform_int_distribution<int>(1, 3)(random));
    const auto extents = random_extents(random, nodes);
    const auto chunk_pages = std::uniform_int_distribution<std::size_t>(0, 20)(random);
    for (const schedule how :
         {schedule::local_first(chunk_pages), schedule::local_first(chunk_pages, steal::never),
          schedule::guided(chunk_pages), schedule::any(chunk_pages)}) {
      const auto done = simulate(extents, threads, how, [](std::size_t) { return 1.0; });
      expect_each_page_once(done);
    }
  }
}

TEST(Schedule, ThreadsAtOnceGetEachPageOnce) {
  const thread_map threads = team(2, 2);
  const page_lists lists(blocked(threads.owners()).extents(pages), threads);
  for (const schedule how : {schedule::guided(1), schedule::local_first(1), schedule::any(3)}) {
    chunk_queue queue(lists, threads, how);
    std::vector<int> times(pages);
    std::vector<std::thread> running;
    for (const worker& me : threads.workers()) {
      running.emplace_back([&, me] {
        while (const auto next = queue.next(me)) {
          lists.for_runs(next->list, next->first, next->last, [&](const page_lists::run& run) {
            for (std::size_t page = run.first_page; page < run.last_page; ++page) {
              ++times[page];
            }
          });
        }
      });
    }
    for (std::thread& each : running) {
      each.join();
    }
    EXPECT_TRUE(std::ranges::all_of(times, [](int t) { return t == 1; }));
  }
}

TEST(Schedule, NothingIsLeftHoweverOftenWorkersAsk) {
  const thread_map threads = team(2, 1);
  const page_lists lists(blocked(threads.owners()).extents(10), threads);
  for (const schedule how : {schedule::local_first(1), schedule::guided(1), schedule::any(1)}) {
    chunk_queue queue(lists, threads, how);
    std::size_t got = 0;
    for (int turn = 0; turn < 1000; ++turn) {
      for (const worker& me : threads.workers()) {
        const auto next = queue.next(me);
        got += next ? next->last - next->first : 0;
      }
    }
    EXPECT_EQ(got, 10U);
  }
}

TEST(Schedule, AMemoryOfManyPagesIsHandedOutInChunksThatCanBeCounted) {
  const thread_map threads = team(2, 1);
  constexpr std::size_t many = std::size_t{1} << 40;
  const page_lists lists(blocked(threads.owners()).extents(many), threads);
  chunk_queue queue(lists, threads, schedule::local_first(1));
  const auto first = queue.next(threads.workers()[0]);
  const auto second = queue.next(threads.workers()[0]);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->first, 0U);
  EXPECT_EQ(second->first, first->last);
  EXPECT_GE(first->last, many >> 31U);
}

TEST(PageListCache, ListsAreMadeOnceForANumber) {
  const thread_map threads = team(2, 1);
  detail::page_list_cache cache;
  const auto here = bound(node_id{0}).extents(100);
  const auto there = bound(node_id{1}).extents(50);
  const auto made = cache.of(1, here, threads);
  EXPECT_EQ(made->pages(0), 100U);
  EXPECT_EQ(cache.of(1, here, threads), made);
  const auto other = cache.of(2, there, threads);
  EXPECT_EQ(other->pages(1), 50U);
  EXPECT_EQ(cache.of(1, here, threads), made);
  EXPECT_NE(cache.of(0, here, threads), cache.of(0, here, threads)) << "0 is nobody's number";
}

TEST(PageListCache, OldListsGoWhoeverHoldsThemKeepsThem) {
  const thread_map threads = team(1, 1);
  detail::page_list_cache cache;
  const auto first = cache.of(1, bound(node_id{0}).extents(1), threads);
  for (std::size_t number = 2; number < 100; ++number) {
    EXPECT_EQ(cache.of(number, bound(node_id{0}).extents(number), threads)->pages(0), number);
  }
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(first->pages(0), 1U);
}

} // namespace
} // namespace nodewise
