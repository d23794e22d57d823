// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The report file as one or several processes write it.
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/report/records.hpp"

namespace nodewise::agent {
namespace {

class Records : public testing::Test {
 protected:
  Records()
      : name_(testing::TempDir() + "nodewise-records-" + std::to_string(::getpid())),
        pid_(::getpid()) {}
  void TearDown() override { ::unlink(name_.c_str()); }

  void make(std::size_t bytes) const {
    std::ofstream(name_, std::ios::binary) << std::string(bytes, '\0');
  }
  [[nodiscard]] std::string bytes() const {
    std::ifstream file(name_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] nodewise_agent_head head() const {
    nodewise_agent_head made{};
    bytes().copy(reinterpret_cast<char*>(&made), sizeof made);
    return made;
  }
  /// All that are there, in their order; a failure if there is anything else.
  [[nodiscard]] std::vector<nodewise_agent_allocation> allocations() const {
    std::vector<nodewise_agent_allocation> made;
    const std::string all = bytes();
    const std::uint64_t end = head().used;
    std::size_t at = sizeof(nodewise_agent_head);
    while (at < end) {
      nodewise_agent_allocation each{};
      all.copy(reinterpret_cast<char*>(&each), sizeof each, at);
      EXPECT_EQ(each.header.magic, NODEWISE_AGENT_MAGIC);
      EXPECT_EQ(each.header.bytes, sizeof each);
      EXPECT_EQ(each.header.checksum, nodewise_agent_checksum(all.data() + at, sizeof each));
      if (each.header.bytes != sizeof each) {
        break;
      }
      made.push_back(each);
      at += sizeof each;
    }
    return made;
  }

  static bool tell(record_file& file, std::uint64_t sequence, int pid,
                   nodewise_agent_kind kind = NODEWISE_AGENT_ALLOCATED) {
    nodewise_agent_allocation record{};
    record.sequence = sequence;
    return file.append(kind, pid, record.header, sizeof record);
  }

  std::string name_;
  int pid_;
};

TEST_F(Records, AreOneBehindTheOther) {
  make(1 << 16);
  record_file file;
  ASSERT_TRUE(file.map(name_.c_str()));
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(tell(file, i, pid_));
  }
  const auto found = allocations();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[2].sequence, 2U);
  EXPECT_EQ(found[2].header.pid, pid_);
  EXPECT_EQ(head().lost, 0U);
}

TEST_F(Records, OfAnyLengthLeaveTheNextOneAligned) {
  make(1 << 16);
  record_file file;
  ASSERT_TRUE(file.map(name_.c_str()));
  struct {
    nodewise_agent_header header;
    char text[16];
  } record{};
  for (std::size_t length = 0; length < 16; ++length) {
    EXPECT_TRUE(
        file.append(NODEWISE_AGENT_STACK, pid_, record.header, sizeof record.header + length));
    EXPECT_EQ(head().used % 8, 0U);
    EXPECT_EQ(record.header.bytes % 8, 0U);
  }
}

TEST_F(Records, WithoutRoomAreCountedAndNothingIsWritten) {
  make(8192);
  record_file file;
  ASSERT_TRUE(file.map(name_.c_str()));
  std::uint64_t written = 0;
  while (tell(file, written, pid_)) {
    ++written;
  }
  EXPECT_FALSE(tell(file, written, pid_));
  EXPECT_EQ(allocations().size(), written);
  EXPECT_EQ(head().lost, 2U);
  EXPECT_LE(head().used, 8192U * 7 / 8);
  EXPECT_TRUE(tell(file, written, pid_, NODEWISE_AGENT_END)); // has the last eighth to itself
  EXPECT_EQ(bytes().size(), 8192U);
}

TEST_F(Records, OfThreadsAndForkedProcessesDoNotMix) {
  constexpr int writers = 4;
  constexpr std::uint64_t each = 500;
  make(std::size_t{1} << 20);
  record_file file;
  ASSERT_TRUE(file.map(name_.c_str()));
  const pid_t child = ::fork();
  const int own = ::getpid();
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&file, own, writer] {
      for (std::uint64_t i = 0; i < each; ++i) {
        (void)tell(file, static_cast<std::uint64_t>(writer) * each + i, own);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (child == 0) {
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  std::set<std::pair<int, std::uint64_t>> seen;
  for (const nodewise_agent_allocation& allocation : allocations()) {
    seen.emplace(allocation.header.pid, allocation.sequence);
  }
  EXPECT_EQ(seen.size(), 2 * writers * each);
}

TEST_F(Records, AHeadThatLiesIsSurvived) {
  for (const std::uint64_t lie :
       {std::uint64_t{1}, std::uint64_t{8191}, UINT64_MAX - 7, UINT64_MAX}) {
    make(8192);
    record_file file;
    ASSERT_TRUE(file.map(name_.c_str()));
    std::fstream(name_, std::ios::in | std::ios::out | std::ios::binary)
        .write(reinterpret_cast<const char*>(&lie), sizeof lie);
    EXPECT_EQ(tell(file, 0, pid_), lie == 1);
  }
}

TEST_F(Records, NeedARegularFileWithRoom) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{4095}}) {
    make(bytes);
    EXPECT_FALSE(record_file{}.map(name_.c_str()));
  }
  ::unlink(name_.c_str());
  ASSERT_EQ(::mkfifo(name_.c_str(), 0600), 0);
  for (const char* name : {name_.c_str(), "/dev/full", "/dev/zero", "/", "/nonexistent/report"}) {
    record_file file;
    EXPECT_FALSE(file.map(name)) << name;
    EXPECT_FALSE(tell(file, 0, pid_));
  }
}

} // namespace
} // namespace nodewise::agent
