// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What holds for the teams of every runtime. `Teams` is one of them; a file for each instantiates
// these tests, since OpenMP's is another compiler flag.
#pragma once

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include <nodewise/affinity.hpp>
#include <nodewise/array.hpp>
#include <nodewise/node_teams.hpp>
#include <nodewise/objects.hpp>
#include <nodewise/owned_span.hpp>
#include <nodewise/per_node.hpp>
#include <nodewise/per_thread.hpp>
#include <nodewise/read_into.hpp>
#include <nodewise/replicated.hpp>

namespace nodewise::test {

template <class Teams>
class NodeTeams : public testing::Test {
 protected:
  topology here_ = topology::from_sysfs();
  /// More threads than processors, so that there is something to hand out on any machine.
  layout_options four_{.threads = 4};
};

TYPED_TEST_SUITE_P(NodeTeams);

TYPED_TEST_P(NodeTeams, EachWorkerIsCalledOnceOnItsNode) {
  TypeParam teams(this->here_, this->four_);
  ASSERT_EQ(teams.threads().workers().size(), 4U);
  std::vector<std::atomic<int>> calls(4);
  std::atomic<int> elsewhere{0};
  for (int round = 0; round < 20; ++round) {
    teams.on_each_worker([&](const worker& me) {
      ++calls[me.number];
      elsewhere += teams.threads().teams()[me.team].cpus.contains(current_cpu()) ? 0 : 1;
    });
  }
  for (const auto& each : calls) {
    EXPECT_EQ(each, 20);
  }
  EXPECT_EQ(elsewhere, 0);
}

TYPED_TEST_P(NodeTeams, TheCallersProcessorsAreAsBefore) {
  const cpu_set before = thread_affinity();
  {
    TypeParam teams(this->here_, this->four_);
    teams.on_each_worker([](const worker&) {});
    EXPECT_EQ(thread_affinity(), before);
    teams.on_each_node([](const auto&) {});
    EXPECT_EQ(thread_affinity(), before);
  }
  EXPECT_EQ(thread_affinity(), before);
}

TYPED_TEST_P(NodeTeams, EveryElementIsVisitedOnceUnderEverySchedule) {
  TypeParam teams(this->here_, this->four_);
  constexpr std::size_t n = 300001;
  array<int> a(n, teams.blocked(), {.pages = page_size::base});
  for (const schedule how :
       {schedule::owned(), schedule::local_first(), schedule::local_first(3),
        schedule::local_first(1, steal::never), schedule::guided(), schedule::any(2)}) {
    teams.fill(a, 0);
    const loop_statistics done = teams.for_each_owned(
        a,
        [](std::size_t first, std::span<int> part) {
          for (std::size_t i = 0; i < part.size(); ++i) {
            part[i] += static_cast<int>(first + i);
          }
        },
        how);
    EXPECT_EQ(done.bytes_local + done.bytes_stolen, n * sizeof(int));
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(a[i], static_cast<int>(i)) << to_string(done);
    }
  }
}

TYPED_TEST_P(NodeTeams, ArraysAreWalkedTogether) {
  TypeParam teams(this->here_, this->four_);
  constexpr std::size_t n = 100000;
  array<double> a(n, teams.blocked());
  array<double> b(n, teams.blocked());
  array<float> c(n, teams.blocked());
  teams.fill(b, 2.0);
  teams.fill(c, 3.0F);
  const auto& constant = c;
  teams.for_each_owned(over(a, b, constant),
                       [](std::span<double> to, std::span<double> x, std::span<const float> y) {
                         for (std::size_t i = 0; i < to.size(); ++i) {
                           to[i] = x[i] * static_cast<double>(y[i]);
                         }
                       });
  const double sum = teams.reduce_owned(
      a, 0.0, [](std::span<double> part) { return std::accumulate(part.begin(), part.end(), 0.0); },
      std::plus<>());
  EXPECT_EQ(sum, 6.0 * n);
  array<double> shorter(n - 1, teams.blocked());
  EXPECT_THROW(teams.for_each_owned(over(a, shorter), [](auto, auto) {}), error);
}

