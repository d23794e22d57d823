// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A program whose page faults are known, recorded on the running kernel.
#include "observe/recorder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "observe/frames.hpp"
#include "sys/execute.hpp"
#include "sys/perf.hpp"

namespace nodewise::observe {

namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr const char* program = NODEWISE_TEST_TOUCH_PAGES;

/// Why no page fault can be sampled here; empty where it can.
std::string refusal() {
  sys::perf_request what;
  what.tid = 0;
  const auto event = sys::perf_event::open(what);
  return event ? "" : "perf_event_open: " + errno_text(event.errno_value);
}

bool may_watch_processors() {
  sys::perf_request what;
  what.tid = sys::any_task;
  what.cpu = cpu_id{0};
  return static_cast<bool>(sys::perf_event::open(what));
}

class Recorder : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = refusal(); !why.empty()) {
      GTEST_SKIP() << why << ", so that no page fault can be sampled here";
    }
  }
};

/// What a program says on standard output.
class said_text {
 public:
  said_text() {
    std::array<char, 32> name{"/tmp/nodewise-test-XXXXXX"};
    file_ = ::mkstemp(name.data());
    ::unlink(name.data());
  }
  said_text(const said_text&) = delete;
  said_text& operator=(const said_text&) = delete;
  ~said_text() { ::close(file_); }

  [[nodiscard]] int file() const { return file_; }
  void forget() {
    EXPECT_EQ(::ftruncate(file_, 0), 0);
    EXPECT_EQ(::lseek(file_, 0, SEEK_SET), 0);
  }
  [[nodiscard]] std::string text() const {
    std::string all(4096, '\0');
    const ssize_t got = ::pread(file_, all.data(), all.size(), 0);
    all.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return all;
  }
  /// The first page's address that each thread told.
  [[nodiscard]] std::map<int, std::uint64_t> first_pages() const {
    std::map<int, std::uint64_t> first;
    std::istringstream lines(text());
    int tid = 0;
    std::uint64_t address = 0;
    for (std::string word; lines >> word;) {
      if (word != "ready" && lines >> address) {
        tid = std::stoi(word);
        first[tid] = address;
      }
    }
    return first;
  }

 private:
  int file_;
};

[[noreturn]] void become(const std::vector<std::string>& command, const said_text& said) {
  ::dup2(said.file(), STDOUT_FILENO);
  (void)sys::execute(command);
  ::_exit(127);
}

