// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Programs that start threads themselves: which thread of a plan is which, and those that nobody
// pins.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/advise_programs.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise {
namespace {

using advise::advice;
using advise::pattern;
using test::found;
using test::four_by_two;
using test::grid;
using test::lab_machine;
using test::program_maker;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::size_t pages = 1024;

/// Without OpenMP; the threads behind the main one have these numbers.
void numbered(program_maker& make, const std::vector<std::size_t>& numbers) {
  make.program().openmp = false;
  for (std::size_t t = 0; t < numbers.size(); ++t) {
    make.program().threads[t + 1].number = numbers[t];
  }
}

/// A page by one of the threads from `first` on, of so many, in blocks.
test::dealing blocks_of(std::size_t first, std::size_t count) {
  return [=](std::size_t page, std::size_t of) { return first + page * count / of; };
}

TEST(AdviseThreads, AMainThreadThatWorksIsTheFirst) {
  program_maker make(four_by_two);
  numbered(make, {0, 1, 2, 3, 4, 5, 6});
  make.array(pages, program_maker::all_by(0)).used(make.blocked());
  const plans::plan_file plan = advise::make_plan(make.made(), lab_machine("opteron-4x2"), 0).plan;
  EXPECT_TRUE(plan.main_works);
  EXPECT_EQ(plan.threads, 8U);
  EXPECT_EQ(plan.bind, bind_policy::close);
  ASSERT_EQ(plan.objects.size(), 1U);
  EXPECT_EQ(plan.objects.front().where.how, placements::kind::blocked);
}

// Such as the row that std::vector's constructor copies into each of the others.
TEST(AdviseThreads, AMainThreadThatWorksOnlyOnMemoryOfItsOwnIsNone) {
  program_maker make({0, 0, 0, 1, 1, 2, 2, 3, 3});
  numbered(make, {0, 1, 2, 3, 4, 5, 6, 7});
  make.array(pages, program_maker::all_by(0)).used(blocks_of(1, 8));
  make.array(pages, program_maker::all_by(0)).used(program_maker::all_by(0));
  const plans::plan_file plan = advise::make_plan(make.made(), lab_machine("opteron-4x2"), 0).plan;
  EXPECT_FALSE(plan.main_works);
  EXPECT_EQ(plan.threads, 8U);
  EXPECT_EQ(plan.objects.size(), 1U) << "dealing out the main thread's own would make it far";
}

TEST(AdviseThreads, AMainThreadThatWaitsIsNone) {
  program_maker make({0, 0, 0, 1, 1, 2, 2, 3, 3});
  numbered(make, {0, 1, 2, 3, 4, 5, 6, 7});
  make.array(pages, program_maker::all_by(0)).used(blocks_of(1, 8));
  const plans::plan_file plan = advise::make_plan(make.made(), lab_machine("opteron-4x2"), 0).plan;
  EXPECT_FALSE(plan.main_works);
  EXPECT_EQ(plan.threads, 8U);
  EXPECT_EQ(plan.bind, bind_policy::close);
  ASSERT_EQ(plan.objects.size(), 1U);
  EXPECT_EQ(plan.objects.front().where.how, placements::kind::blocked);
}

/// The last threads are of inner teams: with these numbers, of teams of these sizes.
void nested(program_maker& make, const std::vector<std::size_t>& teams,
            const std::vector<std::size_t>& numbers) {
  auto& threads = make.program().threads;
  for (std::size_t t = 0; t < numbers.size(); ++t) {
    threads[threads.size() - numbers.size() + t].nested = {teams, numbers[t]};
  }
}

TEST(AdviseThreads, ThreadsOfInnerTeamsStandBesideWhoStartsThem) {
  program_maker make({0, 1, 2, 3, 0, 1, 2, 3, 1}); // an inner team's thread was started anew
  nested(make, {4, 2}, {1, 3, 5, 7, 3});
  const std::vector<std::size_t> in_order = {0, 4, 1, 5, 2, 6, 3, 7};
  make.array(pages, program_maker::all_by(0)).used([&](std::size_t page, std::size_t of) {
    const std::size_t number = page * 8 / of;
    return number == 3 && page % 2 == 0 ? 8 : in_order[number];
  });
  const plans::plan_file plan = advise::make_plan(make.made(), lab_machine("opteron-4x2"), 0).plan;
  EXPECT_EQ(plan.threads, 8U);
  EXPECT_THAT(plan.teams, ElementsAre(4, 2));
  EXPECT_EQ(plan.bind, bind_policy::close);
  ASSERT_EQ(plan.objects.size(), 1U);
  EXPECT_EQ(plan.objects.front().where.how, placements::kind::blocked);
}

TEST(AdviseThreads, InnerTeamsOfSeveralSizesAreNoTeams) {
  program_maker make({0, 1, 2, 3, 0, 1, 2, 3});
  nested(make, {4, 2}, {1, 3, 5, 7});
  make.program().threads.back().nested->teams = {4, 3};
  make.array(pages, program_maker::all_by(0)).used(make.blocked());
  const plans::plan_file plan = advise::make_plan(make.made(), lab_machine("opteron-4x2"), 0).plan;
  EXPECT_THAT(plan.teams, IsEmpty());
}

// OpenMP is no cure for a program that starts its threads itself, and C++ none for one in Fortran.
TEST(AdviseThreads, CuresAreInTheTermsOfTheProgram) {
  program_maker make({0, 0, 0, 1, 1, 2, 2, 3, 3});
  numbered(make, {0, 1, 2, 3, 4, 5, 6, 7});
  make.array(pages, program_maker::all_by(0)).used(blocks_of(1, 8));
  make.last().made_at.front().file = "solver.f90";
  make.touched_at("solve", "solver.f90", 41, profile::touch_kind::code);
  const advice told = advise::advise(make.made(), lab_machine("opteron-4x2"));
  ASSERT_FALSE(told.findings.empty());
  std::vector<std::string> with;
  for (const advise::cure& each : told.findings.front().cures) {
    with.push_back(each.with);
  }
  EXPECT_THAT(with, ElementsAre("threads", "command"));
}

// As `--bind close` places them without knowing that the main thread works.
TEST(AdviseThreads, ThreadsOnePlaceOffAreBoundAnew) {
  program_maker make({1, 0, 0, 1, 1, 2, 2, 3});
  numbered(make, {0, 1, 2, 3, 4, 5, 6});
  make.array(pages, program_maker::all_by(0)).used(make.blocked());
  const advise::proposal made = advise::make_plan(make.made(), lab_machine("opteron-4x2"), 0);
  EXPECT_TRUE(made.rebinds && made.plan.main_works);
  EXPECT_EQ(made.plan.bind, bind_policy::close);
  ASSERT_EQ(made.plan.objects.size(), 1U);
  EXPECT_EQ(made.plan.objects.front().where.how, placements::kind::blocked);
  EXPECT_LT(*made.after.remote, 0.01);
}

// Nobody bound them: the next run would have them elsewhere, and memory laid out for these nodes.
TEST(AdviseThreads, ThreadsThatKeptNodesByNoPolicyAreBound) {
  program_maker make({0, 2, 1, 3, 0, 2, 1, 3, 1});
  numbered(make, {0, 1, 2, 3, 4, 5, 6, 7});
  make.array(pages, program_maker::all_by(0)).used(blocks_of(1, 8));
  const advise::proposal made = advise::make_plan(make.made(), lab_machine("opteron-4x2"), 0);
  EXPECT_NE(made.plan.bind, bind_policy::none);
  EXPECT_LT(*made.after.remote, 0.01);
  EXPECT_THAT(made.remarks, Contains(HasSubstr("neither close nor spread")));
}

// All that it starts would be on its processor.
TEST(AdviseThreads, AThreadAloneIsNotBound) {
  program_maker make({2});
  numbered(make, {});
  make.array(pages, program_maker::all_by(0)).used([](std::size_t, std::size_t) { return 0; });
  const advise::proposal made = advise::make_plan(make.made(), lab_machine("opteron-4x2"), 0);
  EXPECT_EQ(made.plan.bind, bind_policy::none);
}

/// Threads 1 to 7 fill the blocks, joined; 8 to 14 work on them; the main thread does both.
program_maker two_teams(std::vector<int> second) {
  std::vector<int> nodes = four_by_two;
  nodes.insert(nodes.end(), second.begin(), second.end());
  program_maker make(std::move(nodes));
  numbered(make, {0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6});
  make.array(pages, blocks_of(0, 8)).used([](std::size_t page, std::size_t of) {
    const std::size_t block = page * 8 / of;
    return block == 0 ? 0 : block + 7;
  });
  return make;
}

TEST(AdviseThreads, TeamsOnOtherNodesThanThoseBeforeAreNotPinned) {
  const advice told =
      advise::advise(two_teams({2, 0, 3, 1, 0, 2, 1}).made(), lab_machine("opteron-4x2"));
  EXPECT_THAT(found(told), Contains(pattern::unpinned_threads));
  EXPECT_THAT(found(told), Not(Contains(pattern::different_schedules)));
  ASSERT_EQ(told.plans.size(), 1U);
  EXPECT_NE(told.plans.front().plan.bind, bind_policy::none);
  EXPECT_EQ(told.plans.front().plan.threads, 8U);
  EXPECT_TRUE(told.plans.front().plan.main_works);
  EXPECT_LT(*told.plans.front().after.remote, 0.01);
}

// Where far memory costs the model nothing the gain is not known, and yet there is a finding.
TEST(AdviseThreads, AreFoundUnpinnedWithoutFiguresToo) {
  const advice told = advise::advise(two_teams({2, 0, 3, 1, 0, 2, 1}).made(), topology(grid(4, 2)));
  EXPECT_THAT(found(told), Contains(pattern::unpinned_threads));
  ASSERT_EQ(told.plans.size(), 1U);
  EXPECT_NE(told.plans.front().plan.bind, bind_policy::none);
}

// The kernel moves a launcher to other processors, as it does with every process. Advice on that
// would stand beside the advice that matters.
TEST(AdviseThreads, ALauncherWithATrifleOfTheTrafficIsNotSpokenOf) {
  const auto launched = [](double lines_of_launcher) {
    program_maker solver(four_by_two);
    solver.array(4096, solver.blocked()).used(solver.blocked(), 1);
    program_maker launcher({0});
    launcher.array(64, program_maker::all_by(0))
        .used(program_maker::all_by(0), 1, lines_of_launcher);
    launcher.program().pid = 7;
    launcher.program().threads.front().stays = {{node_id{0}, 50}, {node_id{1}, 50}};
    profile::profile both = solver.made();
    both.programs.push_back(launcher.program());
    return advise::advise(both, topology(grid(4, 2)));
  };
  EXPECT_THAT(found(launched(8)), IsEmpty()); // 1/512 of what the solver moves
  EXPECT_THAT(launched(8).plans, IsEmpty());
  EXPECT_THAT(found(launched(640)), Contains(pattern::unpinned_threads));
}

TEST(AdviseThreads, TeamsWhereThoseBeforeWereArePinned) {
  const advice told =
      advise::advise(two_teams({0, 1, 1, 2, 2, 3, 3}).made(), lab_machine("opteron-4x2"));
  EXPECT_THAT(found(told), IsEmpty());
  EXPECT_THAT(told.plans, IsEmpty());
}

TEST(AdviseThreads, WhatOneAloneCanDrawIsAskedOfTheMachine) {
  program_maker make({0});
  make.array(pages, program_maker::all_by(0)).used(program_maker::all_by(0), 1);
  const auto reason = [&](const topology& machine) {
    std::optional<std::string> missing;
    const advice told = advise::advise(make.made(), machine);
    EXPECT_THAT(found(told), IsEmpty());
    for (const advise::unexamined& each : told.not_asked) {
      if (each.what == pattern::few_threads) {
        missing = each.missing;
      }
    }
    return missing;
  };
  EXPECT_THAT(reason(topology(grid(4, 2))).value_or(""), HasSubstr("core_bandwidth"));
  EXPECT_FALSE(reason(lab_machine("opteron-4x2")))
      << "a core draws less than its memory gives: nothing to gain";
}

// The main thread starts one that has a team of OpenMP's work, and waits.
TEST(AdviseThreads, WhoeverHasATeamWorkIsItsFirstThread) {
  program_maker make({0, 0, 0, 0, 0, 1, 1, 1, 1}); // the main thread, then a team of 8
  make.program().threads[1].number = 0;
  make.array(pages, program_maker::all_by(0));
  for (std::size_t k = 0; k < 8; ++k) {
    make.last().uses.push_back({k * pages / 8, pages / 8, {{1 + k, 1e4}}});
  }
  const advise::proposal made = advise::make_plan(make.made(), lab_machine("nehalem-2x4"), 0);
  EXPECT_EQ(made.plan.threads, 8U);
  EXPECT_EQ(made.plan.bind, bind_policy::close);
  EXPECT_FALSE(made.rebinds);
  ASSERT_EQ(made.plan.objects.size(), 1U);
  EXPECT_EQ(made.plan.objects.front().where.how, placements::kind::blocked);
  EXPECT_NEAR(*made.after.remote, 0, 1e-9);
}

} // namespace
} // namespace nodewise
