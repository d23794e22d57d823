// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A program whose page faults are known, recorded from its start on the running kernel.
#include "observe/recorder.hpp"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "observe/locate.hpp"
#include "sys/kernel.hpp"
#include "sys/perf.hpp"
#include "unit/recorded_programs.hpp"

namespace nodewise::observe {

using test::become;
using test::become_nobody;
using test::expect_each_page_once;
using test::in_a_child;
using test::page_bytes;
using test::program;
using test::record;
using test::Recorder;
using test::said_text;
using test::samples_by_page;
using test::until_nothing_is_lost;

namespace {

bool may_watch_processors() {
  sys::perf_request what;
  what.tid = sys::any_task;
  what.cpu = cpu_id{0};
  return static_cast<bool>(sys::perf_event::open(what));
}

/// The nodes that were told of the pages that the threads touched.
std::set<node_id> nodes_of_pages(const recording& got, const said_text& said, std::uint64_t pages) {
  const auto first_pages = said.first_pages();
  std::set<node_id> nodes;
  auto samples = got.log.read();
  while (const auto sample = samples.next()) {
    const auto part = first_pages.find(sample->tid);
    if (part != first_pages.end() && sample->address - part->second < pages * page_bytes) {
      nodes.insert(sample->node);
    }
  }
  return nodes;
}

} // namespace

TEST_F(Recorder, EachFreshPageIsASampleOfItsThread) {
  constexpr std::uint64_t pages = 20000;
  said_text said;
  const recording got = record({program, std::to_string(pages), "2"}, said);
  EXPECT_TRUE(got.end.started);
  EXPECT_EQ(got.end.exit_code(), 0);
  expect_each_page_once(got, said, 2, pages);
  EXPECT_LT(got.begin_ns, got.end_ns);
  EXPECT_GT(got.observer_s, 0);

  auto samples = got.log.read();
  while (const auto sample = samples.next()) {
    ASSERT_GE(sample->time_ns, got.begin_ns);
    ASSERT_LE(sample->time_ns, got.end_ns);
    ASSERT_EQ(sample->pid, got.pid);
  }
}

TEST_F(Recorder, SomeSamplesHaveTheStackOfTheirThread) {
  constexpr std::uint64_t pages = 20000;
  said_text said;
  const recording got = record({program, std::to_string(pages), "1"}, said);
#if !defined(__x86_64__) && !defined(__aarch64__)
  GTEST_SKIP() << "stacks are copied on x86-64 and AArch64 only";
#endif
  const auto first_pages = said.first_pages();
  ASSERT_EQ(first_pages.size(), 1U);
  const auto [tid, first] = *first_pages.begin();
  std::set<std::uint64_t> touched;
  auto samples = got.log.read();
  while (const auto sample = samples.next()) {
    touched.insert(sample->address);
  }
  std::uint64_t of_pages = 0;
  for (const kept_stack& stack : got.log.stacks()) {
    if (stack.at.tid == tid && stack.at.address >= first &&
        stack.at.address < first + pages * page_bytes) {
      ++of_pages;
      EXPECT_EQ(stack.registers.pc, stack.at.ip);
      EXPECT_TRUE(touched.contains(stack.at.address));
      EXPECT_GT(stack.bytes.size(), 64U);
    }
  }
  const std::uint64_t taken = pages - std::min(pages, got.losses.lost);
  EXPECT_GE(of_pages, taken / fault_source_options{}.stack_period / 2);
}

TEST_F(Recorder, WherePermittedSamplesTellTheNodesOfPages) {
  constexpr std::uint64_t pages = 1000;
  const auto nodes = [](bool& permitted) {
    said_text said;
    const recording got = record({program, std::to_string(pages), "1"}, said);
    permitted = got.abilities.kernel && !frame_map::read().empty();
    return nodes_of_pages(got, said, pages);
  };
  bool permitted = false;
  const std::set<node_id> found = nodes(permitted);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.contains(unknown_node), !permitted);
  const int status = in_a_child([&] {
    become_nobody();
    const std::set<node_id> unseen = nodes(permitted);
    return permitted || unseen == std::set<node_id>{unknown_node};
  });
  EXPECT_EQ(status, 0);
}

