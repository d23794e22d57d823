// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel's NUMA balancing, switched for a while: on a fake kernel, with real files of its own.
#include "launch/numa_balancing.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "sys/locked_file.hpp"
#include "unit/fake_kernel.hpp"

namespace nodewise::launch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* setting = "/proc/sys/kernel/numa_balancing";

/// /proc/PID/stat of a process with blanks and parentheses in its name.
std::string stat_of(int pid, char state, int began_at) {
  return fmt::format("{} (a) b (c) {} 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 {} 99 5", pid,
                     state, began_at);
}

class NumaBalancing : public testing::Test {
 protected:
  void SetUp() override {
    std::string made = testing::TempDir() + "nodewise-balancing-XXXXXX";
    ASSERT_NE(::mkdtemp(made.data()), nullptr);
    parent = made;
    directory = made + "/state";
    set("0");
    kernel.files[fmt::format("/proc/{}/stat", ::getpid())] = stat_of(::getpid(), 'R', 700);
  }
  void TearDown() override { std::filesystem::remove_all(parent); }

  void set(const std::string& value) { kernel.files[setting] = value; }
  std::string value() { return kernel.files[setting]; }
  std::string saved() const {
    std::ifstream file(directory + "/numa_balancing");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void save(const std::string& text) const {
    const auto file = sys::locked_file::make(directory, "numa_balancing");
    ASSERT_TRUE(file);
    ASSERT_EQ(file.value.replace(text), 0);
  }
  std::string refusal(bool on) {
    try {
      const numa_balancing_switch made(on, kernel, directory);
    } catch (const error& e) {
      EXPECT_EQ(e.kind(), error_kind::system);
      EXPECT_EQ(e.asked(), on ? "--numa-balancing on" : "--numa-balancing off");
      return e.answered() + "; hint: " + e.hint();
    }
    ADD_FAILURE() << "not refused";
    return "";
  }

  test::fake_kernel kernel{{node_id{0}, node_id{1}}};
  std::string parent;
  std::string directory;
};

TEST_F(NumaBalancing, IsSwitchedWhileTheSwitchExists) {
  {
    const numa_balancing_switch on(true, kernel, directory);
    EXPECT_EQ(value(), "1");
    EXPECT_EQ(saved(), fmt::format("0 1 {} 700\n", ::getpid()));
  }
  EXPECT_EQ(value(), "0");
  EXPECT_EQ(saved(), "");
  struct stat facts{};
  ASSERT_EQ(::stat((directory + "/numa_balancing").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
}

TEST_F(NumaBalancing, OnKeepsMemoryTieringAndOffIsNone) {
  struct {
    const char* before;
    bool on;
    const char* meanwhile;
  } const cases[] = {{"0", true, "1"},  {"1", true, "1"},  {"2", true, "3"}, {"3", true, "3"},
                     {"0", false, "0"}, {"1", false, "0"}, {"2", false, "0"}};
  for (const auto& each : cases) {
    set(each.before);
    {
      const numa_balancing_switch made(each.on, kernel, directory);
      EXPECT_EQ(value(), each.meanwhile);
    }
    EXPECT_EQ(value(), each.before);
  }
}

TEST_F(NumaBalancing, IsNotRestoredOverTheChangeOfAnother) {
  numa_balancing_switch made(true, kernel, directory);
  set("2");
  EXPECT_THAT(made.restore().value_or(""), HasSubstr("another program has set it to 2"));
  EXPECT_EQ(value(), "2");
  EXPECT_EQ(saved(), "");
  EXPECT_EQ(made.restore(), std::nullopt);
}

TEST_F(NumaBalancing, ASecondSwitchIsRefusedWhileTheFirstExists) {
  const numa_balancing_switch first(true, kernel, directory);
  for (const bool on : {true, false}) {
    EXPECT_THAT(refusal(on), HasSubstr(fmt::format("another nodewise, process {}", ::getpid())));
  }
  EXPECT_EQ(restore_numa_balancing(kernel, directory), std::nullopt);
  EXPECT_EQ(value(), "1");
}

TEST_F(NumaBalancing, TheNextStartRestoresWhatAKilledProcessLeft) {
  const std::optional<std::string> ends[] = {std::nullopt, stat_of(42, 'Z', 500),
                                             stat_of(42, 'S', 501)}; // another of this number
  for (const auto& end : ends) {
    kernel.files.erase("/proc/42/stat");
    if (end) {
      kernel.files["/proc/42/stat"] = *end;
    }
    set("1");
    save("0 1 42 500\n");
    EXPECT_THAT(restore_numa_balancing(kernel, directory).value_or(""),
                HasSubstr("restored to 0: a nodewise that was killed had set it to 1"));
    EXPECT_EQ(value(), "0");
    EXPECT_EQ(saved(), "");
    EXPECT_EQ(restore_numa_balancing(kernel, directory), std::nullopt);
  }
}

TEST_F(NumaBalancing, OfARunningProcessIsLeft) {
  kernel.files["/proc/42/stat"] = stat_of(42, 'S', 500);
  set("1");
  save("0 1 42 500\n");
  EXPECT_EQ(restore_numa_balancing(kernel, directory), std::nullopt);
  EXPECT_EQ(value(), "1");
  EXPECT_EQ(saved(), "0 1 42 500\n");
}

TEST_F(NumaBalancing, ALeftoverIsRestoredBeforeASwitch) {
  set("1");
  save("0 1 42 500\n");
  {
    const numa_balancing_switch made(true, kernel, directory);
    EXPECT_THAT(saved(), testing::StartsWith("0 1 "));
  }
  EXPECT_EQ(value(), "0");
}

TEST_F(NumaBalancing, ALeftoverThatWasChangedSinceIsForgotten) {
  set("2");
  save("0 1 42 500\n");
  EXPECT_EQ(restore_numa_balancing(kernel, directory), std::nullopt);
  EXPECT_EQ(value(), "2");
  EXPECT_EQ(saved(), "");
}

TEST_F(NumaBalancing, AnIncompleteFileIsFromBeforeTheChange) {
  for (const char* const text : {"0 1 42", "0 1 42 500", "0 1 x 500\n", "\n", "0 1 42 500 7\n"}) {
    set("1");
    save(text);
    EXPECT_EQ(restore_numa_balancing(kernel, directory), std::nullopt) << text;
    EXPECT_EQ(value(), "1");
  }
}

TEST_F(NumaBalancing, WhatCannotBeRestoredIsReportedAndTriedAgain) {
  set("1");
  save("0 1 42 500\n");
  kernel.refuse[std::string("write ") + setting] = EPERM;
  EXPECT_THAT(restore_numa_balancing(kernel, directory).value_or(""),
              testing::AllOf(HasSubstr("cannot be restored: EPERM"),
                             HasSubstr("sysctl kernel.numa_balancing=0")));
  EXPECT_EQ(saved(), "0 1 42 500\n");
  kernel.refuse.clear();
  EXPECT_NE(restore_numa_balancing(kernel, directory), std::nullopt);
  EXPECT_EQ(value(), "0");
}

TEST_F(NumaBalancing, RefusalsNameTheFileTheErrnoAndAHint) {
  kernel.refuse[std::string("write ") + setting] = EROFS;
  EXPECT_THAT(refusal(true), testing::AllOf(HasSubstr("numa_balancing cannot be written: EROFS"),
                                            HasSubstr("hint: run as root")));
  EXPECT_EQ(saved(), "");
  EXPECT_THAT(kernel.writes, IsEmpty());
  kernel.refuse.clear();
  kernel.files.erase(setting);
  EXPECT_THAT(refusal(true), testing::AllOf(HasSubstr("cannot be read: ENOENT"),
                                            HasSubstr("has no automatic NUMA balancing")));
  set("0");
  directory = parent + "/missing/state";
  EXPECT_THAT(refusal(true), HasSubstr("where the old value is saved, cannot be written: ENOENT"));
  EXPECT_EQ(value(), "0");
}

TEST_F(NumaBalancing, NeedsNoPermissionForTheValueThatItHas) {
  directory = parent + "/missing/state";
  {
    const numa_balancing_switch made(false, kernel, directory);
    EXPECT_EQ(value(), "0");
  }
  EXPECT_THAT(kernel.writes, IsEmpty());
}

TEST_F(NumaBalancing, WhetherItCanBeChangedIsFoundOutByTheSameValue) {
  set("2");
  EXPECT_EQ(changeable_numa_balancing("--over balancing", kernel, directory), 2);
  EXPECT_THAT(kernel.writes, ElementsAre(std::string(setting) + "=2"));
  kernel.refuse[std::string("write ") + setting] = EACCES;
  try {
    (void)changeable_numa_balancing("--over balancing", kernel, directory);
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.asked(), "--over balancing");
    EXPECT_EQ(e.errno_value(), EACCES);
    EXPECT_THAT(e.hint(), HasSubstr("run as root"));
  }
}

TEST_F(NumaBalancing, IsSavedInTheDirectoryThatTheEnvironmentNames) {
  EXPECT_EQ(state_directory([](const char*) -> const char* { return nullptr; }), "/run/nodewise");
  EXPECT_EQ(state_directory([](const char*) { return "/x"; }), "/x");
  EXPECT_EQ(state_directory([](const char*) { return "relative"; }), "/run/nodewise");
}

TEST_F(NumaBalancing, TheFileIsNoLink) {
  std::filesystem::create_directory(directory);
  std::ofstream(parent + "/other") << "kept";
  std::filesystem::create_symlink(parent + "/other", directory + "/numa_balancing");
  EXPECT_THAT(refusal(true), HasSubstr("ELOOP"));
  EXPECT_EQ(std::filesystem::file_size(parent + "/other"), 4U);
}

} // namespace
} // namespace nodewise::launch
