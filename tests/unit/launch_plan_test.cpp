// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/plan.hpp"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "launch/executable.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise::launch {
namespace {

using test::grid;
using testing::AllOf;
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
  void memory(placements::kind how, const char* nodes,
              policy_variant variant = policy_variant::usual) {
    options.memory = numactl_choice(how, nodes, "--memory", variant);
  }
  void memory(const char* words) { options.memory = parse_placement(words, "--memory"); }

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
  memory(placements::kind::bind, "0-1");
  const plan what = make();
  EXPECT_EQ(what.affinity->to_string(), "2-3");
  EXPECT_EQ(what.memory->mode, sys::policy::bind);
  EXPECT_EQ(shell_text(what),
            "# srun --cpu-bind=mask_cpu:0xc --mem-bind=mask_mem:0x3 /bin/sh -c true\n"
            "numactl --physcpubind=2-3 --membind=0-1 -- /bin/sh -c true\n");
}

TEST_F(Plan, HugePagesOffNeedNoAgent) {
  options.huge_pages = false;
  const plan what = make();
  EXPECT_EQ(what.huge_pages, false);
  EXPECT_FALSE(what.agent);
  EXPECT_THAT(shell_text(what), HasSubstr("PR_SET_THP_DISABLE, 1"));
}

TEST_F(Plan, HugePagesOnAreTheAgentsForArraysThatHoldOne) {
  options.huge_pages = true;
  options.huge_page_mode = sys::huge_page_mode::madvise;
  options.huge_page_bytes = std::size_t{2} << 20;
  const plan what = make();
  EXPECT_EQ(what.huge_pages, true);
  EXPECT_THAT(shell_text(what), HasSubstr("'v3;threshold=2097152;huge=2097152'"));
  memory("blocked");
  EXPECT_EQ(make().agent->threshold_bytes, std::size_t{1} << 20);
  EXPECT_EQ(make().agent->huge_page_bytes, std::size_t{2} << 20);
}

TEST_F(Plan, HugePagesThatTheKernelNeverGivesAreAWarningAndUnderStrictAnError) {
  options.huge_pages = true;
  options.huge_page_bytes = std::size_t{2} << 20;
  for (const auto mode : {sys::huge_page_mode::never, sys::huge_page_mode::unavailable}) {
    options.huge_page_mode = mode;
    options.strict = false;
    const plan what = make();
    EXPECT_FALSE(what.agent || what.huge_pages);
    EXPECT_THAT(what.warnings, ElementsAre(HasSubstr("--huge-pages on: ")));
    options.strict = true;
    EXPECT_THROW((void)make(), not_started);
  }
}

TEST_F(Plan, OnePreferredNodeNeedsNoNewKernel) {
  memory(placements::kind::prefer, "1");
  EXPECT_EQ(make().memory->mode, sys::policy::preferred);
  memory(placements::kind::prefer, "0-1");
  EXPECT_EQ(make().memory->mode, sys::policy::preferred_many);
}

TEST_F(Plan, InterleavesOverAllMemoryUnlessTold) {
  memory("interleave");
  EXPECT_EQ(make().memory->nodes.to_string(), "0-1");
}

TEST_F(Plan, ErrorsNameTheOption) {
  memory(placements::kind::bind, "9");
  try {
    (void)make();
    FAIL();
  } catch (const error& e) {
    EXPECT_THAT(e.asked(), HasSubstr("--memory 9"));
  }
}

TEST_F(Plan, OnePreferredNodeIsOne) {
  memory(placements::kind::prefer, "1", policy_variant::one_node);
  EXPECT_EQ(make().memory->mode, sys::policy::preferred);
  memory(placements::kind::prefer, "0-1", policy_variant::one_node);
  EXPECT_THROW((void)make(), error);
  memory(placements::kind::prefer, "1", policy_variant::many_nodes);
  EXPECT_EQ(make().memory->mode, sys::policy::preferred_many);
}

