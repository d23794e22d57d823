// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A plan file on machines, programs and line tables that the tests make up.
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "agent/protocol.h"
#include "launch/executable.hpp"
#include "launch/memory_words.hpp"
#include "launch/plan.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise::launch {
namespace {

using placements::kind;
using test::grid;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const char* lookup(const char* name) {
  return std::string_view(name) == "PATH" ? "/usr/bin:/bin" : nullptr;
}

/// /bin/sh, as if line and offset of a source were known.
class Planned : public testing::Test {
 protected:
  Planned() {
    options.agent = "/bin/sh"; // any file there is
    options.command = {"/bin/sh", "-c", "true"};
    options.find_site = [](const std::string& site, const std::string&) {
      std::vector<code_range> found;
      if (site == "a.c:1") {
        found = {{"sh", 0x100, 0x110}, {"sh", 0x140, 0x150}};
      } else if (site == "main.c:9") {
        found = {{"sh", 0x900, 0x910}, {"sh", 0x880, 0x890}};
      }
      return found;
    };
    options.build_id = [](const std::string&) { return std::string("aa11"); };
    file().program = "sh";
    file().build_id = "aa11";
    file().threads = 4;
    file().bind = bind_policy::close;
  }

  plans::plan_file& file() { return options.plan->file; }
  plans::entry& add(kind how = kind::blocked) {
    file().objects.emplace_back();
    file().objects.back().where.how = how;
    return file().objects.back();
  }
  plan make(const topology& here = topology{grid(2, 2)}) const {
    run_options taken = options;
    take_threads_of_plan(taken);
    return make_plan(taken, here, lookup);
  }
  std::string settings(const topology& here = topology{grid(2, 2)}) const {
    return *agent_variables(*make(here).agent, "", lookup)[1].value;
  }

