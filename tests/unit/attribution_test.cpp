// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Recordings made by hand: whose is each touch?

#include <gtest/gtest.h>

#include "attribution/assemble.hpp"
#include "unit/recorded_rig.hpp"

namespace nodewise::attribution {
namespace {

using namespace test;

TEST(Attribution, ATouchBelongsToThePageThreadAndNode) {
  rig all;
  all.object(0, base, 4, 3000, 0);
  all.fault(4000, base, main_tid, 0);
  all.fault(4001, base + page, main_tid, 1);
  all.fault(4002, base + 2 * page + 17, worker_tid, 3);
  const profile::profile found = all.assembled();
  const profile::object& object = object_of(found, 0);
  ASSERT_EQ(object.touched.size(), 2U);
  EXPECT_EQ(object.touched[0].count, 2U);
  EXPECT_EQ(object.touched[0].by, 0U);
  EXPECT_EQ(object.touched[0].from, node_id{0});
  EXPECT_EQ(object.touched[1].first, 2U);
  EXPECT_EQ(object.touched[1].by, 1U);
  EXPECT_EQ(object.touched[1].from, node_id{1});
  EXPECT_EQ(object.unseen_touches, 1U);
  EXPECT_EQ(found.programs[0].threads[1].home(), node_id{1});
  EXPECT_EQ(found.programs[0].threads[1].tid, worker_tid);
}

TEST(Attribution, AnAddressIsWhoseItIsAtThatTime) {
  rig all;
  all.object(0, base, 4, 3000, 5000);
  all.object(1, base + page, 4, 6000, 0);
  all.fault(4000, base + page, main_tid, 0);
  all.fault(5500, base + page, main_tid, 0); // nobody's
  all.fault(7000, base + page, worker_tid, 2);
  const profile::profile found = all.assembled();
  ASSERT_EQ(object_of(found, 0).touched.size(), 1U);
  EXPECT_EQ(object_of(found, 0).touched[0].first, 1U);
  ASSERT_EQ(object_of(found, 1).touched.size(), 1U);
  EXPECT_EQ(object_of(found, 1).touched[0].first, 0U);
  EXPECT_EQ(object_of(found, 1).touched[0].by, 1U);
  EXPECT_EQ(found.programs[0].objects.back().kind, profile::object_kind::other);
  EXPECT_EQ(found.programs[0].objects.back().pages, 1U);
}

TEST(Attribution, WithoutBalancingASecondFaultIsTheTouch) {
  rig all;
  all.object(0, base, 1, 3000, 0);
  all.fault(4000, base, main_tid, 0); // read: the page of zeros
  all.fault(5000, base, worker_tid, 2);
  EXPECT_EQ(object_of(all.assembled(), 0).touched.at(0).by, 1U);
}

TEST(Attribution, WithBalancingASecondFaultIsAnAccess) {
  rig all;
  all.balancing = true;
  all.object(0, base, 2, 3000, 0);
  all.fault(4000, base, main_tid, 0);
  all.fault(4001, base + page, main_tid, 0);
  all.fault(5000, base, worker_tid, 2, 0x2000);
  all.fault(6000, base, worker_tid, 2, 0x2000);
  all.fault(7000, base + page, worker_tid, 2, 0x2000);
  const profile::profile found = all.assembled();
  const profile::object& object = object_of(found, 0);
  EXPECT_EQ(object.touched.at(0).by, 0U);
  ASSERT_EQ(object.uses.size(), 1U);
  EXPECT_EQ(object.uses[0].count, 2U);
  EXPECT_EQ(object.uses[0].by.at(0).by, 1U);
  EXPECT_EQ(object.uses[0].by.at(0).amount, 3);
  EXPECT_EQ(found.seen.hinting_samples, 3U);
  EXPECT_EQ(found.programs[0].use_from, profile::use_source::hinting_faults);
}

TEST(Attribution, AThreadIsInEachIntervalWhereItWasSeenMostOrLast) {
  rig all; // from 1000 to 100000: intervals of 774
  all.object(0, base, 100, 1000, 0);
  std::uint64_t touched = 0;
  const auto see = [&](std::uint64_t time, int cpu) {
    all.fault(time, base + page * touched++, worker_tid, cpu);
  };
  see(1000 + 2 * 774, 0);
  see(1000 + 2 * 774 + 1, 2);
  see(1000 + 2 * 774 + 2, 2);
  see(1000 + 2 * 774 + 3, 0);
  see(1000 + 2 * 774 + 4, 2);
  see(1000 + 2 * 774 + 5, 0); // on node 0 as often as on node 1, and last
  see(1000 + 5 * 774, 3);
  const profile::profile found = all.assembled();
  EXPECT_NEAR(found.programs[0].interval_s, 774e-9, 1e-12);
  const auto& seen = found.programs[0].threads.at(1).seen;
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].first, 2U);
  EXPECT_EQ(seen[0].count, 3U);
  EXPECT_EQ(seen[0].node, node_id{0});
  EXPECT_EQ(seen[1].first, 5U);
  EXPECT_EQ(seen[1].first + seen[1].count, 128U); // to the end of the program
  EXPECT_EQ(seen[1].node, node_id{1});
}

