// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drawing/colours.hpp"
#include "drawing/heat_map.hpp"
#include "drawing/svg.hpp"

namespace nodewise::drawing {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(DrawingSvg, TextsCannotBecomeMarkup) {
  svg into;
  into.begin_part("</title><script>");
  into.text({0, 0}, "<b>\"&\x1b[2J");
  into.end_part();
  const std::string made = file_of({into, "<title>", "a & b", 10, 10});
  EXPECT_THAT(made, Not(HasSubstr("<script")));
  EXPECT_THAT(made, Not(HasSubstr("<b>")));
  EXPECT_THAT(made, HasSubstr("&lt;b&gt;&quot;&amp;\\x1b[2J"));
  EXPECT_THAT(made, HasSubstr("<title id=\"title\">&lt;title&gt;</title>"));
}

TEST(DrawingSvg, AFileCanHaveTheColoursOfOneScheme) {
  svg into;
  into.text({0, 0}, "<style>text{}</style>@media (prefers-color-scheme:dark)");
  const std::string made = file_of({into, "", "", 10, 10});
  EXPECT_THAT(made, HasSubstr("</style>"));
  const std::string light = with_one_scheme(made, scheme::light);
  const std::string dark = with_one_scheme(made, scheme::dark);
  for (const std::string& each : {light, dark}) {
    EXPECT_THAT(each, Not(HasSubstr("@media (prefers-color-scheme:dark){")));
    EXPECT_THAT(each, HasSubstr("&lt;style&gt;text{}&lt;/style&gt;@media (")) << "a text stays";
  }
  EXPECT_THAT(light, HasSubstr(".paper{fill:#fff}"));
  EXPECT_THAT(light, Not(HasSubstr(".paper{fill:#161b22}")));
  EXPECT_GT(dark.find(".paper{fill:#161b22}"), dark.find(".paper{fill:#fff}")) << "the last wins";
}

TEST(DrawingSvg, LengthsHaveNoNeedlessDigits) {
  svg into;
  into.field({1, 2.5, 1.0 / 3, 100});
  EXPECT_THAT(into.elements(), HasSubstr("x=\"1\" y=\"2.5\" width=\"0.33\" height=\"100\""));
}

TEST(DrawingColours, TheScaleIsThatOfItsAuthors) {
  EXPECT_EQ(scale_colour(0), "#00224e");
  EXPECT_EQ(scale_colour(0.5), "#707173");
  EXPECT_EQ(scale_colour(1), "#fee838");
  EXPECT_EQ(scale_colour(7), scale_colour(1));
  EXPECT_EQ(ink_on_scale(0), "#ffffff");
  EXPECT_EQ(ink_on_scale(1), "#000000");
}

heat_map two_by_two() {
  heat_map made;
  made.title = "latency (ns)";
  made.row = "processors of node";
  made.column = "memory of node";
  made.rows = made.columns = {"0", "1"};
  made.values = {{80.25, 140}, {std::nullopt, 80.25}};
  made.unit = "ns";
  made.more_is_better = false;
  return made;
}

TEST(DrawingHeatMap, EachFieldHasItsFigureInWords) {
  svg into;
  (void)draw(into, {}, two_by_two());
  const std::string made = file_of({into, "", "", 1, 1});
  EXPECT_THAT(made, HasSubstr("<title>processors of node 0, memory of node 1: 140 ns</title>"));
  EXPECT_THAT(made,
              HasSubstr("<title>processors of node 1, memory of node 0: unavailable</title>"));
  EXPECT_THAT(made, HasSubstr(">80.25</text>"));
}

TEST(DrawingHeatMap, TheBestFieldIsTheLightest) {
  svg into;
  (void)draw(into, {}, two_by_two());
  const std::string made = file_of({into, "", "", 1, 1});
  const auto colour_of = [&](const char* value) {
    const std::size_t part = made.find(value);
    return made.substr(made.find("fill=\"#", part) + 6, 7);
  };
  EXPECT_EQ(colour_of(": 80.25 ns"), scale_colour(1));
  EXPECT_EQ(colour_of(": 140 ns"), scale_colour(0));
}

TEST(DrawingHeatMap, ManyNodesTakeNoMoreThanAPage) {
  heat_map many = two_by_two();
  many.rows.assign(64, "63");
  many.columns = many.rows;
  many.values.assign(64, std::vector<std::optional<double>>(64, 1234.5));
  svg into;
  EXPECT_LT(draw(into, {}, many).width, 800);
  EXPECT_THAT(into.elements(), Not(HasSubstr(">1234</text>"))); // only in words
}

} // namespace
} // namespace nodewise::drawing
