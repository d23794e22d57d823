// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "bind/team_sizes.hpp"

namespace nodewise::bind {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TeamSizes, AreReadAsFarAsTheyAreNumbers) {
  EXPECT_THAT(parse_team_sizes("4,2"), ElementsAre(4, 2));
  EXPECT_THAT(parse_team_sizes(" 4 , 2,8"), ElementsAre(4, 2, 8));
  EXPECT_THAT(parse_team_sizes("4;2"), ElementsAre(4));
  EXPECT_THAT(parse_team_sizes("4,0,2"), ElementsAre(4));
  EXPECT_THAT(parse_team_sizes("4,"), ElementsAre(4));
  for (const char* const none : {"", ",4", "x", "-4", "99999999999999999999"}) {
    EXPECT_THAT(parse_team_sizes(none), IsEmpty()) << none;
  }
}

TEST(TeamSizes, MultiplyToTheThreadsOfAllTeams) {
  EXPECT_EQ(threads_of_teams({}), 0U);
  EXPECT_EQ(threads_of_teams({4}), 4U);
  EXPECT_EQ(threads_of_teams({4, 2, 3}), 24U);
  EXPECT_EQ(threads_of_teams({SIZE_MAX / 2, 3}), SIZE_MAX);
}

TEST(TeamSizes, OuterTeamsAreSpreadAndInnerOnesClose) {
  EXPECT_EQ(nested_proc_bind({4, 2}), "spread,close");
  EXPECT_EQ(nested_proc_bind({2, 2, 2}), "spread,spread,close");
  EXPECT_EQ(joined(std::vector<std::size_t>{2, 2, 8}, ","), "2,2,8");
}

} // namespace
} // namespace nodewise::bind
