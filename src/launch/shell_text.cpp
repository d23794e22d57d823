// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.hpp"
#include "launch/mask_text.hpp"
#include "launch/numa_balancing.hpp"
#include "launch/plan.hpp"

namespace nodewise::launch {

namespace {

std::string variables_text(const std::vector<variable>& variables) {
  std::string removed;
  std::string set;
  for (const variable& each : variables) {
    if (each.value) {
      set += fmt::format("{}={} ", each.name, shell_word(*each.value));
    } else {
      removed += fmt::format("-u {} ", each.name);
    }
  }
  return removed.empty() ? set : fmt::format("env {}{}", removed, set);
}

constexpr policy_words all_policies[] = {
    {sys::policy::system_default, "inherited", "local", "--localalloc"},
    {sys::policy::local, "local", "local", "--localalloc"},
    {sys::policy::bind, "bind", "bound to node ", "--membind="},
    {sys::policy::bind_and_balance, "bind", "bound to node ", "--balancing --membind=",
     "balancing within --membind needs Linux 5.12: leave --balancing out"},
    {sys::policy::interleave, "interleave", "interleaved over node ", "--interleave="},
    {sys::policy::weighted_interleave, "weighted interleave", "interleaved by weight over node ",
     "--weighted-interleave=",
     "the kernel's weights need Linux 6.9: give --memory weighted:0=3,1=1, which needs none, or "
     "interleave without weights"},
    {sys::policy::preferred, "prefer", "preferred on node ", "--preferred="},
    {sys::policy::preferred_many, "prefer", "preferred on node ",
     "--preferred-many=", "several preferred nodes need Linux 5.15: name one"},
};

/// The options of srun with the same effect on a task; the only policy with one is binding.
std::string srun_options(const plan& what) {
  std::string text;
  if (what.affinity) {
    text += fmt::format("--cpu-bind=mask_cpu:{} ", mask_of(*what.affinity));
  }
  if (what.memory && what.memory->mode == sys::policy::bind) {
    text += fmt::format("--mem-bind=mask_mem:{} ", mask_of(what.memory->nodes));
  }
  return text;
}

/// What the shell line does not cover, as comments: other tools that do it, and what no tool does.
std::string comments(const plan& what, const std::string& command) {
  std::string text;
  for (const std::string& line :
       what.agent ? measured_texts(*what.agent) : std::vector<std::string>{}) {
    text += line.find('\n') == std::string::npos ? fmt::format("# {}\n", line) : "";
  }
  if (what.numa_balancing) {
    text += fmt::format("# Until the program ends, as root: sysctl {} (for the whole system)\n",
                        numa_balancing_sysctl(*what.numa_balancing));
  }
  if (what.rank) {
    text += fmt::format(
        "# This is the line of local rank {}{}; other ranks have other processors.\n", *what.rank,
        what.rank_device.empty() ? "" : fmt::format(", near {}", what.rank_device));
  }
  if (what.huge_pages && !*what.huge_pages) {
    text += "# No shell command switches huge pages off for one program; --huge-pages off calls "
            "prctl(PR_SET_THP_DISABLE, 1).\n";
  }
  if (what.agent && what.agent->huge_page_bytes != 0) {
    text += "# The preloaded agent requests huge pages for large arrays: madvise(MADV_HUGEPAGE).\n";
  }
  if (what.agent && !what.agent->thread_places.empty()) {
    text +=
        "# The preloaded agent pins threads that are not OpenMP's, one to each place in turn.\n";
  }
  if (command.find('\n') + 1 != command.size()) {
    return text; // a word with a newline cannot be in a comment
  }
  if (const std::string options = srun_options(what); !options.empty() && !what.rank) {
    text += fmt::format("# srun {}{}", options, command);
  }
  if (!what.pinned || !what.layout) {
    return text;
  }
  const auto first_cpu = [](const thread_place& thread) { return thread.place.first(); };
  return fmt::format("{0}# likwid-pin -c {1} {3}# taskset -c {2} {3}", text,
                     joined(what.layout->threads(), ",", first_cpu),
                     what.layout->cpus().to_string(), command);
}

std::string measured_text(const agent_placement& where) {
  return fmt::format("{} as measured: {}", placements::text_of(where.what), where.measured_in);
}

} // namespace

const policy_words& words_of(sys::policy mode) noexcept {
  return *std::ranges::find(all_policies, mode, &policy_words::mode);
}

std::vector<std::string> measured_texts(const agent_orders& orders) {
  std::vector<std::string> lines;
  if (orders.standard && !orders.standard->measured_in.empty()) {
    lines.push_back(fmt::format("--memory {}", measured_text(*orders.standard)));
  }
  for (const agent_rule& rule : orders.rules) {
    if (!rule.where.measured_in.empty()) {
      lines.push_back(fmt::format("--rule {} is {}", rule.text, measured_text(rule.where)));
    }
  }
  return lines;
}

std::string shell_text(const plan& what) {
  std::vector<variable> variables = what.variables;
  if (what.agent) {
    for (variable& each : agent_variables(*what.agent, "")) {
      variables.push_back(std::move(each));
    }
  }
  const std::string command = joined(what.command, " ", shell_word) + "\n";
  std::string text = comments(what, command) + variables_text(variables);
  if (what.affinity || what.memory) {
    text += what.widened ? "numactl --all " : "numactl ";
    text += what.affinity ? fmt::format("--physcpubind={} ", what.affinity->to_string()) : "";
    text += what.memory ? fmt::format("{}{} ", words_of(what.memory->mode).numactl,
                                      what.memory->nodes.to_string())
                        : "";
    text += "-- ";
  }
  return text + command;
}

} // namespace nodewise::launch
