// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

#include "report/bar.hpp"
#include "report/envelope.hpp"
#include "report/progress.hpp"
#include "report/table.hpp"

namespace nodewise::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr style plain{};
constexpr style rich{.colour = true, .unicode = true, .terminal = true};
constexpr style terminal{.terminal = true};

TEST(Wrap, BreaksAtSpaces) {
  EXPECT_THAT(wrap("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("", 7), ElementsAre(""));
  EXPECT_THAT(wrap("a\nb  c", 7), ElementsAre("a", "b c"));
  EXPECT_THAT(wrap("a incomprehensible b", 5), ElementsAre("a", "incomprehensible", "b"));
  EXPECT_EQ(wrap_indented("one two", 6, 2), "one\n  two");
}

TEST(Table, AlignsByWhatIsSeen) {
  table t({{"name"}, {"bytes", align::right}, {"what"}});
  t.add({{"a", tone::accent}, "1", "x"});
  t.add({"long name", "12345", ""});
  const std::string expected = "name       bytes  what\n"
                               "a              1  x\n"
                               "long name  12345\n";
  EXPECT_EQ(t.to_string(plain), expected);
  std::string seen = t.to_string(rich);
  for (std::size_t at = 0; (at = seen.find("\x1b[", at)) != std::string::npos;) {
    seen.erase(at, seen.find('m', at) - at + 1);
  }
  EXPECT_EQ(seen, expected);
}

TEST(Table, BreaksOnATerminalAndNotInAPipe) {
  table t({{"k"}, {"text", align::left, true}});
  t.add({"1", std::string(40, 'a') + " " + std::string(50, 'b')});
  EXPECT_EQ(t.to_string(terminal),
            "k  text\n1  " + std::string(40, 'a') + "\n   " + std::string(50, 'b') + "\n");
  EXPECT_EQ(t.to_string(plain),
            "k  text\n1  " + std::string(40, 'a') + " " + std::string(50, 'b') + "\n");
}

TEST(Table, RefusesMoreCellsThanColumns) {
  table t({"a"});
  EXPECT_THROW(t.add({"1", "2"}), std::logic_error);
  EXPECT_TRUE(t.empty());
}

TEST(Bar, IsHonestAtItsEnds) {
  EXPECT_EQ(bar(plain, 0, 10), "..........");
  EXPECT_EQ(bar(plain, 1e-9, 10), "#.........");
  EXPECT_EQ(bar(plain, 0.5, 10), "#####.....");
  EXPECT_EQ(bar(plain, 0.999, 10), "#########.");
  EXPECT_EQ(bar(plain, 1, 10), "##########");
  EXPECT_EQ(bar(plain, std::nan(""), 4), "....");
  EXPECT_EQ(bar(plain, 7, 4), "####");
  EXPECT_EQ(bar(rich, 0.5, 3), "█▌ ");
  EXPECT_EQ(bar(rich, 0.9999, 2), "█▉");
}

TEST(Bar, SharesStandBelowEachOther) {
  const std::vector<share> shares = {{"node 0", 0.25, node_id{0}, "1.00 GiB"},
                                     {"node 12", 0.75, node_id{12}, "3.00 GiB"},
                                     {"others", std::nan(""), unknown_node, ""}};
  const std::string text = share_bars(plain, shares, 2);
  EXPECT_THAT(text, HasSubstr("  node 0   ##########"));
  EXPECT_THAT(text, HasSubstr("25.0 %  1.00 GiB\n"));
  EXPECT_THAT(text, HasSubstr("unavailable\n"));
}

std::vector<page_run> blocked(std::size_t pages) {
  return {{pages, node_id{0}}, {pages, node_id{1}}, {pages, node_id{2}}, {pages, node_id{3}}};
}

TEST(Strip, ShowsTheOwnerOfMostPages) {
  EXPECT_EQ(strip(blocked(100)).draw(plain, 8), "00112233");
  EXPECT_EQ(strip(blocked(1)).draw(plain, 8), "00112233") << "fewer pages than columns";
  EXPECT_EQ(strip(blocked(std::size_t{1} << 50)).draw(plain, 4), "0123");
  EXPECT_EQ(strip(std::vector<page_run>{}).draw(plain, 8), "");
}

TEST(Strip, MixedAbsentAndUnknownHaveTheirOwnMarks) {
  std::vector<node_id> owners;
  for (int page = 0; page < 64; ++page) {
    owners.push_back(node_id{page % 4});
  }
  owners.insert(owners.end(), 64, not_resident);
  owners.insert(owners.end(), 64, unknown_node);
  const strip pages{std::span<const node_id>(owners)};
  EXPECT_EQ(pages.draw(plain, 6), "**..??");
  EXPECT_EQ(display_width(pages.draw(rich, 6)), 6U);
  const std::string legend = pages.legend(plain);
  EXPECT_THAT(legend, HasSubstr("0 node 0 (8.3 %)"));
  EXPECT_THAT(legend, HasSubstr("* mixed"));
  EXPECT_THAT(legend, HasSubstr(". not in memory (33.3 %)"));
  EXPECT_THAT(legend, HasSubstr("? unknown (33.3 %)"));
}

TEST(Strip, LargeNodeNumbersAreLettersOfTheirOwn) {
  const strip pages(std::vector<page_run>{{4, node_id{255}}, {4, node_id{9}}, {4, node_id{64}}});
  EXPECT_EQ(pages.draw(plain, 3), "b9a");
  EXPECT_THAT(pages.legend(plain), HasSubstr("b node 255"));
}

TEST(Strip, OneOwnerNeedsNoMarkForMixed) {
  EXPECT_EQ(strip(std::vector<page_run>{{7, node_id{2}}}).legend(plain), "2 node 2 (100 %)");
}

class Progress : public testing::Test {
 protected:
  progress::surroundings around(style how) {
    return {how, [this] { return now; }, [this](std::string_view text) { written += text; }};
  }
  progress::clock::time_point now{};
  std::string written;
};

TEST_F(Progress, IsQuietForTwoSecondsAndThenTellsWhatIsLeft) {
  {
    progress p("reading pages", 100, around(terminal));
    now += std::chrono::milliseconds(1900);
    p.done(19);
    EXPECT_EQ(written, "");
    now += std::chrono::milliseconds(3100);
    p.done(50);
    EXPECT_THAT(written, HasSubstr("reading pages  ##########.......... "));
    EXPECT_THAT(written, HasSubstr("50.0 %, 5 s left"));
    written.clear();
    now += std::chrono::milliseconds(20);
    p.done(51);
    EXPECT_EQ(written, "") << "ten times a second at most";
  }
  EXPECT_EQ(written, "\r\x1b[K") << "the line is gone at the end";
}

TEST_F(Progress, WithoutATotalTheTimeIsAllThereIs) {
  progress p("booting", 0, around(terminal));
  now += std::chrono::seconds(65);
  p.done(1);
  EXPECT_EQ(written, "\r\x1b[Kbooting  1 min 5 s");
}

TEST_F(Progress, IsNothingInAPipe) {
  {
    progress p("booting", 10, around(plain));
    now += std::chrono::hours(1);
    p.done(1);
  }
  EXPECT_EQ(written, "");
}

TEST(Duration, HasTwoUnits) {
  EXPECT_EQ(format_duration(std::chrono::seconds(42)), "42 s");
  EXPECT_EQ(format_duration(std::chrono::seconds(185)), "3 min 5 s");
  EXPECT_EQ(format_duration(std::chrono::minutes(130)), "2 h 10 min");
}

TEST(ErrorText, HasThreeParts) {
  const error e(error_kind::system, "--membind 9", "mbind", "use one of 0-3", EPERM);
  EXPECT_EQ(error_text(e, plain), "nodewise: --membind 9: mbind: EPERM (Operation not permitted)\n"
                                  "    hint: use one of 0-3\n");
  EXPECT_THAT(error_text(e, rich), HasSubstr("\x1b[1;31mnodewise:\x1b[0m"));
  EXPECT_THAT(error_text({error_kind::usage, "x", "y", ""}, plain), Not(HasSubstr("hint")));
  EXPECT_EQ(warning_text("two threads share a core", plain),
            "nodewise: warning: two threads share a core\n");
}

TEST(ErrorText, FitsTheTerminal) {
  std::string words;
  for (int i = 0; i < 60; ++i) {
    words += "word ";
  }
  const std::string text = error_text({error_kind::usage, words, words, words}, terminal);
  for (const std::string& line : wrap(text, 1000)) {
    EXPECT_LE(line.size(), terminal.width) << line;
  }
  EXPECT_THAT(text, HasSubstr("\n    hint: word word"));
}

TEST(Envelope, OpensEveryResult) {
  const auto result = envelope("pages", 1, {{"name", "m"}}, {{"kernel", "6.1"}});
  EXPECT_EQ(result.begin().key(), "schema");
  EXPECT_EQ(result["schema"], "nodewise/pages/1");
  EXPECT_TRUE(result["nodewise"].is_string());
  EXPECT_EQ(result["machine"]["name"], "m");
  EXPECT_EQ(result["settings"]["kernel"], "6.1");
}

TEST(Envelope, WhatWasNotReadSaysSo) {
  EXPECT_EQ(or_unavailable(std::optional<int>{}), "unavailable");
  EXPECT_EQ(or_unavailable(std::optional<int>{0}), 0);
}

TEST(Envelope, AnyBytesMakeJson) {
  const std::string text = json_text({{"file", "caf\xe9"}});
  EXPECT_TRUE(nlohmann::json::accept(text));
  EXPECT_TRUE(text.ends_with("}\n"));
}

} // namespace
} // namespace nodewise::report
