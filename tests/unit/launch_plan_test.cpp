// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/plan.hpp"

#include <cerrno>
#include <cstdlib>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "launch/not_started.hpp"
#include "launch/start.hpp"
#include "unit/fake_kernel.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise::launch {
namespace {

using test::grid;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::map<std::string, std::string> variables; ///< the environment of the test at hand

const char* lookup(const char* name) {
  const auto found = variables.find(name);
  return found == variables.end() ? nullptr : found->second.c_str();
}

class Plan : public testing::Test {
 protected:
  Plan() { variables = {{"PATH", "/usr/bin:/bin"}}; }

  [[nodiscard]] plan make(const topology& here = topology{grid(2, 2)}) const {
    return make_plan(options, here, lookup);
  }
  void memory(memory_mode mode, const char* nodes) {
    options.memory = mode;
    options.memory_nodes = {nodes, "--memory"};
  }

  run_options options = [] {
    run_options some;
    some.command = {"/bin/sh", "-c", "true"};
    some.agent = "/bin/sh"; // any library of this architecture would do
    return some;
  }();
};

TEST_F(Plan, WithoutOptionsNothingChanges) {
  const plan what = make();
  EXPECT_FALSE(what.affinity || what.memory || what.agent || what.layout || what.supervised);
  EXPECT_THAT(what.variables, IsEmpty());
  EXPECT_THAT(what.warnings, IsEmpty());
  EXPECT_EQ(shell_text(what), "/bin/sh -c true\n");
}

TEST_F(Plan, NumactlsOptionsMeanTheSame) {
  options.cpu_nodes = {"1", "-N"};
  memory(memory_mode::bind, "0-1");
  const plan what = make();
  EXPECT_EQ(what.affinity->to_string(), "2-3");
  EXPECT_EQ(what.memory->mode, sys::policy::bind);
  EXPECT_EQ(shell_text(what), "numactl --physcpubind=2-3 --membind=0-1 -- /bin/sh -c true\n");
}

TEST_F(Plan, OnePreferredNodeNeedsNoNewKernel) {
  memory(memory_mode::prefer, "1");
  EXPECT_EQ(make().memory->mode, sys::policy::preferred);
  memory(memory_mode::prefer, "0-1");
  EXPECT_EQ(make().memory->mode, sys::policy::preferred_many);
}

TEST_F(Plan, InterleavesOverAllMemoryUnlessTold) {
  options.memory = memory_mode::interleave;
  EXPECT_EQ(make().memory->nodes.to_string(), "0-1");
}

TEST_F(Plan, ErrorsNameTheOption) {
  memory(memory_mode::bind, "9");
  try {
    (void)make();
    FAIL();
  } catch (const error& e) {
    EXPECT_THAT(e.asked(), HasSubstr("--memory 9"));
  }
}

TEST_F(Plan, NodesAndProcessorsTogetherAreRefused) {
  options.cpu_nodes = {"0", "-N"};
  options.cpus = {"0", "-C"};
  EXPECT_THROW((void)make(), error);
}

TEST_F(Plan, BindingTellsOpenMPAndEverybodyElse) {
  options.bind = bind_policy::close;
  options.threads = 3;
  const plan what = make();
  EXPECT_THAT(what.variables,
              ElementsAre(variable{"OMP_NUM_THREADS", "3"}, variable{"OMP_PLACES", "{0},{1},{2}"},
                          variable{"OMP_PROC_BIND", "close"}));
  EXPECT_EQ(what.affinity->to_string(), "0-2");
  EXPECT_EQ(shell_text(what), "OMP_NUM_THREADS=3 OMP_PLACES='{0},{1},{2}' OMP_PROC_BIND=close "
                              "numactl --physcpubind=0-2 -- /bin/sh -c true\n");
}

TEST_F(Plan, BindsWithinTheChosenNodes) {
  options.cpu_nodes = {"1", "-N"};
  options.bind = bind_policy::spread;
  EXPECT_EQ(make().affinity->to_string(), "2-3");
}

TEST_F(Plan, WhatTheUserSetIsReplacedAndSaid) {
  variables["OMP_PROC_BIND"] = "false";
  variables["KMP_AFFINITY"] = "compact";
  variables["OMP_PLACES"] = "{0},{1},{2},{3}"; // the same as ours: nothing to say
  options.bind = bind_policy::close;
  const plan what = make();
  EXPECT_THAT(what.warnings, ElementsAre("OMP_PROC_BIND=false replaced by close",
                                         HasSubstr("KMP_AFFINITY=compact removed")));
  EXPECT_THAT(what.variables, Contains(variable{"KMP_AFFINITY", std::nullopt}));
  EXPECT_THAT(shell_text(what), HasSubstr("env -u KMP_AFFINITY OMP_NUM_THREADS=4"));
}

TEST_F(Plan, TheUsersNumberOfThreadsHolds) {
  variables["OMP_NUM_THREADS"] = "2,1";
  options.bind = bind_policy::spread;
  EXPECT_EQ(make().layout->omp_places(), "{0},{2}");
}

TEST_F(Plan, WithoutBindingOpenMPIsLeftAlone) {
  variables["OMP_PLACES"] = "threads";
  memory(memory_mode::bind, "0");
  EXPECT_THAT(make().variables, IsEmpty());
  options.threads = 2;
  EXPECT_THAT(make().variables, ElementsAre(variable{"OMP_NUM_THREADS", "2"}));
}

TEST_F(Plan, TooManyThreadsAreSaid) {
  options.bind = bind_policy::close;
  options.threads = 8;
  EXPECT_THAT(make().warnings, ElementsAre(HasSubstr("8 threads on 4 processors")));
}

TEST_F(Plan, BlockedMemoryBelongsToTheThreads) {
  options.memory = memory_mode::blocked;
  options.bind = bind_policy::close;
  options.threads = 3;
  const plan what = make();
  ASSERT_TRUE(what.agent);
  EXPECT_THAT(what.agent->owners, ElementsAre(node_id{0}, node_id{0}, node_id{1}));
  EXPECT_THAT(what.warnings, IsEmpty());
  EXPECT_FALSE(what.supervised);
  EXPECT_THAT(shell_text(what), HasSubstr("NODEWISE_AGENT='v1;threshold=1048576;blocked=0*2,1*1'"));
}

TEST_F(Plan, BlockedMemoryWithoutBoundThreadsIsSaid) {
  options.memory = memory_mode::blocked;
  EXPECT_THAT(make().warnings, ElementsAre(HasSubstr("without --bind")));
  EXPECT_THAT(make(topology{grid(1, 2)}).warnings, IsEmpty());
}

TEST_F(Plan, BlockedMemoryOnANodeWithoutAnyIsRefused) {
  machine mixed = grid(2, 2);
  mixed.nodes[1].memory_bytes = 0;
  options.memory = memory_mode::blocked;
  options.bind = bind_policy::close;
  EXPECT_THROW((void)make(topology{mixed}), error);
}

TEST_F(Plan, ReportingAloneObserves) {
  options.report = true;
  const plan what = make();
  ASSERT_TRUE(what.agent);
  EXPECT_TRUE(what.supervised);
  EXPECT_THAT(
      agent_variables(*what.agent, "/tmp/r", lookup),
      ElementsAre(variable{"LD_PRELOAD", "/bin/sh"},
                  variable{"NODEWISE_AGENT", "v1;threshold=1048576;observe;quiet;report=/tmp/r"}));
}

TEST_F(Plan, ReportingOnBoundThreadsCountsByThem) {
  options.report = true;
  options.bind = bind_policy::close;
  const plan what = make();
  ASSERT_TRUE(what.agent);
  EXPECT_TRUE(what.agent->observe);
  EXPECT_EQ(what.agent->owners, what.layout->owners());
  EXPECT_THAT(agent_variables(*what.agent, "", lookup)[1].value,
              ::testing::Optional(::testing::HasSubstr(";observe;blocked=")));
}

TEST_F(Plan, WithoutTheAgentMemoryIsInterleavedAndThatIsSaid) {
  options.memory = memory_mode::blocked;
  options.bind = bind_policy::close;
  options.agent = "/nonexistent/agent.so";
  const plan what = make();
  EXPECT_FALSE(what.agent);
  EXPECT_EQ(what.memory->mode, sys::policy::interleave);
  EXPECT_EQ(what.memory->nodes.to_string(), "0-1");
  EXPECT_THAT(what.warnings, ElementsAre(HasSubstr("interleaved over node 0-1 instead")));

  options.strict = true;
  try {
    (void)make();
    FAIL();
  } catch (const not_started& e) {
    EXPECT_EQ(e.exit_code(), not_started::refused);
  }
}

TEST_F(Plan, StrictWaitsForTheReport) {
  options.memory = memory_mode::blocked;
  options.bind = bind_policy::close;
  options.strict = true;
  EXPECT_TRUE(make().supervised);
}

TEST_F(Plan, WhatTheUserPreloadsStaysPreloaded) {
  variables["LD_PRELOAD"] = "/lib/libjemalloc.so:/lib/other.so";
  const agent_orders orders{"/opt/agent.so", {}, true, 4096, false};
  EXPECT_EQ(agent_variables(orders, "", lookup)[0].value,
            "/opt/agent.so:/lib/libjemalloc.so:/lib/other.so");
  EXPECT_THROW((void)agent_variables({"/my agent.so", {}, true, 1, false}, "", lookup), error);
}

TEST_F(Plan, ShellTextQuotes) {
  options.command = {"./a b", "it's", "", "$HOME", "x=1"};
  EXPECT_EQ(shell_text(make()), "'./a b' 'it'\\''s' '' '$HOME' x=1\n");
}

class refusing_kernel : public test::fake_kernel {
 public:
  refusing_kernel() : fake_kernel({node_id{0}, node_id{1}}) {}
  int set_mempolicy(sys::policy, const node_set&) override { return policy_answer; }
  int policy_answer = 0;
};

class Apply : public testing::Test {
 protected:
  refusing_kernel kernel;
  plan what;
};

TEST_F(Apply, RefusalsNameTheCallTheErrnoAndACure) {
  what.memory = memory_policy{sys::policy::bind, {node_id{1}}};
  kernel.policy_answer = EPERM;
  try {
    apply(what, "", kernel);
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::system);
    EXPECT_EQ(e.errno_value(), EPERM);
    EXPECT_THAT(e.what(), HasSubstr("bound to node 1"));
    EXPECT_THAT(e.answered(), HasSubstr("set_mempolicy was refused: EPERM"));
    EXPECT_THAT(e.cure(), HasSubstr("seccomp"));
  }
}

TEST_F(Apply, SetsAndRemovesVariables) {
  ::setenv("NODEWISE_TEST_OLD", "1", 1);
  what.variables = {{"NODEWISE_TEST_OLD", std::nullopt}, {"NODEWISE_TEST_NEW", "2"}};
  apply(what, "", kernel);
  EXPECT_EQ(std::getenv("NODEWISE_TEST_OLD"), nullptr);
  EXPECT_STREQ(std::getenv("NODEWISE_TEST_NEW"), "2");
  ::unsetenv("NODEWISE_TEST_NEW");
}

} // namespace
} // namespace nodewise::launch
