// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Writes the agent's orders as the text that agent/protocol.h describes.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "agent/protocol.h"
#include "base/text.hpp"
#include "launch/plan.hpp"

namespace nodewise::launch {

namespace {

/// Encodes a name so that it has no special characters of the settings, except these.
std::string encoded(const std::string& name, std::string_view special = "") {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "_-./";
  return joined(name, "", [&](char letter) {
    return plain.find(letter) != std::string_view::npos ||
                   special.find(letter) != std::string_view::npos
               ? std::string(1, letter)
               : fmt::format("%{:02X}", static_cast<unsigned char>(letter));
  });
}

std::string settings_text(const agent_orders& orders, const std::string& report) {
  const bool watches_memory = orders.places_memory() || orders.observe;
  std::string text = fmt::format("{};threshold={}", NODEWISE_AGENT_SETTINGS,
                                 watches_memory || orders.huge_page_bytes != 0
                                     ? orders.threshold_bytes
                                     : std::size_t{std::numeric_limits<std::ptrdiff_t>::max()});
  if (watches_memory && orders.group_bytes != 0) {
    text += fmt::format(";group={}", orders.group_bytes);
  }
  const auto add = [&](const char* key, const std::string& value) {
    text += value.empty() ? "" : fmt::format(";{}={}", key, value);
  };
  add("owners", placements::wire_text(placements::runs_of(orders.owners)));
  add("default", orders.standard ? placements::wire_text(orders.standard->what) : "");
  for (const agent_rule& rule : orders.rules) {
    add("rule", text_of(rule));
  }
  add("huge", orders.huge_page_bytes == 0 ? "" : fmt::format("{}", orders.huge_page_bytes));
  add("pin", joined(orders.thread_places, "|", &cpu_set::to_string));
  text += orders.main_works ? ";main" : "";
  text += orders.observe ? ";observe" : "";
  text += orders.trace ? ";trace" : "";
  text += orders.numa_pin ? ";numa-pin" : "";
  text += orders.announce ? ";announce" : "";
  text += orders.quiet ? ";quiet" : "";
  text += orders.read_files ? ";read-files" : "";
  add("report", report);
  return text;
}

[[noreturn]] void refuse(std::size_t wanted, const char* what, std::size_t most) {
  throw error(error_kind::usage, fmt::format("orders for the agent with {} {}", wanted, what),
              fmt::format("the agent takes at most {}", most),
              "give fewer objects a rule, or ask for coarser parts");
}

/// Checks the agent's limits here, not only when the program runs.
void check_limits(const agent_orders& orders) {
  std::size_t runs = placements::runs_of(orders.owners).size();
  std::size_t code = 0;
  std::size_t above = 0;
  if (orders.standard) {
    runs += orders.standard->what.owners.size();
  }
  for (const agent_rule& rule : orders.rules) {
    runs += rule.where.what.owners.size();
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
  return fmt::format("{}:{}libnodewise-trace.so", orders.library, folder);
}

} // namespace

std::string text_of(const agent_rule& rule) {
  const std::string kind = rule.kind.empty() ? "" : fmt::format("kind={},", rule.kind);
  std::string text = fmt::format("{}least={}", kind, rule.least_bytes);
  if (rule.most_bytes) {
    text += fmt::format(",most={}", *rule.most_bytes);
  }
  if (rule.symbol) {
    text += fmt::format(",symbol={}", encoded(*rule.symbol));
  }
  if (rule.file) {
    text += fmt::format(",file={}", encoded(*rule.file, "*?"));
  }
  for (const auto& [key, ranges] : {std::pair{"code", &rule.code}, {"above", &rule.above}}) {
    for (const code_range& range : *ranges) {
      text += fmt::format(",{}={}+{}-{}", key, encoded(range.module), range.first, range.last);
    }
  }
  if (rule.first || rule.last) {
    constexpr auto end = std::numeric_limits<std::uint64_t>::max();
    text += fmt::format(",nth={}-{}", rule.first.value_or(0), rule.last.value_or(end));
  }
  return fmt::format("{}:{}", text, placements::wire_text(rule.where.what));
}

std::vector<variable> agent_variables(const agent_orders& orders, const std::string& report,
                                      environment get) {
  if (orders.library.find_first_of(": ") != std::string::npos) {
    throw error(error_kind::system, fmt::format("the agent {}", orders.library),
                "LD_PRELOAD cannot hold a path with a blank or a colon",
                "install nodewise under a path without them");
  }
  // The agent comes before the user's preloads and calls them: after another malloc it would see no
  // calls.
  const char* const others = get == nullptr ? std::getenv("LD_PRELOAD") : get("LD_PRELOAD");
  std::string preload = libraries_of(orders);
  if (others != nullptr && *others != '\0') {
    preload += fmt::format(":{}", others);
  }
  check_limits(orders);
  const std::string settings = settings_text(orders, report);
  if (settings.size() + sizeof NODEWISE_AGENT_VARIABLE + 1 > longest_variable) {
    refuse(settings.size(), "bytes of text", longest_variable - sizeof NODEWISE_AGENT_VARIABLE - 1);
  }
  return {{"LD_PRELOAD", preload}, {NODEWISE_AGENT_VARIABLE, settings}};
}

} // namespace nodewise::launch
