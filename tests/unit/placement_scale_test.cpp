// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "placement/placement.hpp"

namespace nodewise::placements {
namespace {

using parts = std::vector<owner_run>;

constexpr std::uint64_t plenty = 1U << 20;

parts blocks(std::size_t threads, std::uint64_t each = 1) {
  parts made;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    made.push_back({each, thread});
  }
  return made;
}

TEST(Scale, BlocksOfOneNumberOfThreadsAreTheBlocksOfAnother) {
  for (std::size_t from = 1; from <= 12; ++from) {
    for (std::size_t to = 1; to <= 12; ++to) {
      EXPECT_EQ(simplified(scaled_parts(blocks(from, 7), from, to), plenty), blocks(to))
          << from << " threads to " << to;
    }
  }
}

TEST(Scale, ASharedThreadsPartsAreSharedInTheSameProportion) {
  // Of 4 threads, the second is a third of one and two thirds of the next of 3.
  EXPECT_EQ(simplified(scaled_parts({{2, 1}, {1, 3}}, 4, 3), plenty),
            (parts{{2, 0}, {4, 1}, {3, 2}}));
  EXPECT_EQ(simplified(scaled_parts({{1, 1}, {1, 0}}, 2, 4), plenty),
            (parts{{1, 2}, {1, 3}, {1, 0}, {1, 1}}));
}

TEST(Scale, TheLargestNumbersFit) {
  const parts made = scaled_parts({{std::uint64_t{1} << 40, 8191}}, 8192, 8191);
  EXPECT_EQ(simplified(made, plenty), (parts{{1, 8190}}));
}

TEST(Scale, AThreadStandsWhereItStood) {
  EXPECT_EQ(scaled_thread(0, 4, 8), 0U);
  EXPECT_EQ(scaled_thread(3, 4, 8), 6U);
  EXPECT_EQ(scaled_thread(7, 8, 4), 3U);
  EXPECT_EQ(scaled_thread(7, 8, 1), 0U);
}

TEST(Scale, SimplifiedIsTheSameMap) {
  EXPECT_EQ(simplified({{4, 0}, {2, 0}, {6, 1}}, plenty), (parts{{1, 0}, {1, 1}}));
  EXPECT_EQ(simplified({{3, 0}, {2, 1}, {3, 0}}, plenty), (parts{{3, 0}, {2, 1}, {3, 0}}));
}

TEST(Scale, TooManyPartsAreRounded) {
  EXPECT_EQ(simplified({{501, 0}, {1, 2}, {499, 1}}, 10), (parts{{1, 0}, {1, 1}}));
  std::uint64_t sum = 0;
  for (const owner_run& run : simplified({{1000003, 0}, {499999, 1}}, 1000)) {
    sum += run.parts;
  }
  EXPECT_LE(sum, 1000U);
}

} // namespace
} // namespace nodewise::placements
