// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "html/page.hpp"

namespace nodewise::html {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* hostile = "</script><script>alert(1)</script>\"'<img src=x onerror=y>\x1b[2J";

/// A page in which every text is hostile.
page hostile_page() {
  section all("all", hostile);
  all.heading(hostile);
  all.paragraph(hostile);
  all.remark(hostile);
  all.list({hostile});
  all.facts({{hostile, hostile}});
  all.command(hostile);
  all.code(hostile);
  const table numbers{hostile, {{hostile}, {hostile, cell_kind::code}}, {{hostile, hostile}}};
  all.add(numbers);
  drawing::picture drawn;
  drawn.title = hostile;
  drawn.description = hostile;
  drawn.content.text({}, hostile);
  all.figure(drawn, hostile, numbers);
  all.long_table("t", numbers);
  all.begin_card(hostile);
  all.end_card();
  all.begin_folded(hostile);
  all.end_folded();
  return {hostile,
          hostile,
          {{hostile, hostile}},
          {all},
          std::string("[\"") + "</script><script>\"]",
          {"run();", "sha256-x", ""}};
}

TEST(HtmlPage, NoTextBecomesMarkup) {
  const std::string made = text_of(hostile_page());
  EXPECT_THAT(made, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(made, Not(HasSubstr("<img")));
  EXPECT_THAT(made, Not(HasSubstr("\x1b")));
  // The two scripts are the page's own: its data and its interaction.
  std::size_t scripts = 0;
  for (std::size_t at = made.find("<script"); at != std::string::npos;
       at = made.find("<script", at + 1)) {
    ++scripts;
  }
  EXPECT_EQ(scripts, 2U);
}

TEST(HtmlPage, RunsOnlyItsOwnScript) {
  page made{"t", "v", {}, {}, "{}", {"run();", "sha256-abc", ""}};
  EXPECT_THAT(text_of(made), HasSubstr("default-src 'none'"));
  EXPECT_THAT(text_of(made), HasSubstr("script-src 'sha256-abc'"));
  made.interaction = {};
  EXPECT_THAT(text_of(made), HasSubstr("script-src 'none'"));
  EXPECT_THAT(text_of(made), Not(HasSubstr("<script")));
}

TEST(HtmlSection, ALongTableShowsItsFirstRowsAndSaysSo) {
  table many{"t", {{"n", cell_kind::number}}, {}};
  for (int i = 0; i < 200; ++i) {
    many.rows.push_back({std::to_string(i)});
  }
  section made("s", "s");
  made.long_table("id", many);
  EXPECT_THAT(made.elements(), HasSubstr(">49</td>"));
  EXPECT_THAT(made.elements(), Not(HasSubstr(">50</td>")));
  EXPECT_THAT(made.elements(), HasSubstr("50 of 200 rows"));
}

TEST(HtmlSection, CodeKeepsItsLines) {
  section made("s", "s");
  made.code("a\nb\n");
  EXPECT_THAT(made.elements(), HasSubstr(">a\nb\n</code>"));
}

TEST(Section, WordsOfCodeWithHyphensAreNotDivided) {
  section made("s", "S");
  made.code("if  (x < 1)\nrun --plan  p.json -- ./a");
  EXPECT_THAT(made.elements(),
              HasSubstr(">if  (x &lt; 1)\nrun <span class=\"word\">--plan</span>  p.json "
                        "<span class=\"word\">--</span> ./a</code>"));
}

} // namespace
} // namespace nodewise::html
