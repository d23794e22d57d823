// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Patterns of arrays: who allocates, touches and fills them. Each is found in its textbook form,
// and nothing is in the cured one.
#include <algorithm>
#include <cstddef>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/advise_programs.hpp"

namespace nodewise {
namespace {

using advise::advice;
using advise::pattern;
using profile::touch_kind;
using test::found;
using test::four_by_two;
using test::on;
using test::on_nehalem;
using test::program_maker;
using test::two_by_four;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::size_t pages = 1024;

TEST(AdvisePatterns, SerialInitialisation) {
  const advice told =
      advise::advise(test::three_arrays(two_by_four, false), test::lab_machine("nehalem-2x4"));
  ASSERT_THAT(found(told), ElementsAre(pattern::serial_initialisation));
  const advise::finding& first = told.findings.front();
  EXPECT_EQ(first.objects.size(), 3U);
  EXPECT_NEAR(first.worth.ratio, 2, 1e-9);
  EXPECT_EQ(first.worth.binds_before, "memory of node 0");
  ASSERT_TRUE(first.worth.before_s && first.worth.after_s);
  // 4 times 4 MiB from one memory of 18.64 GB/s.
  EXPECT_NEAR(*first.worth.before_s, 4 * 1024 * 4096 / 18.64e9, 1e-9);
  ASSERT_EQ(first.entries.size(), 3U);
  EXPECT_EQ(first.entries.front().where.how, placements::kind::blocked);
  EXPECT_EQ(first.entries.front().which.source, "solver.c:20");
  EXPECT_EQ(first.first_touched.front().where.line, 60);
  EXPECT_EQ(first.used.front().where.line, 90);
  EXPECT_THAT(first.cures.front().code, HasSubstr("omp parallel for schedule(static)"));
  EXPECT_THAT(first.cures.front().code, HasSubstr("a stands for each of solver.c:20"));
  EXPECT_THAT(first.cures.front().code,
              HasSubstr("// first touched at solver.c:60, solver.c:61 and solver.c:62\n"
                        "// used at solver.c:90\n"));
}

TEST(AdvisePatterns, LinesToTypeNameTheProgram) {
  profile::profile of = test::three_arrays(two_by_four, false);
  of.command = {"./my solver", "PROGRAM"};
  const advice told = advise::advise(of, test::lab_machine("nehalem-2x4"));
  ASSERT_THAT(found(told), ElementsAre(pattern::serial_initialisation));
  EXPECT_THAT(told.findings.front().cures.back().code,
              HasSubstr("--plan plan.json --verify -- './my solver' PROGRAM\n"));
}

TEST(AdvisePatterns, NothingWhereThreadsTouchWhatTheyUse) {
  for (const char* machine : {"nehalem-2x4", "opteron-4x2"}) {
    const auto& nodes = machine[0] == 'n' ? two_by_four : four_by_two;
    const advice told = advise::advise(test::three_arrays(nodes, true), test::lab_machine(machine));
    EXPECT_THAT(found(told), IsEmpty()) << machine;
    EXPECT_THAT(told.not_worth, IsEmpty()) << machine;
    EXPECT_THAT(told.plans, IsEmpty()) << machine;
  }
}

TEST(AdvisePatterns, SerialFileRead) {
  program_maker make(two_by_four);
  make.array(pages, program_maker::all_by(0))
      .touched_at("load", "load.c", 7, touch_kind::kernel)
      .used(make.blocked());
  const advice told = on_nehalem(make);
  ASSERT_THAT(found(told), ElementsAre(pattern::serial_file_read));
  EXPECT_THAT(told.findings.front().cures.front().what, HasSubstr("then read"));
  program_maker cured(two_by_four);
  cured.array(pages, cured.blocked()).used(cured.blocked());
  EXPECT_THAT(found(on_nehalem(cured)), IsEmpty());
}

TEST(AdvisePatterns, ConstructorTouch) {
  for (const char* function : {"std::vector<double>::vector(unsigned long)", "particle::particle()",
                               "ns::cell<int>::cell(int)"}) {
    program_maker make(two_by_four);
    make.array(pages, program_maker::all_by(0))
        .touched_at(function, "main.cpp", 7, touch_kind::code)
        .used(make.blocked());
    const advice told = on_nehalem(make);
    EXPECT_THAT(found(told), ElementsAre(pattern::constructor_touch)) << function;
  }
  program_maker same_line(two_by_four); // new double[n](): the memset is in the allocation's line
  same_line.array(pages, program_maker::all_by(0)).used(same_line.blocked());
  same_line.last().made_at.front().file = "main.cpp";
  same_line.touched_at("main", "main.cpp", same_line.last().made_at.front().line, touch_kind::code);
  EXPECT_THAT(found(on_nehalem(same_line)), ElementsAre(pattern::constructor_touch));
  program_maker in_c(two_by_four);
  in_c.array(pages, program_maker::all_by(0)).used(in_c.blocked());
  in_c.touched_at("main", "solver.c", in_c.last().made_at.front().line, touch_kind::code);
  EXPECT_THAT(found(on_nehalem(in_c)), ElementsAre(pattern::serial_initialisation));
}

TEST(AdvisePatterns, DynamicMembers) {
  program_maker make(two_by_four);
  make.array(pages, program_maker::all_by(0)).used(make.blocked());
  make.last().kind = profile::object_kind::group;
  make.last().blocks = 4096;
  const advice told = on_nehalem(make);
  ASSERT_THAT(found(told), ElementsAre(pattern::dynamic_members));
  EXPECT_EQ(told.findings.front().entries.front().which.kind, "group");
  program_maker cured(two_by_four);
  cured.array(pages, cured.blocked()).used(cured.blocked());
  cured.last().kind = profile::object_kind::group;
  EXPECT_THAT(found(on_nehalem(cured)), IsEmpty());
}

/// Blocks of one site, each used by one thread.
program_maker rows(std::size_t count, bool cured) {
  program_maker make(two_by_four);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t user = k * make.threads() / count;
    make.array(32, program_maker::all_by(cured ? user : 0)).used(program_maker::all_by(user));
    make.last().made_at.front() = {"solver", 0x1000, "main", "solver.c", 20, false};
  }
  return make;
}

TEST(AdvisePatterns, ManyBlocksOfOneSiteAreMembersAndGoToTheirUsersInOrder) {
  program_maker make = rows(32, false);
  const advice told = on_nehalem(make);
  ASSERT_THAT(found(told), ElementsAre(pattern::dynamic_members));
  EXPECT_NEAR(told.findings.front().worth.ratio, 2, 0.01);
  ASSERT_EQ(told.plans.size(), 1U);
  ASSERT_FALSE(told.plans.front().plan.objects.empty());
  const plans::condition& which = told.plans.front().plan.objects.front().which;
  EXPECT_EQ(which.stack.size(), 1U);
  EXPECT_TRUE(which.first && which.last);
  EXPECT_NEAR(*told.plans.front().after.remote, 0, 0.005);
  program_maker cured = rows(32, true);
  EXPECT_THAT(found(on_nehalem(cured)), IsEmpty());
}

TEST(AdvisePatterns, Growth) {
  program_maker make(two_by_four);
  make.array(pages, program_maker::all_by(0)).used(make.blocked());
  make.last().made_at.insert(
      make.last().made_at.begin(),
      {"solver", 0x999, "std::vector<int>::push_back(int const&)", "vector", 5, true});
  make.last().resident = pages / 2;
  EXPECT_THAT(found(on_nehalem(make)), ElementsAre(pattern::growth));
  make.last().resident = pages;
  EXPECT_THAT(found(on_nehalem(make)), ElementsAre(pattern::serial_initialisation));
}

// No plan is written for what the program itself places.
TEST(AdvisePatterns, OwnPlacement) {
  program_maker make(two_by_four);
  make.array(pages, make.blocked()).on_node(0).used(make.blocked());
  make.last().kind = profile::object_kind::region;
  const advice told = on_nehalem(make);
  EXPECT_THAT(found(told), ElementsAre(pattern::own_placement));
  EXPECT_THAT(told.findings.front().entries, IsEmpty());
  EXPECT_THAT(told.plans, IsEmpty());
  program_maker read_by_all(two_by_four);
  read_by_all.array(pages, program_maker::all_by(0)).used_by_all();
  read_by_all.last().kind = profile::object_kind::region;
  const advice of_all = on_nehalem(read_by_all);
  EXPECT_TRUE(
      std::ranges::all_of(of_all.findings, [](const auto& f) { return f.entries.empty(); }));
  EXPECT_THAT(of_all.plans, IsEmpty());
  program_maker cured(two_by_four);
  cured.array(pages, cured.blocked()).used(cured.blocked());
  cured.last().kind = profile::object_kind::region;
  EXPECT_THAT(found(on_nehalem(cured)), IsEmpty());
}

TEST(AdvisePatterns, UsedByAll) {
  program_maker make(four_by_two);
  make.array(pages, program_maker::all_by(0)).used_by_all();
  make.array(pages, make.blocked()).used(make.blocked(), 0, 256);
  const advice told = on("opteron-4x2", make);
  ASSERT_THAT(found(told), ElementsAre(pattern::used_by_all));
  EXPECT_EQ(told.findings.front().entries.front().where.how, placements::kind::interleave);
  program_maker cured(four_by_two);
  cured.array(pages, cured.in_turn(2)).used_by_all();
  cured.array(pages, cured.blocked()).used(cured.blocked(), 0, 256);
  EXPECT_THAT(found(on("opteron-4x2", cured)), IsEmpty());
}

program_maker sparse(bool cured) {
  program_maker make(two_by_four);
  const auto touch = cured ? make.blocked() : program_maker::all_by(0);
  make.array(2048, touch).used(make.blocked());
  make.array(1024, touch).used(make.blocked());
  make.array(128, touch).used(make.blocked());
  make.array(128, touch).used_by_all(0, 16);
  make.array(128, touch).used(make.blocked(), 1);
  return make;
}

TEST(AdvisePatterns, SparseMatrix) {
  program_maker make = sparse(false);
  const advice told = on_nehalem(make);
  ASSERT_THAT(found(told), ElementsAre(pattern::sparse_matrix));
  EXPECT_EQ(told.findings.front().objects.size(), 5U);
  for (const plans::entry& each : told.plans.front().plan.objects) {
    EXPECT_EQ(each.where.how, each.which.source == "solver.c:23" ? placements::kind::interleave
                                                                 : placements::kind::blocked)
        << each.which.source;
  }
  program_maker cured = sparse(true);
  EXPECT_THAT(found(on_nehalem(cured)), IsEmpty());
}

/// Without contents if there is none.
advise::cure library_cure_of_matrix(const char* file, bool openmp, bool tbb) {
  program_maker make = sparse(false);
  make.program().openmp = openmp;
  make.program().tbb = tbb;
  for (profile::object& each : make.program().objects) {
    each.made_at.front().file = file;
    each.touches.front().where.front().file = file;
  }
  const advice told = on_nehalem(make);
  EXPECT_THAT(found(told), ElementsAre(pattern::sparse_matrix));
  const auto& all = told.findings.front().cures;
  const auto library = std::ranges::find(all, "Nodewise", &advise::cure::with);
  return library == all.end() ? advise::cure() : *library;
}

TEST(AdvisePatterns, SparseMatrixTakesTheTypeOfTheLibraryInCpp) {
  EXPECT_THAT(library_cure_of_matrix("solver.cpp", true, false).code,
              AllOf(HasSubstr("// allocated at solver.cpp:20\n"),
                    HasSubstr("nodewise::openmp_teams teams;\n"),
                    HasSubstr("nodewise::sparse_matrix<T, Index, Offset>::adopt(\n"),
                    HasSubstr("nodewise::multiply(teams, a, x, y);"),
                    Not(HasSubstr("nodewise::region"))));
  EXPECT_THAT(library_cure_of_matrix("solver.cpp", true, true).code, HasSubstr("openmp_teams"));
  EXPECT_THAT(library_cure_of_matrix("solver.cpp", false, true).code,
              AllOf(HasSubstr("<nodewise/tbb.hpp>"), HasSubstr("nodewise::tbb_teams teams;\n")));
  EXPECT_EQ(library_cure_of_matrix("solver.c", true, false).with, "") << "the class is for C++";
  EXPECT_EQ(library_cure_of_matrix("solver.f90", true, false).with, "");
}

TEST(AdvisePatterns, PartlyParallel) {
  program_maker make(two_by_four);
  make.array(pages, make.blocked()).used(make.blocked());
  make.array(pages, program_maker::all_by(0)).used(make.blocked());
  const advice told = on_nehalem(make);
  ASSERT_THAT(found(told), ElementsAre(pattern::partly_parallel));
  EXPECT_EQ(told.findings.front().objects.front().name, "solver.c:21");
  EXPECT_THAT(told.findings.front().title, HasSubstr("solver.c:20"));
}

TEST(AdvisePatterns, StaticArrays) {
  program_maker make(two_by_four);
  for (const char* name : {"alpha", "beta"}) {
    make.array(pages, program_maker::all_by(0)).used(make.blocked());
    make.last().kind = profile::object_kind::static_array;
    make.last().name = name;
    make.last().made_at.clear();
  }
  const advice told = on_nehalem(make);
  ASSERT_THAT(found(told), ElementsAre(pattern::static_arrays));
  ASSERT_EQ(told.findings.front().entries.size(), 2U);
  EXPECT_EQ(told.findings.front().entries.front().which.symbol, "alpha");
  EXPECT_EQ(told.findings.front().entries.front().which.kind, "static");
}

} // namespace
} // namespace nodewise