  run_options options = [] {
    run_options some;
    some.plan = plan_choice{"p.json", {}, {}, false, false};
    return some;
  }();
};

TEST_F(Planned, ThreadsAreBoundAsThePlanSays) {
  file().places = place_kind::nodes;
  const plan what = make();
  EXPECT_EQ(what.layout->size(), 4U);
  EXPECT_EQ(what.layout->threads()[0].place.to_string(), "0-1");
  EXPECT_THAT(what.warnings, IsEmpty());
}

TEST_F(Planned, NestedTeamsAreStartedAsThePlanSays) {
  file().teams = {2, 2};
  EXPECT_THAT(make().variables, AllOf(Contains(variable{"OMP_NUM_THREADS", "2,2"}),
                                      Contains(variable{"OMP_PROC_BIND", "spread,close"})));
  options.threads = 2;
  EXPECT_THAT(make().variables, Contains(variable{"OMP_NUM_THREADS", "2"}));
}

TEST_F(Planned, TheCommandLineWinsAndSaysSo) {
  options.bind = bind_policy::spread;
  options.plan->own_binding = true;
  options.places = place_kind::cores;
  options.plan->own_places = true;
  options.threads = 2;
  const plan what = make();
  EXPECT_EQ(what.layout->size(), 2U);
  EXPECT_EQ(what.layout->policy(), bind_policy::spread);
  EXPECT_THAT(what.warnings, ElementsAre("--bind spread: p.json has --bind close",
                                         HasSubstr("--threads 2: p.json has 4; what belongs")));
}

TEST_F(Planned, WhoTheFirstThreadIsGoesToTheAgent) {
  add(kind::blocked);
  EXPECT_THAT(settings(), Not(HasSubstr(";main")));
  file().main_works = true;
  EXPECT_THAT(settings(), HasSubstr(";pin=0|1|2|3;main"));
  options.plan->own_main = true;
  EXPECT_THAT(settings(), Not(HasSubstr(";main")));
  EXPECT_THAT(make().warnings, ElementsAre("--main waits: p.json has --main works"));
}

TEST_F(Planned, WithoutABindingNoThreadCountIsImposed) {
  file().bind = bind_policy::none;
  const plan what = make();
  EXPECT_FALSE(what.layout || what.agent);
  EXPECT_THAT(what.variables, IsEmpty());
  options.plan->own_places = true;
  EXPECT_THROW((void)make(), error);
}

TEST_F(Planned, MemoriesAreNamedByTheirNodes) {
  add(kind::interleave).where.owners = {{1, 0}, {1, 1}};
  add(kind::weighted).where.owners = {{1, 0}, {3, 1}};
  add(kind::interleave).where.owners = {{1, 0}, {1, 7}};
  EXPECT_THAT(settings(), HasSubstr(";rule=least=0:interleave@0,1;rule=least=0:cyclic@0@0,1*3;"));
  EXPECT_EQ(make().planned->entries[2].left_out, "node 7 does not exist");
}

TEST_F(Planned, EveryPlacementIsARule) {
  add(kind::blocked).which.kind = "heap";
  add(kind::interleave).which.symbol = "field";
  plans::entry& cyclic = add(kind::cyclic);
  cyclic.where.granule_bytes = 65536;
  cyclic.which.least_bytes = 8U << 20;
  add(kind::thread).where.owners = {{1, 2}};
  plans::entry& map = add(kind::map);
  map.where.owners = {{2, 0}, {2, 1}, {12, 3}};
  map.which.first = 0;
  map.which.last = 4;
  add(kind::none).which.most_bytes = 4096;
  EXPECT_THAT(settings(), HasSubstr(";owners=0*2,1*2"
                                    ";rule=kind=heap,least=0:blocked"
                                    ";rule=least=0,symbol=field:interleave@0,1"
                                    ";rule=least=8388608:cyclic@65536@0*2,1*2"
                                    ";rule=least=0:prefer@1"
                                    ";rule=least=0,nth=0-4:map@0,1*3"
                                    ";rule=least=0,most=4096:none;"));
  EXPECT_FALSE(make().agent->observe);
  EXPECT_THAT(make().warnings, IsEmpty());
}

TEST_F(Planned, MapsFollowAnotherNumberOfThreads) {
  add(kind::map).where.owners = {{1, 0}, {1, 1}, {1, 2}, {1, 3}};
  EXPECT_THAT(settings(), HasSubstr(":map@0,1"));
  options.threads = 6;
  EXPECT_THAT(settings(topology{grid(3, 2)}), HasSubstr(":map@0,1,2"));
  options.threads = 2;
  EXPECT_THAT(settings(topology{grid(3, 1)}), HasSubstr(":map@0,1"));
}

TEST_F(Planned, WithoutACountThreadsAreMeantAsTheyAre) {
  file().threads = 0;
  add(kind::map).where.owners = {{1, 3}, {1, 0}};
  add(kind::thread).where.owners = {{1, 4}};
  const plan what = make();
  EXPECT_THAT(settings(), HasSubstr(":map@1,0"));
  EXPECT_THAT(what.warnings,
              ElementsAre(HasSubstr("entry 2 (any): it names thread 4, and there are 4")));
  EXPECT_EQ(what.agent->rules.size(), 1U);
  EXPECT_TRUE(what.planned->is_incomplete());
}

TEST_F(Planned, TypedRulesComeFirst) {
  add().which.symbol = "field";
  options.rules = {parse_rule("symbol=field:bind:1", "--rule")};
  options.memory = parse_placement("interleave", "--memory");
  const plan what = make();
  EXPECT_EQ(what.memory->mode, sys::policy::interleave);
  EXPECT_FALSE(what.agent->rules[0].entry);
  EXPECT_EQ(what.agent->rules[1].entry, 0U);
  EXPECT_EQ(what.agent->rules[1].text, "entry 1: field");
}

class PlannedSite : public Planned {
 protected:
  PlannedSite() {
    plans::entry& entry = add();
    entry.which.source = "a.c:1";
    entry.which.callers = {"main.c:9", "gone.c:3"};
    entry.which.stack = {{"sh", 0x105}, {"sh", 0x905}, {"libx.so", 0x20}};
  }
};

TEST_F(PlannedSite, OffsetsOfTheSameBuild) {
  EXPECT_THAT(settings(), HasSubstr("code=sh+260-261,above=sh+2308-2309,above=libx.so+31-32:"));
  EXPECT_THAT(make().warnings, IsEmpty());
}

TEST_F(PlannedSite, OffsetsOfTheSameBuildUnderAnotherName) {
  file().program = "solver";
  file().objects[0].which.stack[0].module = "solver";
  EXPECT_THAT(settings(), HasSubstr("code=sh+260-261,above=sh+2308-2309,"));
  EXPECT_THAT(make().warnings, IsEmpty());
}

TEST_F(PlannedSite, LinesOfAnotherBuild) {
  file().build_id = "bb22";
  EXPECT_THAT(settings(), HasSubstr("code=sh+256-272,code=sh+320-336,above=sh+2176-2320:"));
  EXPECT_THAT(make().warnings,
              ElementsAre(HasSubstr("sh is a different build from the one that it was made for")));
  options.strict = true;
  EXPECT_THROW((void)make(), not_started);
}

TEST_F(PlannedSite, AProgramWithoutABuildIdIsAnotherBuild) {
  options.build_id = [](const std::string&) { return std::string(); };
  EXPECT_THAT(settings(), HasSubstr("code=sh+256-272"));
  EXPECT_THAT(make().warnings, ElementsAre(HasSubstr("different build")));
}

TEST_F(PlannedSite, WithoutABuildIdLinesComeFirst) {
  file().build_id.clear();
  EXPECT_THAT(settings(), HasSubstr("code=sh+256-272"));
  file().objects[0].which.source = "gone.c:1";
  EXPECT_THAT(settings(), HasSubstr("code=sh+260-261"));
  EXPECT_THAT(make().warnings, IsEmpty());
}

TEST_F(PlannedSite, AScriptThatStartsTheProgram) {
  file().program = "solver";
  file().build_id = "bb22";
  file().objects[0].which.stack = {{"solver", 0x105}};
  EXPECT_THAT(settings(), HasSubstr("code=solver+260-261:"));
  EXPECT_THAT(make().warnings, ElementsAre(HasSubstr("it is for solver, not for sh")));
}

TEST_F(PlannedSite, WhatIsGoneIsLeftOut) {
  file().build_id = "bb22";
  file().objects[0].which.source = "gone.c:1";
  add().which.stack = {{"sh", 0x105}};
  add().which.stack = {{"libx.so", 0x105}, {"sh", 0x905}};
  const plan what = make();
  EXPECT_THAT(what.warnings, AllOf(Contains(HasSubstr("entry 1 (gone.c:1): sh has no code of")),
                                   Contains(HasSubstr("entry 2 (sh+0x105): its offsets are of"))));
  ASSERT_EQ(what.agent->rules.size(), 1U); // a library may well be the same
  EXPECT_EQ(what.agent->rules[0].entry, 2U);
  EXPECT_THAT(what.agent->rules[0].above, IsEmpty());
  EXPECT_EQ(what.planned->entries[1].left_out.substr(0, 11), "its offsets");
}

/// libx.so.1.2, which the loader maps by another name.
class PlannedLibrary : public PlannedSite {
 protected:
  PlannedLibrary() {
    options.libraries = [](const std::string&) {
      return std::map<std::string, std::string>{{"libx.so.1.2", "/lib/libx.so.1"}};
    };
    options.build_id = [](const std::string& of) {
      return std::string(of == "/lib/libx.so.1" ? "cc33" : "aa11");
    };
    file().objects[0].which.stack = {{"sh", 0x105}, {"libx.so.1.2", 0x20}};
    file().libraries = {{"libx.so.1.2", "cc33"}};
  }
};

TEST_F(PlannedLibrary, OfTheSameBuildIsNamedAsTheAgentSeesIt) {
  EXPECT_THAT(settings(), HasSubstr("code=sh+260-261,above=libx.so.1+31-32:"));
  EXPECT_THAT(make().warnings, IsEmpty());
}

TEST_F(PlannedLibrary, OfAnotherBuildItsEntriesGoByLine) {
  file().libraries[0].build_id = "dd44";
  EXPECT_THAT(settings(), HasSubstr("code=sh+256-272"));
  EXPECT_THAT(make().warnings, IsEmpty());
}

TEST_F(PlannedLibrary, OfAnotherBuildAnEntryWithoutALineIsLeftOut) {
  file().libraries[0].build_id = "dd44";
  file().objects[0].which.source.clear();
  file().objects[0].which.callers.clear();
  add().which.stack = {{"sh", 0x105}};
  const plan what = make();
  EXPECT_THAT(what.warnings,
              ElementsAre(HasSubstr("entry 1 (sh+0x105): libx.so.1.2 is a different build")));
  ASSERT_EQ(what.agent->rules.size(), 1U); // the other one names the program alone
  EXPECT_EQ(what.agent->rules[0].entry, 1U);
  options.strict = true;
  EXPECT_THROW((void)make(), not_started);
}

TEST_F(PlannedLibrary, ThatIsLoadedLaterIsTakenOnTrust) {
  file().libraries = {{"libplugin.so", "ee55"}};
  file().objects[0].which.stack = {{"libplugin.so", 0x20}};
  EXPECT_THAT(settings(), HasSubstr("code=libplugin.so+31-32:"));
  EXPECT_THAT(make().warnings, IsEmpty());
}

TEST_F(Planned, AnotherMachineIsSaid) {
  add();
  file().nodes = 4;
  EXPECT_THAT(make().warnings,
              ElementsAre(HasSubstr("made for 4 nodes with processors, and this machine has 2")));
  options.strict = true;
  EXPECT_THROW((void)make(), not_started);
  file().nodes = 2;
  EXPECT_THAT(make().warnings, IsEmpty());
}

TEST_F(Planned, WhatTheAgentHasNoRoomForIsLeftOut) {
  for (std::size_t i = 0; i <= NODEWISE_AGENT_MAX_RULES; ++i) {
    add();
  }
  const plan what = make();
  EXPECT_EQ(what.agent->rules.size(), static_cast<std::size_t>(NODEWISE_AGENT_MAX_RULES));
  EXPECT_THAT(what.warnings, ElementsAre(HasSubstr("the agent takes")));
}

TEST_F(Planned, AMapThatChangesTheNodeTooOftenIsLeftOut) {
  plans::entry& map = add(kind::map);
  for (std::size_t i = 0; i < 33000; ++i) {
    map.where.owners.push_back({1, i % 2 == 0 ? 0U : 3U});
  }
  add();
  const plan what = make();
  EXPECT_THAT(what.warnings,
              ElementsAre(HasSubstr("all entries together have more than 32768 changes")));
  EXPECT_EQ(what.agent->rules.size(), 1U);
}

TEST_F(Planned, HugeMapsAreRounded) {
  add(kind::map).where.owners = {{(std::uint64_t{1} << 39) + 1, 0}, {std::uint64_t{1} << 39, 3}};
  EXPECT_THAT(settings(), HasSubstr(":map@0,1"));
}

TEST_F(Planned, AFileThatIsNotFollowedLeavesTheProgramAlone) {
  options.plan = plan_choice{"p.json", {}, "no JSON", false, false};
  options.notes = {"the plan p.json: no JSON"};
  options.report = true;
  const plan what = make();
  EXPECT_TRUE(what.agent->observe);
  EXPECT_THAT(what.warnings, ElementsAre("the plan p.json: no JSON"));
  EXPECT_TRUE(what.planned->is_incomplete());
}

} // namespace
} // namespace nodewise::launch
