// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The whole run beside its use: what initialisation costs under a plan, and the bindings of plans.
#include <array>

#include <gmock/gmock.h>

#include "advise/advise.hpp"
#include "unit/advise_programs.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise {
namespace {

using test::lab_machine;
using test::program_maker;
using test::two_by_four;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::IsEmpty;

constexpr std::size_t pages = 1024;
constexpr double page_lines = 64;

/// Three arrays that the main thread initialises, so many lines a page, and all threads use in
/// blocks, so many times a page.
profile::profile initialised_by_main(double init_lines, double use_lines) {
  program_maker make(two_by_four);
  for (int k = 0; k < 3; ++k) {
    make.array(pages, program_maker::all_by(0)).used(make.blocked(), 0, use_lines);
    make.last().initialised = {{0, pages, {{0, init_lines * pages}}}};
  }
  return make.made();
}

TEST(AdviseWhole, InitialisationIsInTheWholeRunAndNotInItsUse) {
  const advise::proposal made =
      advise::make_plan(initialised_by_main(page_lines, page_lines), lab_machine("nehalem-2x4"), 0);
  EXPECT_NEAR(*made.before.remote, 0.5, 1e-9);
  EXPECT_NEAR(*made.before.whole_remote, 0.25, 1e-9); // as much again, all of it local
  EXPECT_NEAR(*made.after.remote, 0, 1e-9);
  EXPECT_NEAR(*made.after.whole_remote, 0.25, 1e-9); // half of the initialisation is remote now
  EXPECT_GT(*made.before.whole_seconds, *made.before.seconds);
}

TEST(AdviseWhole, WhereItWasNotCountedNothingIsSaidOfIt) {
  const advise::proposal made =
      advise::make_plan(test::three_arrays(two_by_four, false), lab_machine("nehalem-2x4"), 0);
  EXPECT_TRUE(made.before.remote && made.after.seconds);
  EXPECT_FALSE(made.before.whole_remote || made.after.whole_seconds);
  EXPECT_FALSE(made.pays_from);
}

// One thread writes far memory over one link. Initialising 40 times what is used costs more than
// the use gains, so that the program has to use it more often.
TEST(AdviseWhole, APlanThatSlowsInitialisationSaysFromWhenItPays) {
  const topology on = lab_machine("opteron-4x2");
  program_maker make(test::four_by_two);
  make.array(pages, program_maker::all_by(0)).used(make.blocked());
  make.last().initialised = {{0, pages, {{0, 40 * page_lines * pages}}}};
  const advise::proposal made = advise::make_plan(make.made(), on, 0);
  ASSERT_EQ(made.plan.objects.size(), 1U);
  ASSERT_TRUE(made.pays_from);
  EXPECT_GT(*made.pays_from, 1);
  const double cost = (*made.after.whole_seconds - *made.after.seconds) -
                      (*made.before.whole_seconds - *made.before.seconds);
  EXPECT_NEAR(*made.pays_from * (*made.before.seconds - *made.after.seconds), cost, cost * 1e-9);
}

// The model has far traffic of these machines for nothing: that the use gains no time means
// nothing.
TEST(AdviseWhole, WhereGainsAreUnknownInitialisationDecidesNothing) {
  program_maker make(test::four_by_two);
  make.array(pages, make.blocked()).used(make.in_turn(8));
  for (std::size_t t = 0; t < make.threads(); ++t) {
    const std::size_t part = pages / make.threads();
    make.last().initialised.push_back({t * part, part, {{t, page_lines * pages / 8}}});
  }
  const advise::proposal made = advise::make_plan(make.made(), topology(test::grid(4, 2)), 0);
  EXPECT_EQ(made.worth.how, advise::gain::kind::unavailable);
  EXPECT_EQ(made.refused, "");
  EXPECT_FALSE(made.pays_from);
  EXPECT_EQ(made.plan.objects.size(), 1U);
  EXPECT_LT(*made.after.remote, 0.01);
}

TEST(AdviseWhole, APlanThatIsRefusedBindsThreadsAsTheyWere) {
  program_maker make(two_by_four);
  make.array(pages, make.blocked()).used(make.blocked(), 0, 1);
  make.array(pages / 16, program_maker::all_by(0)).used(make.blocked(), 0, 1);
  make.program().use_from = profile::use_source::hinting_faults;
  make.program().use_unit_bytes = 0;
  const advise::proposal made = advise::make_plan(make.made(), lab_machine("nehalem-2x4"), 0);
  ASSERT_FALSE(made.refused.empty());
  EXPECT_THAT(made.plan.objects, IsEmpty());
  EXPECT_EQ(made.plan.bind, bind_policy::close);
  EXPECT_FALSE(made.rebinds);
}

TEST(AdviseWhole, AlternativesAreWhatUsersTryFirst) {
  const profile::profile of = test::three_arrays(two_by_four, false);
  const auto all = advise::alternatives(of, lab_machine("nehalem-2x4"), 0);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].name, "interleave");
  EXPECT_NEAR(*all[0].expected.remote, 0.5, 1e-9);
  EXPECT_EQ(all[1].name, "blocked");
  EXPECT_NEAR(*all[1].expected.remote, 0, 1e-9);
  EXPECT_LT(*all[1].expected.seconds, *all[0].expected.seconds * 1.01);
  for (const advise::alternative& each : all) {
    EXPECT_EQ(each.plan.bind, bind_policy::close) << each.name;
    EXPECT_EQ(each.plan.program, "solver");
  }
}

