// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The arithmetic and regions against a real OpenMP runtime; under ThreadSanitizer with libomp and
// its Archer tool, which teaches the sanitizer OpenMP's own synchronisation.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <omp.h>

#include <nodewise/arithmetic.hpp>
#include <nodewise/region.hpp>

#include "unit/any_node.hpp"

namespace nodewise {
namespace {

using test::any_node;

/// Which iterations of schedule(static) each thread got, told by the threads themselves.
std::vector<arithmetic::page_range> static_parts(std::size_t n, int threads) {
  std::vector<arithmetic::page_range> parts(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  {
    auto& mine = parts[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < n; ++i) {
      mine = mine.size() == 0 ? arithmetic::page_range{i, i + 1}
                              : arithmetic::page_range{mine.first, i + 1};
    }
  }
  return parts;
}

TEST(OpenMP, DealsAStaticLoopLongerPartsFirst) {
  omp_set_dynamic(0);
  for (const int threads : {1, 2, 3, 4, 7, 8}) {
    for (const std::size_t n : {1U, 5U, 8U, 64U, 1000U, 4099U}) {
      const auto parts = static_parts(n, threads);
      for (std::size_t slot = 0; slot < parts.size(); ++slot) {
        const auto expected = arithmetic::dealt(slot, n, parts.size());
        ASSERT_EQ(parts[slot].size(), expected.size())
            << n << " on " << threads << ", thread " << slot;
        if (expected.size() != 0) {
          ASSERT_EQ(parts[slot], expected) << n << " on " << threads << ", thread " << slot;
        }
      }
    }
  }
}

TEST(OpenMP, TeamFillsARegionThatOneThreadQueries) {
  const region memory(4 << 20, blocked({any_node()}), {strictness::prefer, page_size::base});
  auto* const values = reinterpret_cast<int*>(memory.data());
  const auto n = static_cast<int>(memory.size_bytes() / sizeof(int));
  std::size_t resident = 0;
#pragma omp parallel num_threads(4)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < n; ++i) {
      values[i] = i;
    }
#pragma omp single
    resident = memory.residency().resident;
  }
  EXPECT_EQ(resident, memory.placed().pages);
  EXPECT_EQ(std::accumulate(values, values + n, 0LL), static_cast<long long>(n) * (n - 1) / 2);
}

TEST(OpenMP, ThreadsMakeAndDropRegionsOfTheirOwn) {
  int made = 0;
#pragma omp parallel for num_threads(4) reduction(+ : made)
  for (int i = 0; i < 64; ++i) {
    const region memory(64 << 10, bound(any_node()));
    memory.data()[0] = std::byte{1};
    made += memory.residency().resident >= 1 ? 1 : 0;
  }
  EXPECT_EQ(made, 64);
}

} // namespace
} // namespace nodewise
