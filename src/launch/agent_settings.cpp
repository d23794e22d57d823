// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Writes the agent's orders as the text that agent/protocol.h describes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include <nodewise/error.hpp>

#include "agent/protocol.h"
#include "launch/plan.hpp"

namespace nodewise::launch {

namespace {

/// "0*4,1*4"
std::string run_lengths(const std::vector<node_id>& owners) {
  std::string text;
  for (std::size_t i = 0; i < owners.size();) {
    std::size_t end = i;
    while (end < owners.size() && owners[end] == owners[i]) {
      ++end;
    }
    text += text.empty() ? "" : ",";
    text += std::to_string(to_int(owners[i])) + "*" + std::to_string(end - i);
    i = end;
  }
  return text;
}

std::string node_list(const std::vector<node_id>& nodes) {
  std::string text;
  for (const node_id node : nodes) {
    text += (text.empty() ? "" : ",") + std::to_string(to_int(node));
  }
  return text;
}

/// Encodes a name so that it has no special characters of the settings.
std::string encoded(const std::string& name) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "_-./";
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string text;
  for (const char letter : name) {
    if (plain.find(letter) != std::string_view::npos) {
      text += letter;
    } else {
      const auto byte = static_cast<unsigned char>(letter);
      text += {'%', digits[byte / 16U], digits[byte % 16U]};
    }
  }
  return text;
}

std::string text_of(const agent_placement& where) {
  switch (where.mode) {
  case memory_mode::local:
    return "local";
  case memory_mode::bind:
    return "bind@" + node_list(where.owners);
  case memory_mode::prefer:
    return "prefer@" + node_list(where.owners);
  case memory_mode::interleave:
    return "interleave@" + node_list(where.owners);
  case memory_mode::blocked:
    return "blocked";
  case memory_mode::cyclic:
    return "cyclic@" + std::to_string(where.granule_bytes) + "@" + run_lengths(where.owners);
  case memory_mode::map:
    return "map@" + run_lengths(where.owners);
  default:
    return "none";
  }
}

std::string text_of(const agent_rule& rule) {
  std::string text;
  const auto add = [&](const std::string& condition) {
    text += (text.empty() ? "" : ",") + condition;
  };
  if (!rule.kind.empty()) {
    add("kind=" + rule.kind);
  }
  add("least=" + std::to_string(rule.least_bytes));
  if (rule.most_bytes) {
    add("most=" + std::to_string(*rule.most_bytes));
  }
  if (rule.symbol) {
    add("symbol=" + encoded(*rule.symbol));
  }
  for (const code_range& range : rule.code) {
    add("code=" + encoded(range.module) + "+" + std::to_string(range.first) + "-" +
        std::to_string(range.last));
  }
  for (const code_range& range : rule.above) {
    add("above=" + encoded(range.module) + "+" + std::to_string(range.first) + "-" +
        std::to_string(range.last));
  }
  if (rule.first || rule.last) {
    constexpr auto end = std::numeric_limits<std::uint64_t>::max();
    add("nth=" + std::to_string(rule.first.value_or(0)) + "-" +
        std::to_string(rule.last.value_or(end)));
  }
  return text + ":" + text_of(rule.where);
}

std::string settings_text(const agent_orders& orders, const std::string& report) {
  const bool watches_memory = orders.places_memory() || orders.observe;
  std::string text = NODEWISE_AGENT_SETTINGS;
  text += ";threshold=" +
          std::to_string(watches_memory ? orders.threshold_bytes
                                        : std::size_t{std::numeric_limits<std::ptrdiff_t>::max()});
  if (watches_memory && orders.group_bytes != 0) {
    text += ";group=" + std::to_string(orders.group_bytes);
  }
  text += orders.owners.empty() ? "" : ";owners=" + run_lengths(orders.owners);
  text += orders.standard ? ";default=" + text_of(*orders.standard) : "";
  for (const agent_rule& rule : orders.rules) {
    text += ";rule=" + text_of(rule);
  }
  std::string places;
  for (const cpu_set& place : orders.thread_places) {
    places += (places.empty() ? "" : "|") + place.to_string();
  }
  text += places.empty() ? "" : ";pin=" + places;
  text += orders.main_works ? ";main" : "";
  text += orders.observe ? ";observe" : "";
  text += orders.trace ? ";trace" : "";
  text += orders.numa_pin ? ";numa-pin" : "";
  text += orders.announce ? ";announce" : "";
  text += orders.quiet ? ";quiet" : "";
  text += report.empty() ? "" : ";report=" + report;
  return text;
}

/// The kernel's limit for one variable, including its name and terminator (MAX_ARG_STRLEN).
constexpr std::size_t longest_variable = std::size_t{128} << 10;

std::size_t count_runs(const std::vector<node_id>& owners) {
  std::size_t runs = 0;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    runs += i == 0 || owners[i] != owners[i - 1] ? 1U : 0U;
  }
  return runs;
}

[[noreturn]] void refuse(std::size_t wanted, const std::string& what, std::size_t most) {
  throw error(error_kind::usage, "orders for the agent with " + std::to_string(wanted) + " " + what,
              "it takes " + std::to_string(most) + " at most",
              "give fewer objects a rule, or ask for coarser parts");
}

/// Checks the agent's limits here, not only when the program runs.
void check_limits(const agent_orders& orders) {
  std::size_t runs = count_runs(orders.owners);
  std::size_t code = 0;
  std::size_t above = 0;
  if (orders.standard) {
    runs += count_runs(orders.standard->owners);
  }
  for (const agent_rule& rule : orders.rules) {
    runs += count_runs(rule.where.owners);
    code += rule.code.size();
    above += rule.above.size();
  }
  if (orders.rules.size() > NODEWISE_AGENT_MAX_RULES) {
    refuse(orders.rules.size(), "rules", NODEWISE_AGENT_MAX_RULES);
  }
  if (runs > NODEWISE_AGENT_MAX_RUNS) {
    refuse(runs, "parts", NODEWISE_AGENT_MAX_RUNS);
  }
  if (std::max(code, above) > NODEWISE_AGENT_MAX_CODE) {
    refuse(std::max(code, above), "places in code", NODEWISE_AGENT_MAX_CODE);
  }
}

/// The agent, followed by the library that records reads.
std::string libraries_of(const agent_orders& orders) {
  if (!orders.trace) {
    return orders.library;
  }
  const std::string folder = orders.library.substr(0, orders.library.rfind('/') + 1);
  return orders.library + ":" + folder + "libnodewise-trace.so";
}

} // namespace

std::vector<variable> agent_variables(const agent_orders& orders, const std::string& report,
                                      environment get) {
  if (orders.library.find_first_of(": ") != std::string::npos) {
    throw error(error_kind::system, "the agent " + orders.library,
                "LD_PRELOAD cannot hold a path with a blank or a colon",
                "install nodewise under a path without them");
  }
  // The agent comes before the user's preloads and calls them: after another malloc it would see no
  // calls.
  const char* const others = get == nullptr ? std::getenv("LD_PRELOAD") : get("LD_PRELOAD");
  std::string preload = libraries_of(orders);
  if (others != nullptr && *others != '\0') {
    preload += std::string(":") + others;
  }
  check_limits(orders);
  const std::string settings = settings_text(orders, report);
  if (settings.size() + sizeof NODEWISE_AGENT_VARIABLE + 1 > longest_variable) {
    refuse(settings.size(), "bytes of text", longest_variable - sizeof NODEWISE_AGENT_VARIABLE - 1);
  }
  return {{"LD_PRELOAD", preload}, {NODEWISE_AGENT_VARIABLE, settings}};
}

} // namespace nodewise::launch
