// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A program whose page faults are known, for tests that record it on the running kernel.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "observe/recorder.hpp"
#include "sys/perf.hpp"
#include "sys/programs.hpp"

namespace nodewise::observe::test {

inline constexpr std::uint64_t page_bytes = 4096;
inline constexpr const char* program = NODEWISE_TEST_TOUCH_PAGES;

/// Why no page fault can be sampled here; empty where it can.
inline std::string refusal() {
  sys::perf_request what;
  what.tid = 0;
  const auto event = sys::perf_event::open(what);
  return event ? "" : "perf_event_open: " + errno_text(event.errno_value);
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

[[noreturn]] inline void become(const std::vector<std::string>& command, const said_text& said) {
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

inline recording record(const std::vector<std::string>& command, said_text& said) {
  return until_nothing_is_lost(said,
                               [&] { return record_program([&] { become(command, said); }, {}); });
}

/// By thread, how many samples each of its pages has.
inline std::map<int, std::vector<int>>
samples_by_page(const event_log& log, const std::map<int, std::uint64_t>& first_pages,
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
inline void expect_each_page_once(const recording& got, const said_text& said, std::size_t threads,
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

/// Gives up all rights, as if an ordinary user had started this process. A process that may not
/// change its user has no special rights already. The user is this process's own, since the kernel
/// counts locked memory by user.
inline void become_nobody() {
  const auto nobody = 60000U + static_cast<unsigned>(::getpid()) % 5000U;
  if (::setresgid(nobody, nobody, nobody) == 0 && ::setresuid(nobody, nobody, nobody) == 0) {
    ::prctl(PR_SET_DUMPABLE, 1);
  }
}

/// In a process of its own, which may give up its rights.
inline int in_a_child(const std::function<bool()>& what) {
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

} // namespace nodewise::observe::test
