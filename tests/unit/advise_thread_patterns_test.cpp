// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Patterns of threads: how work is dealt to them, and where they run. Each is found in its textbook
// form, and nothing is in the cured one.
#include <algorithm>
#include <cstddef>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/advise_programs.hpp"

namespace nodewise {
namespace {

using advise::advice;
using advise::pattern;
using test::found;
using test::four_by_two;
using test::on;
using test::on_nehalem;
using test::program_maker;
using test::two_by_four;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t pages = 1024;

TEST(AdvisePatterns, DynamicSchedule) {
  program_maker make(two_by_four);
  make.array(pages, make.blocked()).used_by_chance(1);
  const advice told = on_nehalem(make);
  ASSERT_THAT(found(told), ElementsAre(pattern::dynamic_schedule));
  ASSERT_EQ(told.findings.front().entries.size(), 1U);
  EXPECT_EQ(told.findings.front().entries.front().where.how, placements::kind::interleave);
  program_maker cured(two_by_four);
  cured.array(pages, [](std::size_t page, std::size_t) { return page % 2 == 0 ? 0U : 4U; })
      .used_by_chance(1);
  EXPECT_THAT(found(on_nehalem(cured)), IsEmpty());
}

TEST(AdvisePatterns, FarTasks) {
  program_maker make(two_by_four);
  make.program().tasks = true;
  make.array(pages, make.blocked())
      .used_by_chance(1)
      .touched_at("main", "solver.cpp", 40, profile::touch_kind::code);
  const advice told = on_nehalem(make);
  ASSERT_THAT(found(told), ElementsAre(pattern::far_tasks));
  const advise::finding& first = told.findings.front();
  EXPECT_EQ(first.worth.how, advise::gain::kind::at_most);
  // Half of the traffic crosses the link now. Near tasks leave each memory half of all, as now.
  EXPECT_GT(first.worth.ratio, advise::least_gain);
  EXPECT_THAT(first.cures.front().code, HasSubstr("group.spawn("));
  EXPECT_EQ(first.cures.back().with, "command");
}

TEST(AdvisePatterns, TasksThatAreAtTheirDataAreNotFar) {
  program_maker make(two_by_four);
  make.program().tasks = true;
  make.array(pages, make.blocked()).used(make.blocked(), 1);
  EXPECT_THAT(found(on_nehalem(make)), IsEmpty());
}

TEST(AdvisePatterns, OwnersThatOthersVisitAreNoDynamicSchedule) {
  program_maker make(four_by_two);
  make.array(pages, make.blocked());
  for (std::size_t page = 0; page < pages; ++page) {
    const std::size_t owner = page * 8 / pages;
    const std::size_t visitor = page % 3 == 0 ? page % 8 : (owner + 2) % 8;
    profile::use_run one{page, 1, {{owner, 64}}};
    if (visitor != owner) { // the other axis; by chance nearly as much as the owner's own
      one.by.push_back({visitor, page % 16 == 0 ? 66.0 : 24.0});
    }
    std::ranges::sort(one.by, {}, &profile::use::by);
    make.last().uses.push_back(one);
  }
  EXPECT_THAT(found(on("opteron-4x2", make)), ::testing::Not(Contains(pattern::dynamic_schedule)));
}

TEST(AdvisePatterns, SmallChunks) {
  program_maker make(four_by_two);
  make.array(pages, make.blocked()).used_by_all(1);
  EXPECT_THAT(found(on("opteron-4x2", make)), ElementsAre(pattern::small_chunks));
  program_maker cured(four_by_two);
  cured.array(pages, cured.in_turn()).used(cured.in_turn(), 1);
  EXPECT_THAT(found(on("opteron-4x2", cured)), IsEmpty());
}

TEST(AdvisePatterns, DifferentSchedules) {
  program_maker make(four_by_two);
  make.array(pages, make.in_turn()).used(make.blocked(), 1);
  const advice told = on("opteron-4x2", make);
  EXPECT_THAT(found(told), ElementsAre(pattern::different_schedules));
}

TEST(AdvisePatterns, FewThreads) {
  program_maker make({0, 0});
  make.array(pages, make.blocked()).used(make.blocked(), 1);
  const advice told = on_nehalem(make);
  ASSERT_THAT(found(told), ElementsAre(pattern::few_threads));
  EXPECT_EQ(told.findings.front().worth.binds_before, "memory of node 0");
  EXPECT_NEAR(told.findings.front().worth.ratio, 2, 1e-9);
  // Two cores of this one draw no more than their memory gives (Hager and Wellein, problem 8.3).
  EXPECT_THAT(found(on("opteron-4x2", make)), IsEmpty());
  program_maker cached({0, 1}); // the second thread touches its part, and has it in its caches
  cached.array(pages, cached.blocked()).used(program_maker::all_by(0), 1);
  EXPECT_THAT(found(on_nehalem(cached)), IsEmpty());
  program_maker apart({0, 1});
  apart.array(pages, apart.blocked()).used(apart.blocked(), 1);
  EXPECT_THAT(found(on_nehalem(apart)), IsEmpty());
}

TEST(AdvisePatterns, UnpinnedThreads) {
  program_maker make(two_by_four);
  make.array(pages, make.blocked()).used(make.blocked(), 1);
  for (profile::thread& each : make.program().threads) {
    each.stays = {{node_id{0}, 50}, {node_id{1}, 50}};
    each.migrations = 7;
  }
  for (profile::touched_run& each :
       make.last().touched) { // two threads were on the wrong node then
    each.from = node_id{each.first < pages * 3 / 4 ? 0 : 1};
  }
  make.last().where = {{0, pages * 3 / 4, node_id{0}}, {pages * 3 / 4, pages / 4, node_id{1}}};
  const advice told = on_nehalem(make);
  ASSERT_THAT(found(told), Contains(pattern::unpinned_threads));
  ASSERT_EQ(told.plans.size(), 1U);
  EXPECT_NE(told.plans.front().plan.bind, bind_policy::none);
}

TEST(AdvisePatterns, UnbalancedWork) {
  const auto triangle = [](std::size_t row, std::size_t rows) {
    // Equal blocks of rows, as pages: block k has 2k + 1 parts of 64.
    std::size_t thread = 0;
    while ((thread + 1) * (thread + 1) * rows <= row * 64) {
      ++thread;
    }
    return thread;
  };
  program_maker make(two_by_four);
  make.array(pages, triangle).used(triangle);
  const advice told = on("opteron-4x2", make);
  EXPECT_THAT(found(on_nehalem(make)), ElementsAre(pattern::unbalanced_work));
  program_maker cured(two_by_four);
  cured.array(pages, cured.in_turn()).used(cured.in_turn());
  EXPECT_THAT(found(on_nehalem(cured)), IsEmpty());
}

TEST(AdvisePatterns, ThreadsThatComputeAlikeAreNotUnbalanced) {
  program_maker make(two_by_four);
  const auto second_has_half = [](std::size_t page, std::size_t all) {
    return page < all / 2 ? 1 : 1 + (page - all / 2) * 7 / (all - all / 2);
  };
  make.array(pages, second_has_half).used(second_has_half);
  for (profile::thread& each : make.program().threads) {
    each.instructions = 1000;
  }
  make.program().threads[1].instructions = 4000;
  EXPECT_THAT(found(on_nehalem(make)), ElementsAre(pattern::unbalanced_work));
  make.program().threads[1].instructions = 1100;
  EXPECT_THAT(found(on_nehalem(make)), IsEmpty());
}

TEST(AdvisePatterns, ThreadsThatFollowEachOtherHaveNoSharesOfTheWork) {
  program_maker make(two_by_four);
  const auto first_has_half = [](std::size_t page, std::size_t all) {
    return page < all / 2 ? 0 : 1 + (page - all / 2) * 7 / (all - all / 2);
  };
  const auto second_has_half = [&](std::size_t page, std::size_t all) {
    return (first_has_half(page, all) + 1) % 8;
  };
  make.array(pages, second_has_half).used(second_has_half);
  EXPECT_THAT(found(on_nehalem(make)), ElementsAre(pattern::unbalanced_work));
  make.program().threads[6].ended_s = 1; // as an inner team's, which there is once a sweep
  make.program().threads[7].began_s = 0.5;
  EXPECT_THAT(found(on_nehalem(make)), ElementsAre(pattern::unbalanced_work));
  make.program().threads[7].began_s = 1.5;
  EXPECT_THAT(found(on_nehalem(make)), IsEmpty());
}

TEST(AdvisePatterns, ProcessesOfOneParentAtOnceAreOneJob) {
  profile::profile job;
  for (const int node : {0, 1}) {
    program_maker make({node, node});
    make.array(pages, make.blocked()).used(make.blocked(), 1);
    profile::program one = make.program();
    one.pid = 100 + node;
    one.parent = 7;
    one.began_s = 0.01 * node;
    one.ended_s = 1;
    if (job.programs.empty()) {
      job = make.made();
      job.programs.clear();
    }
    job.programs.push_back(one);
  }
  const auto machine = test::lab_machine("nehalem-2x4");
  EXPECT_THAT(found(advise::advise(job, machine)), IsEmpty());
  job.programs[1].began_s = 1; // one after the other: each has a memory that is idle
  job.programs[1].ended_s = 2;
  EXPECT_THAT(found(advise::advise(job, machine)),
              ElementsAre(pattern::few_threads, pattern::few_threads));
  job.programs[1].began_s = 0;
  job.programs[1].parent = 8; // started by a process outside the job
  EXPECT_THAT(found(advise::advise(job, machine)),
              ElementsAre(pattern::few_threads, pattern::few_threads));
}

} // namespace
} // namespace nodewise
