// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a plan may not do: give up near traffic for a time that might not come, follow what caches
// happened to hold, or fill a memory beyond what it has.
#include <algorithm>

#include <gmock/gmock.h>

#include "advise/local_search.hpp"
#include "unit/advise_programs.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise {
namespace {

using test::four_by_two;
using test::lab_machine;
using test::program_maker;
using test::two_by_four;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t pages = 1024;
constexpr std::uint64_t array_bytes = pages * 4096;

TEST(AdvisePlacement, WhatTheMainThreadUsesAloneIsNotDealtOut) {
  program_maker make(four_by_two);
  make.array(pages, make.blocked()).used(make.blocked(), 0, 640);
  make.array(pages, program_maker::all_by(0)).used(program_maker::all_by(0), 0, 160);
  for (const topology& on : {lab_machine("opteron-4x2"), topology(test::grid(4, 2))}) {
    const advise::proposal made = advise::make_plan(make.made(), on, 0);
    EXPECT_THAT(made.plan.objects, IsEmpty());
    EXPECT_NEAR(*made.after.remote, 0, 1e-9);
  }
}

// Its threads' part of a sweep is in their caches on two nodes, and the main thread reads all of it
// once more: whose pages they are is the same.
TEST(AdvisePlacement, PagesThatWereInCachesAreStillTheirThreads) {
  program_maker make(four_by_two);
  constexpr std::size_t used = pages / 8 * 7; // so that equal blocks of all pages do not fit
  make.array(pages, program_maker::all_by(0));
  for (std::size_t page = 0; page < used; ++page) {
    const std::size_t thread = page * 8 / used;
    const bool cached = thread / 2 == 1 || thread / 2 == 2;
    const bool by_chance = page % 7 == 0; // a page among others that the caches held
    profile::use_run one{page, 1, {{thread, cached || by_chance ? 12.0 : 640.0}}};
    if (thread == 0) {
      one.by.front().amount += 16;
    } else {
      one.by.insert(one.by.begin(), {0, 16});
    }
    make.last().uses.push_back(one);
  }
  const advise::proposal made = advise::make_plan(make.made(), topology(test::grid(4, 2)), 0);
  ASSERT_EQ(made.plan.objects.size(), 1U);
  const std::vector<placements::owner_run>& parts = made.plan.objects.front().where.owners;
  ASSERT_EQ(parts.size(), 4U);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    EXPECT_EQ(parts[k].owner / 2, k);
    EXPECT_EQ(parts[k].parts, k == 3 ? 352U / 32 : 224U / 32); // the rest follows the last
  }
}

// In the next run chance lets other rows be used much: that a row was used little says nothing of
// whose it is, and neither do its neighbours, nor the main thread, which has read each row once.
TEST(AdvisePlacement, RowsThatAnIndexDealsOutAreTheirUsersHoweverLittleTheyWereUsed) {
  program_maker make(four_by_two);
  constexpr std::size_t rows = 512;
  constexpr double pass = 64; // lines a page
  make.array(2 * rows, program_maker::all_by(0));
  std::vector<std::size_t> owners;
  std::uint64_t state = 12345;
  for (std::size_t row = 0; row < rows; ++row) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    owners.push_back((state >> 33U) % 8);
    const double lines = (state >> 40U) % 2 == 0 ? 64 : 4000;
    profile::use_run both{2 * row, 2, {{0, 2 * pass}}};
    if (owners.back() == 0) {
      both.by.front().amount += 2 * lines;
    } else {
      both.by.push_back({owners.back(), 2 * lines});
    }
    make.last().uses.push_back(std::move(both));
  }
  const advise::proposal made = advise::make_plan(make.made(), lab_machine("opteron-4x2"), 0);
  ASSERT_EQ(made.plan.objects.size(), 1U);
  ASSERT_EQ(made.plan.objects.front().where.how, placements::kind::map);
  std::vector<std::size_t> by_row;
  std::uint64_t parts = 0;
  for (const placements::owner_run& run : made.plan.objects.front().where.owners) {
    parts += run.parts;
  }
  for (const placements::owner_run& run : made.plan.objects.front().where.owners) {
    by_row.insert(by_row.end(), run.parts * rows / parts, run.owner);
  }
  ASSERT_EQ(by_row.size(), rows);
  for (std::size_t row = 0; row < rows; ++row) {
    EXPECT_EQ(by_row[row] / 2, owners[row] / 2) << "row " << row;
  }
}

