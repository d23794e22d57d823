// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "grid_machine.hpp"
#include "launch/memory_words.hpp"
#include "launch/plan.hpp"

namespace nodewise::launch {
namespace {

using test::grid;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

memory_choice placement(std::string_view text) {
  return parse_placement(text, "--memory");
}
memory_rule rule(std::string_view text) {
  return parse_rule(text, "--rule");
}

TEST(MemoryWords, TheirNodesAreReadLater) {
  const memory_choice read = placement("bind:!0");
  EXPECT_EQ(read.how, placements::kind::bind);
  EXPECT_EQ(read.words, "bind:!0");
  EXPECT_EQ(read.typed.shown(), "--memory bind:!0");
  EXPECT_EQ(rule("size>=8M:weighted:auto").where.words, "weighted:auto");
}

TEST(MemoryWords, NonsenseNamesTheOption) {
  for (const char* text :
       {"",           "red",          "local:0",        "blocked:0",      "bind",
        "bind:",      "prefer",       "interleave:",    "cyclic",         "cyclic:",
        "cyclic:0",   "cyclic:x",     "cyclic:64K:",    "weighted",       "weighted:",
        "weighted:0", "weighted:0=x", "weighted:0=1,1", "weighted:0=256", "weighted:0=-1",
        "BLOCKED"}) {
    try {
      (void)placement(text);
      FAIL() << text;
    } catch (const error& e) {
      EXPECT_EQ(e.kind(), error_kind::usage);
      EXPECT_THAT(e.asked(), HasSubstr("--memory")) << text;
    }
  }
}

TEST(MemoryRules, ConditionsAndPlacementAreToldApart) {
  const memory_rule read = rule("site=file.c:12,size>=8M:cyclic:64K");
  EXPECT_THAT(read.sites, ElementsAre("file.c:12"));
  EXPECT_EQ(read.least_bytes, 8U << 20);
  EXPECT_FALSE(read.most_bytes);
  EXPECT_EQ(read.where.how, placements::kind::cyclic);
  EXPECT_EQ(read.where.words, "cyclic:64K");
  EXPECT_THAT(rule("site=ns::solve:local").sites, ElementsAre("ns::solve"));
  EXPECT_EQ(rule("symbol=field_:weighted:0=3,1=1").where.words, "weighted:0=3,1=1");
}

TEST(MemoryRules, SizesAreInWholeBytes) {
  EXPECT_EQ(rule("size>4K:local").least_bytes, 4097U);
  EXPECT_EQ(rule("size<4K:local").most_bytes, 4095U);
  EXPECT_EQ(rule("size<=4K:local").most_bytes, 4096U);
  EXPECT_EQ(rule("size=4K:local").least_bytes, 4096U);
  EXPECT_EQ(rule("size=4K:local").most_bytes, 4096U);
  EXPECT_EQ(rule("size>=1M,size<2M:local").most_bytes, (2U << 20) - 1);
  for (const char* text : {"size>=8M,size>=1M:local", "size>=1M,size>=8M:local"}) {
    EXPECT_EQ(rule(text).least_bytes, 8U << 20) << text;
  }
  for (const char* text :
       {"size<=8M,size<=9M:local", "size<9M,size<=8M:local", "size=8M,size<1G:local"}) {
    EXPECT_EQ(rule(text).most_bytes, 8U << 20) << text;
  }
  EXPECT_EQ(rule("site=a,site=b:local").sites, (std::vector<std::string>{"a", "b"}));
  EXPECT_THROW((void)rule("size>=8M,size<8M:local"), error);
  EXPECT_THROW((void)rule("size=1M,size=2M:local"), error);
  EXPECT_THROW((void)rule("symbol=a,symbol=b:local"), error);
  EXPECT_EQ(rule("file=*.gguf,size>=8M:interleave").file, "*.gguf");
  for (const std::string& text :
       {std::string("file=a,file=b:bind:0"), std::string("file=:bind:0"),
        std::string("file=a,symbol=b:bind:0"), std::string("file=a:local"),
        "file=" + std::string(256, 'a') + ":bind:0"}) {
    EXPECT_THROW((void)rule(text), error) << text;
  }
}

TEST(MemoryRules, NonsenseNamesTheOption) {
  for (const char* text :
       {"", "local", ":local", "site=a", "site=:local", "size>=8M", "size:local", "size>=:local",
        "size=>8M:local", "size<0:local", "size>=8Q:local", "symbol=:local", "name=x:local",
        "site=a:red", "site=a,:local", "site=a:cyclic", "site=a::"}) {
    try {
      const memory_rule read = rule(text);
      // "site=a,:local" has an empty last condition, which says nothing and harms nobody.
      EXPECT_EQ(std::string(text), "site=a,:local");
    } catch (const error& e) {
      EXPECT_EQ(e.kind(), error_kind::usage);
      EXPECT_THAT(e.asked(), HasSubstr("--rule")) << text;
    }
  }
}

std::map<std::string, std::string> variables; // NOLINT: the environment of the tests below

const char* lookup(const char* name) {
  const auto found = variables.find(name);
  return found == variables.end() ? nullptr : found->second.c_str();
}

class MemoryPlan : public ::testing::Test {
 protected:
  void SetUp() override {
    variables.clear();
    options.agent = "/bin/sh"; // any file there is
    options.command = {"/bin/sh", "-c", "true"};
  }
  plan make(const topology& here = topology{grid(2, 2)}) const {
    return make_plan(options, here, lookup);
  }
  std::string settings() const { return *agent_variables(*make().agent, "", lookup)[1].value; }

