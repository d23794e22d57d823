// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "base/shell_word.hpp"
#include "launch/plan.hpp"

namespace nodewise::launch {

namespace {

std::string variables_text(const std::vector<variable>& variables) {
  std::string removed;
  std::string set;
  for (const variable& each : variables) {
    if (each.value) {
      set += each.name + "=" + shell_word(*each.value) + " ";
    } else {
      removed += "-u " + each.name + " ";
    }
  }
  return removed.empty() ? set : "env " + removed + set;
}

std::string memory_option(const memory_policy& policy) {
  const std::string nodes = policy.nodes.to_string();
  switch (policy.mode) {
  case sys::policy::bind_and_balance:
    return "--balancing --membind=" + nodes + " ";
  case sys::policy::bind:
    return "--membind=" + nodes + " ";
  case sys::policy::interleave:
    return "--interleave=" + nodes + " ";
  case sys::policy::preferred:
    return "--preferred=" + nodes + " ";
  case sys::policy::preferred_many:
    return "--preferred-many=" + nodes + " ";
  case sys::policy::weighted_interleave:
    return "--weighted-interleave=" + nodes + " ";
  case sys::policy::local:
  case sys::policy::system_default:
    break;
  }
  return "--localalloc ";
}

/// "0x10f": the format of srun for processors and nodes.
template <class Id>
std::string mask_of(const id_set<Id>& ids) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (int first = ids.highest() / 4 * 4; first >= 0; first -= 4) {
    unsigned value = 0;
    for (int bit = 0; bit < 4; ++bit) {
      value |= ids.contains(Id{first + bit}) ? 1U << static_cast<unsigned>(bit) : 0U;
    }
    text += digits[value];
  }
  return "0x" + text;
}

/// The options of srun with the same effect on a task; the only policy with one is binding.
std::string srun_options(const plan& what) {
  std::string text;
  if (what.affinity) {
    text += "--cpu-bind=mask_cpu:" + mask_of(*what.affinity) + " ";
  }
  if (what.memory && what.memory->mode == sys::policy::bind) {
    text += "--mem-bind=mask_mem:" + mask_of(what.memory->nodes) + " ";
  }
  return text;
}

/// What the shell line does not cover, as comments: other tools that do it, and what no tool does.
std::string comments(const plan& what, const std::string& command) {
  std::string text;
  for (const std::string& line :
       what.agent ? measured_texts(*what.agent) : std::vector<std::string>{}) {
    text += line.find('\n') == std::string::npos ? "# " + line + "\n" : "";
  }
  if (what.rank) {
    text += "# This is the line of local rank " + std::to_string(*what.rank) +
            "; other ranks have other processors.\n";
  }
  if (what.agent && !what.agent->thread_places.empty()) {
    text +=
        "# The preloaded agent pins threads that are not OpenMP's, one to each place in turn.\n";
  }
  if (command.find('\n') + 1 != command.size()) {
    return text; // a word with a newline cannot be in a comment
  }
  if (const std::string options = srun_options(what); !options.empty() && !what.rank) {
    text += "# srun " + options + command;
  }
  if (!what.pinned || !what.layout) {
    return text;
  }
  std::string list;
  for (const thread_place& thread : what.layout->threads()) {
    list += (list.empty() ? "" : ",") + std::to_string(to_int(thread.place.first()));
  }
  text += "# likwid-pin -c " + list + " " + command;
  return text + "# taskset -c " + what.layout->cpus().to_string() + " " + command;
}

std::string measured_text(const measured_weights& what) {
  std::string text;
  for (const plans::memory_weight& each : what.weights) {
    text += (text.empty() ? "weighted:" : ",") + std::to_string(to_int(each.node)) + "=" +
            std::to_string(each.weight);
  }
  return text + " as measured: " + what.file;
}

} // namespace

std::vector<std::string> measured_texts(const agent_orders& orders) {
  std::vector<std::string> lines;
  if (orders.standard && orders.standard->weights) {
    lines.push_back("--memory " + measured_text(*orders.standard->weights));
  }
  for (const agent_rule& rule : orders.rules) {
    if (rule.where.weights) {
      lines.push_back("--rule " + rule.text + " is " + measured_text(*rule.where.weights));
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
  std::string command;
  for (const std::string& word : what.command) {
    command += (command.empty() ? "" : " ") + shell_word(word);
  }
  command += "\n";
  std::string text = comments(what, command) + variables_text(variables);
  if (what.affinity || what.memory) {
    text += what.widened ? "numactl --all " : "numactl ";
    text += what.affinity ? "--physcpubind=" + what.affinity->to_string() + " " : "";
    text += what.memory ? memory_option(*what.memory) : "";
    text += "-- ";
  }
  return text + command;
}

} // namespace nodewise::launch