// One run cannot tell owners at random from chance; a run with each page at its owner can.
TEST(AdviseWhole, PagesThatAnyoneSeemsToUseAreTriedOneByOne) {
  program_maker make(two_by_four);
  make.array(1024, program_maker::all_by(0)).used_by_chance();
  make.array(4, program_maker::all_by(0)).used_by_chance();
  make.last().kind = profile::object_kind::other; // which nothing places
  const auto all = advise::alternatives(make.made(), lab_machine("nehalem-2x4"), 0);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[3].name, "placement by page");
  EXPECT_TRUE(all[3].must_be_nearer);
  EXPECT_LT(*all[3].expected.remote, *all[0].expected.remote - 0.05);
  ASSERT_EQ(all[3].plan.objects.size(), 1U);
  const plans::entry& array = all[3].plan.objects.front();
  EXPECT_EQ(array.where.how, placements::kind::map);
  EXPECT_GT(array.where.owners.size(), 256U);
}

TEST(AdviseWhole, PagesThatNodesUseAlikeAreDealtOutEvenly) {
  program_maker make(two_by_four);
  make.array(1024, program_maker::all_by(0));
  for (std::size_t page = 0; page < 1024; ++page) { // all alike, except for single pages of node 0
    const double of_node_0 = page % 8 == 0 ? 10 : 1;
    make.last().uses.push_back({page, 1, {{0, of_node_0}, {1, of_node_0}, {4, 1}, {5, 1}}});
  }
  const auto all = advise::alternatives(make.made(), lab_machine("nehalem-2x4"), 0);
  ASSERT_EQ(all.size(), 4U);
  ASSERT_EQ(all[3].plan.objects.size(), 1U);
  std::array<std::uint64_t, 2> pages_of_node{};
  for (const auto& [parts, thread] : all[3].plan.objects.front().where.owners) {
    pages_of_node.at(thread / 4) += parts;
  }
  EXPECT_EQ(pages_of_node[0] + pages_of_node[1], 1024U);
  EXPECT_NEAR(static_cast<double>(pages_of_node[0]), 512, 40);
}

TEST(AdviseWhole, ArraysByPageShareTheRoomOfAPlan) {
  program_maker make(two_by_four);
  for (const std::size_t each : {6000U, 6000U, 1U << 16}) { // half of the pages change the node
    make.array(each, program_maker::all_by(0)).used_by_chance();
  }
  const auto all = advise::alternatives(make.made(), lab_machine("nehalem-2x4"), 0);
  ASSERT_EQ(all.size(), 4U);
  std::vector<std::size_t> changes; // of each map
  for (const plans::entry& each : all[3].plan.objects) {
    if (each.where.how == placements::kind::map) {
      changes.push_back(each.where.owners.size());
    }
  }
  EXPECT_THAT(changes, ElementsAre(Gt(2500U), Gt(2500U))) << "the third alone is more than a plan";
  program_maker large(two_by_four);
  large.array(std::size_t{1} << 16, program_maker::all_by(0)).used_by_chance();
  EXPECT_EQ(advise::alternatives(large.made(), lab_machine("nehalem-2x4"), 0).size(), 3U);
}

} // namespace
} // namespace nodewise
