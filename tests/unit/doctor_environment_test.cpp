// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/fake_system.hpp"

namespace nodewise::doctor {
namespace {

using testing::HasSubstr;

class of_two_nodes : public fake_system {
 public:
  of_two_nodes() { two_nodes(); }
};

/// The only finding.
finding only(fake_system& who, const bind::settings& said) {
  const auto all = examine_environment(who, said);
  EXPECT_EQ(all.size(), 1U);
  return all.empty() ? finding{} : all.front();
}

TEST(DoctorEnvironment, NothingSet) {
  of_two_nodes who;
  EXPECT_EQ(only(who, {}).found, "no variable places threads or memory");
  EXPECT_EQ(only(who, {}).verdict, verdict::good);
  const bind::settings agreed = {
      {"OMP_NUM_THREADS", "4"}, {"OMP_PLACES", "cores"}, {"SLURM_LOCALID", "0"}};
  EXPECT_EQ(only(who, agreed).found, "OMP_NUM_THREADS=4, OMP_PLACES=cores: no contradiction found");
}

TEST(DoctorEnvironment, ContradictionsHaveTheCommandInTheirCure) {
  of_two_nodes who;
  const finding f = only(who, {{"OMP_NUM_THREADS", "8"}});
  EXPECT_EQ(f.name, "OMP_NUM_THREADS");
  EXPECT_EQ(f.verdict, verdict::warning);
  EXPECT_THAT(f.found, HasSubstr("processors 0-3: threads take turns"));
  EXPECT_THAT(f.cure, HasSubstr("nodewise run --threads 4"));
  who.allow("0-1", "0,2");
  EXPECT_EQ(only(who, {{"KMP_AFFINITY", "explicit,proclist=[0,2]"}}).name, "KMP_AFFINITY");
}

TEST(DoctorEnvironment, UnknownProcessorsAreNoAnswer) {
  fake_system blind;
  EXPECT_EQ(only(blind, {{"OMP_NUM_THREADS", "8"}}).verdict, verdict::unavailable);
}

TEST(DoctorEnvironment, WhatSrunSaysAgainstWhatThereIs) {
  of_two_nodes who;
  who.allow("0-1", "0,2");
  bind::settings said = {{"SLURM_STEP_ID", "0"},
                         {"SLURM_LOCALID", "1"},
                         {"SLURM_CPU_BIND_TYPE", "mask_cpu:"},
                         {"SLURM_CPU_BIND_LIST", "0xF,0x30"}};
  EXPECT_EQ(only(who, said).verdict, verdict::good) << "two, whatever srun's numbers are";
  said["SLURM_LOCALID"] = "0";
  EXPECT_THAT(only(who, said).found, HasSubstr("srun gave this task 4"));
  said.erase("SLURM_STEP_ID");
  EXPECT_EQ(only(who, said).verdict, verdict::good) << "a batch script";
  said["SLURM_STEP_ID"] = "0";
  said["SLURM_CPU_BIND_LIST"] = "0xG";
  EXPECT_EQ(only(who, said).verdict, verdict::good) << "no mask";
}

TEST(DoctorEnvironment, MemoryThatSrunHasBound) {
  of_two_nodes who;
  bind::settings said = {{"SLURM_STEP_ID", "0"}, {"SLURM_MEM_BIND_TYPE", "local"}};
  EXPECT_THAT(only(who, said).found, HasSubstr("not active in this process"));
  who.policy = sys::policy::bind;
  EXPECT_EQ(only(who, said).verdict, verdict::good);
  said["SLURM_MEM_BIND_TYPE"] = "map_mem:";
  said["SLURM_MEM_BIND_LIST"] = "0,2";
  EXPECT_EQ(only(who, said).verdict, verdict::good);
  who.allow("0-3", "2");
  EXPECT_THAT(only(who, said).found, HasSubstr("may not use memory of node 0"));
  said["SLURM_MEM_BIND_TYPE"] = "none";
  EXPECT_EQ(only(who, said).verdict, verdict::good);
}

TEST(DoctorEnvironment, TasksOnTheSamePlaces) {
  of_two_nodes who;
  bind::settings said = {{"OMP_PROC_BIND", "close"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}};
  EXPECT_THAT(only(who, said).found, HasSubstr("the same places"));
  said["OMPI_COMM_WORLD_LOCAL_SIZE"] = "1";
  EXPECT_EQ(only(who, said).verdict, verdict::good);
  said = {{"OMP_PLACES", "cores"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_TASKS_PER_NODE", "2(x8)"}};
  EXPECT_THAT(only(who, said).found, HasSubstr("the same places"));
  said["OMP_PROC_BIND"] = "close";
  who.allow("0-1", "0,2");
  EXPECT_EQ(only(who, said).verdict, verdict::good) << "each task has its own processors";
}

TEST(DoctorEnvironment, OneTbb) {
  of_two_nodes who;
  EXPECT_THAT(only(who, {{"TBB_NUM_THREADS", "2"}}).found,
              HasSubstr("does not read this variable"));
  const bind::settings huge = {{"TBB_MALLOC_USE_HUGE_PAGES", "1"}};
  EXPECT_EQ(only(who, huge).verdict, verdict::good) << "what there is could not be read";
  who.files["/sys/kernel/mm/transparent_hugepage/enabled"] = "always [madvise] never";
  who.files["/proc/sys/vm/nr_hugepages"] = "0";
  EXPECT_THAT(only(who, huge).found, HasSubstr("finds no huge pages"));
  who.files["/proc/sys/vm/nr_hugepages"] = "16";
  EXPECT_EQ(only(who, huge).verdict, verdict::good);
  who.files["/proc/sys/vm/nr_hugepages"] = "0";
  who.files["/sys/kernel/mm/transparent_hugepage/enabled"] = "[always] madvise never";
  EXPECT_EQ(only(who, huge).verdict, verdict::good);
}

TEST(DoctorEnvironment, AnotherMachineByHwloc) {
  of_two_nodes who;
  for (const char* const name : {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT"}) {
    EXPECT_EQ(only(who, {{name, "x"}}).cure, std::string("unset ") + name);
  }
}

TEST(DoctorEnvironment, ReadsWhatItAsksFor) {
  const auto get = [](const char* name) -> const char* {
    const std::string_view asked = name;
    return asked == "TBB_NUM_THREADS" || asked == "OMP_PLACES" || asked == "HOME" ? "1" : nullptr;
  };
  EXPECT_THAT(read_variables(get),
              testing::ElementsAre(testing::Key("OMP_PLACES"), testing::Key("TBB_NUM_THREADS")));
}

} // namespace
} // namespace nodewise::doctor
