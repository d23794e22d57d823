// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Plans which memory policy the program inherits and what the agent places.
#include <algorithm>
#include <charconv>
#include <utility>

#include "launch/counted.hpp"
#include "launch/executable.hpp"
#include "launch/planning.hpp"
#include "spec/spec.hpp"

namespace nodewise::launch {

namespace {

node_set memory_nodes(const planning& now, const std::optional<typed_list>& list) {
  return resolved(list.value_or(typed_list{"all", "all memory"}), [&](const std::string& text) {
    return spec::resolve_nodes(text, now.here, spec::node_purpose::memory);
  });
}

bool is_agents(memory_mode mode) {
  return mode == memory_mode::weighted || mode == memory_mode::blocked ||
         mode == memory_mode::cyclic || mode == memory_mode::map;
}

memory_policy preferred(const planning& now, const memory_choice& choice) {
  node_set nodes = memory_nodes(now, choice.nodes);
  if (choice.mode == memory_mode::prefer_one && nodes.size() != 1) {
    throw error(error_kind::usage, choice.nodes->option + " " + choice.nodes->text,
                "it takes one node", "--preferred-many (-P) takes several");
  }
  const bool one = nodes.size() == 1 && choice.mode != memory_mode::prefer_many;
  return {one ? sys::policy::preferred : sys::policy::preferred_many, std::move(nodes)};
}

/// The policy of the whole process, if the kernel has a policy for the choice.
std::optional<memory_policy> process_policy(const planning& now) {
  const memory_choice& choice = now.options.memory;
  const auto on_nodes = [&](sys::policy mode) {
    return memory_policy{mode, memory_nodes(now, choice.nodes)};
  };
  switch (choice.mode) {
  case memory_mode::inherited:
  case memory_mode::weighted:
  case memory_mode::blocked:
  case memory_mode::cyclic:
  case memory_mode::map:
    return std::nullopt;
  case memory_mode::local:
    return memory_policy{sys::policy::local, {}};
  case memory_mode::bind:
    return on_nodes(now.options.balancing ? sys::policy::bind_and_balance : sys::policy::bind);
  case memory_mode::interleave:
    return on_nodes(sys::policy::interleave);
  case memory_mode::interleave_by_weight:
    return on_nodes(sys::policy::weighted_interleave);
  case memory_mode::prefer:
  case memory_mode::prefer_one:
  case memory_mode::prefer_many:
    return preferred(now, choice);
  }
  return std::nullopt;
}

/// The node of each thread, which owns its block's pages if loops are static; empty if unknown.
std::vector<node_id> owners_to_count_by(const team_layout& layout) {
  std::vector<node_id> nodes;
  for (const thread_place& thread : layout.threads()) {
    if (thread.node == unknown_node) {
      return {};
    }
    nodes.push_back(thread.node);
  }
  return nodes;
}

std::vector<node_id> in_order(const node_set& nodes) {
  return {nodes.begin(), nodes.end()};
}

measured_weights weigh(const planning& now, const memory_choice& choice) {
  const node_set nodes = memory_nodes(now, choice.nodes);
  if (!now.options.weigh) {
    throw error(error_kind::usage, "weighted:auto", "what was measured cannot be read here",
                "give the weights: weighted:0=3,1=1");
  }
  return now.options.weigh(now.here, nodes);
}

std::vector<node_id> weighted_owners(const planning& now, const memory_choice& choice) {
  std::vector<node_id> owners;
  for (const memory_choice::weight& each : choice.weights) {
    for (const node_id node : memory_nodes(now, each.nodes)) {
      owners.insert(owners.end(), each.value, node);
    }
  }
  if (owners.empty()) {
    throw error(error_kind::usage, choice.weights.front().nodes.option + " weighted",
                "all weights are 0", "give one node a weight above 0");
  }
  return owners;
}

agent_placement placement_of(const planning& now, const memory_choice& choice) {
  agent_placement made{choice.mode, {}, choice.granule_bytes};
  switch (choice.mode) {
  case memory_mode::weighted:
    made.mode = memory_mode::cyclic;
    if (choice.measured) {
      made.weights = weigh(now, choice);
      for (const plans::memory_weight& each : made.weights->weights) {
        made.owners.insert(made.owners.end(), each.weight, each.node);
      }
    } else {
      made.owners = weighted_owners(now, choice);
    }
    break;
  case memory_mode::cyclic:
    made.owners = in_order(choice.nodes ? memory_nodes(now, choice.nodes) : nodes_of_threads(now));
    break;
  case memory_mode::bind:
  case memory_mode::prefer:
  case memory_mode::interleave:
    made.owners = in_order(memory_nodes(now, choice.nodes));
    break;
  default:
    break;
  }
  return made;
}

/// "module+0x1234-0x1240", as reports print an unknown site; decimal numbers are accepted.
std::optional<code_range> raw_range(const std::string& site) {
  const std::size_t plus = site.rfind('+');
  if (plus == std::string::npos || plus == 0) {
    return std::nullopt;
  }
  const auto number = [](std::string_view text, std::uint64_t& value) {
    const bool hexadecimal = text.starts_with("0x");
    text.remove_prefix(hexadecimal ? 2 : 0);
    const auto [stop, code] =
        std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
    return code == std::errc{} && stop == text.data() + text.size() && value < UINT64_MAX / 2;
  };
  code_range made{site.substr(0, plus), 0, 0};
  const std::string_view numbers = std::string_view(site).substr(plus + 1);
  const std::size_t dash = numbers.find('-');
  if (!number(numbers.substr(0, dash), made.first)) {
    return std::nullopt;
  }
  if (dash == std::string_view::npos) {
    // A report gives the address after the call; the agent looks up the byte before it.
    made.last = made.first;
    made.first -= made.first != 0 ? 1 : 0;
    return made.last > made.first ? std::optional(made) : std::nullopt;
  }
  return number(numbers.substr(dash + 1), made.last) && made.last > made.first ? std::optional(made)
                                                                               : std::nullopt;
}

std::vector<code_range> resolve_site(const planning& now, const memory_rule& rule,
                                     const std::string& site, const std::string& program) {
  if (const auto raw = raw_range(site)) {
    return {*raw};
  }
  std::vector<code_range> found;
  if (now.options.find_site) {
    found = now.options.find_site(site, program);
  }
  if (found.empty()) {
    throw error(error_kind::usage, "--rule " + rule.text,
                program + " has no code of '" + site + "'",
                "build it with -g, or write MODULE+OFFSET as `nodewise run --verify` prints it");
  }
  return found;
}

agent_rule rule_for_agent(const planning& now, const memory_rule& rule,
                          const std::string& program) {
  agent_rule made;
  made.text = rule.text;
  for (const std::string& site : rule.sites) {
    const auto found = resolve_site(now, rule, site, program);
    made.code.insert(made.code.end(), found.begin(), found.end());
  }
  made.symbol = rule.symbol;
  made.least_bytes = rule.least_bytes;
  made.most_bytes = rule.most_bytes;
  made.where = placement_of(now, rule.where);
  return made;
}

/// Whether the command line assigns blocks to threads.
bool has_blocks(const run_options& options) {
  return options.memory.mode == memory_mode::blocked ||
         std::ranges::any_of(options.rules, [](const memory_rule& rule) {
           return rule.where.mode == memory_mode::blocked;
         });
}

bool needs_owners(const run_options& options) {
  return has_blocks(options) || plan_needs_owners(options);
}

/// If nothing is placed, objects are counted individually if they are so large that the C library
/// gives them their own mapping, too: counting does not change where memory comes from.
constexpr std::size_t counted_bytes = std::size_t{128} << 10;

/// With the agent's header a block of 16 bytes takes as much as glibc's smallest block.
constexpr std::size_t smallest_group_block = 16;

/// A profile names all memory, and a plan matches the groups of its profile again.
std::size_t group_bytes_for(const run_options& options, const agent_orders& orders) {
  const bool plans_groups =
      options.plan && std::ranges::any_of(options.plan->file.objects, [](const auto& entry) {
        return entry.which.kind.empty() || entry.which.kind == "group";
      });
  const bool names_all = orders.observe && (orders.announce || orders.trace);
  return names_all || plans_groups ? std::min(smallest_group_block, options.group_bytes)
                                   : options.group_bytes;
}

agent_orders orders_for(const planning& now, const std::string& program) {
  const run_options& options = now.options;
  agent_orders made;
  made.library = options.agent;
  if (needs_owners(options)) {
    made.owners =
        owners_of_threads(now, has_blocks(options) ? "--memory blocked" : options.plan->shown());
  } else if (now.into.layout) {
    made.owners = owners_to_count_by(*now.into.layout);
  }
  if (is_agents(options.memory.mode)) {
    made.standard = placement_of(now, options.memory);
  }
  for (const memory_rule& rule : options.rules) {
    made.rules.push_back(rule_for_agent(now, rule, program));
  }
  if (options.plan) {
    add_rules_of_plan(now, program, made);
  }
  made.announce = is_counted(now.get);
  made.trace = options.trace;
  made.numa_pin = options.trace && options.numa_pin;
  made.observe = !made.places_memory() && (options.report || made.announce);
  made.threshold_bytes =
      made.observe && (made.announce || made.trace) ? counted_bytes : options.threshold_bytes;
  made.group_bytes = group_bytes_for(options, made);
  made.quiet = options.quiet || now.into.supervised;
  if (now.into.layout) {
    for (const thread_place& thread : now.into.layout->threads()) {
      made.thread_places.push_back(thread.place);
    }
    made.main_works = options.main_works;
  }
  return made;
}

/// Handles each part of the orders if the agent cannot be loaded.
void do_without(const planning& now, const agent_orders& orders, const obstacle& why) {
  if (!orders.thread_places.empty()) {
    now.cannot(now.options.pin ? "--pin" : "--bind", why.why, why.hint,
               "its OpenMP threads are pinned, threads of its own making are not");
  }
  if (!now.options.rules.empty()) {
    now.cannot("--rule", why.why, why.hint, "its rules are left out");
  }
  if (now.options.plan && !now.options.plan->file.objects.empty()) {
    now.cannot(now.options.plan->shown(), why.why, why.hint, "its objects are left alone");
  }
  if (orders.standard) {
    node_set nodes;
    for (const node_id node :
         orders.standard->mode == memory_mode::blocked ? orders.owners : orders.standard->owners) {
      nodes.insert(node);
    }
    const char* const word = now.options.memory.mode == memory_mode::blocked  ? "blocked"
                             : now.options.memory.mode == memory_mode::cyclic ? "cyclic"
                                                                              : "weighted";
    now.cannot(std::string("--memory ") + word, why.why, why.hint,
               "its memory is interleaved over node " + nodes.to_string() + " instead");
    now.into.memory = {sys::policy::interleave, std::move(nodes)};
  } else if (now.options.report) {
    now.cannot(now.options.trace ? "profile" : "--verify", why.why, why.hint, "it runs without");
  }
}

} // namespace

bool agent_orders::places_memory() const noexcept {
  return standard.has_value() || !rules.empty();
}

sysfs_detail memory_detail_for(const run_options& options) noexcept {
  return needs_owners(options) ? sysfs_detail::cores : sysfs_detail::nodes;
}

void plan_memory(const planning& now) {
  const run_options& options = now.options;
  if (options.balancing && options.memory.mode != memory_mode::bind) {
    now.cannot("--balancing", "it changes what --membind does, and there is none",
               "give --membind NODES, too", "it is left out");
  }
  now.into.memory = process_policy(now);
  const bool places = is_agents(options.memory.mode) || !options.rules.empty() ||
                      (options.plan && !options.plan->file.objects.empty());
  const bool counted = is_counted(now.get);
  if (options.command.empty() || (!places && !options.report && !counted && !now.into.layout)) {
    return; // there is no program to load the agent into
  }
  now.into.supervised = options.report || (places && options.strict);
  const std::string program = find_executable(options.command.front(), now.get("PATH"));
  agent_orders orders = orders_for(now, program);
  const auto why = why_not_preloaded(program, options.agent);
  if (why) {
    do_without(now, orders, *why);
  } else {
    now.into.agent = std::move(orders);
  }
}

} // namespace nodewise::launch
