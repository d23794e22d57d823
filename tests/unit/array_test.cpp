// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/array.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <nodewise/allocator.hpp>
#include <nodewise/error.hpp>

#include "unit/any_node.hpp"

namespace nodewise {
namespace {

using test::any_node;

constexpr array_options base_pages{.pages = page_size::base};

TEST(Array, IsZeroAndUntouchedUntilItIsWritten) {
  array<double> a(1 << 20, blocked({any_node()}), base_pages);
  EXPECT_EQ(a.residency().resident, 0U);
  EXPECT_TRUE(a.strip().starts_with(std::string(default_strip_columns, '.'))) << a.strip();
  std::iota(a.begin(), a.end(), 0.0);
  const residency where = a.residency();
  EXPECT_EQ(where.resident, where.pages);
  EXPECT_EQ(a[12345], 12345.0);
}

TEST(Array, DrawsWhereItIs) {
  array<char, bound> a(100 << 12, bound(any_node()), base_pages);
  std::fill(a.begin(), a.begin() + (50 << 12), 'x');
  const std::string drawn = a.strip(10);
  if (a.residency().exactness == resolution::page && to_int(any_node()) < 10) {
    const std::string node(5, static_cast<char>('0' + to_int(any_node())));
    EXPECT_TRUE(drawn.starts_with(node)) << drawn;
    EXPECT_NE(drawn.find(" % in memory, 100 % of that on its owner"), std::string::npos) << drawn;
  }
}

TEST(Array, BasesOfEqualArraysDifferModulo4KiB) {
  std::set<std::uintptr_t> lines;
  std::vector<array<float>> arrays;
  for (int k = 0; k < 16; ++k) {
    arrays.emplace_back(100000, blocked({any_node()}));
    lines.insert(reinterpret_cast<std::uintptr_t>(arrays.back().data()) % 4096 / 64);
  }
  EXPECT_EQ(lines.size(), 16U);
  const array<float> plain(1000, blocked({any_node()}), {.staggered = false});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(plain.data()) % 4096, 0U);
  struct alignas(512) wide {
    char bytes[512];
  };
  const array<wide> aligned(1000, blocked({any_node()}));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned.data()) % 512, 0U);
}

TEST(Array, ElementsBelongToThePageOfTheirFirstByte) {
  for (const std::size_t offset : {0U, 64U, 2496U, 4032U}) {
    for (const std::size_t bytes : {1U, 8U, 24U, 100U, 5000U}) {
      const element_map map{offset, bytes, 4096, 1000};
      std::size_t next = 0;
      for (std::size_t page = 0; next < map.size; ++page) {
        const index_range range = map.of_pages(page, page + 1);
        ASSERT_EQ(range.first, next);
        if (bytes == 24) {
          ASSERT_EQ(map.of_pages<24>(page, page + 1), range);
        }
        for (std::size_t e = range.first; e < range.last; ++e) {
          ASSERT_EQ((offset + e * bytes) / 4096, page);
        }
        next = range.last;
      }
    }
  }
}

TEST(Array, MovesWithItsMemory) {
  array<int> first(1000, blocked({any_node()}));
  first[7] = 7;
  const int* const start = first.data();
  array<int> second = std::move(first);
  EXPECT_EQ(second.data(), start);
  EXPECT_EQ(first.size(), 0U);
  first = std::move(second);
  EXPECT_EQ(first[7], 7);
  EXPECT_EQ(first.size(), 1000U);
}

TEST(Array, ItsPlacementHasANumberOfItsOwn) {
  array<int, bound> first(1000, bound(any_node()));
  const array<int, bound> second(1000, bound(any_node()));
  EXPECT_NE(first.placement_number(), 0U);
  EXPECT_NE(first.placement_number(), second.placement_number());
  const std::uint64_t before = first.placement_number();
  array<int, bound> moved = std::move(first);
  EXPECT_EQ(moved.placement_number(), before);
  EXPECT_EQ(first.placement_number(), 0U);
  moved.migrate(bound(any_node()));
  EXPECT_NE(moved.placement_number(), before);
  EXPECT_NE(moved.placement_number(), second.placement_number());
}

TEST(Array, RefusesSizesThatNoMemoryHolds) {
  EXPECT_THROW(array<double>(0, blocked({any_node()})), error);
  EXPECT_THROW(array<double>(SIZE_MAX / 8, blocked({any_node()})), error);
  EXPECT_THROW(array<double>(SIZE_MAX / 64, blocked({any_node()})), error);
}

TEST(Array, ANodeThatIsNotThereIsSaidOrThrown) {
  const array<int, bound> preferred(100000, bound(node_id{1000}));
  EXPECT_FALSE(preferred.placed().complete());
  ASSERT_FALSE(preferred.placed().refused.empty());
  EXPECT_EQ(preferred.placed().refused.front().where.owner, node_id{1000});
  EXPECT_THROW((array<int, bound>(100000, bound(node_id{1000}), {.how = strictness::must})), error);
}

TEST(Allocator, ResizeTouchesNothing) {
  const allocator<double> by(blocked({any_node()}), page_size::base);
  std::vector<double, allocator<double>> v(by);
  v.resize(1 << 20);
  const auto bytes = std::as_bytes(std::span(v));
  EXPECT_EQ(query_residency(bytes, {}).resident, 0U);
  v[5] = 1;
  EXPECT_EQ(query_residency(bytes, {}).resident, 1U);
  EXPECT_EQ(v[6], 0.0);
}

TEST(Allocator, ContainersMoveCopyAndSwap) {
  const allocator<int> by(blocked({any_node()}));
  std::vector<int, allocator<int>> a(100000, 1, by);
  std::vector<int, allocator<int>> b(10, 2, allocator<int>(blocked({any_node()})));
  auto copy = a;
  EXPECT_EQ(copy, a);
  std::swap(a, b);
  EXPECT_EQ(a.size(), 10U);
  EXPECT_EQ(b, copy);
  a = std::move(copy);
  EXPECT_EQ(a, b);
  a.push_back(3);
  EXPECT_EQ(a.back(), 3);
}

TEST(Allocator, PlacesBySizeWhatHasGrown) {
  std::vector<int, allocator<int>> v((allocator<int>(blocked({any_node()}), page_size::base)));
  for (int k = 0; k < 100000; ++k) {
    v.push_back(k);
  }
  const placement placed = place_by_size(v, blocked({any_node(), any_node()}));
  EXPECT_LE(placed.pages * placed.base_page_bytes, v.size() * sizeof(int));
  EXPECT_TRUE(placed.complete() || !placed.refused.empty());
  for (int k = 0; k < 100000; ++k) {
    ASSERT_EQ(v[static_cast<std::size_t>(k)], k);
  }
}

} // namespace
} // namespace nodewise
