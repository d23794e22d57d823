// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/tune/setting_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/model_machines.hpp"

namespace nodewise::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

setting_as_plan plan_for(const std::string& options) {
  return plan_of(tune::read_setting(options), "sh", topology(test::equal_nodes(2, 2, 1)));
}

TEST(SettingAsPlan, HoldsThreadsAndMemory) {
  const setting_as_plan made =
      plan_for("--threads 4 --bind spread --places cores --memory cyclic:64K");
  EXPECT_EQ(made.plan.threads, 4U);
  EXPECT_EQ(made.plan.bind, bind_policy::spread);
  EXPECT_EQ(made.plan.places, place_kind::cores);
  EXPECT_EQ(made.plan.nodes, 2U);
  ASSERT_EQ(made.plan.objects.size(), 1U);
  EXPECT_EQ(placements::text_of(made.plan.objects[0].where), "cyclic:64K");
  EXPECT_THAT(made.beside, IsEmpty());
}

TEST(SettingAsPlan, KeepsBesideWhatNoPlanCanHold) {
  const setting_as_plan made = plan_for("--bind close --memory weighted:auto --huge-pages on");
  EXPECT_TRUE(made.has_plan());
  EXPECT_THAT(made.plan.objects, IsEmpty());
  EXPECT_THAT(made.beside, ElementsAre("--memory=weighted:auto", "--huge-pages=on"));
}

TEST(SettingAsPlan, HasNumbersOfThreadsOnlyWithABinding) {
  const setting_as_plan made = plan_for("--threads 3");
  EXPECT_FALSE(made.has_plan());
  EXPECT_THAT(made.beside, ElementsAre("--threads=3"));
}

TEST(SettingAsPlan, IsEmptyForTheProgramAsItIs) {
  EXPECT_FALSE(plan_for("").has_plan());
}

} // namespace
} // namespace nodewise::cli
