// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drawing/bars.hpp"
#include "drawing/colours.hpp"
#include "drawing/labels.hpp"
#include "drawing/ranges.hpp"

namespace nodewise::drawing {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::size_t times_in(const std::string& all, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = all.find(what); at != std::string::npos; at = all.find(what, at + 1)) {
    ++found;
  }
  return found;
}

/// The value of `name` in the first element after `after`.
double attribute_of(const std::string& all, const std::string& after, const std::string& name) {
  const std::size_t from = all.find(after);
  return std::stod(all.substr(all.find(name + "=\"", from) + name.size() + 2));
}

TEST(DrawingLabels, LongTextsAreCutBetweenCharacters) {
  EXPECT_EQ(fitting("short", 200), "short");
  const std::string cut = fitting("\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4", 40);
  EXPECT_THAT(cut, EndsWith("\u00e4..."));
  EXPECT_LE(width_of(cut), 40);
  EXPECT_EQ(fitting("a\nb", 200), "a\\nb");
  EXPECT_LE(width_of(fitting(std::string(100'000, 'x'), 300)), 300);
  EXPECT_EQ(fitting("anything", 0), "...");
}

TEST(DrawingLabels, TheNoteLeavesRoomForTheName) {
  svg into;
  draw_label(into, {}, 100, std::string(50, 'n'), std::string(50, 'o'), weight::plain);
  EXPECT_THAT(into.elements(), HasSubstr("n...</text>"));
  EXPECT_THAT(into.elements(), HasSubstr("o...</text>"));
}

ranges two_settings() {
  ranges made{"wall time (s)", false, {}};
  made.rows.push_back({.name = "--bind close",
                       .note = "chosen",
                       .points = {1, 2, 3},
                       .median = 2,
                       .low = 1,
                       .high = 3,
                       .matters = weight::chosen});
  made.rows.push_back({.name = "as it is", .points = {5}, .median = 5});
  return made;
}

TEST(DrawingRanges, EachRowHasItsFiguresInWords) {
  svg into;
  draw(into, {}, two_settings());
  EXPECT_THAT(into.elements(), HasSubstr("<title>--bind close, wall time (s): median 2 (1 to 3), 3 "
                                         "figures; chosen</title>"));
  EXPECT_THAT(into.elements(),
              HasSubstr("<title>as it is, wall time (s): median 5, 1 figure</title>"));
}

TEST(DrawingRanges, DotsAreWhereTheAxisSays) {
  svg into;
  draw(into, {}, two_settings());
  const std::string& made = into.elements();
  EXPECT_EQ(times_in(made, "<circle"), 4U);
  const double one = attribute_of(made, "<circle", "cx");
  const double five = attribute_of(made, "<title>as it is", "cx");
  const double tick_of_one = attribute_of(made, "<text", "x"); // the first number of the axis
  EXPECT_NEAR(one, tick_of_one, 2);
  EXPECT_GT(five, one + 300);
}

TEST(DrawingRanges, ManyFiguresAndRowsHaveABound) {
  ranges many{"s", false, {}};
  for (std::size_t row = 0; row < 10'000; ++row) {
    many.rows.push_back({.name = "r", .points = std::vector<double>(10)});
  }
  for (std::size_t i = 0; i < 100'000; ++i) {
    many.rows.front().points.push_back(static_cast<double>(i));
  }
  svg into;
  const area size = draw(into, {}, many);
  EXPECT_LT(into.elements().size(), 200'000U);
  EXPECT_LT(size.height, 4000);
  EXPECT_THAT(into.elements(), HasSubstr(">9940 more: see the table</text>"));
}

TEST(DrawingRanges, ValuesThatAreNoNumbersAreLeftOut) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const double endless = std::numeric_limits<double>::infinity();
  ranges odd{"s", false, {}};
  odd.rows.push_back({.name = "a", .points = {none, endless, 1e308, -1e308}, .median = none});
  odd.rows.push_back({.name = "b", .points = {}, .median = {}, .low = 1, .high = endless});
  odd.rows.push_back({.name = "c"});
  svg into;
  draw(into, {}, odd);
  EXPECT_THAT(into.elements(), Not(HasSubstr("<circle")));
  for (const char* const each : {"nan", "inf"}) {
    EXPECT_THAT(into.elements(), Not(HasSubstr(each)));
  }
  svg empty;
  EXPECT_EQ(draw(empty, {}, ranges{}).height, 0);
}

TEST(DrawingRanges, NamesCannotBecomeMarkup) {
  ranges hostile{"<b>", false, {}};
  hostile.rows.push_back({.name = "<script>\x1b[2J", .note = "\"&", .points = {1}});
  svg into;
  draw(into, {}, hostile);
  EXPECT_THAT(into.elements(), Not(HasSubstr("<script")));
  EXPECT_THAT(into.elements(), Not(HasSubstr("<b>")));
  EXPECT_THAT(into.elements(), Not(HasSubstr("\x1b")));
}

TEST(DrawingBars, PartsHaveTheirSharesOfTheScale) {
  svg into;
  const area size = draw(into, {},
                         bars{.rows = {{"a", "4", {{"node 0", "#000001", 3}, {"", "#000002", 1}}},
                                       {"b", "8", {{"", "#000003", 8}}}}});
  const std::string& made = into.elements();
  const double half = attribute_of(made, "<title>a, node 0", "width");
  EXPECT_NEAR(half, size.width * 3 / 8, 0.01);
  EXPECT_NEAR(attribute_of(made, "<title>a</title>", "width"), size.width / 8, 0.01);
  EXPECT_NEAR(attribute_of(made, "<title>b</title>", "width"), size.width, 0.01);
}

TEST(DrawingBars, NoPartIsBeyondTheWholeOrNegative) {
  svg into;
  const double none = std::numeric_limits<double>::quiet_NaN();
  draw(into, {},
       bars{.rows = {{"a", "", {{"", "#1", -1}, {"", "#2", none}, {"", "#3", 1e308}}},
                     {"b", "", {{"c", "#4", 1.5}, {"d", "#5", 1}}}},
            .whole = 1});
  const std::string& made = into.elements();
  EXPECT_THAT(made, Not(HasSubstr("#1")));
  EXPECT_THAT(made, Not(HasSubstr("#2")));
  EXPECT_THAT(made, Not(HasSubstr("#3"))); // more than any scale has
  EXPECT_EQ(attribute_of(made, "b, c</title>", "width"), 560);
  EXPECT_THAT(made, Not(HasSubstr("#5")));
}

TEST(DrawingBars, ManyRowsHaveABoundAndNodesTheirColours) {
  svg into;
  bars many{.rows = std::vector<bar>(10'000, {"r", "", {{"", "#1", 1}}}),
            .nodes = {node_id{0}, unknown_node}};
  const area size = draw(into, {}, many);
  EXPECT_LT(size.height, 4000);
  EXPECT_THAT(into.elements(), HasSubstr(">9940 more: see the table</text>"));
  EXPECT_THAT(into.elements(), HasSubstr(node_colour(node_id{0})));
  EXPECT_THAT(into.elements(), HasSubstr(">unknown</text>"));
}

} // namespace
} // namespace nodewise::drawing
