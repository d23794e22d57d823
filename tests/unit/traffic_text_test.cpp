// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/traffic/view.hpp"
#include "cli/verbs/lab/traffic_check.hpp"
#include "traffic/summary.hpp"
#include "unit/counts_files.hpp"

namespace nodewise::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using traffic::counts_file;
using traffic::phase;

traffic::summary summary_of(const std::string& file) {
  return traffic::summarise(traffic::read_counts(counts_file(file)));
}

TEST(TrafficText, BeginsWithTheVerdict) {
  const std::string text = traffic_text(summary_of("first-touch-4x2"), {});
  EXPECT_THAT(text, HasSubstr("triad[412]\n  use: 25.0 % local, initialisation: 100 % local\n"));
  EXPECT_THAT(text, HasSubstr("imbalance (busiest over mean): 4.00"));
  EXPECT_THAT(text, HasSubstr("triad+0x11d2  16.0 MiB  25.0 %        786432  N0 100 %"));
  EXPECT_THAT(text, HasSubstr("triad+0x12c4"));
  EXPECT_THAT(text, HasSubstr("partial_sums"));
  EXPECT_THAT(text, HasSubstr("2 processors ran a task that was not observed"));
}

TEST(TrafficText, FitsEightyColumnsWithoutColour) {
  for (const char* const file :
       {"first-touch-4x2", "no-use-2x2", "nothing-2x2", "many-objects-2x2"}) {
    const std::string text = traffic_text(summary_of(file), {});
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(report::display_width(line), 80U) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
}

TEST(TrafficText, AbbreviatesLongNamesOfCode) {
  traffic::summary what = summary_of("first-touch-4x2");
  const std::string function =
      "void ns::fill<" + std::string(3000, 'x') + ">(unsigned long)::{lambda()#1}";
  ASSERT_FALSE(what.lines.empty());
  ASSERT_FALSE(what.sites.empty());
  what.lines.front().name.function = function;
  what.sites.front().name.label = function;
  const std::string lines = traffic_lines_text(what, {});
  EXPECT_THAT(lines, HasSubstr("  ns::fill<...>(...)::{lambda#1}  "));
  EXPECT_THAT(lines, Not(HasSubstr("xxx")));
  const std::string objects = traffic_objects_text(what, {});
  EXPECT_THAT(objects, HasSubstr("  ns::fill<...>(...)::{lambda#1}  "));
  EXPECT_THAT(objects, Not(HasSubstr("xxx")));
}

TEST(TrafficText, NamesAFunctionWithoutLinesOnce) {
  traffic::summary what = summary_of("first-touch-4x2");
  ASSERT_FALSE(what.lines.empty());
  what.lines.front().name = {"relax(int)", "", 0, "relax(int)"};
  const std::string lines = traffic_lines_text(what, {});
  EXPECT_THAT(lines, HasSubstr("relax(int)"));
  EXPECT_EQ(lines.find("relax"), lines.rfind("relax"));
}

TEST(TrafficText, ShadesTheMapOnATerminalOnly) {
  const traffic::summary what = summary_of("first-touch-4x2");
  const report::style terminal{.colour = true, .unicode = true, .terminal = true};
  EXPECT_THAT(traffic_matrix_text(what, terminal), HasSubstr("░░ 25.0 %"));
  EXPECT_THAT(traffic_matrix_text(what, {.unicode = true}), Not(HasSubstr("░")));
}

TEST(TrafficText, SaysThatThereWasNoUse) {
  const std::string text = traffic_text(summary_of("no-use-2x2"), {});
  EXPECT_THAT(text, HasSubstr("There was almost no use phase"));
  EXPECT_THAT(text, HasSubstr("Objects in initialisation"));
  const std::string none = traffic_text(summary_of("nothing-2x2"), {});
  EXPECT_THAT(none, HasSubstr("no line was read from memory"));
  EXPECT_THAT(none, Not(HasSubstr("% local")));
}

TEST(TrafficText, NamesWhatWasKilled) {
  EXPECT_THAT(traffic_text(summary_of("many-objects-2x2"), {}), HasSubstr("rows[10] was killed"));
}

TEST(TrafficText, OfManyNodesListsTheHeaviestWays) {
  std::string text = "nodewise-counts 1\nselftest 1 1\nline_bytes 64\npage_bytes 4096\n";
  for (int n = 0; n < 20; ++n) {
    text += "processor " + std::to_string(n) + " " + std::to_string(n) + "\n";
  }
  for (int n = 0; n < 20; ++n) {
    text += "memory " + std::to_string(n) + "\n";
  }
  text += "cell 3 17 use 75 0 0 0\ncell 4 4 use 25 0 0 0\ncomplete\n";
  EXPECT_THAT(traffic_matrix_text(traffic::summarise(traffic::read_counts(text)), {}),
              HasSubstr("from N3 to the memory of N17: 75.0 %\n"));
}

traffic_limits at_least(double share, std::optional<phase> when = phase::use) {
  traffic_limits asked;
  asked.min_local = share;
  asked.when = when;
  return asked;
}

traffic_limits at_least(double share, std::vector<std::string> objects) {
  traffic_limits asked = at_least(share);
  asked.objects = std::move(objects);
  return asked;
}

traffic_limits at_most(double imbalance) {
  traffic_limits asked;
  asked.max_imbalance = imbalance;
  return asked;
}

traffic_verdict judged(const std::string& file, traffic_limits asked) {
  return judge_traffic(summary_of(file), asked);
}

TEST(TrafficCheck, HoldsTheShareInUseAgainstTheLimit) {
  EXPECT_TRUE(judged("first-touch-4x2", at_least(0.25)).passed());
  const traffic_limits more = at_least(0.26);
  const traffic_verdict failed = judged("first-touch-4x2", more);
  EXPECT_FALSE(failed.passed());
  EXPECT_EQ(failed.text(more),
            "failed: all traffic in use: 25.0 % local (at least 26.0 % required)");
  EXPECT_EQ(failed.offending.sites.size(), 3U);
  EXPECT_TRUE(judged("first-touch-4x2", at_least(1, phase::initialisation)).passed());
  // 786432 + 786432 of 3932160
  EXPECT_TRUE(judged("first-touch-4x2", at_least(0.4, std::nullopt)).passed());
  EXPECT_FALSE(judged("first-touch-4x2", at_least(0.41, std::nullopt)).passed());
}

TEST(TrafficCheck, BlamesThePhaseThatFailed) {
  EXPECT_TRUE(judged("remote-init-2x2", at_least(1)).passed());
  for (const std::optional<phase> when :
       {std::optional(phase::initialisation), std::optional<phase>()}) {
    const traffic_verdict failed = judged("remote-init-2x2", at_least(0.9, when));
    EXPECT_FALSE(failed.passed());
    ASSERT_EQ(failed.offending.sites.size(), 1U);
    EXPECT_THAT(traffic_objects_text(failed.offending, {}),
                HasSubstr("placed_late  64.0 KiB    0 %          1024  N1 100 %"));
    EXPECT_THAT(traffic_lines_text(failed.offending, {}), HasSubstr("0x401000"));
    EXPECT_THAT(traffic_lines_text(failed.offending, {}), Not(HasSubstr("0x402000")));
  }
}

TEST(TrafficCheck, FailsWhereNothingWasCounted) {
  const traffic_limits least = at_least(0);
  for (const char* const file : {"no-use-2x2", "nothing-2x2"}) {
    const traffic_verdict verdict = judged(file, least);
    EXPECT_FALSE(verdict.passed()) << file;
    EXPECT_THAT(verdict.text(least), HasSubstr("nothing was counted"));
  }
  EXPECT_FALSE(judged("nothing-2x2", at_most(99)).passed());
  const traffic_limits untouched = at_least(0, std::vector<std::string>{"partial_sums"});
  EXPECT_THAT(judged("first-touch-4x2", untouched).text(untouched),
              HasSubstr("partial_sums in use: nothing was counted"));
}

TEST(TrafficCheck, HoldsTheImbalanceAgainstTheLimit) {
  EXPECT_TRUE(judged("first-touch-4x2", at_most(4)).passed());
  traffic_limits asked = at_most(1.5);
  asked.min_local = 0.2;
  const traffic_verdict failed = judged("first-touch-4x2", asked);
  EXPECT_EQ(failed.text(asked),
            "failed: imbalance of the memories in use: 4.00 (at most 1.50 required)");
}

TEST(TrafficCheck, JudgesTheObjectsThatAreNamed) {
  EXPECT_TRUE(judged("many-objects-2x2", at_least(1, std::vector<std::string>{"grid"})).passed());
  const traffic_limits both = at_least(0.9, std::vector<std::string>{"grid", "rows+0x1234"});
  const traffic_verdict failed = judged("many-objects-2x2", both);
  EXPECT_EQ(failed.text(both),
            "failed: rows+0x1234 in use: 50.0 % local (at least 90.0 % required)");
  ASSERT_EQ(failed.offending.sites.size(), 1U);
}

TEST(TrafficCheck, RefusesAnObjectThatIsNotThere) {
  try {
    (void)judged("many-objects-2x2", at_least(0, std::vector<std::string>{"gird"}));
    FAIL() << "a name without an object has passed";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_THAT(e.hint(), HasSubstr("grid, rows+0x1234"));
  }
}

traffic_limits limits(std::vector<const char*> words) {
  words.insert(words.begin(), {"lab", "check"});
  return read_traffic_limits(parse(words));
}

TEST(TrafficCheck, ReadsItsLimits) {
  EXPECT_DOUBLE_EQ(*limits({"--min-local", "0.95"}).min_local, 0.95);
  EXPECT_DOUBLE_EQ(*limits({"--min-local=95%"}).min_local, 0.95);
  EXPECT_DOUBLE_EQ(*limits({"--min-local", "99.5 %"}).min_local, 0.995);
  EXPECT_EQ(limits({"--min-local", "1"}).when, phase::use);
  EXPECT_EQ(limits({"--min-local", "1", "--phase", "all"}).when, std::nullopt);
  EXPECT_EQ(limits({"--min-local", "1", "--object", "a", "--object", "b"}).objects.size(), 2U);
  for (const char* const wrong : {"", "x", "2", "-0.1", "95", "101%", "0.9x", "nan", "%"}) {
    EXPECT_THROW((void)limits({"--min-local", wrong}), error) << wrong;
  }
  for (const char* const wrong : {"", "0.9", "inf", "-2"}) {
    EXPECT_THROW((void)limits({"--max-imbalance", wrong}), error) << wrong;
  }
  EXPECT_THROW((void)limits({}), error);
  EXPECT_THROW((void)limits({"--max-imbalance", "2", "--object", "a"}), error);
}

} // namespace
} // namespace nodewise::cli
