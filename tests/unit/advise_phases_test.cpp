// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Pages that several threads use because the program shares out its work in more than one way: what
// chance has not done has an order, and then a placement helps.
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/advise_programs.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise {
namespace {

using test::dealing;
using test::four_by_two;
using test::lab_machine;
using test::program_maker;

constexpr std::size_t pages = 1024;
constexpr double one_of_two_phases = 0.5;
constexpr double noise = 0.03;

advise::proposal plan_for(program_maker& make) {
  return advise::make_plan(make.made(), lab_machine("opteron-4x2"), 0);
}

dealing mirrored(const program_maker& make) {
  return [n = make.threads()](std::size_t page, std::size_t of) { return n - 1 - page * n / of; };
}

/// The same threads in the same order for each part of an object, as where it is several arrays.
dealing in_parts(const dealing& user, std::size_t parts) {
  return [=](std::size_t page, std::size_t of) { return user(page % (of / parts), of / parts); };
}

TEST(AdvisePhases, APageOfTwoPhasesIsWhereOneOfThemUsesIt) {
  program_maker make(four_by_two);
  make.array(pages, program_maker::all_by(0)).used_in_phases({make.blocked(), mirrored(make)});
  EXPECT_NEAR(plan_for(make).after.remote.value_or(1), one_of_two_phases, noise);
}

TEST(AdvisePhases, SoItIsInAnObjectThatIsSeveralArrays) {
  program_maker make(four_by_two);
  make.array(pages, program_maker::all_by(0))
      .used_in_phases({in_parts(make.blocked(), 2), in_parts(mirrored(make), 2)});
  EXPECT_NEAR(plan_for(make).after.remote.value_or(1), one_of_two_phases, noise);
}

/// Rows that one line allocates.
void add_rows(program_maker& make, std::size_t rows,
              const std::function<std::vector<dealing>(std::size_t row)>& users,
              double lines_a_page = 64) {
  for (std::size_t row = 0; row < rows; ++row) {
    make.array(64, program_maker::all_by(0)).used_in_phases(users(row), lines_a_page);
    make.last().made_at = make.program().objects.front().made_at;
  }
}

TEST(AdvisePhases, SoAreRowsThatAreAllocatedOneByOne) {
  program_maker make(four_by_two);
  add_rows(make, 64, [](std::size_t row) -> std::vector<dealing> {
    return {program_maker::all_by(row / 8), program_maker::all_by(7 - row / 8)};
  });
  const advise::proposal made = plan_for(make);
  EXPECT_NEAR(made.after.remote.value_or(1), one_of_two_phases, noise);
  EXPECT_LE(made.plan.objects.size(), 8U) << "an entry a run of rows";
}

// Here the main thread happened to run on node 1; in the next run it may run elsewhere.
TEST(AdvisePhases, RowsThatAreNearByLuckArePlacedWithTheOthers) {
  program_maker make(four_by_two);
  add_rows(make, 64, [](std::size_t row) -> std::vector<dealing> {
    return {program_maker::all_by(row / 8)};
  });
  for (profile::object& each : make.program().objects) {
    each.where = {{0, each.pages, node_id{1}}};
    each.touched.front().from = node_id{1};
  }
  const advise::proposal made = plan_for(make);
  std::set<std::size_t> owners;
  for (const plans::entry& each : made.plan.objects) {
    ASSERT_EQ(each.where.how, placements::kind::thread);
    owners.insert(each.where.owners.front().owner);
  }
  EXPECT_THAT(owners, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(AdvisePhases, RowsThatAnIndexDealsOutHaveOwners) {
  program_maker make(four_by_two);
  add_rows(
      make, 48,
      [](std::size_t row) -> std::vector<dealing> {
        return std::vector<dealing>(4, program_maker::all_by(row * 5 % 8));
      },
      4 * 64);
  EXPECT_LT(plan_for(make).after.remote.value_or(1), noise);
}

// One loop says nothing about the next one.
TEST(AdvisePhases, RowsThatWereUsedOnceHaveNoOwnersUnlessInOrder) {
  program_maker make(four_by_two);
  add_rows(make, 48, [](std::size_t row) -> std::vector<dealing> {
    return {program_maker::all_by(row * 5 % 8)};
  });
  EXPECT_GT(plan_for(make).after.remote.value_or(1), 0.7);
}

// As under a dynamic schedule: the next run has other owners.
TEST(AdvisePhases, RowsThatChanceDealsOutHaveNoOwners) {
  program_maker make(four_by_two);
  std::uint64_t state = 12345;
  const auto any = [&] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return program_maker::all_by(state >> 61U);
  };
  add_rows(make, 64,
           [&](std::size_t) -> std::vector<dealing> { return {any(), any(), any(), any()}; });
  for (const plans::entry& each : plan_for(make).plan.objects) {
    EXPECT_EQ(each.where.how, placements::kind::interleave);
  }
}

// std::thread workers in each of four sweeps, and a main thread that fills and hardly works.
TEST(AdvisePhases, ATeamThatIsStartedAnewForEachLoopIsOneTeam) {
  std::vector<int> nodes = {0};
  for (std::size_t t = 0; t < 32; ++t) {
    nodes.push_back(static_cast<int>(t % 8 / 2));
  }
  program_maker make(nodes);
  make.program().openmp = false;
  for (std::size_t t = 0; t < 32; ++t) {
    make.program().threads[t + 1].number = t % 8;
  }
  std::vector<dealing> sweeps;
  for (std::size_t sweep = 0; sweep < 4; ++sweep) {
    sweeps.push_back(
        [sweep](std::size_t page, std::size_t of) { return 1 + sweep * 8 + page * 8 / of; });
  }
  make.array(pages, program_maker::all_by(0)).used_in_phases(sweeps);
  make.array(8, program_maker::all_by(0)).used(program_maker::all_by(0)); // a sixteenth of a role's
  const advise::proposal made = plan_for(make);
  EXPECT_EQ(made.plan.threads, 8U);
  EXPECT_FALSE(made.plan.main_works);
  EXPECT_LT(made.after.remote.value_or(1), noise);
  ASSERT_FALSE(made.plan.objects.empty());
  EXPECT_EQ(made.plan.objects.front().where.how, placements::kind::blocked);
}

} // namespace
} // namespace nodewise
