// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recorded_machines.hpp"
#include "survey/finding.hpp"
#include "unit/survey_jobs.hpp"

namespace nodewise::survey {
namespace {

using test::bound_job;
using test::builder_of;
using test::gibibyte;
using test::host_grid;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<finding> judged(const std::vector<rank_record>& records) {
  const auto builder = builder_of(records);
  return judge(builder.build());
}

/// "threads are not bound: ...; ranks 0-3": one line for each finding.
std::vector<std::string> said(const std::vector<rank_record>& records) {
  std::vector<std::string> all;
  for (const finding& each : judged(records)) {
    all.push_back(fmt::format("{}: {}; {}; {}", name_of(each.what), each.evidence,
                              ranks_text(each.ranks, 9), names_text(each.hosts, 9)));
  }
  return all;
}

/// Gives all workers of a rank this mask.
void widen(rank_record& of, const cpu_set& to) {
  for (worker& each : of.workers) {
    each.allowed = to;
  }
  of.allowed = to;
}

TEST(SurveyJudge, ABoundJobHasNoFault) {
  for (const int ranks : {1, 2, 4, 8}) {
    EXPECT_THAT(said(bound_job(host_grid(4, 8, 2), 3, ranks)), IsEmpty()) << ranks;
  }
}

TEST(SurveyJudge, NorHasItOnAnyRecordedMachine) {
  for (const test::recorded_machine& each : test::recorded_machines()) {
    const host_machine on = host_machine_of(test::load_recorded(each.name).machine());
    const std::size_t nodes = on.nodes_of(on.cpus()).size();
    // A rank for each core: each has one node.
    const std::size_t cores = test::cores_by_node(on).size();
    if (cores == 0 || nodes == 0) {
      continue;
    }
    EXPECT_THAT(said(bound_job(on, 2, static_cast<int>(cores))), IsEmpty()) << each.name;
  }
}

TEST(SurveyJudge, ThreadsOfOneRankOnOneProcessor) {
  auto records = bound_job(host_grid(2, 4), 2, 2);
  widen(records[1], cpu_set{cpu_id{4}}); // what Open MPI's --bind-to core does to four threads
  EXPECT_THAT(said(records),
              ElementsAre("threads of a rank share processors: 4 threads on 1 processor; 1; n0"));
}

TEST(SurveyJudge, RanksOnTheSameProcessors) {
  auto records = bound_job(host_grid(2, 4), 1, 2);
  for (std::size_t i = 0; i < 4; ++i) {
    records[1].workers[i].allowed = records[0].workers[i].allowed;
    records[1].workers[i].ran = records[0].workers[i].ran;
  }
  records[1].bytes = records[0].bytes;
  const auto found = said(records);
  EXPECT_THAT(
      found, ElementsAre(
                 HasSubstr("ranks share processors: 2 threads of 2 ranks on 1 processor; 0, 1; n0"),
                 HasSubstr("nodes are idle: no thread may run on node 1 of 2")));
}

TEST(SurveyJudge, MoreThreadsThanAHostHas) {
  auto records = bound_job(host_grid(2, 4), 1, 2);
  for (auto& each : records) {
    each.workers.resize(6, each.workers.front());
    widen(each, cpu_set::range(cpu_id{0}, cpu_id{7}));
  }
  EXPECT_THAT(said(records), ElementsAre(HasSubstr("12 threads of 2 ranks on 8 processors; 0, 1"),
                                         HasSubstr("threads are not bound")));
}

TEST(SurveyJudge, HardwareThreadsOfOneCoreWhileOthersAreIdle) {
  auto records = bound_job(host_grid(2, 4, 2), 1, 2);
  for (auto& rank : records) {
    // The four workers of a rank on the four hardware threads of its first two cores.
    const auto cores = rank.workers;
    for (std::size_t i = 0; i < 4; ++i) {
      const cpu_set core = cores[i / 2].allowed;
      const cpu_id cpu = i % 2 == 0 ? core.first() : cpu_id{core.highest()};
      rank.workers[i].allowed = cpu_set{cpu};
      rank.workers[i].ran = cpu_set{cpu};
    }
  }
  EXPECT_THAT(said(records),
              ElementsAre(HasSubstr(
                  "2 threads on one core, on 4 cores, while 4 of 8 cores are idle; 0, 1")));
}

TEST(SurveyJudge, UnboundThreads) {
  auto records = bound_job(host_grid(4, 2), 3, 4);
  widen(records[5], cpu_set::range(cpu_id{0}, cpu_id{7}));
  widen(records[10], cpu_set::range(cpu_id{4}, cpu_id{7}));
  EXPECT_THAT(said(records),
              ElementsAre(HasSubstr("threads may run on any of the nodes 0-3; 5; n1"),
                          HasSubstr("threads may run on any of the nodes 2-3; 10; n2")));
}

TEST(SurveyJudge, ARankOnTwoNodesWhereOneIsEnough) {
  auto records = bound_job(host_grid(2, 8), 1, 2);
  std::swap(records[0].workers[7], records[1].workers[7]);
  EXPECT_THAT(said(records), ElementsAre(HasSubstr(
                                 "more nodes than necessary: 8 threads on nodes 0-1; 0, 1; n0")));
  // Two ranks on four nodes have two nodes each.
  EXPECT_THAT(said(bound_job(host_grid(4, 2), 1, 2)), IsEmpty());
}

TEST(SurveyJudge, IdleNodesWithEnoughThreadsForThem) {
  // Four ranks of one thread on the first two nodes of four: Open MPI's --map-by core.
  const host_machine on = host_grid(4, 2);
  std::vector<rank_record> records;
  for (int rank = 0; rank < 4; ++rank) {
    records.push_back(test::bound_rank(on, "n0", rank, 4, {static_cast<std::size_t>(rank)}));
    records.back().hardware = on;
  }
  EXPECT_THAT(said(records), ElementsAre(HasSubstr("no thread may run on nodes 2-3 of 4; ; n0")));
  records.resize(2); // of two threads, two nodes are idle in any case
  for (auto& each : records) {
    each.ranks = 2;
  }
  EXPECT_THAT(said(records), IsEmpty());
}

TEST(SurveyJudge, MemoryAwayFromTheThreads) {
  auto records = bound_job(host_grid(2, 4), 2, 2);
  for (auto& each : records) {
    each.bytes = {{node_id{0}, gibibyte}}; // all of it where the first rank is
  }
  records[0].unknown_bytes = gibibyte;
  const auto found = judged(records);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, fault::memory_away);
  EXPECT_THAT(found[0].ranks, ElementsAre(1, 3));
  EXPECT_EQ(found[0].evidence,
            "rank 1: 100 % of its 1024 MiB on other nodes, most on node 0, its threads on node 1");
  records[1].bytes = {{node_id{0}, gibibyte / 100}}; // too little to matter
  EXPECT_THAT(judged(records)[0].ranks, ElementsAre(3));
}

TEST(SurveyJudge, MemoryOnANodeWithoutProcessorsIsNotAway) {
  machine both = test::grid(2, 4);
  both.nodes.push_back(test::memory_only(2));
  auto records = bound_job(host_machine_of(both), 1, 2);
  records[0].bytes = {{node_id{2}, 4 * gibibyte}};
  EXPECT_THAT(said(records), IsEmpty());
}

TEST(SurveyJudge, MemoryOnOneNodeOfARankOnSeveral) {
  auto records = bound_job(host_grid(4, 2), 2, 1);
  records[1].bytes = {{node_id{0}, gibibyte}, {node_id{1}, gibibyte / 100}};
  EXPECT_THAT(said(records), ElementsAre(HasSubstr(
                                 "memory is on one node, the threads on several: rank 1: 99 %")));
}

TEST(SurveyJudge, HostsThatDiffer) {
  auto records = bound_job(host_grid(2, 4), 5, 2);
  records[4].settings["numa_balancing"] = "0";
  records[5].settings["numa_balancing"] = "0";
  EXPECT_THAT(said(records), ElementsAre("hosts differ: numa_balancing: 0, elsewhere 1; ; n2"));
  const host_machine split = host_grid(8, 1); // sub-NUMA clustering on one host
  const auto other = test::bound_host(split, "n9", 10, 2, 12);
  records = bound_job(host_grid(2, 4), 5, 2);
  records.insert(records.end(), other.begin(), other.end());
  for (auto& each : records) {
    each.ranks = 12;
  }
  EXPECT_THAT(said(records), ElementsAre("hosts differ: machine: 8 nodes with 8 processors, "
                                         "elsewhere 2 nodes with 8 processors; ; n9"));
}

TEST(SurveyJudge, RanksFarFromTheNetwork) {
  auto records = bound_job(host_grid(2, 4), 2, 2);
  records.erase(records.begin() + 2, records.end());
  for (auto& each : records) { // both on node 0
    each.ranks = 2;
    each.workers.resize(1);
    each.bytes = {{node_id{0}, gibibyte}};
  }
  records[1].workers[0] = {cpu_set{cpu_id{1}}, cpu_set{cpu_id{1}}, 1000};
  records[0].devices = {{"mlx5_0", "fabric", node_set{node_id{1}}}};
  EXPECT_THAT(said(records), testing::Contains(HasSubstr(
                                 "mlx5_0 is near node 1, all ranks are on node 0; 0, 1; n0")));
  records[0].devices = {{"mlx5_0", "fabric", node_set{node_id{0}}}};
  EXPECT_THAT(said(records), testing::Not(testing::Contains(HasSubstr("mlx5_0"))));
}

TEST(SurveyJudge, MissingAndFailedRanks) {
  auto records = bound_job(host_grid(2, 4), 2, 2);
  records[0].exit_code.reset();
  records[0].signal = 9;
  records[1].exit_code = 3;
  records.pop_back();
  EXPECT_THAT(said(records), ElementsAre("ranks failed: ended by signal 9; 0; n0",
                                         "ranks failed: ended with exit code 3; 1; n0",
                                         "ranks are missing: no record of 1 rank; 3; "));
}

TEST(SurveyJudge, WithoutHardwareOrWorkersNothingIsInvented) {
  auto records = bound_job(host_grid(2, 4), 1, 2);
  for (auto& each : records) {
    each.hardware.reset();
  }
  EXPECT_THAT(said(records), IsEmpty());
  records = bound_job(host_grid(2, 4), 1, 2);
  for (auto& each : records) { // too short to be seen at work: the launcher's mask counts
    each.workers.clear();
  }
  EXPECT_THAT(said(records), IsEmpty());
  for (auto& each : records) {
    each.allowed = {};
    each.bytes.clear();
  }
  EXPECT_THAT(said(records), IsEmpty());
}

} // namespace
} // namespace nodewise::survey
