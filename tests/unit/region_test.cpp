// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Regions on the running kernel: this machine may have one node only, so these tests ask what holds
// on every machine; tests/lab asks the rest.
#include <nodewise/region.hpp>

#include <algorithm>
#include <cstring>
#include <fstream>

#include <gtest/gtest.h>

#include "unit/any_node.hpp"

namespace nodewise {
namespace {

using test::any_node;

TEST(Region, IsZeroedAndWritable) {
  region memory(3 << 20, bound(any_node()));
  EXPECT_EQ(memory.size_bytes(), std::size_t{3} << 20);
  EXPECT_TRUE(std::all_of(memory.bytes().begin(), memory.bytes().end(),
                          [](std::byte b) { return b == std::byte{0}; }));
  std::memset(memory.data(), 1, memory.size_bytes());
}

TEST(Region, TouchesNothingWhenMadeAndIsLocalWhenTouched) {
  region memory(1 << 20, bound(any_node()), {strictness::prefer, page_size::base});
  EXPECT_EQ(memory.residency().resident, 0U);
  std::memset(memory.data(), 1, memory.size_bytes());
  const residency where = memory.residency();
  EXPECT_EQ(where.resident, where.pages);
  if (memory.placed().complete() && where.exactness == resolution::page) {
    EXPECT_EQ(where.on_owner, where.pages);
  }
}

TEST(Region, MovesWithoutCopyAndReleasesOnce) {
  region first(1 << 20, bound(any_node()));
  std::byte* const start = first.data();
  region second = std::move(first);
  EXPECT_EQ(second.data(), start);
  first = region(1 << 16, bound(any_node()));
  second = std::move(first);
  EXPECT_EQ(second.size_bytes(), std::size_t{1} << 16);
}

TEST(Region, RefusesZeroAndOverflowingSizes) {
  EXPECT_THROW(region(0, bound(any_node())), error);
  EXPECT_THROW(region(SIZE_MAX, bound(any_node())), error);
  EXPECT_THROW(region(SIZE_MAX - 4096, bound(any_node()), {strictness::prefer, page_size::huge_1g}),
               error);
  EXPECT_THROW(region(std::size_t{1} << 62, bound(any_node())), error);
}

TEST(Region, NamesTheExtentAndTheErrnoOfANodeThatDoesNotExist) {
  try {
    const region memory(1 << 20, bound(node_id{1000}), {strictness::must});
    FAIL() << "no machine of these tests has node 1000";
  } catch (const error& e) {
    EXPECT_NE(e.errno_value(), 0);
    EXPECT_NE(e.asked().find("node 1000"), std::string::npos) << e.what();
  }
}

/// Bytes of address space that this process has mapped.
std::size_t mapped_bytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * sys::real_kernel().base_page_bytes();
}

TEST(Region, NothingStaysMappedAfterARefusal) {
  constexpr std::size_t bytes = std::size_t{1} << 30;
  const std::size_t before = mapped_bytes();
  for (int round = 0; round < 4; ++round) {
    EXPECT_THROW(region(bytes, bound(node_id{1000}), {strictness::must}), error);
  }
  EXPECT_LT(mapped_bytes(), before + bytes);
}

TEST(Region, UnmapRegionSaysWhatTheKernelAnswered) {
  region memory(100000, bound(any_node()));
  std::byte* const start = memory.detach();
  EXPECT_EQ(unmap_region(start + 1, 100000), EINVAL) << "no page starts there";
  EXPECT_EQ(unmap_region(start, 100000), 0);
}

TEST(Region, TakesReservedHugePagesOrSaysWhatItTookInstead) {
  const region memory(1 << 20, bound(any_node()), {strictness::prefer, page_size::huge_1g});
  if (memory.placed().granule_bytes == std::size_t{1} << 30) {
    EXPECT_EQ(memory.residency().resident, memory.placed().pages) << "reserved pages are populated";
  } else {
    ASSERT_FALSE(memory.placed().notes.empty());
    EXPECT_NE(memory.placed().notes.front().find("no reserved huge pages"), std::string::npos);
  }
}

TEST(Region, KeepsItsContentsWhenMigrated) {
  region memory(256 << 10, bound(any_node()), {strictness::prefer, page_size::base});
  std::memset(memory.data(), 42, memory.size_bytes());
  const migration moved = memory.migrate(blocked({any_node()}));
  EXPECT_EQ(moved.moved, 0U);
  EXPECT_TRUE(std::all_of(memory.bytes().begin(), memory.bytes().end(),
                          [](std::byte b) { return b == std::byte{42}; }));
}

} // namespace
} // namespace nodewise