TEST(Attribution, AccessesAreInTheirIntervalsByTheNodesOfThreadAndMemory) {
  rig all;
  all.balancing = true;
  all.object(0, base, 2, 1000, 0);
  all.fault(1100, base, main_tid, 0);
  for (const std::uint64_t time : {2000U, 2001U, 90'000U}) {
    observe::access_sample access;
    access.time_ns = time;
    access.address = base;
    access.pid = main_tid;
    access.tid = worker_tid;
    access.cpu = 2;
    access.node = node_id{0};
    all.recorded.log.take(access);
  }
  const profile::profile found = all.assembled();
  const auto& uses = found.programs[0].uses_in_time;
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].first, 1U);
  EXPECT_EQ(uses[0].by.at(0).from, node_id{1});
  EXPECT_EQ(uses[0].by.at(0).memory, node_id{0});
  EXPECT_EQ(uses[0].by.at(0).amount, 2);
  EXPECT_EQ(uses[1].first, (90'000U - 1000U) / 774U);
  EXPECT_EQ(uses[1].by.at(0).amount, 1);
}

TEST(Attribution, TheAgentsOwnThreadIsNoneOfTheProgram) {
  rig all;
  constexpr int helper = 177;
  all.reported.processes[0].numa_pinner = nodewise_agent_numa_pinned{{}, helper, 0, 3};
  observe::task_event start;
  start.time_ns = 2500;
  start.what = observe::task_change::thread_started;
  start.pid = main_tid;
  start.tid = helper;
  all.recorded.log.take(start);
  all.object(0, base, 4, 3000, 0);
  all.fault(4000, base, helper, 0);
  all.fault(4001, base + page, worker_tid, 2);
  const profile::profile found = all.assembled();
  EXPECT_EQ(object_of(found, 0).unseen_touches, 3U);
  EXPECT_EQ(object_of(found, 0).touched.at(0).by, 1U); // as if it were not there
  for (const profile::thread& each : found.programs[0].threads) {
    EXPECT_NE(each.tid, helper);
  }
  EXPECT_EQ(found.seen.pages_bound, 3U);
}

TEST(Attribution, PagesThatTheKernelMovedAreCounted) {
  const auto moved = [](std::uint64_t by_the_kernel) {
    rig all;
    all.balancing = true;
    all.migrated = by_the_kernel;
    all.object(0, base, 4, 3000, 0); // all on node 0 at its end
    all.fault(4000, base, main_tid, 0);
    all.fault(4001, base + page, worker_tid, 2); // a processor of node 1
    all.fault(4002, base + 2 * page, worker_tid, 2);
    return all.assembled().seen.pages_moved;
  };
  EXPECT_EQ(moved(100), 2U);
  EXPECT_EQ(moved(1), 1U);
  EXPECT_EQ(moved(0), 0U); // the node was full
}

TEST(Attribution, AnObjectThatMovesKeepsItsPages) {
  rig all;
  all.object(0, base, 2, 3000, 0);
  launch::allocation_report moved = all.reported.processes[0].allocations[0];
  moved.start = base + 64 * page;
  moved.bytes = 4 * page;
  moved.time_ns = 5000;
  all.reported.processes[0].allocations.push_back(moved);
  all.reported.processes[0].objects[0].start = moved.start;
  all.reported.processes[0].objects[0].bytes = moved.bytes;
  all.reported.processes[0].objects[0].pages = 4;
  all.fault(4000, base, main_tid, 0);
  all.fault(6000, moved.start + 3 * page, worker_tid, 2);
  all.fault(6001, base, worker_tid, 2); // where it was: nobody's now
  const auto touched = object_of(all.assembled(), 0).touched;
  ASSERT_EQ(touched.size(), 2U);
  EXPECT_EQ(touched[0].first, 0U);
  EXPECT_EQ(touched[1].first, 3U);
}

TEST(Attribution, ASystemCallThatWroteFirstTouchedPagesWithoutAFault) {
  rig all;
  all.object(0, base, 4, 3000, 0);
  launch::write_report read;
  read.sequence = 0;
  read.start = base;
  read.first = 0;
  read.last = 3 * page;
  read.tid = worker_tid;
  read.caller_module = "solver";
  read.caller_offset = 0x99;
  all.reported.processes[0].writes.push_back(read);
  all.fault(4000, base, main_tid, 0);
  const profile::profile found = all.assembled();
  const profile::object& object = object_of(found, 0);
  ASSERT_EQ(object.touched.size(), 2U);
  EXPECT_EQ(object.touched[1].by, 1U);
  EXPECT_EQ(object.touched[1].count, 2U);
  EXPECT_EQ(object.unseen_touches, 1U);
  EXPECT_EQ(object.touches[0].how, profile::touch_kind::kernel);
  EXPECT_EQ(object.touches[0].pages, 2U);
}

TEST(Attribution, AHugePageIsTouchedWithOneOfItsPages) {
  rig all;
  const std::uint64_t aligned = base; // of 2 MiB
  all.object(0, aligned, 1024, 3000, 0);
  all.fault(4000, aligned + 7 * page, main_tid, 0);
  all.fault(4001, aligned + 600 * page, worker_tid, 2);
  all.fault(4002, aligned + 601 * page, worker_tid, 2); // the second block has base pages
  const profile::object object = object_of(all.assembled(512 * page), 0);
  ASSERT_EQ(object.touched.size(), 2U);
  EXPECT_EQ(object.touched[0].count, 512U);
  EXPECT_EQ(object.touched[1].count, 2U);
  EXPECT_EQ(object.unseen_touches, 510U);
}

TEST(Attribution, AKilledProgramHasItsObjectsFromTheirBirths) {
  rig all;
  all.object(0, base, 4, 3000, 0);
  all.reported.processes[0].objects.clear();
  all.reported.processes[0].totals.reset();
  all.fault(4000, base, main_tid, 0);
  const profile::profile found = all.assembled();
  EXPECT_EQ(found.programs[0].end, profile::program_end::killed);
  EXPECT_EQ(object_of(found, 0).touched.size(), 1U);
  EXPECT_EQ(object_of(found, 0).pages, 4U);
  EXPECT_EQ(object_of(found, 0).resident, 0U);
}

TEST(Attribution, WhereNobodyAskedPagesAreWhereTheirSamplesSay) {
  const auto where = [](bool asked, bool balancing) {
    rig all;
    all.balancing = balancing;
    launch::object_report& reported = all.object(0, base, 4, 3000, 9000);
    reported.not_asked = !asked;
    if (!asked) {
      reported.where.clear();
      reported.resident = 0;
    }
    for (const int page_number : {0, 1, 3}) {
      observe::access_sample touch;
      touch.time_ns = 4000;
      touch.address = base + static_cast<std::uint64_t>(page_number) * page;
      touch.pid = touch.tid = main_tid;
      touch.cpu = 0;
      touch.node = page_number == 3 ? unknown_node : node_id{1};
      all.recorded.log.take(touch);
    }
    return object_of(all.assembled(), 0);
  };
  const profile::object found = where(false, false);
  ASSERT_EQ(found.where.size(), 1U); // the last page's node is unknown, and stays so
  EXPECT_EQ(found.where[0].first, 0U);
  EXPECT_EQ(found.where[0].count, 2U);
  EXPECT_EQ(found.where[0].node, node_id{1});
  EXPECT_EQ(found.resident, 2U);
  EXPECT_EQ(where(true, false).where.at(0).node, node_id{0}); // the kernel's word at its end
  EXPECT_TRUE(where(false, true).where.empty());              // it may have moved them since
}

TEST(Attribution, AForkIsAProgramOfItsOwn) {
  rig all;
  all.object(0, base, 4, 3000, 0);
  observe::task_event fork;
  fork.time_ns = 4000;
  fork.what = observe::task_change::process_forked;
  fork.pid = fork.tid = 200;
  fork.parent_pid = fork.parent_tid = main_tid;
  all.recorded.log.take(fork);
  observe::access_sample copied;
  copied.time_ns = 5000;
  copied.address = base;
  copied.pid = copied.tid = 200;
  copied.cpu = 3;
  all.recorded.log.take(copied);
  const profile::profile found = all.assembled();
  ASSERT_EQ(found.programs.size(), 2U);
  EXPECT_EQ(found.programs[1].pid, 200);
  EXPECT_EQ(found.programs[1].parent, main_tid);
  EXPECT_EQ(found.programs[1].name, "solver");
  EXPECT_TRUE(object_of(found, 0).touched.empty());
}

} // namespace
} // namespace nodewise::attribution
