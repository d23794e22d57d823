// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/detail/tasks/deque.hpp>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace nodewise::detail {
namespace {

TEST(TaskDeque, TheOwnerTakesTheLastAndAThiefTheFirst) {
  std::vector<int> items(1000);
  work_deque<int> deque;
  EXPECT_EQ(deque.take(), nullptr);
  EXPECT_EQ(deque.steal(), nullptr);
  for (int& item : items) { // more than the first ring holds
    deque.reserve_one();
    deque.push(&item);
  }
  EXPECT_EQ(deque.take(), &items[999]);
  EXPECT_EQ(deque.steal(), &items[0]);
  EXPECT_EQ(deque.steal(), &items[1]);
  for (std::size_t k = 998; k >= 2; --k) {
    ASSERT_EQ(deque.take(), &items[k]);
  }
  EXPECT_EQ(deque.take(), nullptr);
  EXPECT_EQ(deque.steal(), nullptr);
}

TEST(TaskDeque, EachItemIsTakenOnceWhateverThievesDo) {
  constexpr std::size_t n = 20000;
  std::vector<std::atomic<int>> items(n);
  work_deque<std::atomic<int>> deque;
  std::atomic<std::size_t> taken{0};
  const auto got = [&](std::atomic<int>* item) {
    if (item != nullptr) {
      ++*item;
      ++taken;
    }
  };
  {
    std::vector<std::jthread> thieves;
    for (int k = 0; k < 3; ++k) {
      thieves.emplace_back([&] {
        while (taken < n) {
          got(deque.steal());
        }
      });
    }
    for (std::size_t k = 0; k < n; ++k) {
      deque.reserve_one();
      deque.push(&items[k]);
      if (k % 3 != 0) { // keeps it short, so that owner and thieves meet at the last item
        got(deque.take());
      }
    }
    while (taken < n) {
      got(deque.take());
    }
  }
  for (const auto& item : items) {
    EXPECT_EQ(item, 1);
  }
}

} // namespace
} // namespace nodewise::detail
