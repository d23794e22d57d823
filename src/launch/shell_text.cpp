// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "launch/plan.hpp"

namespace nodewise::launch {

namespace {

/// As a shell takes it for one word.
std::string shell_word(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "_-+=./,:@%^";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string text = "'";
  for (const char letter : word) {
    text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return text + "'";
}

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

} // namespace

std::string shell_text(const plan& what) {
  std::vector<variable> variables = what.variables;
  if (what.agent) {
    for (variable& each : agent_variables(*what.agent, "")) {
      variables.push_back(std::move(each));
    }
  }
  std::string text = variables_text(variables);
  if (what.affinity || what.memory) {
    text += "numactl ";
    text += what.affinity ? "--physcpubind=" + what.affinity->to_string() + " " : "";
    text += what.memory ? memory_option(*what.memory) : "";
    text += "-- ";
  }
  for (const std::string& word : what.command) {
    text += shell_word(word) + " ";
  }
  text.back() = '\n';
  return text;
}

} // namespace nodewise::launch