TYPED_TEST_P(NodeTeams, ALoopFollowsAnArrayThatGotOtherPages) {
  TypeParam teams(this->here_, this->four_);
  const auto visited = [&](auto& a) {
    std::atomic<std::size_t> count{0};
    teams.for_each_owned(a, [&](std::span<int> part) { count += part.size(); });
    return count.load();
  };
  array<int> a(10000, teams.blocked());
  EXPECT_EQ(visited(a), 10000U);
  array<int> b(300000, teams.blocked());
  EXPECT_EQ(visited(b), 300000U);
  a = std::move(b);
  EXPECT_EQ(visited(a), 300000U);
  a.migrate(blocked({teams.threads().teams().back().node}));
  EXPECT_EQ(visited(a), 300000U);
  for (std::size_t size = 1000; size < 100000; size += 3000) {
    array<int> each(size, teams.blocked());
    EXPECT_EQ(visited(each), size) << "where another array was before";
  }
  std::vector<int> numbers(50000);
  owned_span<int> all(numbers, teams.blocked());
  owned_span<int> some(std::span<int>(numbers).first(20000), teams.blocked());
  EXPECT_EQ(visited(all), 50000U);
  EXPECT_EQ(visited(some), 20000U);
  all = some;
  EXPECT_EQ(visited(all), 20000U);
}

TYPED_TEST_P(NodeTeams, BodiesAreToldWhereTheyAreAndWhoTheyAre) {
  TypeParam teams(this->here_, this->four_);
  constexpr std::size_t n = 100000;
  array<double> a(n, teams.blocked());
  std::vector<std::atomic<std::size_t>> done(4);
  teams.for_each_owned(a, [&](const worker& me, std::size_t first, std::span<double> part) {
    std::iota(part.begin(), part.end(), static_cast<double>(first));
    done[me.number] += part.size();
  });
  EXPECT_EQ(a[n - 1], n - 1);
  EXPECT_EQ(done[0] + done[1] + done[2] + done[3], n);
  EXPECT_NEAR(static_cast<double>(done[3]), n / 4.0, 512);
  const auto sum_of_indices = [](std::size_t first, std::span<double> part) {
    return (2 * first + part.size() - 1) * part.size() / 2;
  };
  EXPECT_EQ(teams.reduce_owned(a, std::size_t{0}, sum_of_indices, std::plus<>()), n * (n - 1) / 2);
  const auto by_worker = [](const worker& me, std::size_t, std::span<double> part) {
    return me.number * part.size();
  };
  EXPECT_EQ(teams.reduce_owned(a, std::size_t{0}, by_worker, std::plus<>()),
            done[1] + 2 * done[2] + 3 * done[3]);
}

TYPED_TEST_P(NodeTeams, LoopsRunOverMemoryThatIsThereAlready) {
  TypeParam teams(this->here_, this->four_);
  std::vector<int> numbers(100003, 1);
  const std::vector<int> others(numbers.size(), 2);
  owned_span to(numbers, teams.blocked());
  const owned_span from(others, teams.blocked());
  teams.for_each_owned(over(to, from), [](std::span<int> x, std::span<const int> y) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += y[i];
    }
  });
  EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), 0), 3 * 100003);
}

TYPED_TEST_P(NodeTeams, FirstTouchBringsAllPagesIntoMemoryAndKeepsContents) {
  TypeParam teams(this->here_, this->four_);
  array<int> a(1 << 20, teams.blocked(), {.pages = page_size::base});
  a[5] = 7;
  EXPECT_EQ(a.residency().resident, 1U);
  teams.first_touch(a);
  const residency where = a.residency();
  EXPECT_EQ(where.resident, where.pages);
  EXPECT_EQ(a[5], 7);
  EXPECT_EQ(a[6], 0);
}

TYPED_TEST_P(NodeTeams, NestedTeamsAreTheNodesOwn) {
  TypeParam teams(this->here_, this->four_);
  std::vector<std::atomic<int>> calls(4);
  std::atomic<int> elsewhere{0};
  teams.on_each_node([&](const auto& team) {
    team.on_each_worker([&](const worker& me) {
      ++calls[me.number];
      elsewhere += me.team == team.number() && team.info().cpus.contains(current_cpu()) ? 0 : 1;
    });
  });
  for (const auto& each : calls) {
    EXPECT_EQ(each, 1);
  }
  EXPECT_EQ(elsewhere, 0);
}

TYPED_TEST_P(NodeTeams, ABodysExceptionComesOutWhenAllHaveEnded) {
  TypeParam teams(this->here_, this->four_);
  std::atomic<int> ended{0};
  const auto body = [&](const worker& me) {
    if (me.number == 2) {
      throw std::runtime_error("from worker 2");
    }
    ++ended;
  };
  EXPECT_THROW(teams.on_each_worker(body), std::runtime_error);
  EXPECT_EQ(ended, 3);
  teams.on_each_worker([&](const worker&) { ++ended; });
  EXPECT_EQ(ended, 7);
}

