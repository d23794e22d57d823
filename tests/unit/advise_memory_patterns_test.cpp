// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Patterns of memory that is no array or that a node has no room for, and of lines that several
// threads write.
#include <cstddef>
#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/advise_programs.hpp"

namespace nodewise {
namespace {

using advise::advice;
using advise::pattern;
using test::found;
using test::on_nehalem;
using test::program_maker;
using test::two_by_four;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t pages = 1024;

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