// A plan has room for 4000 changes of the owner. Nearly all of them go to the array that nearly all
// of the traffic is of.
TEST(AdvisePlacement, TheArrayWithMostTrafficGetsTheLongestMap) {
  program_maker make(four_by_two);
  constexpr std::size_t rows = 3600;
  make.array(rows, program_maker::all_by(0));
  std::vector<std::size_t> owners;
  std::uint64_t state = 12345;
  for (std::size_t row = 0; row < rows; ++row) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    owners.push_back((state >> 33U) % make.threads());
    make.last().uses.push_back({row, 1, {{owners.back(), 256}}});
  }
  make.array(16, program_maker::all_by(0)).used(make.blocked(), 0, 400);
  const advise::proposal made = advise::make_plan(make.made(), topology(test::grid(4, 2)), 0);
  ASSERT_EQ(made.plan.objects.size(), 2U);
  EXPECT_GT(made.plan.objects.front().where.owners.size(), 2000U);
  EXPECT_NEAR(*made.after.remote, 0, 1e-9);
}

TEST(AdvisePlacement, APageAloneInABlockFollowsItsNeighbours) {
  program_maker make(four_by_two);
  const auto strayed = [&](std::size_t page, std::size_t of) {
    const std::size_t block = of / make.threads();
    const std::size_t owner = page / block;
    return page % block == block / 2 ? (owner + 4) % make.threads() : owner;
  };
  make.array(pages, program_maker::all_by(0)).used(strayed, 1);
  const advise::proposal made = advise::make_plan(make.made(), lab_machine("opteron-4x2"), 0);
  ASSERT_EQ(made.plan.objects.size(), 1U);
  EXPECT_EQ(made.plan.objects.front().where.how, placements::kind::blocked);
}

TEST(AdvisePlacement, AGroupGetsAMapOfItsPages) {
  program_maker make(two_by_four);
  make.array(pages, program_maker::all_by(0)).used(make.blocked());
  make.last().kind = profile::object_kind::group;
  make.last().blocks = 5000;
  const advise::proposal made = advise::make_plan(make.made(), lab_machine("nehalem-2x4"), 0);
  ASSERT_EQ(made.plan.objects.size(), 1U);
  EXPECT_EQ(made.plan.objects.front().where.how, placements::kind::map);
}

// A group begins where its first small block came behind others: its threads' parts begin later
// than equal parts do, by less than what a plan gives up for being simple.
TEST(AdvisePlacement, AGroupsMapIsTheOneThatWasSeenWhereEqualPartsAreNoShorter) {
  program_maker make(four_by_two);
  constexpr std::size_t later = 2;
  const auto seen = [](std::size_t page, std::size_t of) {
    return page < later ? 0 : (page - later) * 8 / (of - later);
  };
  make.array(4 * pages, program_maker::all_by(0)).used(seen);
  make.last().kind = profile::object_kind::group;
  make.last().blocks = 2048;
  const advise::proposal made = advise::make_plan(make.made(), lab_machine("opteron-4x2"), 0);
  ASSERT_EQ(made.plan.objects.size(), 1U);
  EXPECT_NEAR(*made.after.remote, 0, 1e-9);
}

// Figures of tasks that chance dealt out: a map of blocks was 4 % faster, as one memory had a
// little more to do, and 8 % of the traffic far.
TEST(AdvisePlacement, ALittleFasterIsNotWorthBeingFarWhereThePriceIsNotKnown) {
  const model::machine_costs unknown = model::costs_of(test::grid(4, 2));
  const model::machine_costs known = model::costs_of(lab_machine("opteron-4x2").machine());
  ASSERT_TRUE(unknown.links.empty());
  const advise::speed now{1, 0.011};
  EXPECT_FALSE(advise::is_worth_being_far(unknown, {0.962, 0.087}, now));
  EXPECT_TRUE(advise::is_worth_being_far(unknown, {0.9, 0.087}, now));
  EXPECT_TRUE(advise::is_worth_being_far(known, {0.962, 0.087}, now));
}

/// Two sockets with HBM beside them, whose cores can draw so much.
topology hbm_with_cores_of(double gigabytes_per_s) {
  machine made = lab_machine("hbm-ddr").machine();
  for (const node_id node : {node_id{0}, node_id{1}}) {
    made.parameters.push_back({"core_bandwidth", node, node, gigabytes_per_s, "GB/s", "measured"});
  }
  return topology(made);
}

