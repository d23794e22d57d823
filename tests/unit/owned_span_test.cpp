// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/owned_span.hpp>

#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "sys/kernel.hpp"
#include "unit/any_node.hpp"

namespace nodewise {
namespace {

const std::size_t page = sys::real_kernel().base_page_bytes();
const blocked three({node_id{0}, node_id{1}, node_id{2}});

/// The owner of an element as a loop over it finds it.
template <class T>
node_id owner_in_loop(const owned_span<T>& of, std::size_t element) {
  for (const extent& each : of.extents()) {
    const index_range range = of.elements().of_pages(each.first_page, each.last_page);
    if (range.first <= element && element < range.last) {
      return each.owner;
    }
  }
  return unknown_node;
}

TEST(OwnedSpan, WholePagesHaveTheOwnersThatPlaceGivesThem) {
  std::vector<std::byte> memory(64 * page);
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const auto pick = [&](std::size_t most) {
      return std::uniform_int_distribution<std::size_t>(0, most)(random);
    };
    const std::size_t first = pick(20 * page);
    const std::span part(memory.data() + first, 1 + pick(40 * page));
    const owned_span seen(part, three);
    const auto begin = reinterpret_cast<std::uintptr_t>(part.data());
    const std::uintptr_t whole = (begin + page - 1) / page;
    const std::uintptr_t end = (begin + part.size()) / page;
    std::size_t covered = 0;
    for (const extent& each : seen.extents()) {
      EXPECT_EQ(each.first_page, covered);
      covered = each.last_page;
      const index_range range = seen.elements().of_pages(each.first_page, each.last_page);
      for (std::uintptr_t at = whole; at < end; ++at) {
        const std::size_t element = at * page - begin;
        if (range.first <= element && element < range.last) {
          EXPECT_EQ(each.owner, three.owner(at - whole, end - whole));
        }
      }
    }
    EXPECT_EQ(covered * page >= part.size(), true);
    EXPECT_NE(owner_in_loop(seen, 0), unknown_node);
    EXPECT_NE(owner_in_loop(seen, part.size() - 1), unknown_node);
  }
}

TEST(OwnedSpan, EdgesBelongToTheirNeighboursOwner) {
  std::vector<std::byte> memory(8 * page);
  const auto misfit = page - reinterpret_cast<std::uintptr_t>(memory.data()) % page;
  const std::span part(memory.data() + misfit - 100,
                       3 * page + 200); // 100 bytes, 3 pages, 100 bytes
  const owned_span seen(part, three);
  EXPECT_EQ(seen.extents().size(), 3U);
  EXPECT_EQ(seen.extents().back().last_page, 5U);
  EXPECT_EQ(owner_in_loop(seen, 0), node_id{0});
  EXPECT_EQ(owner_in_loop(seen, 100 + page), node_id{1});
  EXPECT_EQ(owner_in_loop(seen, part.size() - 1), node_id{2});
}

TEST(OwnedSpan, ARangeWithoutAWholePageHasOneOwner) {
  std::vector<double> few(3);
  const owned_span seen(few, bound(node_id{5}));
  EXPECT_EQ(owner_in_loop(seen, 0), node_id{5});
  EXPECT_EQ(owner_in_loop(seen, 2), node_id{5});
  EXPECT_EQ(seen.residency().pages, 0U);
}

TEST(OwnedSpan, SaysWhereThePagesAreThatPlaceHasPlaced) {
  std::vector<int> numbers(100 * page / sizeof(int));
  std::iota(numbers.begin(), numbers.end(), 0);
  const placement placed =
      place(std::as_writable_bytes(std::span(numbers)), bound(test::any_node()));
  const owned_span seen(numbers, placed);
  const residency where = seen.residency();
  EXPECT_EQ(where.pages, placed.pages);
  EXPECT_EQ(where.resident, placed.pages);
  if (placed.complete() && where.exactness == resolution::page) {
    EXPECT_EQ(where.on_owner, placed.pages);
  }
  EXPECT_EQ(numbers[numbers.size() - 1], static_cast<int>(numbers.size()) - 1);
}

} // namespace
} // namespace nodewise
