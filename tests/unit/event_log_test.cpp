// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/event_log.hpp"

#include <cmath>
#include <map>
#include <set>

#include <gmock/gmock.h>

namespace nodewise::observe {

namespace {

using testing::ElementsAre;

access_sample sample_at(std::uint64_t time, std::uint64_t page, int tid = 7, int cpu = 0) {
  access_sample s;
  s.time_ns = time;
  s.address = page * 4096 + 8;
  s.ip = 0x401000;
  s.pid = 7;
  s.tid = tid;
  s.cpu = cpu;
  return s;
}

std::vector<access_sample> all_of(const event_log& log) {
  std::vector<access_sample> all;
  auto reader = log.read();
  while (const auto s = reader.next()) {
    all.push_back(*s);
  }
  return all;
}

std::uint64_t steps_back(const event_log& log) {
  std::uint64_t steps = 0;
  std::uint64_t last = 0;
  auto reader = log.read();
  while (const auto s = reader.next()) {
    steps += s->time_ns < last ? 1U : 0U;
    last = s->time_ns;
  }
  return steps;
}

} // namespace

TEST(EventLog, GivesBackWhatItTook) {
  event_log log;
  access_sample s;
  s.time_ns = 0xFFFFFFFFFFFFFFF0;
  s.address = 0xFFFF7FFFFFFFFFF8;
  s.ip = 0xFFFFFFFF81000000;
  s.pid = 4194303;
  s.tid = 4194302;
  s.cpu = 8191;
  s.kind = sample_kind::access;
  s.page_bytes = std::uint64_t{1} << 30;
  s.node = node_id{1021};
  log.take(s);
  log.finish();
  EXPECT_THAT(all_of(log), ElementsAre(s));
  EXPECT_EQ(log.samples(), 1U);
  EXPECT_EQ(log.thinned(), 0U);
}

TEST(EventLog, MergesProcessorsInTheOrderOfTime) {
  event_log log;
  for (std::uint64_t time = 0; time < 3000; ++time) {
    log.take(sample_at(time, time, 7, static_cast<int>(time % 3)));
  }
  log.take(sample_at(1500, 1, 9, 0)); // late, which the kernel hardly ever is
  log.finish();
  const auto all = all_of(log);
  ASSERT_EQ(all.size(), 3001U);
  EXPECT_EQ(steps_back(log), 0U);
  EXPECT_EQ(all[1500].cpu, 0);
}

TEST(EventLog, BeyondItsLimitRepeatsAreThinnedAndFirstsStay) {
  constexpr std::size_t limit = std::size_t{1} << 20;
  constexpr std::uint64_t pages = 10000;
  constexpr std::uint64_t rounds = 20;
  event_log log(limit);
  for (std::uint64_t i = 0; i < pages * rounds; ++i) {
    log.take(sample_at(i, i % pages, 7, static_cast<int>(i % 2)));
  }
  log.finish();
  EXPECT_LE(log.used_bytes(), limit);
  EXPECT_FALSE(log.firsts_thinned());
  EXPECT_EQ(log.samples() + log.thinned(), pages * rounds);
  EXPECT_EQ(steps_back(log), 0U);

  std::uint64_t firsts = 0;
  std::map<bool, std::uint64_t> repeats_by_half; ///< of the pages
  auto reader = log.read();
  while (const auto s = reader.next()) {
    if (s->time_ns < pages) {
      ++firsts;
    } else {
      ++repeats_by_half[s->address / 4096 < pages / 2];
    }
  }
  EXPECT_EQ(firsts, pages);
  // Each repeat stands for so many: what was taken comes out again, evenly over pages. The standard
  // deviation of a draw with 1 in w is sqrt(n (w - 1)), and six and a half of them are exceeded
  // once in ten thousand million times.
  const auto weight = static_cast<double>(log.repeat_weight());
  EXPECT_GT(weight, 1);
  constexpr double half = pages * (rounds - 1) / 2.0;
  for (const auto& [side, kept] : repeats_by_half) {
    EXPECT_NEAR(static_cast<double>(kept) * weight, half, 6.5 * std::sqrt(half * (weight - 1)));
  }
}

TEST(EventLog, WhereFirstsAloneAreTooManyTheyAreThinnedAndItSaysSo) {
  constexpr std::size_t limit = std::size_t{1} << 20;
  event_log log(limit);
  for (std::uint64_t i = 0; i < 300000; ++i) {
    log.take(sample_at(i, i));
  }
  EXPECT_LE(log.used_bytes(), limit);
  EXPECT_TRUE(log.firsts_thinned());
  EXPECT_EQ(log.samples() + log.thinned(), 300000U);
}

TEST(EventLog, PagesOfTwoProcessesAreTwoPages) {
  constexpr std::size_t limit = std::size_t{512} << 10;
  event_log log(limit);
  for (std::uint64_t i = 0; i < 60000; ++i) {
    access_sample s = sample_at(i, i % 2000);
    s.pid = i % 20000 < 2000 ? 1 : 2;
    log.take(s);
  }
  ASSERT_GT(log.thinned(), 0U);
  std::set<std::pair<int, std::uint64_t>> seen;
  for (const access_sample& s : all_of(log)) {
    seen.emplace(s.pid, s.address);
  }
  EXPECT_EQ(seen.size(), 4000U);
}

TEST(EventLog, ManyStackCopiesAreThinned) {
  constexpr std::size_t limit = std::size_t{4} << 20;
  event_log log(limit);
  const std::vector<std::byte> bytes(2048);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    log.take(stack_copy{sample_at(i, i), {}, bytes});
  }
  EXPECT_LE(log.used_bytes(), limit);
  EXPECT_GT(log.stacks().size(), 50U);
  EXPECT_EQ(log.stacks().size() + log.thinned_stacks(), 2000U);
  EXPECT_EQ(log.stacks().front().bytes.size(), 2048U);
}