  run_options options;
};

TEST_F(MemoryPlan, CyclicGoesOverTheNodesOfTheThreads) {
  options.memory = placement("cyclic:64K");
  EXPECT_THAT(settings(), HasSubstr(";default=cyclic@65536@0,1"));
  options.cpu_nodes = {"1", "-N"};
  options.bind = bind_policy::close;
  EXPECT_THAT(settings(), HasSubstr(";default=cyclic@65536@1;"));
  options.memory = placement("cyclic:64K:0,1");
  EXPECT_THAT(settings(), HasSubstr(";default=cyclic@65536@0,1;"));
}

TEST_F(MemoryPlan, WeightsAreOwnersInTurn) {
  options.memory = placement("weighted:0=3,1=1");
  EXPECT_THAT(settings(), HasSubstr(";default=cyclic@0@0*3,1"));
  EXPECT_FALSE(make().memory);
  EXPECT_THROW((void)placement("weighted:0=0"), error);
  options.memory = placement("weighted:7=1");
  EXPECT_THROW((void)make(), error);
}

/// Node n has weight n + 1.
measured_weights made_up(const topology&, const node_set& nodes) {
  measured_weights made{"/state/measured.json", {}};
  for (const node_id node : nodes) {
    const auto number = static_cast<std::size_t>(to_int(node));
    made.weights.push_back({number + 1, number});
  }
  return made;
}

TEST_F(MemoryPlan, MeasuredWeightsAreOwnersInTurnAndTold) {
  options.memory = placement("weighted:auto");
  options.weigh = made_up;
  EXPECT_THAT(settings(), HasSubstr(";default=cyclic@0@0,1*2"));
  EXPECT_FALSE(make().memory);
  EXPECT_THAT(shell_text(make()),
              HasSubstr("# --memory weighted:0=1,1=2 as measured: /state/measured.json\n"));
  options.memory = placement("weighted:auto:1");
  EXPECT_THAT(settings(), HasSubstr(";default=cyclic@0@1*2"));
  options.memory = placement("local");
  options.rules = {rule("size>=8M:weighted:auto:1")};
  EXPECT_THAT(measured_texts(*make().agent),
              ElementsAre("--rule size>=8M:weighted:auto:1 is weighted:1=2 as measured: "
                          "/state/measured.json"));
}

TEST_F(MemoryPlan, MeasuredWeightsAreReadOnlyWhenAskedFor) {
  options.weigh = [](const topology&, const node_set&) -> measured_weights {
    throw error(error_kind::input, "weights", "nothing is measured", "nodewise measure");
  };
  options.memory = placement("weighted:0=3,1=1");
  EXPECT_THAT(measured_texts(*make().agent), IsEmpty());
  options.memory = placement("weighted:auto");
  EXPECT_THROW((void)make(), error);
  options.weigh = {};
  EXPECT_THROW((void)make(), error);
  options.weigh = made_up;
  options.memory = placement("weighted:auto:7");
  EXPECT_THROW((void)make(), error) << "no such node";
}

TEST_F(MemoryPlan, RulesComeWithTheProcesssOwnPolicy) {
  options.memory = placement("bind:0");
  options.rules = {rule("size>=8M:interleave"), rule("symbol=a b:bind:1")};
  const plan what = make();
  EXPECT_EQ(what.memory->mode, sys::policy::bind);
  EXPECT_EQ(settings(), "v3;threshold=1048576;group=256;rule=least=8388608:interleave@0,1;"
                        "rule=least=0,symbol=a%20b:bind@1");
}

TEST_F(MemoryPlan, FilesArePlacedAsMemoryIsIfAsked) {
  options.also_files = true;
  EXPECT_THROW((void)make(), error) << "as what?";
  options.memory = placement("local");
  EXPECT_THROW((void)make(), error);
  options.memory = placement("interleave");
  options.rules = {rule("file=a b*,size>=8M:bind:1")};
  options.read_files = true;
  EXPECT_EQ(make().memory->mode, sys::policy::interleave);
  EXPECT_EQ(settings(), "v3;threshold=1048576;group=256;"
                        "rule=least=8388608,file=a%20b*:bind@1;rule=least=0,file=*:interleave@0,1;"
                        "read-files");
}

TEST_F(MemoryPlan, ABlockedRuleNeedsThreads) {
  options.rules = {rule("size>=8M:blocked")};
  EXPECT_THAT(make().warnings, ElementsAre(HasSubstr("without --bind")));
  options.bind = bind_policy::close;
  EXPECT_THAT(make().warnings, IsEmpty());
  EXPECT_THAT(settings(), HasSubstr(";owners=0*2,1*2;rule=least=8388608:blocked;"));
}

TEST_F(MemoryPlan, BlocksOfRowsAreTheAgents) {
  options.memory = placement("rows:8000");
  options.bind = bind_policy::close;
  EXPECT_THAT(settings(), HasSubstr(";owners=0*2,1*2;default=blocked@8000"));
}

TEST_F(MemoryPlan, SitesAreLookedUpInTheProgram) {
  options.rules = {rule("site=a.c:7,site=main:local")};
  EXPECT_THROW((void)make(), error) << "nobody to look it up";
  options.find_site = [](const std::string& site, const std::string& program) {
    EXPECT_EQ(program, "/bin/sh");
    return std::vector<code_range>{{"sh", site == "main" ? 32U : 16U, 48}};
  };
  EXPECT_THAT(settings(), HasSubstr("code=sh+16-48,code=sh+32-48:local"));
  options.find_site = [](const std::string&, const std::string&) {
    return std::vector<code_range>{};
  };
  EXPECT_THROW((void)make(), error);
}

TEST_F(MemoryPlan, ASiteOfAReportIsTakenAsItIs) {
  options.rules = {rule("site=libx.so.1+0x10-0x20:local"), rule("site=a;b+0x11:local")};
  EXPECT_THAT(settings(), HasSubstr("code=libx.so.1+16-32:local"));
  EXPECT_THAT(settings(), HasSubstr("code=a%3Bb+16-17:local")) << "the byte before a return";
}

TEST_F(MemoryPlan, ThreadsAloneLeaveMemoryAlone) {
  options.bind = bind_policy::close;
  EXPECT_EQ(settings(), "v3;threshold=9223372036854775807;owners=0*2,1*2;pin=0|1|2|3");
}

TEST_F(MemoryPlan, WithoutTheAgentRulesAreLeftOutAndThatIsSaid) {
  options.agent = "/nonexistent/agent.so";
  options.rules = {rule("size>=8M:interleave")};
  EXPECT_THAT(make().warnings, ElementsAre(HasSubstr("--rule")));
  options.memory = placement("cyclic:64K");
  const plan what = make();
  EXPECT_EQ(what.memory->mode, sys::policy::interleave);
  EXPECT_THAT(what.warnings, ElementsAre(HasSubstr("--rule"), HasSubstr("--memory cyclic")));
}

} // namespace
} // namespace nodewise::launch