TYPED_TEST_P(NodeTeams, ObjectsAreMadeByTheirOwners) {
  TypeParam teams(this->here_, this->four_);
  struct node_of_a_tree {
    explicit node_of_a_tree(std::size_t n, std::pmr::memory_resource* from)
        : number(n), members({1, 2, 3}, from) {}
    std::size_t number;
    std::pmr::vector<int> members;
  };
  constexpr std::size_t n = 5000;
  objects<node_of_a_tree> all(
      teams, n, teams.blocked(),
      [](std::size_t k, std::pmr::memory_resource* from) { return node_of_a_tree(k, from); });
  for (std::size_t k = 0; k < n; ++k) {
    ASSERT_EQ(all[k].number, k);
    ASSERT_EQ(all[k].members.size(), 3U);
  }
  std::atomic<std::size_t> sum{0};
  teams.for_each_owned(all, [&](std::span<node_of_a_tree> part) {
    for (const auto& each : part) {
      sum += each.number;
    }
  });
  EXPECT_EQ(sum, n * (n - 1) / 2);
}

TYPED_TEST_P(NodeTeams, ObjectsThatThrewAreNotLeftBehind) {
  TypeParam teams(this->here_, this->four_);
  static std::atomic<int> alive{0};
  struct counted {
    counted() { ++alive; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --alive; }
    std::array<char, 64> bytes;
  };
  EXPECT_THROW((objects<counted>(teams, 5000, teams.blocked(),
                                 [](std::size_t k) {
                                   if (k == 3000) {
                                     throw std::runtime_error("object 3000");
                                   }
                                   return counted();
                                 })),
               std::runtime_error);
  EXPECT_EQ(alive, 0);
  {
    const objects<counted> all(teams, 5000, teams.blocked(), [](std::size_t) { return counted(); });
    EXPECT_EQ(alive, 5000);
  }
  EXPECT_EQ(alive, 0);
}

TYPED_TEST_P(NodeTeams, CopiesAndOwnValuesAreByWorkerAndNode) {
  TypeParam teams(this->here_, this->four_);
  replicated<int> table(teams.threads(), 10000);
  table.update(teams, [](std::span<int> copy) { std::iota(copy.begin(), copy.end(), 0); });
  per_thread<long> sums(teams.threads(), 0L);
  per_node<std::atomic<int>> visits(teams.threads(), 0);
  teams.on_each_worker([&](const worker& me) {
    const auto mine = table.local(me);
    sums[me] = std::accumulate(mine.begin(), mine.end(), 0L);
    ++visits[me];
  });
  EXPECT_EQ(sums.reduce(0L, std::plus<>()), 4 * (10000L * 9999 / 2));
  EXPECT_EQ(visits.reduce(0, [](int so_far, const auto& each) { return so_far + each.load(); }), 4);
  EXPECT_EQ(table.copies(), teams.threads().teams().size());
  EXPECT_GE(reinterpret_cast<std::uintptr_t>(&sums[1]) - reinterpret_cast<std::uintptr_t>(&sums[0]),
            cache_aligned_bytes);
}

TYPED_TEST_P(NodeTeams, AFileIsReadByTheOwnersOfItsBlocks) {
  TypeParam teams(this->here_, this->four_);
  constexpr std::size_t n = 3 << 20;
  const std::filesystem::path path =
      testing::TempDir() + "nodewise-read-" + std::to_string(::getpid());
  {
    std::vector<int> numbers(n + 1);
    std::iota(numbers.begin(), numbers.end(), -1);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(numbers.data()),
               static_cast<std::streamsize>(numbers.size() * sizeof(int)));
  }
  array<int> a(n, teams.blocked());
  std::uint64_t told = 0;
  read_into(teams, a, path, sizeof(int), [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_GT(done, told);
    EXPECT_EQ(all, n * sizeof(int));
    told = done;
  });
  EXPECT_EQ(told, n * sizeof(int));
  for (std::size_t k = 0; k < n; ++k) {
    ASSERT_EQ(a[k], static_cast<int>(k));
  }
  EXPECT_THROW(read_into(teams, a, path, 2 * sizeof(int)), error);
  std::filesystem::remove(path);
  EXPECT_THROW(read_into(teams, a, path), error);
}

REGISTER_TYPED_TEST_SUITE_P(
    NodeTeams, EachWorkerIsCalledOnceOnItsNode, TheCallersProcessorsAreAsBefore,
    EveryElementIsVisitedOnceUnderEverySchedule, ArraysAreWalkedTogether,
    ALoopFollowsAnArrayThatGotOtherPages, BodiesAreToldWhereTheyAreAndWhoTheyAre,
    LoopsRunOverMemoryThatIsThereAlready, FirstTouchBringsAllPagesIntoMemoryAndKeepsContents,
    NestedTeamsAreTheNodesOwn, ABodysExceptionComesOutWhenAllHaveEnded, ObjectsAreMadeByTheirOwners,
    ObjectsThatThrewAreNotLeftBehind, CopiesAndOwnValuesAreByWorkerAndNode,
    AFileIsReadByTheOwnersOfItsBlocks);

} // namespace nodewise::test
