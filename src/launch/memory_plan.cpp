// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Plans which memory policy the program inherits and what the agent places.
#include <algorithm>
#include <utility>

#include "launch/counted.hpp"
#include "launch/executable.hpp"
#include "launch/planning.hpp"
#include "placement/resolve.hpp"
#include "spec/spec.hpp"
#include "topology/part_sets.hpp"

namespace nodewise::launch {

namespace {

using placements::kind;

placements::placement placement_of(const planning& now, const memory_choice& choice) {
  return resolved(choice.typed, [&](const std::string&) {
    return placements::read(
        choice.words, placements::grammar::command_line, [&](std::string_view list) {
          return spec::resolve_nodes(list, now.here, spec::node_purpose::memory);
        });
  });
}

node_set all_memories(const planning& now) {
  return spec::resolve_nodes("all", now.here, spec::node_purpose::memory);
}

/// Without a list all nodes with memory.
node_set nodes_of(const planning& now, const placements::placement& what) {
  return what.owners.empty() ? all_memories(now) : placements::nodes_of(what.owners);
}

/// Whether the agent divides objects for it: the kernel has no such policy.
bool is_agents(kind how) {
  return placements::traits_of(how).divided != placements::division::none;
}

bool is_by_blocks(kind how) {
  return placements::traits_of(how).has_blocks();
}

memory_policy preferred(const memory_choice& choice, node_set nodes) {
  if (choice.variant == policy_variant::one_node && nodes.size() != 1) {
    throw error(error_kind::usage, choice.typed.shown(), "it takes one node",
                "--preferred-many (-P) takes several");
  }
  const bool one = nodes.size() == 1 && choice.variant != policy_variant::many_nodes;
  return {one ? sys::policy::preferred : sys::policy::preferred_many, std::move(nodes)};
}

/// The nodes of the rank's processors, of which all must have memory.
node_set nodes_of_rank(const planning& now) {
  const node_set nodes = nodes_if(now.here.machine(), [&](const memory_node& node) {
    return node.cpus.intersects(*now.into.affinity);
  });
  if (!now.here.memory_nodes().includes(nodes)) {
    throw error(
        error_kind::usage,
        fmt::format("--ranks-per node+memory: memory of node {}", nodes.to_string()),
        fmt::format("this process may only use memory of {}", now.here.memory_nodes().to_string()),
        "choose nodes with memory by -N, or give --ranks-per node");
  }
  return nodes;
}

/// The policy of the whole process, if the kernel has a policy for the choice.
std::optional<memory_policy> process_policy(const planning& now) {
  using placements::kernel_policy;
  const memory_choice& choice = now.options.memory;
  const auto bind = now.options.balancing ? sys::policy::bind_and_balance : sys::policy::bind;
  if (now.options.rank_memory) {
    return memory_policy{bind, nodes_of_rank(now)};
  }
  const auto nodes = [&] { return nodes_of(now, placement_of(now, choice)); };
  switch (placements::traits_of(choice.how).policy) {
  case kernel_policy::none:
    break;
  case kernel_policy::local:
    return memory_policy{sys::policy::local, {}};
  case kernel_policy::bind:
    return memory_policy{bind, nodes()};
  case kernel_policy::interleave:
    return memory_policy{choice.variant == policy_variant::by_kernel_weights
                             ? sys::policy::weighted_interleave
                             : sys::policy::interleave,
                         nodes()};
  case kernel_policy::prefer:
    return preferred(choice, nodes());
  }
  return std::nullopt;
}

agent_placement for_agent(const planning& now, const memory_choice& choice) {
  agent_placement made;
  const auto measured = [&](const node_set& nodes) {
    if (!now.options.weigh) {
      throw error(error_kind::usage, "weighted:auto", "measurements cannot be read here",
                  "give the weights: weighted:0=3,1=1");
    }
    measured_weights found = now.options.weigh(now.here, nodes);
    made.measured_in = std::move(found.file);
    return std::move(found.weights);
  };
  const placements::surroundings here{
      [&] { return owners_of_threads(now, choice.typed.shown()); },
      0,
      [&] { return all_memories(now); },
      [&] { return nodes_of_threads(now); },
      measured,
  };
  made.what =
      placements::resolved(placement_of(now, choice), placements::grammar::command_line, here);
  return made;
}

/// "module+0x1234-0x1240", as reports print an unknown site; decimal numbers are accepted.
std::optional<code_range> raw_range(const std::string& site) {
  const std::size_t plus = site.rfind('+');
  if (plus == std::string::npos || plus == 0) {
    return std::nullopt;
  }
  const std::string_view numbers = std::string_view(site).substr(plus + 1);
  const std::size_t dash = numbers.find('-');
  const auto first = plans::read_offset(numbers.substr(0, dash));
  // A report gives the address after the call; the agent looks up the byte before it.
  const bool is_call = dash == std::string_view::npos;
  const auto last = is_call ? first : plans::read_offset(numbers.substr(dash + 1));
  if (!first || !last || (is_call ? *first == 0 : *last <= *first)) {
    return std::nullopt;
  }
  return code_range{site.substr(0, plus), is_call ? *first - 1 : *first, *last};
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
    throw error(error_kind::usage, fmt::format("--rule {}", rule.text),
                fmt::format("{} has no code of '{}'", program, site),
                "build it with -g, or write MODULE+OFFSET as `nodewise run --verify` prints it");
  }
  return found;
}

agent_rule rule_for_agent(const planning& now, const memory_rule& rule,
                          const std::string& program) {
  agent_rule made;
  static_cast<plans::object_match&>(made) = rule;
  made.text = rule.text;
  for (const std::string& site : rule.sites) {
    const auto found = resolve_site(now, rule, site, program);
    made.code.insert(made.code.end(), found.begin(), found.end());
  }
  made.where = for_agent(now, rule.where);
  return made;
}

/// --memory for all read-only mappings of files.
agent_rule rule_for_files(const planning& now) {
  const memory_choice& memory = now.options.memory;
  if (memory.how == kind::none || memory.how == kind::local) {
    throw error(error_kind::usage, "--also files", "--memory names no nodes or parts for them",
                "give --memory blocked, interleave, cyclic:SIZE or weighted:..., too");
  }
  agent_rule made;
  made.text = "--also files";
  made.file = "*";
  made.where = for_agent(now, memory);
  return made;
}

/// Whether the command line assigns blocks to threads.
bool has_blocks(const run_options& options) {
  return is_by_blocks(options.memory.how) ||
         std::ranges::any_of(options.rules,
                             [](const memory_rule& rule) { return is_by_blocks(rule.where.how); });
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

/// Sets whether the program may have huge pages. Returns the size of those that the agent has to
/// request, or 0.
std::size_t plan_huge_pages(const planning& now) {
  const run_options& options = now.options;
  if (!options.huge_pages.value_or(false)) {
    now.into.huge_pages = options.huge_pages;
    return 0;
  }
  using sys::huge_page_mode;
  const bool none = options.huge_page_mode == huge_page_mode::unavailable;
  if (none || options.huge_page_mode == huge_page_mode::never || options.huge_page_bytes == 0) {
    now.cannot("--huge-pages on",
               none ? "this kernel has no transparent huge pages"
                    : "the kernel gives no program huge pages: "
                      "/sys/kernel/mm/transparent_hugepage/enabled is never",
               none ? "leave it out"
                    : "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
               "the program gets base pages");
    return 0;
  }
  now.into.huge_pages = true;
  return options.huge_page_bytes;
}

/// Without another reason, blocks that are too short for a huge page stay where they are.
std::size_t threshold_for(const run_options& options, const agent_orders& orders) {
  if (orders.observe && (orders.announce || orders.trace)) {
    return counted_bytes;
  }
  return orders.places_memory() || orders.observe
             ? options.threshold_bytes
             : std::max(options.threshold_bytes, orders.huge_page_bytes);
}

agent_orders orders_for(const planning& now, const std::string& program,
                        std::size_t huge_page_bytes) {
  const run_options& options = now.options;
  agent_orders made;
  made.library = options.agent;
  if (needs_owners(options)) {
    made.owners =
        owners_of_threads(now, has_blocks(options) ? "--memory blocked" : options.plan->shown());
  } else if (now.into.layout &&
             std::ranges::all_of(now.into.layout->threads(), [](const thread_place& thread) {
               return thread.node != unknown_node;
             })) { // a thread's node owns its block's pages if loops are static
    made.owners = now.into.layout->owners();
  }
  if (is_agents(options.memory.how)) {
    made.standard = for_agent(now, options.memory);
  }
  for (const memory_rule& rule : options.rules) {
    made.rules.push_back(rule_for_agent(now, rule, program));
  }
  if (options.also_files) {
    made.rules.push_back(rule_for_files(now));
  }
  if (options.plan) {
    add_rules_of_plan(now, program, made);
  }
  made.read_files = options.read_files;
  made.announce = is_counted(now.get);
  made.trace = options.trace;
  made.numa_pin = options.trace && options.numa_pin;
  made.observe = !made.places_memory() && (options.report || made.announce);
  made.huge_page_bytes = huge_page_bytes;
  made.threshold_bytes = threshold_for(options, made);
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
  const auto cannot = [&](const std::string& asked, const std::string& instead) {
    now.cannot(asked, why.why, why.hint, instead);
  };
  if (!orders.thread_places.empty()) {
    cannot(now.options.pin ? "--pin" : "--bind",
           "its OpenMP threads are pinned, threads that it starts itself are not");
  }
  if (!now.options.rules.empty()) {
    cannot("--rule", "rules have no effect");
  }
  if (now.options.also_files) {
    cannot("--also files", "files stay where they are cached");
  }
  if (now.options.plan && !now.options.plan->file.objects.empty()) {
    cannot(now.options.plan->shown(), "its objects are not placed");
  }
  if (orders.huge_page_bytes != 0) {
    cannot("--huge-pages on", "the kernel decides which of its memory is in huge pages");
  }
  if (orders.standard) {
    node_set nodes = placements::nodes_of(is_by_blocks(now.options.memory.how)
                                              ? placements::runs_of(orders.owners)
                                              : orders.standard->what.owners);
    cannot(fmt::format("--memory {}", placements::word_of(now.options.memory.how)),
           fmt::format("its memory is interleaved over node {} instead", nodes.to_string()));
    now.into.memory = {sys::policy::interleave, std::move(nodes)};
  } else if (now.options.report) {
    cannot(now.options.trace ? "profile" : "--verify", "it runs without");
  }
}

} // namespace

sysfs_detail memory_detail_for(const run_options& options) noexcept {
  return needs_owners(options) ? sysfs_detail::cores : sysfs_detail::nodes;
}

void plan_memory(const planning& now) {
  const run_options& options = now.options;
  if (options.balancing && options.memory.how != kind::bind && !options.rank_memory) {
    now.cannot("--balancing", "it changes what --membind does, which is not given",
               "give --membind NODES, too", "it has no effect");
  }
  now.into.memory = process_policy(now);
  const bool places = is_agents(options.memory.how) || !options.rules.empty() ||
                      options.also_files || (options.plan && !options.plan->file.objects.empty());
  const std::size_t huge_page_bytes = plan_huge_pages(now);
  const bool counted = is_counted(now.get);
  if (options.command.empty() ||
      (!places && !options.report && !counted && !now.into.layout && huge_page_bytes == 0)) {
    return; // there is no program to load the agent into
  }
  now.into.supervised = options.report || (places && options.strict);
  const std::string program = find_executable(options.command.front(), now.get("PATH"));
  agent_orders orders = orders_for(now, program, huge_page_bytes);
  const auto why = why_not_preloaded(program, options.agent);
  if (why) {
    do_without(now, orders, *why);
  } else {
    now.into.agent = std::move(orders);
  }
}

} // namespace nodewise::launch
