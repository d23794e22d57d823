// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Regions worked on by oneTBB; under ThreadSanitizer with the suppressions of tests/support.
#include <atomic>
#include <numeric>

#include <gtest/gtest.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>

#include <nodewise/region.hpp>

#include "unit/any_node.hpp"

namespace nodewise {
namespace {

using test::any_node;

TEST(OneTbb, TasksFillARegionBlockByBlock) {
  const region memory(4 << 20, blocked({any_node()}), {strictness::prefer, page_size::base});
  auto* const values = reinterpret_cast<int*>(memory.data());
  const auto n = static_cast<int>(memory.size_bytes() / sizeof(int));
  tbb::parallel_for(
      tbb::blocked_range<int>(0, n),
      [&](const tbb::blocked_range<int>& part) {
        std::iota(values + part.begin(), values + part.end(), part.begin());
      },
      tbb::static_partitioner());
  EXPECT_EQ(memory.residency().resident, memory.placed().pages);
  EXPECT_EQ(std::accumulate(values, values + n, 0LL), static_cast<long long>(n) * (n - 1) / 2);
}

TEST(OneTbb, TasksMakeAndDropRegionsOfTheirOwn) {
  std::atomic<int> made{0};
  tbb::parallel_for(0, 64, [&](int) {
    const region memory(64 << 10, bound(any_node()));
    memory.data()[0] = std::byte{1};
    made += memory.residency().resident >= 1 ? 1 : 0;
  });
  EXPECT_EQ(made.load(), 64);
}

} // namespace
} // namespace nodewise
