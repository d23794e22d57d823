// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drawing/chart.hpp"
#include "drawing/colours.hpp"
#include "drawing/strips.hpp"

namespace nodewise::drawing {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::size_t count_of(const std::string& what, const std::string& in) {
  std::size_t found = 0;
  for (std::size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + 1)) {
    ++found;
  }
  return found;
}

TEST(DrawingTicks, AreRoundAndReachBothEnds) {
  EXPECT_THAT(ticks(0, 100, 5), ElementsAre(0, 20, 40, 60, 80, 100));
  EXPECT_THAT(ticks(0, 1, 4), ElementsAre(0, 0.25, 0.5, 0.75, 1));
  EXPECT_THAT(ticks(0, 222.15, 6), ElementsAre(0, 50, 100, 150, 200, 250));
  for (const double high : {1e-9, 3.7, 95.2, 1e12}) {
    const auto made = ticks(0, high, 6);
    EXPECT_LE(made.front(), 0);
    EXPECT_GE(made.back(), high);
    EXPECT_LE(made.size(), 8U);
  }
}

TEST(DrawingTicks, OfOneValueAreAnInterval) {
  const auto made = ticks(5, 5, 6);
  EXPECT_LT(made.front(), made.back());
}

TEST(DrawingChart, EachPointSaysItsFigures) {
  svg into;
  draw(into, {},
       {"t",
        {"threads"},
        {"bandwidth (GB/s)"},
        {{"node 0", "#0072b2", {{1, 12.5, 12, 13}, {2, 22}}}}});
  EXPECT_THAT(into.elements(),
              HasSubstr("node 0, threads: 1, bandwidth (GB/s): 12.5 (12 to 13)</title>"));
  EXPECT_THAT(into.elements(), HasSubstr("node 0, threads: 2, bandwidth (GB/s): 22</title>"));
}

TEST(DrawingChart, LeavesOutWhatIsNoNumber) {
  svg into;
  const double none = std::numeric_limits<double>::quiet_NaN();
  const area size = draw(into, {}, {"t", {"x"}, {"y"}, {{"a", "#000000", {{1, none}}}}});
  EXPECT_THAT(into.elements(), Not(HasSubstr("nan")));
  EXPECT_LT(size.height, 50);
}

TEST(DrawingStrips, EachRunHasTheColourOfItsNode) {
  svg into;
  draw(into, {}, {4, {{"pages are on", {{0, 2, {{node_id{0}, 1}}}, {2, 2, {{node_id{1}, 1}}}}}}});
  EXPECT_THAT(into.elements(), HasSubstr("pages are on, pages 0 to 1: node 0 100 %"));
  EXPECT_THAT(into.elements(), HasSubstr("pages are on, pages 2 to 3: node 1 100 %"));
  EXPECT_EQ(count_of("fill=\"" + node_colour(node_id{0}) + "\"", into.elements()), 1U);
}

TEST(DrawingStrips, PagesOfSeveralUsersShowAllOfThem) {
  svg into;
  draw(into, {}, {2, {{"used by", {{0, 2, {{node_id{0}, 0.75}, {node_id{1}, 0.25}}}}}}});
  EXPECT_THAT(into.elements(), HasSubstr("node 0 75 %, node 1 25 %"));
}

TEST(DrawingStrips, AMillionRunsMakeABoundedPicture) {
  strips many{1'000'000, {{"pages are on", {}}}};
  for (std::uint64_t page = 0; page < many.pages; ++page) {
    many.bands[0].runs.push_back({page, 1, {{node_id{static_cast<int>(page % 7)}, 1}}});
  }
  svg into;
  draw(into, {}, many);
  EXPECT_LT(into.elements().size(), 500'000U);
}

TEST(DrawingStrips, RunsBeyondTheEndAreCut) {
  svg into;
  draw(into, {}, {1, {{"pages are on", {{0, 1ULL << 60, {{node_id{0}, 1}}}}}}});
  draw(into, {}, {1, {{"pages are on", {{1ULL << 60, 5, {{node_id{0}, 1}}}}}}});
  EXPECT_THAT(into.elements(), HasSubstr("pages 0 to 0"));
}

TEST(DrawingColours, NodesThatAreUnknownAreGrey) {
  EXPECT_EQ(node_colour(unknown_node), "#9aa0a6");
  EXPECT_EQ(node_colour(node_id{0}), node_colour(node_id{8}));
  EXPECT_NE(node_colour(node_id{0}), node_colour(node_id{1}));
}

} // namespace
} // namespace nodewise::drawing