TEST_F(Plan, BalancingHoldsForBoundMemoryOnly) {
  options.balancing = true;
  EXPECT_THAT(make().warnings, ElementsAre(HasSubstr("--balancing: it changes what --membind")));
  memory(placements::kind::bind, "0");
  const plan what = make();
  EXPECT_EQ(what.memory->mode, sys::policy::bind_and_balance);
  EXPECT_THAT(what.warnings, IsEmpty());
  EXPECT_THAT(shell_text(what), HasSubstr("numactl --balancing --membind=0 -- "));
}

TEST_F(Plan, AListOutsideTheAffinityIsRefusedWithTheWayOut) {
  const topology narrowed(grid(2, 2), {cpu_id{0}}, {node_id{0}, node_id{1}});
  options.cpu_nodes = {"1", "-N"};
  try {
    (void)make(narrowed);
    FAIL();
  } catch (const error& e) {
    EXPECT_THAT(e.hint(), HasSubstr("--all drops the affinity"));
  }
}

TEST_F(Plan, TheLineForAWidenedAffinityIsWideAsWell) {
  options.widen = true;
  EXPECT_THAT(shell_text(make()),
              HasSubstr("\nnumactl --all --physcpubind=0-3 -- /bin/sh -c true\n"));
}

TEST_F(Plan, BindingTellsOpenMPAndEverybodyElse) {
  options.bind = bind_policy::close;
  options.threads = 3;
  const plan what = make();
  EXPECT_THAT(what.variables,
              ElementsAre(variable{"OMP_NUM_THREADS", "3"}, variable{"OMP_PLACES", "{0},{1},{2}"},
                          variable{"OMP_PROC_BIND", "close"}));
  EXPECT_EQ(what.affinity->to_string(), "0-2");
  EXPECT_THAT(shell_text(what), HasSubstr("\nOMP_NUM_THREADS=3 OMP_PLACES='{0},{1},{2}' "
                                          "OMP_PROC_BIND=close "));
  EXPECT_THAT(shell_text(what), HasSubstr("numactl --physcpubind=0-2 -- /bin/sh -c true\n"));
}

TEST_F(Plan, BoundThreadsAreTheAgentsToPinAsWell) {
  options.bind = bind_policy::spread;
  options.threads = 2;
  const plan what = make();
  ASSERT_TRUE(what.agent);
  EXPECT_THAT(what.agent->thread_places, ElementsAre(cpu_set{cpu_id{0}}, cpu_set{cpu_id{2}}));
  EXPECT_FALSE(what.supervised);
  options.agent = "/nonexistent/agent.so";
  const plan without = make();
  EXPECT_FALSE(without.agent);
  EXPECT_THAT(without.warnings, ElementsAre(HasSubstr("threads that it starts itself are not")));
  EXPECT_TRUE(without.layout) << "OpenMP's are";
}

TEST_F(Plan, APinnedListSaysHowManyThreadsThereAre) {
  variables["OMP_NUM_THREADS"] = "7";
  options.pin = {"3,0", "--pin"};
  const plan what = make();
  EXPECT_THAT(what.variables, Contains(variable{"OMP_NUM_THREADS", "2"}));
  EXPECT_THAT(what.variables, Contains(variable{"OMP_PLACES", "{3},{0}"}));
  EXPECT_EQ(what.affinity->to_string(), "0,3");
  EXPECT_THAT(shell_text(what), HasSubstr("\n# taskset -c 0,3 /bin/sh -c true\n"));
  options.threads = 3;
  EXPECT_EQ(make().layout->size(), 3U);
  options.pin = {"9", "--pin"};
  EXPECT_THROW((void)make(), error);
}

TEST_F(Plan, SecondHardwareThreadsAreLeftOutAlsoWhereNothingIsBound) {
  options.smt = smt_use::off;
  EXPECT_EQ(make(topology{grid(2, 2, 2)}).affinity->to_string(), "0-3");
  options.cpu_nodes = {"1", "-N"};
  EXPECT_EQ(make(topology{grid(2, 2, 2)}).affinity->to_string(), "2-3");
}

