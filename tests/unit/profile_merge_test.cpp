// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "profile/profile.hpp"

namespace nodewise::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A shell that started the rank, and the rank.
kept_profile part(const std::string& file, std::optional<int> rank) {
  kept_profile made{file, {}};
  made.what.command = {"./solver"};
  made.what.seen.faults = made.what.seen.kernel = true;
  made.what.seen.fault_samples = 10;
  made.what.cost = {2, 0.5};
  made.what.memory = {{node_id{0}, 100, 50, 20}};
  program shell;
  shell.name = "sh";
  program solver;
  solver.name = "solver";
  solver.rank = rank;
  solver.objects.resize(1);
  solver.objects[0].bytes = 1 << 20;
  made.what.programs = {shell, solver};
  return made;
}

std::vector<int> ranks_of(const profile& in) {
  std::vector<int> ranks;
  for (const program& each : in.programs) {
    if (each.rank) {
      ranks.push_back(*each.rank);
    }
  }
  return ranks;
}

std::string refusal_of(std::vector<kept_profile> parts) {
  try {
    (void)merge(std::move(parts));
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    return e.asked() + ": " + e.answered();
  }
  return "none";
}

TEST(ProfileMerge, ProgramsRanTogetherInTheOrderOfTheirRanks) {
  const profile all = merge({part("b", 1), part("a", 0), part("c", 2)});
  EXPECT_THAT(ranks_of(all), ElementsAre(0, 1, 2));
  EXPECT_EQ(all.programs.size(), 6U);
  EXPECT_EQ(all.seen.fault_samples, 30U);
  EXPECT_EQ(all.cost.wall_s, 2);
  EXPECT_EQ(all.cost.observer_s, 1.5);
}

TEST(ProfileMerge, WithoutNumbersTheirOrderCounts) {
  EXPECT_THAT(ranks_of(merge({part("a", {}), part("b", {})})), ElementsAre(0, 1));
}

TEST(ProfileMerge, EvidenceThatOneLacksIsLackingAndSaid) {
  kept_profile poor = part("b.json", 1);
  poor.what.seen.kernel = false;
  poor.what.seen.missing = {"system calls", "both"};
  kept_profile rich = part("a.json", 0);
  rich.what.seen.missing = {"both"};
  const profile all = merge({rich, poor});
  EXPECT_TRUE(all.seen.faults);
  EXPECT_FALSE(all.seen.kernel);
  EXPECT_THAT(all.seen.missing, ElementsAre("both", "system calls (in b.json)"));
}

TEST(ProfileMerge, MemoryIsAsBeforeTheFirst) {
  kept_profile late = part("a", 0);
  late.what.memory[0].free_bytes = 10;
  EXPECT_EQ(merge({late, part("b", 1)}).memory.at(0).free_bytes, 50U);
}

TEST(ProfileMerge, WhatIsNotOneRunIsRefused) {
  EXPECT_THAT(refusal_of({part("a", 3), part("b", 3)}),
              HasSubstr("a and b: both are rank 3 of a host"));
  EXPECT_THAT(refusal_of({part("a", 0), part("b", {})}), HasSubstr("only some of them"));
  kept_profile large = part("b", 1);
  large.what.page_bytes = 65536;
  EXPECT_THAT(refusal_of({part("a", 0), large}), HasSubstr("base pages differ"));
  kept_profile empty = part("b", 1);
  empty.what.programs.clear();
  EXPECT_THAT(refusal_of({part("a", 0), empty}), HasSubstr("b: contains no program"));
}

} // namespace
} // namespace nodewise::profile