TEST(EventLog, TasksWithoutEndAreLeftOut) {
  event_log log(std::size_t{1} << 20);
  for (int i = 0; i < 100000; ++i) {
    log.take(task_event{static_cast<std::uint64_t>(i), task_change::ended, i, i, 0, 0, {}});
  }
  EXPECT_LE(log.used_bytes(), std::size_t{1} << 20);
  EXPECT_EQ(log.tasks().size() + log.left_out(), 100000U);
}

TEST(EventLog, ListsAreInTheOrderOfTime) {
  event_log log;
  log.take(module_mapped{7, 20, 0x1000, 0x2000, 0, true, "b", {}});
  log.take(module_mapped{7, 10, 0x3000, 0x4000, 0, true, "a", {}});
  log.take(task_event{20, task_change::ended, 7, 8, 0, 0, {}});
  log.take(task_event{10, task_change::thread_started, 7, 8, 7, 7, {}});
  log.finish();
  EXPECT_EQ(log.modules().front().path, "a");
  EXPECT_EQ(log.tasks().front().what, task_change::thread_started);
}

TEST(EventLog, KeepsAProgramFromItsExecOnAndWhatItForks) {
  event_log log;
  const auto touch = [&log](std::uint64_t time_ns, int pid) {
    access_sample s = sample_at(time_ns, 1, pid, 0);
    s.pid = pid;
    log.take(s);
    log.take(thread_sighting{time_ns, pid, pid, 0});
    log.take(stack_copy{s, {}, {}});
    log.take(module_mapped{pid, time_ns, 0x1000, 0x2000, 0, true, "a", {}});
  };
  log.take(task_event{10, task_change::process_forked, 7, 7, 3, 3, {}});
  log.take(task_event{12, task_change::process_forked, 6, 6, 7, 7, {}});
  log.take(task_event{20, task_change::executed, 7, 7, 0, 0, "program"});
  log.take(task_event{30, task_change::process_forked, 8, 8, 7, 7, {}});
  log.take(task_event{40, task_change::process_forked, 9, 9, 8, 8, {}});
  log.take(task_event{50, task_change::executed, 7, 7, 0, 0, "another"});
  log.take(task_event{60, task_change::process_forked, 10, 10, 3, 3, {}});
  for (const int pid : {3, 6, 7, 8, 9, 10}) {
    for (const std::uint64_t time_ns : {15U, 25U, 35U, 45U, 70U}) {
      touch(time_ns, pid);
    }
  }
  log.finish();
  log.keep_program(7, beginning::at_exec);

  std::vector<std::pair<int, std::uint64_t>> kept;
  for (const access_sample& each : all_of(log)) {
    kept.emplace_back(each.pid, each.time_ns);
  }
  std::ranges::sort(kept);
  const std::vector<std::pair<int, std::uint64_t>> expected = {
      {7, 25}, {7, 35}, {7, 45}, {7, 70}, {8, 35}, {8, 45}, {8, 70}, {9, 45}, {9, 70}};
  EXPECT_EQ(kept, expected);
  EXPECT_EQ(log.samples(), expected.size());
  EXPECT_EQ(log.stacks().size(), expected.size());
  EXPECT_EQ(log.modules().size(), expected.size());
  EXPECT_EQ(log.sightings().size(), expected.size());
  std::vector<std::uint64_t> tasks;
  for (const task_event& each : log.tasks()) {
    tasks.push_back(each.time_ns);
  }
  EXPECT_THAT(tasks, ElementsAre(20, 30, 40, 50));
}

