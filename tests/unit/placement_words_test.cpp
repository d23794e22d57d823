// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A placement's words: of the command line, of plan files, of the agent's settings.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "placement/placement.hpp"

namespace nodewise::placements {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using runs = std::vector<owner_run>;

placement typed(std::string_view text) {
  return read(text, grammar::command_line,
              [](std::string_view list) { return node_set::parse(list); });
}
placement planned(std::string_view text) {
  return read(text, grammar::plan_file,
              [](std::string_view list) { return node_set::parse(list); });
}

TEST(PlacementWords, OfTheCommandLineAreRead) {
  EXPECT_EQ(typed("local"), placement{kind::local});
  EXPECT_EQ(typed("blocked"), placement{kind::blocked});
  EXPECT_EQ(typed("interleave"), placement{kind::interleave});
  EXPECT_EQ(typed("interleave:0,2"), (placement{kind::interleave, {{1, 0}, {1, 2}}}));
  EXPECT_EQ(typed("bind:1-2"), (placement{kind::bind, {{1, 1}, {1, 2}}}));
  EXPECT_EQ(typed("prefer:1").how, kind::prefer);
  EXPECT_EQ(typed("rows:8000"), (placement{kind::blocked, {}, 8000}));
  EXPECT_EQ(typed("cyclic:64K"), (placement{kind::cyclic, {}, 65536}));
  EXPECT_EQ(typed("cyclic:2MiB:0-1"), (placement{kind::cyclic, {{1, 0}, {1, 1}}, 2U << 20}));
}

TEST(PlacementWords, WeightsAreReadByNode) {
  EXPECT_EQ(typed("weighted:0=3,1,2=1,3=0").owners, (runs{{3, 0}, {1, 1}, {1, 2}}));
  EXPECT_EQ(planned("weighted:0=3,2=1").owners, (runs{{3, 0}, {1, 2}}));
  for (const char* const text : {"weighted:0=1,0=2", "weighted:0-2=1,1=3"}) {
    EXPECT_THROW((void)typed(text), error) << text;
  }
}

TEST(PlacementWords, WeightsMayBeThoseThatWereMeasured) {
  EXPECT_TRUE(is_by_measurement(typed("weighted:auto")));
  EXPECT_THAT(typed("weighted:auto").owners, IsEmpty());
  EXPECT_TRUE(is_by_measurement(typed("weighted:auto:0,2-3")));
  EXPECT_EQ(typed("weighted:auto:0,2-3").owners, (runs{{0, 0}, {0, 2}, {0, 3}}));
  EXPECT_FALSE(is_by_measurement(typed("weighted:0=3,1=1")));
  EXPECT_FALSE(is_by_measurement(typed("interleave")));
  for (const char* const text : {"weighted:auto:", "weighted:automatic", "weighted:auto,0"}) {
    EXPECT_THROW((void)typed(text), error) << text;
  }
  EXPECT_THROW((void)planned("weighted:auto"), error);
}

TEST(PlacementWords, OfTheOtherGrammarAreRefused) {
  for (const char* const text :
       {"none", "thread:1", "cyclic", "map", "rows", "rows:", "rows:0", "rows:4K:0", "rows:many"}) {
    EXPECT_THROW((void)typed(text), error) << text;
  }
  for (const char* const text : {"local", "bind:0", "prefer:0", "map", "cyclic:64K:0"}) {
    EXPECT_THROW((void)planned(text), error) << text;
  }
  EXPECT_TRUE(is_word("cyclic") && is_word("rows"));
  EXPECT_FALSE(is_word("thread") || is_word("none") || is_word(""));
}

TEST(PlacementWords, WhatIsWrittenIsRead) {
  for (const char* const text :
       {"none", "blocked", "interleave", "interleave:0-1,6", "weighted:0=2,2=8", "rows:8000",
        "cyclic", "cyclic:64K", "thread:3"}) {
    EXPECT_EQ(text_of(planned(text)), text);
  }
  for (const char* const text : {"local", "bind:0-3", "prefer:1", "interleave", "blocked"}) {
    EXPECT_EQ(text_of(typed(text)), text);
  }
}

TEST(PlacementWords, MapsAreReadAndWritten) {
  EXPECT_EQ(read_map("0*128 1*128,3 "), (runs{{128, 0}, {128, 1}, {1, 3}}));
  EXPECT_EQ(map_text(read_map("0*128 1*3")), "0*128 1*3");
  for (const char* const text : {"", " ", "0*0", "x", "0*", "*3", "8192*1", "0*1099511627777"}) {
    EXPECT_THROW((void)read_map(text), error) << text;
  }
}

TEST(PlacementWords, TheAgentHasNodes) {
  EXPECT_EQ(wire_text(typed("blocked")), "blocked");
  EXPECT_EQ(wire_text(typed("rows:4K")), "blocked@4096");
  EXPECT_EQ(wire_text(typed("interleave:0,2")), "interleave@0,2");
  EXPECT_EQ(wire_text(typed("weighted:0=3,1=1")), "cyclic@0@0*3,1");
  EXPECT_EQ(wire_text(typed("cyclic:64K:0-1")), "cyclic@65536@0,1");
  EXPECT_EQ(wire_text(placement{kind::map, {{2, 1}, {1, 0}}}), "map@1*2,0");
  EXPECT_EQ(wire_text(placement{kind::thread, {{1, 2}}}), "prefer@2");
}

TEST(PlacementWords, ErrorsSayWhatToWrite) {
  for (const auto& [text, hint] : {std::pair{"red", "weighted:auto[:NODES]"},
                                   {"bind", "bind:NODES"},
                                   {"cyclic:0", "cyclic:64K"},
                                   {"weighted:0", "weighted:0=3,1=1"},
                                   {"weighted:0=300", "from 0 to 255"}}) {
    try {
      (void)typed(text);
      ADD_FAILURE() << text;
    } catch (const error& refused) {
      EXPECT_EQ(refused.kind(), error_kind::usage);
      EXPECT_EQ(refused.asked(), text);
      EXPECT_THAT(refused.hint(), HasSubstr(hint));
    }
  }
}

} // namespace
} // namespace nodewise::placements
