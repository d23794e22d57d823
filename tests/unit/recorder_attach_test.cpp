// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Recordings of processes that run already.
#include "observe/recorder.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "unit/recorded_programs.hpp"

namespace nodewise::observe {

using test::become;
using test::expect_each_page_once;
using test::program;
using test::Recorder;
using test::said_text;
using test::until_nothing_is_lost;

namespace {

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

} // namespace

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

} // namespace nodewise::observe
