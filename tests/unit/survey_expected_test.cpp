// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "survey/expected.hpp"
#include "unit/survey_jobs.hpp"

namespace nodewise::survey {
namespace {

using test::bound_job;
using test::builder_of;
using test::host_grid;
using testing::ElementsAre;
using testing::IsEmpty;

/// "4 ranks, 8 expected; 0-3; n0-n1": one line for each finding.
std::vector<std::string> differs(const std::vector<rank_record>& records, std::string_view from) {
  const auto builder = builder_of(records);
  std::vector<std::string> all;
  for (const finding& each : judge_shape(builder.build(), parse_expected_shape(from))) {
    EXPECT_EQ(each.what, fault::other_shape);
    all.push_back(fmt::format("{}; {}; {}", each.evidence, ranks_text(each.ranks, 9),
                              names_text(each.hosts, 9)));
  }
  return all;
}

TEST(SurveyExpected, AJobAsExpectedHasNoFinding) {
  const auto records = bound_job(host_grid(4, 2), 2, 4);
  EXPECT_THAT(differs(records, "hosts=2,ranks=8,ranks-per-host=4,threads=2"), IsEmpty());
  EXPECT_THAT(differs(records, "ranks-per-host=4"), IsEmpty());
}

TEST(SurveyExpected, EveryOtherCountIsAFinding) {
  auto records = bound_job(host_grid(4, 2), 3, 4);
  EXPECT_THAT(differs(records, "hosts=2,ranks=8"),
              ElementsAre("3 hosts, 2 expected; ; n0-n2", "12 ranks, 8 expected; ; n0-n2"));
  EXPECT_THAT(differs(records, "threads=1,ranks-per-host=2"),
              ElementsAre("2 threads in a rank, 1 expected; 0-11; n0-n2",
                          "4 ranks on a host, 2 expected; ; n0-n2"));
  records[5].workers.pop_back();
  EXPECT_THAT(differs(records, "threads=2"), ElementsAre("1 thread in a rank, 2 expected; 5; n1"));
}

TEST(SurveyExpected, MissingRanksCountAsRanksOfTheJob) {
  auto records = bound_job(host_grid(4, 2), 2, 4);
  records.pop_back();
  EXPECT_THAT(differs(records, "ranks=8"), IsEmpty());
  EXPECT_THAT(differs(records, "ranks-per-host=4"),
              ElementsAre("3 ranks on a host, 4 expected; ; n1"));
}

TEST(SurveyExpected, OtherWordsAreRefused) {
  for (const char* const wrong :
       {"", "hosts", "hosts=", "hosts=0", "hosts=-1", "hosts=two", "nodes=2", "hosts=2,",
        "hosts=2,hosts=2", "hosts =2", "hosts=2;ranks=4", "hosts=99999999999999999999999"}) {
    EXPECT_THROW((void)parse_expected_shape(wrong), error) << wrong;
  }
}

} // namespace
} // namespace nodewise::survey
