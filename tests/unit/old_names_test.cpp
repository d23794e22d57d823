// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Names of the last release still compile, with a warning.
#include <type_traits>

#include <gtest/gtest.h>

#include <nodewise/array.hpp>
#include <nodewise/distribution.hpp>
#include <nodewise/error.hpp>
#include <nodewise/interference.hpp>
#include <nodewise/owned_loop.hpp>
#include <nodewise/roster.hpp>
#include <nodewise/schedule.hpp>

#include "unit/any_node.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace nodewise {
namespace {

TEST(OldNames, AreTheNewTypes) {
  EXPECT_TRUE((std::is_same_v<roster, thread_map>));
  EXPECT_TRUE((std::is_same_v<tally, loop_statistics>));
  EXPECT_TRUE((std::is_same_v<weighted, weighted_blocks>));
  EXPECT_TRUE((std::is_same_v<padded<int>, cache_aligned<int>>));
  EXPECT_TRUE((std::is_same_v<together<array<int>>, zip<array<int>>>));
  EXPECT_EQ(interference_bytes, cache_aligned_bytes);
}

TEST(OldNames, WhereIsResidency) {
  const array<int> a(1000, blocked({test::any_node()}));
  EXPECT_EQ(a.where().pages, a.residency().pages);
}

TEST(OldNames, CureIsHint) {
  const error refused(error_kind::usage, "binding", "no such processor", "use one of 0-3");
  EXPECT_EQ(refused.cure(), refused.hint());
}

} // namespace
} // namespace nodewise

#pragma GCC diagnostic pop
