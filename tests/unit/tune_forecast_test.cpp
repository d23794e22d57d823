// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "tune/forecast.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nodewise::tune {
namespace {

using testing::ElementsAre;
using list = std::vector<std::optional<forecast>>;

TEST(TuneForecast, OrdersByTheLikelyTimeAndKeepsTodaysSettingFirst) {
  const auto found = weigh_forecasts(list{forecast{}, forecast{0.5, 1.2, 2}, std::nullopt,
                                          forecast{0.5, 0.6, 2}, forecast{0.5, 1, 2}});
  EXPECT_THAT(found.order, ElementsAre(0, 3, 2, 4, 1)); // 2 counts as 1, and came before 4
  EXPECT_TRUE(found.dropped.empty());
}

TEST(TuneForecast, DropsWhatAnotherBeatsInAnyCase) {
  const auto found = weigh_forecasts(
      list{forecast{}, forecast{2.1, 2.5, 3}, forecast{0.5, 0.7, 0.9}, forecast{0.9, 2, 3}});
  EXPECT_THAT(found.order, ElementsAre(0, 2, 3)); // 0 is slower than 2 and stays; 3 may be as fast
  ASSERT_EQ(found.dropped.size(), 1U);
  EXPECT_EQ(found.dropped[0].candidate, 1U);
  EXPECT_EQ(found.dropped[0].least, 2.1);
  EXPECT_EQ(found.dropped[0].better, 2U);
  EXPECT_EQ(found.dropped[0].most, 0.9);
}

TEST(TuneForecast, TodaysSettingAloneMayBeTheBetterOne) {
  const auto found = weigh_forecasts(list{forecast{}, forecast{1.5, 2, 3}});
  ASSERT_EQ(found.dropped.size(), 1U);
  EXPECT_EQ(found.dropped[0].better, 0U);
  EXPECT_TRUE(weigh_forecasts(list{}).order.empty());
  EXPECT_TRUE(weigh_forecasts(list{std::nullopt, forecast{3, 3, 3}}).dropped.empty());
}

} // namespace
} // namespace nodewise::tune
