// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A guest, seen from the counter: processors that run tasks, which access memory and say things.
// The outcome is the counts file, compared line by line.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#include "counter/rig.h"

namespace nodewise::counter_test {

inline constexpr std::uint64_t line = 64;
inline constexpr std::uint64_t page = 4096;
/// Each node has 16 MiB, one after the other.
inline constexpr std::uint64_t node_bytes = 16 << 20;
inline constexpr std::uint64_t on_node0 = 0x100000;
inline constexpr std::uint64_t on_node1 = node_bytes + 0x100000;
inline constexpr std::uint64_t pc = 0x401000;

/// Two nodes with two cores each; no caches yet.
extern const char* const two_nodes;
/// First level: 2 sets of 2 lines. Second: 4 sets of 2 lines, or with `shared`, of the node.
extern const char* const one_level;
extern const char* const two_levels;
extern const char* const shared_second_level;

/// The address of a task's structure in the guest's kernel.
constexpr std::uint64_t task(unsigned number) {
  return 0xffff888000001000U + number * std::uint64_t{0x1000};
}

/// A file in memory, to be opened by path.
class memory_file {
 public:
  explicit memory_file(std::string_view text = "");
  ~memory_file();
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;

  [[nodiscard]] std::string path() const;
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  int fd_;
};

class guest {
 public:
  /// Installs the counter. With `booted`, the self-test is over, counting has begun, and each of
  /// four processors runs the task of its number, which belongs to no program.
  explicit guest(const std::string& machine, bool booted = true);

  void run(unsigned cpu, unsigned task_number) { rig_switch(cpu, task(task_number)); }
  void mark(unsigned cpu, int code) { rig_mark(cpu, code); }
  /// A whole message.
  void say(unsigned cpu, std::string_view text);
  /// A message without its begin and end.
  void say_bytes(unsigned cpu, std::string_view text);
  void load(unsigned cpu, std::uint64_t address, unsigned bytes = 8, std::uint64_t by = pc) {
    rig_access(cpu, 0, bytes, address, by);
  }
  void store(unsigned cpu, std::uint64_t address, unsigned bytes = 8, std::uint64_t by = pc) {
    rig_access(cpu, 1, bytes, address, by);
  }
  void execute(unsigned cpu, unsigned instructions) { rig_execute(cpu, instructions); }
  void stream(unsigned cpu, std::uint64_t address, unsigned bytes = 8) {
    rig_stream(cpu, bytes, address, pc);
  }
  /// One access to each of `lines` lines from `start` on.
  void load_lines(unsigned cpu, std::uint64_t start, unsigned lines);
  void store_lines(unsigned cpu, std::uint64_t start, unsigned lines);

  /// What has been written so far.
  [[nodiscard]] std::vector<std::string> lines() const { return result_.lines(); }
  /// Ends the count, once, and returns the records of this kind without its name.
  std::vector<std::string> records(std::string_view kind);

 private:
  memory_file result_;
  bool finished_ = false;
};

/// Runs a test in a process of its own, since the counter's state is one for the process.
void in_a_process_of_its_own(const std::function<void()>& body);

} // namespace nodewise::counter_test

#define COUNTER_TEST(suite, name)                                                                  \
  static void suite##_##name();                                                                    \
  TEST(suite, name) {                                                                              \
    ::nodewise::counter_test::in_a_process_of_its_own(suite##_##name);                             \
  }                                                                                                \
  static void suite##_##name()
