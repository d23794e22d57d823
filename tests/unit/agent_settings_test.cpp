// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "agent/alloc/file_paths.hpp"
#include "agent/alloc/rules.hpp"
#include "agent/settings.hpp"
#include "unit/parsed_settings.hpp"

namespace nodewise::agent {
namespace {

TEST(AgentSettings, AreRead) {
  const parsed all("v3;threshold=1048576;group=256;owners=0*4,1*4,1,255*2;default=blocked;"
                   "pin=0|1-2,5|3;main;quiet;report=/tmp/a;b=c");
  const settings& read = all.read;
  EXPECT_EQ(read.threshold_bytes, 1048576U);
  EXPECT_EQ(read.group_bytes, 256U);
  EXPECT_EQ(read.owners.slots, 11U);
  ASSERT_EQ(read.owners.runs, 3U); // equal neighbours merged
  EXPECT_EQ(read.owners.run[1].node, 1);
  EXPECT_EQ(read.owners.run[1].first_slot, 4U);
  EXPECT_EQ(read.owners.run[2].node, 255);
  EXPECT_EQ(read.owners.run[2].first_slot, 9U);
  EXPECT_EQ(read.standard.kind, placement_kind::blocked);
  EXPECT_EQ(read.standard.owners.slots, 11U);
  EXPECT_EQ(std::string(read.pin).substr(0, 9), "0|1-2,5|3");
  EXPECT_TRUE(read.main_works);
  EXPECT_TRUE(read.quiet);
  EXPECT_STREQ(read.report, "/tmp/a;b=c");
}

TEST(AgentSettings, NothingIsLeftOfSettingsThatAreReadAnew) {
  const auto owned = std::make_unique<settings>();
  const std::string all =
      "v3;threshold=1048576;group=256;owners=0*4,1*4;default=blocked;pin=0|1;main;"
      "rule=least=1,code=a+1-2,above=b+1-2:blocked;observe;trace;numa-pin;quiet;announce;report=/a";
  ASSERT_EQ(parse(all.c_str(), *owned), nullptr);
  ASSERT_TRUE(owned->numa_pin);
  ASSERT_NE(parse("nonsense", *owned), nullptr);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(owned.get());
  for (std::size_t at = 0; at < offsetof(settings, rules); ++at) {
    ASSERT_EQ(bytes[at], 0) << "byte " << at;
  }
}

TEST(AgentSettings, AHugePageIsAPowerOfTwo) {
  EXPECT_EQ(parsed("v3;threshold=1;huge=2097152").read.huge_page_bytes, std::size_t{2} << 20);
  const auto owned = std::make_unique<settings>();
  for (const char* text :
       {"v3;threshold=1;huge=", "v3;threshold=1;huge=0", "v3;threshold=1;huge=3"}) {
    EXPECT_STREQ(parse(text, *owned), "an invalid size of huge pages") << text;
  }
}

TEST(AgentSettings, OnlyWatchingNeedsNoOwners) {
  EXPECT_TRUE(parsed("v3;threshold=1;observe").read.observe);
  EXPECT_EQ(parsed("v3;threshold=1;observe").read.owners.runs, 0U);
  EXPECT_EQ(parsed("v3;threshold=1;observe;owners=0*4,1*4").read.owners.runs, 2U);
}

TEST(AgentSettings, PlacementsAreRead) {
  EXPECT_EQ(parsed("v3;threshold=1;default=local").read.standard.kind, placement_kind::local);
  EXPECT_EQ(parsed("v3;threshold=1;default=none").read.standard.kind, placement_kind::none);
  const parsed cyclic("v3;threshold=1;default=cyclic@65536@0*3,1*1");
  EXPECT_EQ(cyclic.read.standard.kind, placement_kind::cyclic);
  EXPECT_EQ(cyclic.read.standard.granule_bytes, 65536U);
  EXPECT_EQ(cyclic.read.standard.owners.slots, 4U);
  const parsed bind("v3;threshold=1;default=bind@2,5");
  EXPECT_EQ(bind.read.standard.kind, placement_kind::bind);
  EXPECT_EQ(bind.read.standard.owners.run[1].node, 5);
}

TEST(AgentSettings, MapsHaveOwnersOfTheirOwn) {
  const parsed map("v3;threshold=1;owners=0*4;default=map@0*3,1*5,0*1");
  EXPECT_EQ(map.read.standard.kind, placement_kind::map);
  EXPECT_EQ(map.read.standard.owners.slots, 9U);
  EXPECT_EQ(map.read.standard.owners.runs, 3U);
  EXPECT_EQ(map.read.standard.owners.shortest, 1U);
  EXPECT_EQ(map.read.owners.shortest, 4U);
  std::string text = "v3;threshold=1;default=map@";
  for (int i = 0; i < NODEWISE_AGENT_MAX_RUNS; ++i) {
    text += i == 0 ? "0*3" : i % 2 == 0 ? ",0*3" : ",1*3";
  }
  EXPECT_EQ(parsed(text).read.standard.owners.runs, std::size_t{NODEWISE_AGENT_MAX_RUNS});
}

TEST(AgentSettings, ConditionsAreRead) {
  const parsed all("v3;threshold=1;trace;rule=above=a+16-17,code=b+1-2,above=c+5-9,code=d+3-4,"
                   "nth=2-18446744073709551615,kind=heap,kind=map:local;rule=above=e+1-2:local");
  EXPECT_TRUE(all.read.trace);
  ASSERT_EQ(all.read.rule_count, 2U);
  const rule& first = all.read.rules[0];
  EXPECT_EQ(first.codes, 2U);
  EXPECT_EQ(all.read.code[first.first_code + 1].first, 3U);
  EXPECT_EQ(first.aboves, 2U);
  EXPECT_EQ(all.read.above[first.first_above + 1].first, 5U);
  EXPECT_TRUE(first.counts);
  EXPECT_EQ(first.first_nth, 2U);
  EXPECT_EQ(first.last_nth, UINT64_MAX);
  EXPECT_EQ(first.kinds, 1U << NODEWISE_AGENT_HEAP | 1U << NODEWISE_AGENT_MAP);
  EXPECT_EQ(all.read.rules[1].first_above, 2U);
  EXPECT_FALSE(all.read.rules[1].counts);
  EXPECT_FALSE(parsed("v3;threshold=1;observe").read.trace);
  EXPECT_FALSE(all.read.numa_pin);
  EXPECT_TRUE(parsed("v3;threshold=1;observe;trace;numa-pin").read.numa_pin);
}

TEST(AgentSettings, NonsenseIsRefusedAndAsksForNothing) {
  std::string too_many = "v3;threshold=1;owners=0";
  for (int i = 1; i <= NODEWISE_AGENT_MAX_RUNS; ++i) {
    too_many += "," + std::to_string(i % 2);
  }
  std::string too_many_rules = "v3;threshold=1";
  for (int i = 0; i <= NODEWISE_AGENT_MAX_RULES; ++i) {
    too_many_rules += ";rule=least=1:local";
  }
  std::string too_many_above = "v3;threshold=1;rule=least=1";
  for (int i = 0; i <= NODEWISE_AGENT_MAX_CODE; ++i) {
    too_many_above += ",above=a+1-2";
  }
  too_many_above += ":local";
  for (const std::string& text :
       {std::string(),
        std::string("v3"),
        std::string("v2;threshold=1;owners=0"),
        std::string("v30;threshold=1"),
        std::string("v3;owners=0"),
        std::string("v3;threshold=0"),
        std::string("v3;threshold=x"),
        std::string("v3;threshold=1;owners="),
        std::string("v3;threshold=1;owners=1024"),
        std::string("v3;threshold=1;owners=-1"),
        std::string("v3;threshold=1;owners=0*0"),
        std::string("v3;threshold=1;owners=0*"),
        std::string("v3;threshold=1;owners=0,"),
        std::string("v3;threshold=1;owners=0*99999999"),
        std::string("v3;threshold=1;colour=red"),
        std::string("v3;threshold=1;default=blocked"),
        std::string("v3;threshold=1;default=red"),
        std::string("v3;threshold=1;default=cyclic@@0"),
        std::string("v3;threshold=1;default=cyclic@x@0"),
        std::string("v3;threshold=1;default=cyclic@64"),
        std::string("v3;threshold=1;default=bind@"),
        std::string("v3;threshold=1;rule=local"),
        std::string("v3;threshold=1;rule=least=x:local"),
        std::string("v3;threshold=1;rule=least=1:"),
        std::string("v3;threshold=1;rule=code=a+2-1:local"),
        std::string("v3;threshold=1;rule=kind=boat:local"),
        std::string("v3;threshold=1;rule=least=1:blocked"),
        std::string("v3;;"),
        std::string("v3threshold=1"),
        std::string("v3;threshold=99999999999999999999"),
        std::string("v3;threshold=1;default=map@"),
        std::string("v3;threshold=1;default=map"),
        std::string("v3;threshold=1;default=map@0*2,"),
        std::string("v3;threshold=1;rule=above=a+2-2:local"),
        std::string("v3;threshold=1;rule=above=a:local"),
        std::string("v3;threshold=1;rule=above=+1-2:local"),
        std::string("v3;threshold=1;rule=nth=3:local"),
        std::string("v3;threshold=1;rule=nth=3-3:local"),
        std::string("v3;threshold=1;rule=nth=0-18446744073709551616:local"),
        too_many,
        too_many_above,
        too_many_rules}) {
    const auto owned = std::make_unique<settings>();
    settings& read = *owned;
    EXPECT_NE(parse(text.c_str(), read), nullptr) << text;
    EXPECT_EQ(read.threshold_bytes, 0U);
    EXPECT_EQ(read.rule_count, 0U);
  }
}

TEST(AgentSettings, NamesAreComparedDecoded) {
  EXPECT_TRUE(is_named("a%2Bb", "+", "a+b"));
  EXPECT_TRUE(is_named("a%2Bb+12", "+", "a+b"));
  EXPECT_FALSE(is_named("a%2Bb", "+", "a+"));
  EXPECT_FALSE(is_named("a", "+", "ab"));
  EXPECT_TRUE(is_named("50%", "+", "50%"));
  EXPECT_TRUE(is_named("%zz", "+", "%zz"));
}

TEST(AgentSettings, PatternsFitWholeNames) {
  const auto fits = [](const char* encoded, const char* name) {
    return fits_pattern(encoded, ",:;", name);
  };
  for (const char* pattern : {"a.gguf", "*", "*.gguf:interleave", "a*", "?.gguf", "a.g*g*f,most=1",
                              "***a.gguf", "a%2Egguf", "a.gguf*"}) {
    EXPECT_TRUE(fits(pattern, "a.gguf")) << pattern;
  }
  for (const char* pattern : {"", "a", "gguf", "*.ggu", "?", "a.gguf?", "%2A", "*x*"}) {
    EXPECT_FALSE(fits(pattern, "a.gguf")) << pattern;
  }
  EXPECT_TRUE(fits("", ""));
  EXPECT_TRUE(fits("*", ""));
  EXPECT_TRUE(fits("/models/*.gguf", "/models/b/a.gguf"));
  EXPECT_TRUE(fits("*ab", "aab"));
  EXPECT_TRUE(fits("%2A", "*"));
}

object large(std::size_t bytes, std::uint32_t kind = NODEWISE_AGENT_HEAP) {
  object made{};
  made.bytes = made.placed_bytes = made.mapped_bytes = bytes;
  made.kind = kind;
  return made;
}

TEST(AgentRules, TheFirstThatFitsDecides) {
  const parsed all("v3;threshold=1000;owners=0,1;default=blocked;rule=least=5000,most=6000:local;"
                   "rule=least=4000:bind@1;rule=kind=static,symbol=field_:interleave@0,1");
  object what = large(5500);
  ASSERT_TRUE(choose(all.read, what));
  EXPECT_EQ(what.where->kind, placement_kind::local);
  EXPECT_EQ(what.rule, 0);
  what = large(7000);
  ASSERT_TRUE(choose(all.read, what));
  EXPECT_EQ(what.rule, 1);
  what = large(2000);
  ASSERT_TRUE(choose(all.read, what));
  EXPECT_EQ(what.rule, -1);
  EXPECT_EQ(what.where->kind, placement_kind::blocked);
  what = large(2000, NODEWISE_AGENT_STATIC);
  what.name = "field_";
  ASSERT_TRUE(choose(all.read, what));
  EXPECT_EQ(what.rule, 2);
  for (const char* compiled : {"field__", "field_.0", "field_.12"}) {
    what.name = compiled;
    ASSERT_TRUE(choose(all.read, what));
    EXPECT_EQ(what.rule, 2) << compiled;
  }
  what.name = "main.field_";
  ASSERT_TRUE(choose(all.read, what));
  EXPECT_EQ(what.rule, 2);
  what.name = "field_.x";
  ASSERT_TRUE(choose(all.read, what));
  EXPECT_EQ(what.rule, -1);
  what.name = "field_2";
  ASSERT_TRUE(choose(all.read, what));
  EXPECT_EQ(what.rule, -1);
}

TEST(AgentRules, OnlyRulesForFilesFitMappingsOfFiles) {
  const parsed all("v3;threshold=1000;default=interleave@0,1;rule=least=4000:bind@1;"
                   "rule=file=/d*/*.gguf:bind@0;rule=file=*.bin:bind@1;rule=kind=file:bind@0");
  EXPECT_TRUE(watches_files(all.read));
  EXPECT_FALSE(all.read.reads_files);
  const auto decides = [&](const char* path) {
    object what = large(5000, NODEWISE_AGENT_FILE);
    what.name = file_paths.keep(path);
    EXPECT_TRUE(choose(all.read, what));
    return what.rule;
  };
  EXPECT_EQ(decides("/data/a.gguf"), 1);
  EXPECT_EQ(decides("/tmp/a.bin"), 2);
  EXPECT_EQ(decides("/tmp/a.gguf"), 3);
  const parsed none("v3;threshold=1000;read-files;default=interleave@0,1;rule=least=4000:bind@1");
  EXPECT_FALSE(watches_files(none.read));
  EXPECT_TRUE(none.read.reads_files);
  object what = large(5000, NODEWISE_AGENT_FILE);
  EXPECT_TRUE(choose(none.read, what));
  EXPECT_FALSE(what.is_to_be_placed());
  EXPECT_TRUE(watches_files(parsed("v3;threshold=1000;observe").read));
}

TEST(AgentRules, PathsAreKeptOnce) {
  path_store paths;
  const char* const first = paths.keep("/models/a.gguf");
  EXPECT_STREQ(first, "a.gguf");
  EXPECT_STREQ(path_store::path_of(first), "/models/a.gguf");
  EXPECT_STREQ(path_store::path_of(paths.keep("/b")), "/b");
  EXPECT_EQ(paths.keep("/models/a.gguf"), first);
  const std::string longest(4000, 'x');
  std::size_t kept = 0;
  while (paths.keep((longest + std::to_string(kept)).c_str()) != nullptr) {
    ++kept;
  }
  EXPECT_GT(kept, 200U);
  EXPECT_LT(kept, 300U);
  EXPECT_EQ(paths.keep("/models/a.gguf"), first);
}

TEST(AgentRules, ARuleWithASizeMayGoBelowTheThreshold) {
  const parsed all("v3;threshold=1000;rule=least=500,most=600:local;rule=symbol=x:local");
  EXPECT_EQ(least_bytes(all.read), 500U);
  object what = large(550);
  EXPECT_TRUE(choose(all.read, what));
  what = large(700);
  EXPECT_FALSE(choose(all.read, what));
  what = large(2000);
  ASSERT_TRUE(choose(all.read, what)); // large, and only watched
  EXPECT_NE(what.flags & NODEWISE_AGENT_UNASKED, 0U);
  EXPECT_EQ(what.where, nullptr);
}

int here() {
  return 0;
}

TEST(AgentRules, ACallerIsFoundByItsModule) {
  // The address behind a call in this program, which is a module like any other.
  const auto caller = reinterpret_cast<const char*>(&here) + 1;
  object what = large(2000);
  what.caller = caller;
  const parsed nobody("v3;threshold=1000;rule=code=no-such-module+0-999999999:local");
  ASSERT_TRUE(choose(nobody.read, what));
  EXPECT_EQ(what.rule, -1);
  const std::string me = program_invocation_short_name;
  const parsed mine("v3;threshold=1000;rule=code=x+1-2,code=" + me + "+0-999999999:local");
  what = large(2000);
  what.caller = caller;
  ASSERT_TRUE(choose(mine.read, what));
  EXPECT_EQ(what.rule, 0);
  what = large(2000);
  ASSERT_TRUE(choose(mine.read, what)); // a caller that nobody knows
  EXPECT_EQ(what.rule, -1);
}

} // namespace
} // namespace nodewise::agent