/// The first of a few recordings that lost nothing, else the last one. Samples that find no room in
/// the rings are lost and counted. Rings are small where other recorders of this user have locked
/// the memory that may be locked, and fill up where the thread that drains them waits for a
/// processor, so a loaded machine may lose samples each time: what a test expects is "but for those
/// that were lost".
template <class Record>
recording until_nothing_is_lost(said_text& said, const Record& record) {
  using std::chrono::steady_clock;
  const auto give_up = steady_clock::now() + std::chrono::minutes(5); // for others to unlock theirs
  constexpr int tries = 3;
  for (int tried = 1;; ++tried) {
    said.forget();
    try {
      recording got = record();
      EXPECT_EQ(got.losses.taken + got.losses.lost, got.losses.counted);
      if (got.losses.lost == 0 || tried >= tries) {
        return got;
      }
    } catch (const error& e) {
      const bool is_locked_by_others = e.errno_value() == EPERM || e.errno_value() == ENOMEM;
      if (!is_locked_by_others || steady_clock::now() > give_up) {
        throw;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
}

recording record(const std::vector<std::string>& command, said_text& said) {
  return until_nothing_is_lost(said,
                               [&] { return record_program([&] { become(command, said); }, {}); });
}

/// By thread, how many samples each of its pages has.
std::map<int, std::vector<int>> samples_by_page(const event_log& log,
                                                const std::map<int, std::uint64_t>& first_pages,
                                                std::uint64_t pages) {
  std::map<int, std::vector<int>> counts;
  for (const auto& [tid, first] : first_pages) {
    counts[tid].resize(pages);
  }
  auto samples = log.read();
  while (const auto sample = samples.next()) {
    const auto part = first_pages.find(sample->tid);
    if (part != first_pages.end() && sample->address >= part->second &&
        sample->address < part->second + pages * page_bytes) {
      ++counts[sample->tid][(sample->address - part->second) / page_bytes];
    }
  }
  return counts;
}

/// Every page was touched once, by its thread; samples that were lost are missing.
void expect_each_page_once(const recording& got, const said_text& said, std::size_t threads,
                           std::uint64_t pages) {
  const auto first_pages = said.first_pages();
  ASSERT_EQ(first_pages.size(), threads) << said.text();
  std::uint64_t missing = 0;
  for (const auto& [tid, counts] : samples_by_page(got.log, first_pages, pages)) {
    EXPECT_TRUE(std::ranges::all_of(counts, [](int n) { return n == 0 || n == 1; })) << tid;
    missing += static_cast<std::uint64_t>(std::ranges::count(counts, 0));
  }
  EXPECT_LE(missing, got.losses.lost);
  EXPECT_EQ(got.losses.damaged, 0U);
  EXPECT_EQ(got.losses.taken + got.losses.lost, got.losses.counted);
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

/// A program that has printed its addresses and waits for a line of input.
class waiting_program {
 public:
  waiting_program(const std::vector<std::string>& command, const said_text& said) {
    EXPECT_EQ(::pipe2(input_.data(), O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(input_[0], STDIN_FILENO);
      become(command, said);
    }
    while (said.text().empty() && ::waitpid(pid_, nullptr, WNOHANG) == 0) {
      ::usleep(1000);
    }
  }
  waiting_program(const waiting_program&) = delete;
  waiting_program& operator=(const waiting_program&) = delete;
  ~waiting_program() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(input_[0]);
    ::close(input_[1]);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  void go_on() { told_ = told_ || ::write(input_[1], "\n", 1) == 1; }
  /// How it ended.
  int status() {
    int status = -1;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    pid_ = 0;
    return status;
  }

 private:
  std::array<int, 2> input_{};
  pid_t pid_ = 0;
  bool told_ = false;
};

/// Somebody without any right, as if that one had started this process. Who may not become another
/// user has none already. A user of this process's own: what may be locked is counted by user.
void become_nobody() {
  const auto nobody = 60000U + static_cast<unsigned>(::getpid()) % 5000U;
  if (::setresgid(nobody, nobody, nobody) == 0 && ::setresuid(nobody, nobody, nobody) == 0) {
    ::prctl(PR_SET_DUMPABLE, 1);
  }
}

/// In a process of its own, which may give up its rights.
int in_a_child(const std::function<bool()>& what) {
  const pid_t child = ::fork();
  if (child == 0) {
    bool good = false;
    try {
      good = what();
    } catch (const error& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
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

class RecorderOf : public Recorder, public testing::WithParamInterface<bool> {};

INSTANTIATE_TEST_SUITE_P(TheWholeMachine, RecorderOf, testing::Bool());

TEST_P(RecorderOf, AttachesToAProcessThatRuns) {
  constexpr std::uint64_t pages = 5000;
  said_text said;
  recording_options options;
  options.faults.whole_machine = GetParam();
  const recording got = until_nothing_is_lost(said, [&] {
    waiting_program waits({program, std::to_string(pages), "2", "wait"}, said);
    recording recorded = record_process(
        waits.pid(), std::nullopt,
        [&] {
          waits.go_on(); // asked for the first time when all is watched
          return false;
        },
        options);
    EXPECT_EQ(waits.status(), 0);
    return recorded;
  });
  EXPECT_TRUE(got.ended);
  expect_each_page_once(got, said, 2, pages);
  EXPECT_TRUE(std::ranges::any_of(got.log.modules(), [&](const module_mapped& m) {
    return m.path == program && m.executable && m.time_ns == 0;
  }));
}

TEST_F(Recorder, AnObservedProcessGoesOnAfterTheTime) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const recording got =
      record_process(child, std::chrono::milliseconds{30}, [] { return false; }, {});
  EXPECT_FALSE(got.ended);
  EXPECT_EQ(::kill(child, 0), 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(Recorder, NoSuchProcessIsAnError) {
  EXPECT_THROW((void)record_process(4194304, std::nullopt, [] { return true; }, {}), error);
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

TEST_F(Recorder, WithoutRightsUserFaultsAreSampledAllTheSame) {
  said_text said;
  EXPECT_EQ(in_a_child([&] {
              become_nobody();
              const recording got = record({program, "4000", "2"}, said);
              expect_each_page_once(got, said, 2, 4000);
              return !HasFailure() && got.end.exit_code() == 0;
            }),
            0);
}

TEST_F(Recorder, RingsShrinkToWhatMayBeLocked) {
  const said_text said;
  EXPECT_EQ(in_a_child([&] {
              become_nobody();
              const rlimit none{};
              ::setrlimit(RLIMIT_MEMLOCK, &none);
              recording_options options;
              options.faults.ring_bytes = std::size_t{64} << 20;
              const recording got =
                  record_program([&] { become({program, "1000", "1"}, said); }, options);
              EXPECT_EQ(got.losses.taken + got.losses.lost, got.losses.counted);
              EXPECT_GE(got.losses.counted, 1000U);
              return !HasFailure();
            }),
            0);
}

TEST_F(Recorder, WhatFindsNoRoomIsCountedAsLost) {
  constexpr std::uint64_t pages = 25000; // 200 MiB in all: a node of the lab's smallest machine
  constexpr std::size_t smallest_ring = std::size_t{16} << 10;
  const said_text said;
  recording_options options;
  options.faults.ring_bytes = smallest_ring;
  const recording got =
      record_program([&] { become({program, std::to_string(pages), "2"}, said); }, options);
  EXPECT_EQ(got.end.exit_code(), 0);
  EXPECT_GE(got.losses.counted, 2 * pages);
  EXPECT_EQ(got.losses.taken + got.losses.lost, got.losses.counted);
  EXPECT_EQ(got.log.samples(), got.losses.taken);
}

TEST_F(Recorder, TooManyFilesIsSaid) {
  EXPECT_EQ(in_a_child([] {
              const rlimit few{10, 10};
              ::setrlimit(RLIMIT_NOFILE, &few);
              recording_options options;
              try {
                (void)record_program([] { ::_exit(0); }, options);
              } catch (const error& e) {
                return e.errno_value() == EMFILE && e.hint().find("ulimit") != std::string::npos;
              }
              return false;
            }),
            0);
}

} // namespace nodewise::observe
