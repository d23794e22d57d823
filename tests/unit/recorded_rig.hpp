// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Recordings made by hand, of a program with two threads on two nodes.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "attribution/assemble.hpp"

namespace nodewise::attribution::test {

inline constexpr std::uint64_t page = 4096;
inline constexpr std::uint64_t base = 0x7f0000000000;
inline constexpr int main_tid = 100;
inline constexpr int worker_tid = 101;

/// Two nodes with two processors each.
inline machine two_by_two() {
  machine made;
  for (int n = 0; n < 2; ++n) {
    memory_node node;
    node.id = node_id{n};
    node.cpus = cpu_set{cpu_id{2 * n}, cpu_id{2 * n + 1}};
    made.nodes.push_back(node);
  }
  return made;
}

/// A program with a main thread on node 0 and a worker on node 1.
struct rig {
  observe::recording recorded;
  launch::run_report reported;
  machine on = two_by_two();
  bool balancing = false;
  std::uint64_t migrated = 0;

  rig() {
    recorded.begin_ns = 1000;
    recorded.end_ns = 100'000;
    recorded.pid = main_tid;
    recorded.abilities.first_touches = true;
    task(1000, observe::task_change::executed, main_tid, main_tid, "solver");
    task(2000, observe::task_change::thread_started, main_tid, worker_tid, "");
    launch::process_report process;
    process.pid = main_tid;
    process.time_ns = 1500;
    process.program = "solver";
    process.totals.emplace();
    reported.processes.push_back(process);
  }

  void task(std::uint64_t time, observe::task_change what, int pid, int tid,
            const std::string& name) {
    recorded.log.take(observe::task_event{time, what, pid, tid, 1, 1, name});
  }
  void fault(std::uint64_t time, std::uint64_t address, int tid, int cpu,
             std::uint64_t ip = 0x1000) {
    observe::access_sample made;
    made.time_ns = time;
    made.address = address;
    made.ip = ip;
    made.pid = main_tid;
    made.tid = tid;
    made.cpu = cpu;
    recorded.log.take(made);
  }
  /// An object of so many pages from `allocated` to `freed` (0: it lives on).
  launch::object_report& object(std::uint64_t sequence, std::uint64_t start, std::uint64_t pages,
                                std::uint64_t allocated, std::uint64_t freed) {
    launch::allocation_report allocation;
    allocation.sequence = sequence;
    allocation.start = start;
    allocation.bytes = pages * page;
    allocation.time_ns = allocated;
    allocation.tid = main_tid;
    reported.processes[0].allocations.push_back(allocation);
    launch::object_report made;
    made.sequence = sequence;
    made.start = start;
    made.bytes = pages * page;
    made.pages = made.resident = pages;
    made.allocated_ns = allocated;
    made.freed_ns = freed == 0 ? 99'000 : freed;
    made.live_at_end = freed == 0;
    made.caller_module = "solver";
    made.caller_offset = 0x40 + sequence;
    made.where = {{0, pages, node_id{0}}};
    reported.processes[0].objects.push_back(made);
    return reported.processes[0].objects.back();
  }
  profile::profile assembled(std::size_t huge_bytes = 0) {
    recorded.log.finish();
    return assemble({recorded, reported, on, page, balancing, migrated}, huge_bytes);
  }
};

inline const profile::object& object_of(const profile::profile& all, std::uint64_t id) {
  for (const profile::object& each : all.programs.at(0).objects) {
    if (each.id == id) {
      return each;
    }
  }
  throw std::out_of_range("no such object");
}

} // namespace nodewise::attribution::test
