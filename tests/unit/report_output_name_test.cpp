// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/output_name.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "support/kept_variables.hpp"

namespace nodewise::report {
namespace {

const output_facts in_mpi{"3", "node17", 4711};
const output_facts alone{std::nullopt, "node17", 4711};

TEST(OutputName, ReplacesItsPlaceholders) {
  EXPECT_EQ(output_name("run.json", alone), "run.json");
  EXPECT_EQ(output_name("%h-%p-%r-%%.json", in_mpi), "node17-4711-3-%.json");
  EXPECT_EQ(output_name("", alone), "");
}

std::string refusal(std::string_view pattern, const output_facts& facts) {
  try {
    return output_name(pattern, facts);
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_NE(e.hint(), "");
    return e.answered();
  }
}

TEST(OutputName, RefusesWhatMeansNothing) {
  EXPECT_EQ(refusal("a-%x", alone), "%x is unknown");
  EXPECT_EQ(refusal("a-%", alone), "it ends in %");
  EXPECT_NE(refusal("a-%r", alone).find("no MPI launcher"), std::string::npos);
}

TEST(OutputName, TakesTheRankOfTheLaunchersInOrder) {
  const char* const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK",
                               "SLURM_LOCALID",
                               "MPI_LOCALRANKID",
                               "PMIX_LOCAL_RANK",
                               "PALS_LOCAL_RANKID",
                               "MV2_COMM_WORLD_LOCAL_RANK"};
  const test::kept_variables kept{names[0], names[1], names[2], names[3], names[4], names[5]};
  for (const char* const name : names) {
    ::unsetenv(name);
  }
  EXPECT_EQ(local_mpi_rank(), std::nullopt);
  ::setenv("OMPI_COMM_WORLD_LOCAL_RANK", "../../etc", 1);
  EXPECT_EQ(local_mpi_rank(), std::nullopt) << "a rank is a number";
  for (std::size_t i = std::size(names); i-- > 0;) {
    ::setenv(names[i], std::to_string(i).c_str(), 1);
    EXPECT_EQ(local_mpi_rank(), std::to_string(i));
  }
}

TEST(OutputName, KnowsThisProcess) {
  const output_facts facts = output_facts::of_this_process();
  EXPECT_FALSE(facts.host.empty());
  EXPECT_GT(facts.pid, 0);
}

} // namespace
} // namespace nodewise::report
