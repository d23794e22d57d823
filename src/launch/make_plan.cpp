// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/environment.hpp"
#include "bind/conflicts.hpp"
#include "launch/executable.hpp"
#include "launch/planning.hpp"
#include "spec/spec.hpp"

namespace nodewise::launch {

namespace {

/// The option that chooses the processors; empty if they are the caller's.
std::string chooser_of_processors(const run_options& options) {
  if (options.ranks_per) {
    return "--ranks-per";
  }
  const auto& list = options.cpus ? options.cpus : options.cpu_nodes;
  if (list) {
    return list->shown();
  }
  return options.smt == smt_use::off ? "--smt off" : options.widen ? "--all" : "";
}

/// Warns of settings that contradict each other or the plan, which must be complete.
void warn_of_conflicts(const planning& now) {
  bind::settings variables = bind::read_settings(now.get);
  for (const variable& each : now.into.variables) {
    if (each.value) {
      variables.insert_or_assign(each.name, *each.value);
    } else {
      variables.erase(each.name);
    }
  }
  bind::intentions ours;
  ours.bound = now.into.layout.has_value();
  ours.by_rank = now.options.ranks_per.has_value();
  ours.processors = chooser_of_processors(now.options);
  if (now.into.memory) {
    ours.memory =
        now.options.rank_memory ? "--ranks-per node+memory" : now.options.memory.typed.shown();
  }
  const cpu_set& allowed = now.into.affinity ? *now.into.affinity : now.here.allowed_cpus();
  for (const bind::conflict& each : bind::find_conflicts(variables, allowed, ours)) {
    now.warn(fmt::format("{}: {} ({})", each.said, each.outcome, each.hint), each.said,
             each.outcome, each.hint);
  }
}

void note(run_options& options, const plan_choice& plan, const std::string& typed,
          const std::string& planned) {
  options.notes.push_back(fmt::format("{}: {} has {}", typed, plan.name, planned));
}

void take_binding(run_options& options, const plan_choice& plan) {
  const bind_policy planned = plan.file.bind;
  if (!plan.own_binding) {
    options.bind = planned;
  } else if (planned != bind_policy::none && (options.pin || options.bind != planned)) {
    note(options, plan, options.pin ? "--pin" : fmt::format("--bind {}", to_string(options.bind)),
         fmt::format("--bind {}", to_string(planned)));
  }
}

void take_places(run_options& options, const plan_choice& plan) {
  const bool bound = options.pin || options.bind != bind_policy::none;
  if (!plan.own_places) {
    options.places = bound && !options.pin ? plan.file.places : options.places;
  }
  if (!bound && (plan.own_places || options.smt == smt_use::on)) {
    throw error(
        error_kind::usage, plan.own_places ? "--places" : "--smt on",
        fmt::format("without --bind or --pin no thread is bound, and {} binds none", plan.name),
        "add --bind close or --bind spread");
  }
}

void take_main(run_options& options, const plan_choice& plan) {
  if (!plan.own_main) {
    options.main_works = plan.file.main_works;
  } else if (options.main_works != plan.file.main_works) {
    note(options, plan, options.main_works ? "--main works" : "--main waits",
         plan.file.main_works ? "--main works" : "--main waits");
  }
}

/// Without a binding the number only scales the maps of the plan.
void take_threads(run_options& options, const plan_choice& plan) {
  const std::size_t planned = plan.file.threads;
  if (planned == 0) {
    return;
  }
  if (options.threads.value_or(planned) != planned) {
    note(options, plan, fmt::format("--threads {}", *options.threads),
         fmt::format("{}; what belongs to a thread is scaled", planned));
  } else if (options.bind != bind_policy::none) {
    options.threads = planned;
  }
  options.teams = plan.file.teams;
}

} // namespace

void planning::warn(std::string warning, const std::string& asked, const std::string& answered,
                    const std::string& hint) const {
  if (options.strict) {
    throw not_started(not_started::refused, asked, answered, hint);
  }
  into.warnings.push_back(std::move(warning));
}

void planning::cannot(const std::string& asked, const std::string& answered,
                      const std::string& hint, const std::string& instead) const {
  warn(fmt::format("{}: {}; {} ({})", asked, answered, instead, hint), asked, answered, hint);
}

void planning::set(const char* name, std::string value) const {
  const char* const before = get(name);
  if (before != nullptr && before != value) {
    const std::string was = fmt::format("{}={}", name, before);
    warn(fmt::format("{} replaced by {}", was, value), was,
         fmt::format("the options request {}", value), "unset it");
  }
  into.variables.push_back({name, std::move(value)});
}

std::vector<node_id> owners_of_threads(const planning& now, const std::string& asked) {
  const plan& so_far = now.into;
  if (!so_far.layout && now.here.domains().size() > 1) {
    now.cannot(asked, "without --bind its threads may run anywhere", "give --bind close",
               "memory is placed as for threads bound close");
  }
  std::vector<node_id> nodes = so_far.layout ? so_far.layout->owners() : close_layout(now).owners();
  const node_set usable = now.here.memory_nodes();
  for (const node_id node : nodes) {
    if (!usable.contains(node)) {
      throw error(error_kind::usage, fmt::format("memory of node {}", node),
                  fmt::format("threads run there, but this process may only use memory of {}",
                              usable.to_string()),
                  "choose nodes with memory by -N");
    }
  }
  return nodes;
}

node_set nodes_of_threads(const planning& now) {
  node_set nodes;
  if (now.into.layout) {
    for (const thread_place& thread : now.into.layout->threads()) {
      if (thread.node != unknown_node) {
        nodes.insert(thread.node);
      }
    }
  }
  if (nodes.empty()) {
    for (const domain& each : now.here.domains()) {
      nodes.insert(each.node);
    }
  }
  const node_set with_memory = nodes & now.here.memory_nodes();
  return with_memory.empty() ? now.here.memory_nodes() : with_memory;
}

sysfs_detail detail_for(const run_options& options) noexcept {
  if (options.places == place_kind::packages || options.ranks_per == place_kind::packages) {
    return sysfs_detail::all;
  }
  const bool by_core = options.bind != bind_policy::none || options.ranks_per || options.pin ||
                       options.smt == smt_use::off;
  auto detail = by_core ? sysfs_detail::cores : memory_detail_for(options);
  for (const auto& list : {&options.cpus, &options.cpu_nodes, &options.pin}) {
    detail = *list ? std::max(detail, spec::detail_for((*list)->text)) : detail;
  }
  return detail;
}

plan make_plan(const run_options& options, const topology& here, environment get) {
  plan made;
  made.command = options.command;
  made.warnings = options.notes;
  made.numa_balancing = options.numa_balancing;
  const planning now{options, here, get == nullptr ? process_environment : get, made};
  plan_processors(now);
  plan_memory(now);
  warn_of_conflicts(now);
  return made;
}

bool planned_file::is_incomplete() const noexcept {
  return !problem.empty() ||
         std::ranges::any_of(entries, [](const entry& each) { return !each.left_out.empty(); });
}

void take_threads_of_plan(run_options& options) {
  if (options.plan) {
    take_binding(options, *options.plan);
    take_places(options, *options.plan);
    take_main(options, *options.plan);
    take_threads(options, *options.plan);
  }
}

} // namespace nodewise::launch