TEST(AdvisePlacement, MemoriesWithoutThreadsAreUsedWhereThatIsFaster) {
  program_maker make(two_by_four);
  make.array(pages, make.blocked()).used(make.blocked());
  const advise::proposal made = advise::make_plan(make.made(), hbm_with_cores_of(80), 0);
  ASSERT_EQ(made.plan.objects.size(), 1U);
  const plans::entry& entry = made.plan.objects.front();
  EXPECT_EQ(entry.where.how, placements::kind::interleave);
  EXPECT_THAT(entry.where.owners, Contains(::testing::Field(&placements::owner_run::owner, 2U)));
  EXPECT_GT(made.worth.ratio, 1.2);
  EXPECT_THAT(entry.why, HasSubstr("without threads"));
}

// What is published may be the limit of the memories, which others relieve, or of the cores.
TEST(AdvisePlacement, WhereItMightBeTheCoresThatLimitThatIsRefused) {
  program_maker make(two_by_four);
  make.array(pages, make.blocked()).used(make.blocked());
  const advise::advice told = advise::advise(make.made(), lab_machine("hbm-ddr"));
  EXPECT_THAT(told.plans, IsEmpty());
  ASSERT_EQ(told.refused.size(), 1U);
  EXPECT_GT(told.refused.front().worth.high, 1.2);
  EXPECT_LT(told.refused.front().worth.low, 1);
  EXPECT_THAT(told.refused.front().plan.objects, IsEmpty());
  EXPECT_THAT(advise::make_plan(make.made(), hbm_with_cores_of(20), 0).plan.objects, IsEmpty());
}

TEST(AdvisePlacement, SlowMemoriesWithoutThreadsStayIdle) {
  program_maker make(two_by_four);
  make.array(pages, make.blocked()).used(make.blocked());
  EXPECT_THAT(advise::make_plan(make.made(), lab_machine("cxl"), 0).plan.objects, IsEmpty());
}

TEST(AdvisePlacement, WhatDoesNotFitIsPlacedOtherwiseAndToldSo) {
  program_maker make(two_by_four);
  make.array(pages, program_maker::all_by(0)).used(make.blocked());
  make.array(pages, program_maker::all_by(0)).used(make.blocked());
  const topology on = lab_machine("nehalem-2x4");
  ASSERT_EQ(advise::make_plan(make.made(), on, 0).plan.objects.size(), 2U);
  // Room for one of the halves on node 1 alone.
  make.made().memory = {{node_id{1}, 4 * array_bytes, array_bytes * 5 / 8, 0}};
  const advise::proposal tight = advise::make_plan(make.made(), on, 0);
  EXPECT_LT(tight.plan.objects.size(), 2U);
  EXPECT_THAT(tight.remarks, Contains(HasSubstr("node 1 has room for")));
  make.made().memory.front().cache_bytes = array_bytes; // which gives way
  EXPECT_EQ(advise::make_plan(make.made(), on, 0).plan.objects.size(), 2U);
}

TEST(AdvisePlacement, OnlyWhatLivesAtTheSameTimeNeedsRoomTogether) {
  program_maker make(two_by_four);
  for (int k = 0; k < 2; ++k) {
    make.array(pages, program_maker::all_by(0)).used(make.blocked());
    make.last().allocated_s = k;
    make.last().freed_s = k + 1;
    make.last().live_at_end = false;
  }
  make.made().memory = {{node_id{1}, 4 * array_bytes, array_bytes * 5 / 8, 0}};
  const advise::proposal made = advise::make_plan(make.made(), lab_machine("nehalem-2x4"), 0);
  EXPECT_EQ(made.plan.objects.size(), 2U);
  EXPECT_THAT(made.remarks, IsEmpty());
}

// Sampled so little that the range reaches below 1.
TEST(AdvisePlacement, APlanThatMightBeSlowerIsRefused) {
  program_maker make(two_by_four);
  make.array(pages, make.blocked()).used(make.blocked(), 0, 1);
  make.array(pages / 16, program_maker::all_by(0)).used(make.blocked(), 0, 1);
  make.program().use_from = profile::use_source::hinting_faults;
  make.program().use_unit_bytes = 0;
  const topology on = lab_machine("nehalem-2x4");
  const advise::advice told = advise::advise(make.made(), on);
  EXPECT_THAT(told.plans, IsEmpty());
  ASSERT_EQ(told.refused.size(), 1U);
  EXPECT_LT(told.refused.front().worth.low, advise::no_slower);
  EXPECT_THAT(told.refused.front().refused, HasSubstr("might be slower"));
  EXPECT_THAT(advise::make_plan(make.made(), on, 0).plan.objects, IsEmpty());
}

} // namespace
} // namespace nodewise
