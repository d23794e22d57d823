// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The library against a real kernel with several NUMA nodes: started inside a virtual machine of
// the lab. Every statement about a page is the kernel's, by a move_pages call of this file's own.
#include <cstring>
#include <map>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <nodewise/region.hpp>
#include <nodewise/topology.hpp>

#include "sys/raw.hpp"

namespace nodewise {
namespace {

std::vector<node_id> memory_nodes() {
  const node_set nodes = topology::from_sysfs().memory_nodes();
  return {nodes.begin(), nodes.end()};
}

/// The node of every page, asked without the library.
std::vector<int> pages_of(const region& memory) {
  const std::size_t page = memory.placed().base_page_bytes;
  std::vector<int> status;
  for (std::size_t at = 0; at < memory.size_bytes(); at += page) {
    void* address = memory.data() + at;
    int node = -1;
    EXPECT_EQ(sys::raw::move_pages(0, 1, &address, nullptr, &node, 0), 0);
    status.push_back(node);
  }
  return status;
}

template <distribution D>
void expect_exact(const region& memory, const D& d) {
  const std::vector<int> actual = pages_of(memory);
  for (std::size_t page = 0; page < actual.size(); ++page) {
    ASSERT_EQ(actual[page], to_int(d.owner(page, actual.size()))) << "page " << page;
  }
  const residency where = memory.residency();
  EXPECT_EQ(where.on_owner, where.pages);
  EXPECT_EQ(where.exactness, resolution::page);
}

void touch(const region& memory) {
  std::memset(memory.data(), 1, memory.size_bytes());
}

TEST(InGuest, HasSeveralMemoryNodes) {
  ASSERT_GE(memory_nodes().size(), 2U);
}

TEST(InGuest, BlockedPolicyBeatsTheTouchOfOneThread) {
  const blocked d(memory_nodes());
  const region memory(8 << 20, d, {strictness::must, page_size::base});
  EXPECT_EQ(memory.placed().method, place_method::policy);
  touch(memory);
  expect_exact(memory, d);
}

TEST(InGuest, EveryNodeCanBeBoundTo) {
  for (const node_id node : memory_nodes()) {
    const bound d(node);
    const region memory(1 << 20, d, {strictness::must, page_size::base});
    touch(memory);
    expect_exact(memory, d);
  }
}

TEST(InGuest, FineBlockCyclicIsExactByMigration) {
  const block_cyclic d(memory_nodes(), 1);
  const region memory(8 << 20, d, {strictness::must, page_size::base});
  EXPECT_EQ(memory.placed().method, place_method::migration);
  expect_exact(memory, d);
}

TEST(InGuest, WeightedSharesAreExact) {
  std::vector<std::uint32_t> weights;
  for (std::size_t i = 0; i < memory_nodes().size(); ++i) {
    weights.push_back(static_cast<std::uint32_t>(i * 2 + 1));
  }
  const weighted_blocks d(memory_nodes(), weights);
  const region memory(4 << 20, d, {strictness::must, page_size::base});
  touch(memory);
  expect_exact(memory, d);
}

TEST(InGuest, HugePageEdgesAreRoundedAndNoPageStrays) {
  const std::size_t nodes = memory_nodes().size();
  const region memory(nodes * (18 << 20) + (1 << 20), blocked(memory_nodes()),
                      {strictness::must, page_size::automatic});
  EXPECT_EQ(memory.placed().granule_bytes, std::size_t{2} << 20);
  touch(memory);
  const residency where = memory.residency();
  EXPECT_EQ(where.on_owner, where.pages);
}

TEST(InGuest, MigrationMovesWhatIsThereAndKeepsIt) {
  const auto nodes = memory_nodes();
  region memory(2 << 20, bound(nodes.back()), {strictness::must, page_size::base});
  std::memset(memory.data(), 42, memory.size_bytes() / 2);
  const blocked d(nodes);
  const migration moved = memory.migrate(d);
  EXPECT_TRUE(moved.refused.empty());
  EXPECT_EQ(moved.not_resident, 256U);
  EXPECT_EQ(moved.moved + moved.already_there, 256U);
  EXPECT_GT(moved.moved, 0U);
  std::memset(memory.data() + memory.size_bytes() / 2, 7, memory.size_bytes() / 2);
  EXPECT_EQ(std::to_integer<int>(memory.data()[0]), 42);
  expect_exact(memory, d);
}

TEST(InGuest, HugePagesMigrateAsAWholeAndNothingIsCalledRefused) {
  const auto nodes = memory_nodes();
  region memory(32 << 20, bound(nodes.front()), {strictness::must, page_size::automatic});
  EXPECT_EQ(memory.placed().granule_bytes, std::size_t{2} << 20);
  touch(memory);
  const migration moved = memory.migrate(bound(nodes.back()));
  EXPECT_TRUE(moved.refused.empty());
  EXPECT_EQ(moved.moved, 8192U);
  EXPECT_EQ(memory.residency().on_owner, 8192U);
}

TEST(InGuest, PlacingMemoryInUseMovesIt) {
  const auto nodes = memory_nodes();
  const region memory(2 << 20, bound(nodes.front()), {strictness::must, page_size::base});
  touch(memory);
  const bound d(nodes.back());
  const placement placed = place(memory.bytes(), d, {strictness::must, page_size::base});
  EXPECT_TRUE(placed.complete());
  for (const int node : pages_of(memory)) {
    ASSERT_EQ(node, to_int(nodes.back()));
  }
}

// As NUMA balancing leaves pages for a moment, to see who uses them.
TEST(InGuest, PagesThatCannotBeUsedForAMomentAreStillThere) {
  const region memory(1 << 20, bound(memory_nodes().front()), {strictness::must, page_size::base});
  std::memset(memory.data(), 1, memory.size_bytes() / 2);
  ASSERT_EQ(::mprotect(memory.data(), memory.size_bytes(), PROT_NONE), 0);
  EXPECT_EQ(memory.residency().resident, memory.placed().pages / 2);
}

TEST(InGuest, ANodeThatIsNotThereIsRefusedByNameAndErrno) {
  try {
    const region memory(1 << 20, bound(node_id{63}), {strictness::must});
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.errno_value(), EINVAL);
    EXPECT_NE(e.asked().find("node 63"), std::string::npos);
  }
}

} // namespace
} // namespace nodewise
