// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/threads.hpp"

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "topology/part_sets.hpp"

namespace nodewise::observe {

namespace {

/// /proc/PID/task/TID/syscall: number, six arguments, stack pointer, program counter. It is
/// "running" for a thread that is on a processor.
std::optional<std::uint64_t> stack_pointer_of(std::string_view text) {
  const std::vector<std::string_view> words = split(text, ' ');
  if (words.size() < 3 || !words[words.size() - 2].starts_with("0x")) {
    return std::nullopt;
  }
  const auto address = parse_number<std::uint64_t>(words[words.size() - 2].substr(2), 16);
  return address == std::uint64_t{0} ? std::nullopt : address;
}

cpu_set allowed_cpus(std::string_view status) {
  try {
    return cpu_set::parse(field_of(status, "Cpus_allowed_list:"));
  } catch (const error&) {
    return {};
  }
}

} // namespace

std::vector<thread_facts> read_threads(sys::process& of, const machine& on,
                                       const std::map<int, std::uint64_t>& ticks_before) {
  std::vector<thread_facts> all;
  for (const int tid : of.threads().value) {
    const std::string folder = fmt::format("task/{}/", tid);
    const auto task = read_task_stat(of, folder + "stat");
    if (!task) {
      continue; // it has ended meanwhile
    }
    const auto before = ticks_before.find(tid);
    const bool has_run = before == ticks_before.end() || before->second < task->cpu_ticks;
    all.push_back({*task, tid, node_of_cpu(on, task->last_cpu),
                   allowed_cpus(of.read_file(folder + "status").value),
                   task->state == 'R' || (!ticks_before.empty() && has_run),
                   stack_pointer_of(of.read_file(folder + "syscall").value)});
  }
  return all;
}

node_set nodes_of(const std::vector<thread_facts>& threads, bool only_active) {
  node_set nodes;
  for (const thread_facts& t : threads) {
    if (t.node != unknown_node && (t.active || !only_active)) {
      nodes.insert(t.node);
    }
  }
  return nodes;
}

} // namespace nodewise::observe