TEST_F(Recorder, FollowsForkAndExec) {
  constexpr std::uint64_t pages = 500;
  said_text said;
  const recording got = record({program, std::to_string(pages), "2", "fork"}, said);
  EXPECT_EQ(got.end.exit_code(), 0);
  expect_each_page_once(got, said, 2, pages);

  const auto& tasks = got.log.tasks();
  const auto forked = std::ranges::find(tasks, task_change::process_forked, &task_event::what);
  ASSERT_NE(forked, tasks.end());
  EXPECT_EQ(forked->parent_pid, got.pid);
  const auto executed = std::ranges::find_if(tasks, [&](const task_event& e) {
    return e.what == task_change::executed && e.pid == forked->pid;
  });
  ASSERT_NE(executed, tasks.end());
  EXPECT_EQ(executed->name, "touch_pages");
  EXPECT_EQ(std::ranges::count(tasks, task_change::thread_started, &task_event::what), 2);
  EXPECT_TRUE(std::ranges::any_of(got.log.modules(), [&](const module_mapped& m) {
    return m.pid == forked->pid && m.path == program && m.executable && m.time_ns != 0;
  }));
}

TEST_F(Recorder, OfTheWholeMachineItKeepsTheProgram) {
  constexpr std::uint64_t pages = 500;
  said_text said;
  recording_options options;
  options.faults.whole_machine = true;
  const recording got = until_nothing_is_lost(said, [&] {
    return record_program([&] { become({program, std::to_string(pages), "2", "fork"}, said); },
                          options);
  });
  EXPECT_EQ(got.end.exit_code(), 0);
  EXPECT_EQ(got.abilities.others, may_watch_processors());
  expect_each_page_once(got, said, 2, pages);

  std::set<int> processes = {got.pid};
  for (const task_event& each : got.log.tasks()) {
    if (each.what == task_change::process_forked) {
      processes.insert(each.pid);
    }
  }
  EXPECT_EQ(processes.size(), 2U);
  auto samples = got.log.read();
  while (const auto sample = samples.next()) {
    ASSERT_TRUE(processes.contains(sample->pid)) << sample->pid;
  }
  ASSERT_FALSE(got.log.tasks().empty());
  EXPECT_EQ(got.log.tasks().front().what, task_change::executed); // nothing of before
  EXPECT_EQ(got.log.tasks().front().pid, got.pid);
}

TEST_F(Recorder, WhereTheKernelBalancesNodesAccessesAreSampled) {
  // Two: the kernel's other mode, which is about tiers of memory.
  const auto balancing = sys::real_kernel().read_file("/proc/sys/kernel/numa_balancing");
  if (balancing.value != "1") {
    GTEST_SKIP() << "kernel.numa_balancing is not 1: tests/lab has a machine where it is";
  }
  constexpr std::uint64_t pages = 1024;
  said_text said;
  const recording got = record({program, std::to_string(pages), "2", "use"}, said);
  for (const auto& [tid, counts] : samples_by_page(got.log, said.first_pages(), pages)) {
    EXPECT_LE(std::ranges::count(counts, 0), static_cast<std::ptrdiff_t>(got.losses.lost));
    EXPECT_GT(std::ranges::count_if(counts, [](int n) { return n > 1; }),
              static_cast<std::ptrdiff_t>(pages / 2) -
                  static_cast<std::ptrdiff_t>(got.losses.lost));
  }
  EXPECT_EQ(said.first_pages().size(), 2U);
}

TEST_F(Recorder, AProgramKilledByASignal) {
  said_text said;
  const recording got = record({program, "300", "1", "die"}, said);
  ASSERT_TRUE(WIFSIGNALED(got.end.wait_status));
  EXPECT_EQ(WTERMSIG(got.end.wait_status), SIGTERM);
  expect_each_page_once(got, said, 1, 300);
}

TEST_F(Recorder, WhatBecomeThrowsIsToldInTheChildOnly) {
  const int status = in_a_child([] {
    const pid_t self = ::getpid();
    try {
      const recording got =
          record_program([] { throw error(error_kind::usage, "a test", "it failed", "none"); }, {});
      return ::getpid() == self && !got.end.started && got.end.exit_code() == 3;
    } catch (const error&) {
      ::_exit(::getpid() == self ? 4 : 3);
    }
  });
  EXPECT_EQ(status, 0);
}

} // namespace nodewise::observe
