// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/memory_resource.hpp>

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <nodewise/cache_aligned.hpp>
#include <nodewise/error.hpp>
#include <nodewise/place_objects.hpp>

#include "unit/any_node.hpp"

namespace nodewise {
namespace {

using test::any_node;

TEST(MemoryResource, IsOneANode) {
  EXPECT_EQ(&resource_on(any_node()), &resource_on(any_node()));
  EXPECT_THROW((void)resource_on(unknown_node), error);
}

TEST(MemoryResource, HoldsMapsAndWhatTheyOwn) {
  std::pmr::map<int, std::pmr::string> names(&resource_on(any_node()));
  for (int k = 0; k < 10000; ++k) {
    names.emplace(k, std::string(40, static_cast<char>('a' + k % 26)));
  }
  EXPECT_EQ(std::string_view(names.at(27)), std::string(40, 'b'));
}

TEST(MemoryResource, ThreadsShareOne) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      std::pmr::list<std::vector<int>> all(&resource_on(any_node()));
      for (int k = 0; k < 2000; ++k) {
        all.emplace_back(10, k);
        if (k % 3 == 0) {
          all.pop_front();
        }
      }
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
}

TEST(MemoryResource, SmallAndLargeRequestsAreAligned) {
  std::pmr::memory_resource& from = resource_on(any_node());
  for (const std::size_t bytes : {1U, 63U, 4096U, 200000U, 4U << 20}) {
    for (const std::size_t alignment : {8U, 64U, 256U}) {
      void* const got = from.allocate(bytes, alignment);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(got) % alignment, 0U);
      static_cast<char*>(got)[bytes - 1] = 1;
      from.deallocate(got, bytes, alignment);
    }
  }
}

TEST(MemoryResource, BlockedIsPagesOfItsOwn) {
  std::pmr::vector<double> v(100000, 1.0, &resource_blocked());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(v.data()) % 4096, 0U);
  v.resize(300000, 2.0);
  EXPECT_EQ(v[299999], 2.0);
}

struct particle : place_objects<particle> {
  explicit particle(int to = 5) : value(to) { ++alive; }
  particle(const particle&) = delete;
  particle& operator=(const particle&) = delete;
  ~particle() { --alive; }
  int value;
  static inline int alive = 0;
};

TEST(PlaceObjects, ArraysOfThemAreConstructedInPlacedMemory) {
  placed_resource<bound> here{bound(any_node())};
  particle::place_by(here);
  auto* const many = new particle[10000];
  EXPECT_EQ(many[9999].value, 5);
  EXPECT_EQ(particle::alive, 10000);
  delete[] many;
  EXPECT_EQ(particle::alive, 0);
  // A single one is as ever.
  delete new particle(3);
}

TEST(PlaceObjects, PaddedOnesDoNotShareLines) {
  const cache_aligned<particle> two[2];
  const auto* const first = reinterpret_cast<const char*>(&two[0].value);
  const auto* const second = reinterpret_cast<const char*>(&two[1].value);
  EXPECT_EQ(second - first, static_cast<std::ptrdiff_t>(cache_aligned_bytes));
}

} // namespace
} // namespace nodewise