TEST_F(Plan, EachRankHasItsOwnPart) {
  options.ranks_per = place_kind::nodes;
  EXPECT_THROW((void)make(), error) << "no launcher";
  variables["OMPI_COMM_WORLD_LOCAL_RANK"] = "1";
  variables["OMPI_COMM_WORLD_LOCAL_SIZE"] = "2";
  options.bind = bind_policy::close;
  memory("blocked");
  const plan what = make();
  EXPECT_EQ(what.affinity->to_string(), "2-3");
  EXPECT_EQ(what.rank, 1);
  EXPECT_THAT(what.agent->owners, ElementsAre(node_id{1}, node_id{1}));
  EXPECT_THAT(shell_text(what), HasSubstr("# This is the line of local rank 1;"));
  options.cpu_nodes = {"0", "-N"};
  EXPECT_EQ(make().affinity->to_string(), "1") << "two ranks share what was chosen";
}

TEST_F(Plan, TheFirstRankSaysThatTheLaunchersBindingIsReplaced) {
  options.ranks_per = place_kind::nodes;
  options.affinity_was = cpu_set{cpu_id{1}};
  variables["MPI_LOCALRANKID"] = "0";
  EXPECT_THAT(make().warnings, ElementsAre(HasSubstr("mpirun --bind-to none")));
  variables["MPI_LOCALRANKID"] = "1";
  EXPECT_THAT(make().warnings, IsEmpty());
  variables["MPI_LOCALRANKID"] = "2";
  EXPECT_THAT(make().warnings, ElementsAre(HasSubstr("does not give the number of ranks")));
}

TEST_F(Plan, SettingsThatContradictEachOtherAreSaidUnlessReplaced) {
  variables["OMP_PLACES"] = "cores";
  variables["KMP_AFFINITY"] = "compact";
  EXPECT_THAT(make().warnings, ElementsAre(HasSubstr("libomp follows KMP_AFFINITY only")));
  options.bind = bind_policy::close;
  EXPECT_THAT(make().warnings, ElementsAre(HasSubstr("OMP_PLACES=cores replaced"),
                                           HasSubstr("KMP_AFFINITY=compact removed")));
}

TEST_F(Plan, WhatIsAWarningIsAnErrorUnderStrict) {
  variables["OMP_PLACES"] = "cores";
  options.bind = bind_policy::close;
  EXPECT_NO_THROW((void)make());
  options.strict = true;
  EXPECT_THROW((void)make(), not_started);
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
  EXPECT_THAT(shell_text(what), HasSubstr("\nenv -u KMP_AFFINITY OMP_NUM_THREADS=4"));
}

TEST_F(Plan, TheUsersNumberOfThreadsHolds) {
  variables["OMP_NUM_THREADS"] = "2,1";
  options.bind = bind_policy::spread;
  EXPECT_EQ(make().layout->omp_places(), "{0},{2}");
}

TEST_F(Plan, NestedTeamsOfTheUserStayNested) {
  variables["OMP_NUM_THREADS"] = "2, 2";
  options.bind = bind_policy::close;
  EXPECT_THAT(make().variables, ElementsAre(variable{"OMP_NUM_THREADS", "2,2"},
                                            variable{"OMP_PLACES", "{0},{1},{2},{3}"},
                                            variable{"OMP_PROC_BIND", "spread,close"}));
  options.threads = 3; // another number: one flat team
  EXPECT_THAT(make().variables, AllOf(Contains(variable{"OMP_NUM_THREADS", "3"}),
                                      Contains(variable{"OMP_PROC_BIND", "close"})));
  options.threads.reset();
  variables["OMP_NUM_THREADS"] = "4096,4096";
  EXPECT_THROW((void)make(), error);
}

