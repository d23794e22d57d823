// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "observe/thread_watch.hpp"

namespace nodewise::observe {
namespace {

watched_thread thread_with(int tid, std::uint64_t busy_ms, bool running = false) {
  watched_thread made;
  made.tid = tid;
  made.busy_ms = busy_ms;
  made.running = running;
  return made;
}

std::vector<int> workers(const std::vector<watched_thread>& all) {
  std::vector<int> tids;
  for (const watched_thread& each : workers_among(all)) {
    tids.push_back(each.tid);
  }
  return tids;
}

TEST(ObserveThreadWatch, HelpersAreNoWorkers) {
  EXPECT_THAT(workers({thread_with(1, 9000), thread_with(2, 5000), thread_with(3, 90)}),
              testing::ElementsAre(1, 2));
  // A master that read the input alone for most of the time.
  EXPECT_THAT(workers({thread_with(1, 9000), thread_with(2, 200)}), testing::ElementsAre(1, 2));
}

TEST(ObserveThreadWatch, OfAShortProgramThreadsThatWereSeenAtWork) {
  EXPECT_THAT(workers({thread_with(1, 10), thread_with(2, 0, true), thread_with(3, 0)}),
              testing::ElementsAre(1, 2));
}

TEST(ObserveThreadWatch, SeesWhereAThreadMayRun) {
  cpu_set_t here;
  CPU_ZERO(&here);
  ASSERT_EQ(::sched_getaffinity(0, sizeof here, &here), 0);
  int first = 0;
  while (CPU_ISSET(static_cast<std::size_t>(first), &here) == 0) {
    ++first;
  }
  std::atomic<int> tid{0};
  std::atomic<bool> ended{false};
  std::thread bound([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(first), &one);
    (void)::sched_setaffinity(0, sizeof one, &one);
    tid = ::gettid();
    while (!ended) {
      std::this_thread::yield();
    }
  });
  while (tid == 0) {
    std::this_thread::yield();
  }
  std::atomic<bool> begun{false};
  thread_watch watch(::getpid(), [&] { begun = true; });
  std::vector<watched_thread> seen;
  do { // however long a look takes
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    seen = watch.seen();
  } while (std::ranges::none_of(seen, [&](const auto& each) { return each.tid == tid; }));
  ended = true;
  bound.join();
  EXPECT_TRUE(begun);
  const auto found =
      std::ranges::find_if(seen, [&](const watched_thread& each) { return each.tid == tid; });
  EXPECT_EQ(found->pid, ::getpid());
  EXPECT_EQ(found->allowed, cpu_set{cpu_id{first}});
  EXPECT_EQ(found->ran, cpu_set{cpu_id{first}});
  EXPECT_FALSE(watch.stop().empty());
}

} // namespace
} // namespace nodewise::observe
