// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "bind/conflicts.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nodewise::bind {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const cpu_set eight = cpu_set::range(cpu_id{0}, cpu_id{7});

/// "said: outcome" of each.
std::vector<std::string> found(const settings& said, const intentions& done = {}) {
  std::vector<std::string> texts;
  for (const conflict& each : find_conflicts(said, eight, done)) {
    EXPECT_NE(each.hint, "") << each.said;
    texts.push_back(each.said + ": " + each.outcome);
  }
  return texts;
}

template <class Change>
intentions ours(Change change) {
  intentions made;
  change(made);
  return made;
}

TEST(Conflicts, NoneInAnEmptyOrConsistentEnvironment) {
  EXPECT_THAT(found({}), IsEmpty());
  EXPECT_THAT(
      found({{"OMP_PLACES", "cores"}, {"OMP_PROC_BIND", "close"}, {"OMP_NUM_THREADS", "8"}}),
      IsEmpty());
  EXPECT_THAT(found({{"KMP_AFFINITY", "verbose"}, {"OMP_PLACES", "cores"}}), IsEmpty())
      << "says how, not where";
  EXPECT_THAT(found({{"GOMP_CPU_AFFINITY", "0-7"}, {"OMP_PROC_BIND", "true"}}), IsEmpty());
  EXPECT_THAT(found({{"OMP_PLACES", "{0:4},{4:4}"}}), IsEmpty());
}

TEST(Conflicts, EachRuntimeHasItsOwnOrder) {
  EXPECT_THAT(found({{"KMP_AFFINITY", "granularity=fine,Compact"}, {"OMP_PROC_BIND", "close"}}),
              ElementsAre("KMP_AFFINITY=granularity=fine,Compact and OMP_PROC_BIND=close: libomp "
                          "follows KMP_AFFINITY only, libgomp follows OMP_PROC_BIND"));
  EXPECT_THAT(found({{"KMP_AFFINITY", "scatter"}, {"GOMP_CPU_AFFINITY", "0-3"}}),
              ElementsAre(HasSubstr("libomp follows KMP_AFFINITY, libgomp follows GOMP_CPU")));
  EXPECT_THAT(found({{"OMP_PLACES", "cores"}, {"GOMP_CPU_AFFINITY", "0-3"}}),
              ElementsAre(HasSubstr("libgomp follows OMP_PLACES, libomp follows GOMP_CPU")));
  EXPECT_THAT(found({{"OMP_PROC_BIND", "false"}, {"GOMP_CPU_AFFINITY", "0-3"}}),
              ElementsAre(HasSubstr("libgomp binds no thread, libomp follows GOMP_CPU")));
  EXPECT_THAT(found({{"OMP_PROC_BIND", "FALSE"}, {"OMP_PLACES", "cores"}}),
              ElementsAre(HasSubstr("no thread is bound")));
  EXPECT_THAT(found({{"KMP_HW_SUBSET", "1c"}, {"OMP_PLACES", "cores"}}),
              ElementsAre(HasSubstr("libgomp ignores the subset")));
}

TEST(Conflicts, ProcessorsOutsideTheAffinity) {
  EXPECT_THAT(found({{"OMP_PLACES", "{6},{7},{8}"}}),
              ElementsAre(HasSubstr("OMP_PLACES={6},{7},{8} and an affinity of processors 0-7: "
                                    "libgomp and libomp drop")));
  EXPECT_THAT(found({{"OMP_PLACES", "{8:8}"}}), ElementsAre(HasSubstr("ignore the whole list")));
  EXPECT_THAT(found({{"GOMP_CPU_AFFINITY", "6-9"}}),
              ElementsAre(HasSubstr("libgomp pins threads outside this affinity")));
  EXPECT_THAT(found({{"KMP_AFFINITY", "explicit,proclist=[6-9]"}}),
              ElementsAre(HasSubstr("libomp drops the processors that are not allowed")));
  EXPECT_THAT(found({{"KMP_AFFINITY", "proclist=[8]"}}),
              ElementsAre(HasSubstr("libomp ignores the whole list")));
}

TEST(Conflicts, OptionsOfAnotherCommandHaveItsName) {
  const auto hint = [](const char* command) {
    const settings said = {{"OMP_NUM_THREADS", "9"}};
    return find_conflicts(said, eight, ours([=](intentions& o) { o.command = command; }))
        .front()
        .hint;
  };
  EXPECT_EQ(hint(""), "use --threads 8, or more processors");
  EXPECT_EQ(hint("nodewise run "), "use nodewise run --threads 8, or more processors");
}

TEST(Conflicts, SayWhoChoseTheProcessors) {
  const settings slurm = {{"OMP_NUM_THREADS", "9"}, {"SLURM_CPU_BIND", "quiet,mask_cpu:0xFF"}};
  EXPECT_THAT(found(slurm), ElementsAre(HasSubstr("0-7 by SLURM_CPU_BIND=quiet,mask_cpu:0xFF:")));
  EXPECT_THAT(found(slurm, ours([](intentions& o) { o.processors = "--cpunodebind 0"; })),
              ElementsAre(HasSubstr("0-7 by --cpunodebind 0:")));
  EXPECT_THAT(found({{"OMP_NUM_THREADS", "9"}, {"SLURM_CPU_BIND", "none"}}),
              ElementsAre(HasSubstr("processors 0-7: threads")));
}

