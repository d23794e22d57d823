// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/start/start_run.hpp"

#include <stdexcept>

#include <unistd.h>

#include "base/text.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/start/flags.hpp"
#include "launch/numa_balancing.hpp"
#include "launch/start.hpp"
#include "sys/kernel.hpp"
#include "topology/part_sets.hpp"

namespace nodewise::cli {

namespace {

/// "physcpubind: 0 1 2 " with numactl's trailing blank.
template <class Id>
std::string numbers_line(std::string_view name, const id_set<Id>& numbers) {
  const std::string listed = joined(numbers, "", [](Id id) { return fmt::format("{} ", id); });
  return fmt::format("{}: {}\n", name, listed);
}

std::string_view mode_word(sys::policy mode) {
  // By the kernel's numbers.
  constexpr std::array<std::string_view, 7> words = {
      "default",        "preferred",          "bind", "interleave", "local",
      "preferred-many", "weighted-interleave"};
  if (mode == sys::policy::bind_and_balance) {
    return "bind (balancing)"; // numactl 2.0 prints the number
  }
  const auto at = static_cast<std::size_t>(mode);
  return at < words.size() ? words[at] : "unknown";
}

bool interleaves(const sys::task_policy& policy) {
  return policy.mode == sys::policy::interleave || policy.mode == sys::policy::weighted_interleave;
}

std::string preferred_node(const sys::task_policy& policy) {
  if (interleaves(policy)) {
    return fmt::format("{} (interleave next)", policy.next_node);
  }
  if (policy.mode == sys::policy::preferred_many) {
    return fmt::format("{} (preferred-many)", policy.next_node);
  }
  return policy.nodes.empty() ? "current" : fmt::format("{}", policy.nodes.first());
}

std::string distances_text(const machine& what) {
  if (what.nodes.size() > 1 && what.distances.empty()) {
    return "No distance information available.\n";
  }
  std::string text = "node distances:\nnode ";
  for (const memory_node& node : what.nodes) {
    text += fmt::format("{:>3} ", node.id);
  }
  for (const memory_node& from : what.nodes) {
    text += fmt::format("\n{:>3}: ", from.id);
    for (const memory_node& to : what.nodes) {
      // A single node's distance is not read: it is always 10.
      const int standard = from.id == to.id ? 10 : 0;
      text += fmt::format("{:>3} ", what.distance(from.id, to.id).value_or(standard));
    }
  }
  return text + "\n";
}

std::string show_text(const topology& here, const cpu_set& affinity,
                      const sys::task_policy& policy) {
  std::string text = fmt::format("policy: {}\npreferred node: {}\n", mode_word(policy.mode),
                                 preferred_node(policy));
  if (interleaves(policy)) {
    text += numbers_line("interleavemask", policy.nodes);
    text += fmt::format("interleavenode: {}\n", policy.next_node);
  }
  const node_set nodes = nodes_if(
      here.machine(), [&](const memory_node& node) { return node.cpus.intersects(affinity); });
  const bool bound =
      policy.mode == sys::policy::bind || policy.mode == sys::policy::bind_and_balance;
  return text + numbers_line("physcpubind", affinity) + numbers_line("cpubind", nodes) +
         numbers_line("nodebind", nodes) +
         numbers_line("membind", bound ? policy.nodes : here.memory_nodes()) +
         numbers_line("preferred", policy.nodes);
}

std::string hardware_text(const topology& here, sys::kernel& kernel) {
  const machine& all = here.machine();
  std::string text =
      fmt::format("available: {} nodes ({})\n", all.nodes.size(), all.node_ids().to_string());
  for (const memory_node& node : all.nodes) {
    const std::string cpus =
        joined(node.cpus, "", [](cpu_id cpu) { return fmt::format(" {}", cpu); });
    const auto now = sys::read_node_memory(kernel, node.id);
    text += fmt::format("node {0} cpus:{1}\nnode {0} size: {2} MB\nnode {0} free: {3}\n", node.id,
                        cpus, node.memory_bytes >> 20, // in MB as numactl counts them
                        now ? fmt::format("{} MB", now->free_bytes >> 20) : "<not available>");
  }
  return text + distances_text(all);
}

/// Shows the kernel's settings of this thread once it is placed as the program would be.
void show(const launch::plan& what, const topology& here) {
  launch::apply(what, "", sys::real_kernel());
  const auto affinity = sys::real_kernel().get_affinity(0);
  const auto policy = sys::read_task_policy();
  if (!affinity || !policy) {
    throw error(error_kind::system, option_name(flags::show),
                affinity ? "get_mempolicy was refused" : "sched_getaffinity was refused",
                "a container's seccomp filter forbids it: use a profile that permits it",
                affinity ? policy.errno_value : affinity.errno_value);
  }
  write_out(show_text(here, affinity.value, policy.value));
}

launch::run_options complete_options(const invocation& given, const run_parts& parts) {
  launch::run_options options = read_run_options(given);
  if (given.has(flags::show)) {
    options.command.clear(); // a named program is not started
  }
  if (parts.complete) {
    parts.complete(options);
  }
  launch::take_threads_of_plan(options);
  if (options.huge_pages.value_or(false)) {
    options.huge_page_mode = sys::read_huge_page_mode(sys::real_kernel());
    options.huge_page_bytes = sys::real_kernel().thp_bytes();
  }
  if (options.widen || options.ranks_per) {
    options.affinity_was = launch::widen_affinity(sys::real_kernel());
  }
  return options;
}

} // namespace

void warn(const std::vector<std::string>& warnings, const invocation& given) {
  if (given.has(flags::quiet)) {
    return;
  }
  const report::style how = style_of(STDERR_FILENO, given);
  for (const std::string& each : warnings) {
    write_error(report::warning_text(each, how));
  }
}

int start_run(const invocation& given, const run_parts& parts) {
  if (given.has(flags::on_counts) && !given.has(flags::on)) {
    throw error(error_kind::usage, "--on-counts without --on",
                "memory traffic is only counted in virtual machines",
                "add for example --on lab:4x2");
  }
  if (given.has(flags::hardware)) {
    write_out(hardware_text(topology::from_sysfs(), sys::real_kernel()));
    return exit_code::ok;
  }
  const launch::run_options options = complete_options(given, parts);
  const topology here = parts.machine ? parts.machine(options)
                                      : topology::from_sysfs("/", launch::detail_for(options));
  const launch::plan what = launch::make_plan(options, here);
  warn(what.warnings, given);
  if (given.has(flags::dry_run)) {
    write_out(launch::shell_text(what));
    return exit_code::ok;
  }
  if (given.has(flags::show)) {
    show(what, here);
    return exit_code::ok;
  }
  if (const auto restored = launch::restore_numa_balancing(sys::real_kernel())) {
    warn({*restored}, given);
  }
  if (what.supervised || what.numa_balancing) {
    if (!parts.supervise) {
      throw std::logic_error("this executable cannot supervise a run");
    }
    parts.supervise(what, here, given);
  }
  launch::apply(what, "", sys::real_kernel());
  launch::become(what);
}

} // namespace nodewise::cli
