// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "counter/counted.hpp"

#include <cstdio>
#include <random>
#include <thread>

namespace nodewise::counter_test {
namespace {

/// Each processor in a thread of its own, as QEMU has them from version 9 on.
COUNTER_TEST(Parallel, ProcessorsCountEachLineOnce) {
  std::string machine = std::string(two_nodes) + shared_second_level;
  machine.replace(machine.find("parallel 0"), 10, "parallel 1");
  guest g(machine);
  g.say(0, "x100 prog");
  for (unsigned cpu = 1; cpu < 4; ++cpu) {
    g.say(cpu, "t100");
  }
  g.say(0, "u");
  constexpr unsigned lines = 4096;
  std::vector<std::thread> threads;
  for (unsigned cpu = 0; cpu < 4; ++cpu) {
    threads.emplace_back([&g, cpu] {
      std::mt19937 random(cpu);
      for (unsigned i = 0; i < lines; ++i) {
        g.load(cpu, on_node0 + (cpu * lines + i) * line, 8, pc + cpu); // its own
        g.store(cpu, on_node1 + random() % 16 * 8);                    // everybody's
        if (i % 256 == 0) {
          rig_forget(cpu);
          g.say(cpu, "o" + std::to_string(cpu + 1) + " 100000 1001000 heap prog 0x1 -");
        }
        if (i % 256 == 128) {
          g.say(cpu, "d" + std::to_string(cpu + 1));
          g.run(cpu, cpu + 4);
          g.run(cpu, cpu);
        }
      }
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
  unsigned long fills = 0;
  for (const std::string& each : g.records("code")) {
    unsigned long program = 0;
    unsigned long address = 0;
    unsigned long n[2];
    ASSERT_EQ(std::sscanf(each.c_str(), "%lu %lx %*s %lu %lu", &program, &address, &n[0], &n[1]),
              4);
    if (address != pc) {
      fills += n[0] + n[1];
    }
  }
  EXPECT_EQ(fills, 3 * lines);
  std::uint64_t used = 0;
  for (const std::string& each : g.records("traffic")) {
    unsigned long n[2];
    if (std::sscanf(each.c_str(), "%*u %*s use %*u %*u %lu %*u %lu", &n[0], &n[1]) == 2) {
      used += n[0] + n[1];
    }
  }
  std::uint64_t of_threads = 0;
  for (const std::string& each : g.records("users")) {
    for (std::size_t at = each.find(':'); at != std::string::npos; at = each.find(':', at + 1)) {
      of_threads += std::stoull(each.substr(at + 1));
    }
  }
  EXPECT_EQ(of_threads, used);
  EXPECT_GT(used, 0U);
  EXPECT_THAT(g.records("accesses"), testing::ElementsAre(std::to_string(8 * lines)));
  EXPECT_THAT(g.records("shared"), testing::Not(testing::IsEmpty()));
}

} // namespace
} // namespace nodewise::counter_test
