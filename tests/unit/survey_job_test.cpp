// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "survey/launcher.hpp"
#include "unit/survey_jobs.hpp"

namespace nodewise::survey {
namespace {

using test::bound_job;
using test::builder_of;
using test::host_grid;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(SurveyJob, HostsAreInTheOrderOfTheirNumbers) {
  const auto builder = builder_of(bound_job(host_grid(2, 4), 12, 2));
  const job made = builder.build();
  ASSERT_THAT(made.hosts, SizeIs(12));
  EXPECT_EQ(made.hosts[2].name, "n2");
  EXPECT_EQ(made.hosts[10].name, "n10");
  EXPECT_EQ(made.hosts[10].ranks.front()->rank, 20);
  EXPECT_NE(made.hosts[10].hardware, nullptr);
  EXPECT_EQ(made.surveyed(), 24U);
  EXPECT_THAT(made.missing, IsEmpty());
  EXPECT_THAT(made.problems, IsEmpty());
}

TEST(SurveyJob, MissingRanksAreNumbered) {
  auto records = bound_job(host_grid(2, 4), 2, 4);
  records.erase(records.begin() + 7);
  records.erase(records.begin() + 4); // with the hardware of n1: n0 has the same
  const auto builder = builder_of(records);
  const job made = builder.build();
  EXPECT_THAT(made.missing, ElementsAre(4, 7));
  EXPECT_NE(made.hosts[1].hardware, nullptr);
}

TEST(SurveyJob, ARecordThatComesTwiceCountsOnceAndAContradictionIsNamed) {
  auto records = bound_job(host_grid(2, 4), 1, 2);
  auto builder = builder_of(records);
  builder.add(records[1], "copy");
  EXPECT_THAT(builder.build().problems, IsEmpty());
  records[1].workers.clear();
  builder.add(records[1], "other");
  const job made = builder.build();
  EXPECT_THAT(made.problems,
              ElementsAre("other: rank 1 has another record in rank-1, which is used"));
  EXPECT_THAT(made.hosts[0].ranks[1]->workers, SizeIs(4));
}

TEST(SurveyJob, HardwareThatIsNotTheNamedMachineIsNotUsed) {
  auto records = bound_job(host_grid(2, 4), 1, 2);
  records[0].hardware = host_grid(4, 2);
  const auto builder = builder_of(records);
  EXPECT_THAT(builder.build().problems, ElementsAre(HasSubstr("is not the machine")));
  EXPECT_EQ(builder.build().hosts[0].hardware, nullptr);
}

TEST(SurveyJob, OneOfSeveralJobsMustBeChosen) {
  auto records = bound_job(host_grid(2, 4), 1, 2);
  auto builder = builder_of(records);
  records[0].job = "4712";
  builder.add(records[0], "later");
  EXPECT_THROW((void)builder.build(), error);
  EXPECT_THROW((void)builder.build("1"), error);
  EXPECT_EQ(builder.build("4712").surveyed(), 1U);
  EXPECT_THROW((void)job_builder().build(), error);
}

TEST(SurveyJob, RecordsOfAnEarlierRunWithoutANameAreLeftOut) {
  auto records = bound_job(host_grid(2, 4), 1, 4);
  for (auto& each : records) {
    each.job = "-";
    each.ranks = each.rank < 2 ? 2 : 4; // the earlier run had four ranks
    each.started += each.rank < 2 ? 30 : 0;
  }
  const auto builder = builder_of(records);
  const job made = builder.build();
  EXPECT_EQ(made.surveyed(), 2U);
  EXPECT_THAT(made.problems, ElementsAre("records of an earlier run are left out: ranks 2, 3"));
}

TEST(SurveyNames, NeighboursAreJoined) {
  EXPECT_EQ(names_text({"n1", "n2", "n3", "n7", "login"}, 6), "n1-n3, n7, login");
  EXPECT_EQ(names_text({"n09", "n10"}, 6), "n09, n10");
  EXPECT_EQ(names_text({"n9", "n010", "n011", "n012"}, 6), "n9, n010-n012");
  EXPECT_EQ(names_text({"a", "b", "c", "d"}, 2), "a, b and 2 more");
  EXPECT_EQ(names_text({"x\x1b[31m"}, 2), "x\\x1b[31m");
  EXPECT_EQ(ranks_text({0, 1, 2, 5, 8, 9}, 6), "0-2, 5, 8, 9");
}

TEST(SurveyNames, AreOrderedByTheirNumbers) {
  EXPECT_TRUE(is_before("n9", "n10"));
  EXPECT_FALSE(is_before("n10", "n9"));
  EXPECT_TRUE(is_before("rack2-n1", "rack10-n1"));
  EXPECT_TRUE(is_before("n", "n1"));
  EXPECT_FALSE(is_before("n1", "n1"));
  EXPECT_NE(is_before("n01", "n1"), is_before("n1", "n01"));
}

std::map<std::string, std::string> variables;
const char* variable(const char* name) {
  const auto found = variables.find(name);
  return found == variables.end() ? nullptr : found->second.c_str();
}

launched_rank launched(std::map<std::string, std::string> set) {
  variables = std::move(set);
  return find_launched_rank(variable);
}

TEST(SurveyLauncher, IsFoundByItsVariables) {
  const auto open_mpi = launched({{"OMPI_COMM_WORLD_RANK", "5"},
                                  {"OMPI_COMM_WORLD_SIZE", "8"},
                                  {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                  {"PMIX_NAMESPACE", "12345"},
                                  {"SLURM_PROCID", "0"},
                                  {"SLURM_JOB_ID", "9"}});
  EXPECT_EQ(open_mpi.launcher, "openmpi");
  EXPECT_EQ(open_mpi.rank, 5);
  EXPECT_EQ(open_mpi.ranks, 8);
  EXPECT_EQ(open_mpi.local, 1);
  EXPECT_EQ(open_mpi.job, "12345");
  const auto slurm = launched({{"SLURM_PROCID", "3"},
                               {"SLURM_STEP_NUM_TASKS", "4"},
                               {"SLURM_LOCALID", "1"},
                               {"SLURM_JOB_ID", "9"},
                               {"SLURM_STEP_ID", "0"},
                               {"PMI_RANK", "3"}});
  EXPECT_EQ(slurm.launcher, "slurm");
  EXPECT_EQ(slurm.job, "9.0");
  const auto hydra = launched(
      {{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "1"}, {"SLURM_PROCID", "0"}});
  EXPECT_EQ(hydra.launcher, "hydra");
  EXPECT_EQ(hydra.rank, 3);
  EXPECT_EQ(hydra.job, "-");
}

TEST(SurveyLauncher, WithoutOneItIsRankZeroOfOne) {
  const auto alone = launched({});
  EXPECT_EQ(alone.rank, 0);
  EXPECT_EQ(alone.ranks, 1);
  EXPECT_EQ(alone.launcher, "");
  EXPECT_EQ(launched({{"PMI_RANK", "9"}, {"PMI_SIZE", "4"}}).ranks, std::nullopt);
}

} // namespace
} // namespace nodewise::survey