TEST(Conflicts, NumbersOfThreads) {
  EXPECT_THAT(found({{"OMP_NUM_THREADS", "9,2"}}), ElementsAre(HasSubstr("on 8 processors")));
  EXPECT_THAT(found({{"OMP_NUM_THREADS", "4"}, {"SLURM_CPUS_PER_TASK", "8"}}),
              ElementsAre(HasSubstr("stay idle")));
  EXPECT_THAT(found({{"OMP_NUM_THREADS", "4"}, {"SLURM_CPUS_PER_TASK", "2"}}),
              ElementsAre(HasSubstr("take turns on the task's")));
  EXPECT_THAT(found({{"OMP_NUM_THREADS", "4"}, {"OMP_THREAD_LIMIT", "2"}}),
              ElementsAre(HasSubstr("start 2 threads")));
  EXPECT_THAT(found({{"OMP_NUM_THREADS", "many"}, {"SLURM_CPUS_PER_TASK", "8"}}), IsEmpty());
}

TEST(Conflicts, WithWhatTheLauncherDoes) {
  const settings placed = {{"OMP_PLACES", "{0},{1}"}, {"OMP_PROC_BIND", "close"}};
  EXPECT_THAT(found(placed, ours([](intentions& o) { o.bound = true; })), IsEmpty());
  const settings slurm = {{"SLURM_MEM_BIND", "quiet,map_mem:0,1"},
                          {"SLURM_MEM_BIND_TYPE", "map_mem:"}};
  EXPECT_THAT(found(slurm), IsEmpty()) << "nothing else is asked";
  EXPECT_THAT(found(slurm, ours([](intentions& o) { o.memory = "--membind 0"; })),
              ElementsAre(HasSubstr("--membind 0 wins: it is set after srun's policy")));
  EXPECT_THAT(found({{"SLURM_MEM_BIND_TYPE", "none"}},
                    ours([](intentions& o) { o.memory = "--membind 0"; })),
              IsEmpty());
  const settings ranks = {{"SLURM_LOCALID", "0"}, {"MPI_LOCALRANKID", "3"}};
  EXPECT_THAT(found(ranks), IsEmpty());
  EXPECT_THAT(found(ranks, ours([](intentions& o) { o.by_rank = true; })),
              ElementsAre(HasSubstr("taken from SLURM_LOCALID")));
}

std::string places(std::string_view text) {
  const auto listed = listed_places(text);
  return listed ? listed->to_string() : "-";
}

TEST(Conflicts, ListsArePlacesAsOpenMPWritesThem) {
  EXPECT_EQ(places("{0},{2}"), "0,2");
  EXPECT_EQ(places("{0:4},{8,9}"), "0-3,8-9");
  EXPECT_EQ(places("{0:4:2}"), "0,2,4,6");
  EXPECT_EQ(places("{0,1}:3:4"), "0-1,4-5,8-9");
  EXPECT_EQ(places(" { 0 : 2 } , { 4 } "), "0-1,4");
  EXPECT_EQ(places("{0:4,!2}"), "0-1,3");
  EXPECT_EQ(places("{7}:8:-1"), "0-7");
  for (const char* const none :
       {"", "cores", "cores(4)", "{", "{}", "{0", "{0-3}", "{0}x", "{-1}", "{0}:9999999999",
        "{0:60000}:60000", "{0:9000}", "{0}:2:-1", "{1048576}", "{0},,{1}"}) {
    EXPECT_EQ(places(none), "-") << none;
  }
}

std::string gomp(std::string_view text) {
  const auto listed = listed_gomp_affinity(text);
  return listed ? listed->to_string() : "-";
}

TEST(Conflicts, ListsOfGompHaveStrides) {
  EXPECT_EQ(gomp("0 3 1-2 4-15:2"), "0-4,6,8,10,12,14");
  EXPECT_EQ(gomp("0,1"), "0-1");
  for (const char* const none : {"x", "3-1", "0-4:0", "-1", "0-", "0-900000"}) {
    EXPECT_EQ(gomp(none), "-") << none;
  }
}

TEST(Conflicts, ListsOfKmpAreInBrackets) {
  const auto kmp = [](std::string_view text) {
    const auto listed = listed_kmp_affinity(text);
    return listed ? listed->to_string() : "-";
  };
  EXPECT_EQ(kmp("granularity=fine,explicit,proclist=[0,{2,3},4-8:2],verbose"), "0,2-4,6,8");
  EXPECT_EQ(kmp("proclist=[]"), "");
  for (const char* const none :
       {"compact", "proclist=", "proclist=[", "proclist=[0", "proclist=[x]", "proclist=[{}]",
        "proclist=[-1]", "proclist=[3-1]"}) {
    EXPECT_EQ(kmp(none), "-") << none;
  }
}

TEST(Conflicts, OnlyTheVariablesThatMatterAreRead) {
  const settings read = read_settings([](const char* name) -> const char* {
    return std::string_view(name) == "OMP_PLACES" ? "cores" : nullptr;
  });
  EXPECT_EQ(read, (settings{{"OMP_PLACES", "cores"}}));
}

} // namespace
} // namespace nodewise::bind