TEST(EventLog, OfAProgramIsKeptOnlyWhatHasAThread) {
  event_log log;
  log.take(task_event{10, task_change::executed, 7, 7, 0, 0, "program"});
  for (const int tid : {8, -1}) {
    log.take(sample_at(20, 1, tid, 0));
    log.take(stack_copy{sample_at(20, 1, tid, 0), {}, {}});
    log.take(thread_sighting{20, 7, tid, 0});
    log.take(task_event{30, task_change::ended, 7, tid, 0, 0, {}});
  }
  log.finish();
  log.keep_program(7, beginning::at_exec);
  EXPECT_EQ(log.samples(), 1U);
  EXPECT_EQ(log.stacks().size(), 1U);
  EXPECT_EQ(log.sightings().size(), 1U);
  EXPECT_EQ(log.tasks().size(), 2U);
}

TEST(EventLog, OfAProgramThatRanBeforeAllIsKept) {
  event_log log;
  log.take(sample_at(10, 1, 7, 0));
  log.take(task_event{20, task_change::executed, 7, 7, 0, 0, "another"});
  log.take(sample_at(30, 1, 7, 0));
  log.finish();
  log.keep_program(7, beginning::now);
  EXPECT_EQ(log.samples(), 2U);
}

TEST(EventLog, WithoutItsExecAllOfAProgramIsKept) {
  event_log log;
  log.take(sample_at(10, 1, 7, 0)); // of process 7
  log.finish();
  log.keep_program(7, beginning::at_exec);
  EXPECT_EQ(log.samples(), 1U);
  log.keep_program(8, beginning::at_exec);
  EXPECT_EQ(log.samples(), 0U);
}

TEST(EventLog, MigrationsFollowFromSamplesAndSightings) {
  event_log log;
  log.take(sample_at(10, 1, 8, 0));
  log.take(sample_at(20, 2, 8, 1));
  log.take(sample_at(30, 3, 8, 1));
  log.take(thread_sighting{25, 7, 8, 3});
  log.take(thread_sighting{40, 7, 9, 2});
  log.take(thread_sighting{50, 7, 9, 5});
  log.finish();
  std::vector<std::vector<std::int64_t>> moves;
  for (const migration& m : migrations_of(log)) {
    moves.push_back({static_cast<std::int64_t>(m.time_ns), m.tid, m.from_cpu, m.to_cpu});
  }
  EXPECT_THAT(moves, ElementsAre(ElementsAre(20, 8, 0, 1), ElementsAre(25, 8, 1, 3),
                                 ElementsAre(30, 8, 3, 1), ElementsAre(50, 9, 2, 5)));
}

TEST(EventLog, NothingInItIsNothingOutOfIt) {
  event_log log;
  log.finish();
  EXPECT_TRUE(all_of(log).empty());
  EXPECT_TRUE(migrations_of(log).empty());
}

} // namespace nodewise::observe
