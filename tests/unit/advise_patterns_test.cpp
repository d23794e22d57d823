// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Each pattern is found in its textbook form, and nothing is in the cured one.
#include <algorithm>

#include <gmock/gmock.h>

#include "unit/advise_programs.hpp"

namespace nodewise {
namespace {

using advise::advice;
using advise::pattern;
using profile::touch_kind;
using test::found;
using test::four_by_two;
using test::program_maker;
using test::two_by_four;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t pages = 1024;

advice on(const std::string& machine, program_maker& what) {
  return advise::advise(what.made(), test::lab_machine(machine));
}
advice on_nehalem(program_maker& what) {
  return on("nehalem-2x4", what);
}

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
  job.programs[1].parent = 8; // of somebody else
  EXPECT_THAT(found(advise::advise(job, machine)),
              ElementsAre(pattern::few_threads, pattern::few_threads));
}

/// The last array is no array but memory of this kind, which nobody allocated.
void make_memory(program_maker& make, profile::object_kind kind, const std::string& name) {
  make.last().kind = kind;
  make.last().name = name;
  make.last().made_at.clear();
  make.last().touches.clear();
  make.last().touched.clear();
}

TEST(AdvisePatterns, MuchRemoteTrafficWithoutANameIsToldFirst) {
  const auto with_nameless = [](std::size_t size) {
    program_maker make(two_by_four);
    make.array(pages, program_maker::all_by(0)).used(make.blocked(), 1);
    make.array(size, program_maker::all_by(0)).used(make.blocked(), 1);
    make_memory(make, profile::object_kind::other, "[heap]");
    return on_nehalem(make);
  };
  const advice told = with_nameless(pages / 2); // a third of what is remote
  ASSERT_THAT(found(told), ElementsAre(pattern::nameless, pattern::serial_initialisation));
  const advise::finding& first = told.findings.front();
  EXPECT_THAT(first.title, HasSubstr("33 % of the remote traffic"));
  EXPECT_THAT(first.evidence, Contains(HasSubstr("[heap]: 33 %")));
  EXPECT_EQ(first.worth.how, advise::gain::kind::at_most);
  EXPECT_LT(first.worth.ratio, told.findings.back().worth.ratio);
  EXPECT_THAT(first.entries, IsEmpty());
  EXPECT_THAT(found(with_nameless(pages / 5)), ElementsAre(pattern::serial_initialisation));
}

TEST(AdvisePatterns, AStackThatOtherThreadsUse) {
  program_maker make(two_by_four);
  make.array(pages, program_maker::all_by(0)).used_by_all();
  make_memory(make, profile::object_kind::stack, "[stack]");
  const advice told = on_nehalem(make);
  ASSERT_THAT(found(told), ElementsAre(pattern::thread_stacks));
  EXPECT_THAT(told.findings.front().evidence, Contains(HasSubstr("[stack]: 100 %")));
  EXPECT_THAT(told.plans, IsEmpty());

  program_maker own(two_by_four); // each thread its own: nothing is far
  own.array(pages, own.blocked()).used(own.blocked(), 1);
  make_memory(own, profile::object_kind::stack, "[stack]");
  EXPECT_THAT(found(on_nehalem(own)), IsEmpty());
}

TEST(AdvisePatterns, FalseSharing) {
  program_maker make(two_by_four);
  make.array(16, make.blocked()).used(make.blocked());
  make.last().contested = {{64, 100000, 8, false}};
  EXPECT_THAT(found(on_nehalem(make)), ElementsAre(pattern::false_sharing));
  make.last().contested = {{64, 100000, 8, true}}; // true sharing: padding does not help
  EXPECT_THAT(found(on_nehalem(make)), IsEmpty());
  make.last().contested = {{64, 10, 8, false}};
  EXPECT_THAT(found(on_nehalem(make)), IsEmpty());
  // In turns of milliseconds a line goes from core to core a few times, however often it is
  // written.
  make.last().contested = {
      {64, 10, 8, false, 100000, profile::frame{"solver", 0x4000, "count", "solver.c", 95, false}}};
  const advice told = on_nehalem(make);
  ASSERT_THAT(found(told), ElementsAre(pattern::false_sharing));
  EXPECT_EQ(told.findings.front().worth.how, advise::gain::kind::at_most);
  EXPECT_THAT(told.findings.front().evidence, Contains(HasSubstr("solver.c:95")));
  EXPECT_THAT(told.plans, IsEmpty());
}

/// Half of what node 0 touched went to node 1.
program_maker overflowing(std::uint64_t free_pages, std::uint64_t cache_pages,
                          std::uint64_t total_pages) {
  program_maker make(two_by_four);
  make.array(pages, make.blocked()).used(make.blocked());
  make.last().where = {{0, pages / 4, node_id{0}}, {pages / 4, pages * 3 / 4, node_id{1}}};
  make.made().memory = {{node_id{0}, total_pages * 4096, free_pages * 4096, cache_pages * 4096},
                        {node_id{1}, 1U << 30U, 1U << 30U, 0}};
  return make;
}
TEST(AdvisePatterns, BufferCache) {
  program_maker make = overflowing(pages / 4, 4 * pages, 8 * pages);
  EXPECT_THAT(found(on_nehalem(make)), ElementsAre(pattern::buffer_cache));
  program_maker moved = overflowing(pages / 4, 4 * pages, 8 * pages);
  moved.made().seen.pages_moved = pages; // that was the kernel
  EXPECT_THAT(found(on_nehalem(moved)), ElementsAre(pattern::different_schedules));
}
TEST(AdvisePatterns, ABufferCacheThatTheProgramFillsItself) {
  program_maker make = overflowing(8 * pages, 0, 8 * pages);
  EXPECT_THAT(found(on_nehalem(make)), ElementsAre(pattern::different_schedules));
  make.made().memory[0].fullest = profile::node_memory::low{pages / 8 * 4096, 6 * pages * 4096};
  const advice told = on_nehalem(make);
  ASSERT_THAT(found(told), ElementsAre(pattern::buffer_cache));
  EXPECT_THAT(told.findings.front().entries, IsEmpty());
  EXPECT_THAT(told.plans, IsEmpty()); // no placement makes room
  make.made().memory[0].fullest = profile::node_memory::low{pages / 8 * 4096, 0};
  EXPECT_THAT(found(on_nehalem(make)), ElementsAre(pattern::different_schedules));
}
TEST(AdvisePatterns, LargerThanNode) {
  program_maker make = overflowing(pages / 4, 0, pages / 4);
  EXPECT_THAT(found(on_nehalem(make)), ElementsAre(pattern::larger_than_node));
}

} // namespace
} // namespace nodewise