TEST_F(Plan, WithoutBindingOpenMPIsLeftAlone) {
  variables["OMP_PLACES"] = "threads";
  memory(placements::kind::bind, "0");
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
  memory("blocked");
  options.bind = bind_policy::close;
  options.threads = 3;
  const plan what = make();
  ASSERT_TRUE(what.agent);
  EXPECT_THAT(what.agent->owners, ElementsAre(node_id{0}, node_id{0}, node_id{1}));
  EXPECT_THAT(what.warnings, IsEmpty());
  EXPECT_FALSE(what.supervised);
  EXPECT_THAT(shell_text(what), HasSubstr("NODEWISE_AGENT='v3;threshold=1048576;group=256;"
                                          "owners=0*2,1;default=blocked;pin=0|1|2'"));
}

TEST_F(Plan, BlockedMemoryWithoutBoundThreadsIsSaid) {
  memory("blocked");
  EXPECT_THAT(make().warnings, ElementsAre(HasSubstr("without --bind")));
  EXPECT_THAT(make(topology{grid(1, 2)}).warnings, IsEmpty());
}

TEST_F(Plan, BlockedMemoryOnANodeWithoutAnyIsRefused) {
  machine mixed = grid(2, 2);
  mixed.nodes[1].memory_bytes = 0;
  memory("blocked");
  options.bind = bind_policy::close;
  EXPECT_THROW((void)make(topology{mixed}), error);
}

TEST_F(Plan, ReportingAloneObserves) {
  options.report = true;
  const plan what = make();
  ASSERT_TRUE(what.agent);
  EXPECT_TRUE(what.supervised);
  EXPECT_THAT(agent_variables(*what.agent, "/tmp/r", lookup),
              ElementsAre(variable{"LD_PRELOAD", "/bin/sh"},
                          variable{"NODEWISE_AGENT",
                                   "v3;threshold=1048576;group=256;observe;quiet;report=/tmp/r"}));
}

TEST_F(Plan, ReportingOnBoundThreadsCountsByThem) {
  options.report = true;
  options.bind = bind_policy::close;
  const plan what = make();
  ASSERT_TRUE(what.agent);
  EXPECT_TRUE(what.agent->observe);
  EXPECT_EQ(what.agent->owners, what.layout->owners());
  EXPECT_THAT(agent_variables(*what.agent, "", lookup)[1].value,
              ::testing::Optional(::testing::HasSubstr(";owners=0*2,1*2;pin=0|1|2|3;observe")));
}

TEST_F(Plan, WithoutTheAgentMemoryIsInterleavedAndThatIsSaid) {
  memory("blocked");
  options.bind = bind_policy::close;
  options.agent = "/nonexistent/agent.so";
  const plan what = make();
  EXPECT_FALSE(what.agent);
  EXPECT_EQ(what.memory->mode, sys::policy::interleave);
  EXPECT_EQ(what.memory->nodes.to_string(), "0-1");
  EXPECT_THAT(what.warnings, ElementsAre(HasSubstr("threads that it starts itself are not"),
                                         HasSubstr("interleaved over node 0-1 instead")));

  options.strict = true;
  try {
    (void)make();
    FAIL();
  } catch (const not_started& e) {
    EXPECT_EQ(e.exit_code(), not_started::refused);
  }
}

TEST_F(Plan, StrictWaitsForTheReport) {
  memory("blocked");
  options.bind = bind_policy::close;
  options.strict = true;
  EXPECT_TRUE(make().supervised);
}

TEST_F(Plan, WhatTheUserPreloadsStaysPreloaded) {
  variables["LD_PRELOAD"] = "/lib/libjemalloc.so:/lib/other.so";
  agent_orders orders;
  orders.library = "/opt/agent.so";
  EXPECT_EQ(agent_variables(orders, "", lookup)[0].value,
            "/opt/agent.so:/lib/libjemalloc.so:/lib/other.so");
  orders.library = "/my agent.so";
  EXPECT_THROW((void)agent_variables(orders, "", lookup), error);
}

TEST_F(Plan, ShellTextQuotes) {
  options.command = {"./a b", "it's", "", "$HOME", "x=1"};
  EXPECT_EQ(shell_text(make()), "'./a b' 'it'\\''s' '' '$HOME' x=1\n");
}

} // namespace
} // namespace nodewise::launch
