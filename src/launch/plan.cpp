// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/plan.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <nodewise/error.hpp>

#include "agent/protocol.h"
#include "launch/executable.hpp"
#include "launch/node_spec.hpp"
#include "launch/not_started.hpp"

namespace nodewise::launch {

namespace {

const char* process_environment(const char* name) {
  return std::getenv(name);
}

/// `resolve(text)`, whose errors name the option.
template <class Resolve>
auto resolved(const typed_list& list, Resolve resolve) {
  try {
    return resolve(list.text);
  } catch (const error& e) {
    throw error(e.kind(), list.option + " " + list.text, e.answered(), e.cure());
  }
}

/// The parts of a plan in the order in which they depend on each other.
class planner {
 public:
  planner(const run_options& options, const topology& here, environment get)
      : options_(options), here_(here), get_(get) {}

  [[nodiscard]] plan make() {
    plan_.command = options_.command;
    choose_processors();
    lay_threads_out();
    choose_memory();
    order_agent();
    return std::move(plan_);
  }

 private:
  /// What cannot be done as asked: a warning, or with --strict the end.
  void cannot(const std::string& asked, const std::string& answered, const std::string& cure,
              const std::string& instead) {
    if (options_.strict) {
      throw not_started(not_started::refused, asked, answered, cure);
    }
    plan_.warnings.push_back(asked + ": " + answered + "; " + instead + " (" + cure + ")");
  }

  void choose_processors() {
    if (options_.cpu_nodes && options_.cpus) {
      throw error(error_kind::usage, options_.cpu_nodes->option + " and " + options_.cpus->option,
                  "only one choice of processors can hold", "leave one of both out");
    }
    if (options_.cpus) {
      plan_.affinity = resolved(
          *options_.cpus, [this](const std::string& text) { return resolve_cpus(text, here_); });
    } else if (options_.cpu_nodes) {
      const node_set nodes = resolved(*options_.cpu_nodes, [this](const std::string& text) {
        return resolve_nodes(text, here_, node_purpose::processors);
      });
      cpu_set cpus;
      for (const node_id node : nodes) {
        cpus = std::move(cpus) | here_.machine().find_node(node)->cpus;
      }
      plan_.affinity = std::move(cpus) & here_.allowed_cpus();
    }
  }

  /// The number of threads that was asked for, by the option or by the user's own variable.
  [[nodiscard]] std::size_t wanted_threads() const {
    if (options_.threads) {
      return *options_.threads;
    }
    std::size_t threads = 0;
    const char* const text = get_("OMP_NUM_THREADS");
    if (text != nullptr) {
      const std::string_view all = text;
      std::from_chars(all.data(), all.data() + all.size(), threads);
    }
    constexpr std::size_t most = std::size_t{1} << 13; // as for --threads
    if (threads > most) {
      throw error(error_kind::usage, std::string("OMP_NUM_THREADS=") + text,
                  "more than " + std::to_string(most) + " threads",
                  "set it lower, or give --threads");
    }
    return threads;
  }

  [[nodiscard]] team_layout layout(bind_policy policy) const {
    const cpu_set& cpus = plan_.affinity ? *plan_.affinity : here_.allowed_cpus();
    return {topology(here_.machine(), cpus, here_.allowed_nodes()), policy, wanted_threads()};
  }

  void lay_threads_out() {
    if (options_.bind == bind_policy::none) {
      if (options_.threads) {
        set("OMP_NUM_THREADS", std::to_string(*options_.threads));
      }
      return;
    }
    plan_.layout = layout(options_.bind);
    plan_.affinity = plan_.layout->cpus();
    set("OMP_NUM_THREADS", plan_.layout->omp_num_threads());
    set("OMP_PLACES", plan_.layout->omp_places());
    set("OMP_PROC_BIND", plan_.layout->omp_proc_bind());
    for (const char* const rival : {"KMP_AFFINITY", "KMP_HW_SUBSET", "GOMP_CPU_AFFINITY"}) {
      if (get_(rival) != nullptr) {
        plan_.warnings.push_back(std::string(rival) + "=" + get_(rival) +
                                 " removed: --bind says where threads run");
        plan_.variables.push_back({rival, std::nullopt});
      }
    }
    if (plan_.layout->threads_per_cpu() > 1) {
      plan_.warnings.push_back(std::to_string(plan_.layout->size()) + " threads on " +
                               std::to_string(plan_.layout->cpus().size()) +
                               " processors: some take turns on one");
    }
  }

  void set(const char* name, std::string value) {
    const char* const before = get_(name);
    if (before != nullptr && before != value) {
      plan_.warnings.push_back(std::string(name) + "=" + before + " replaced by " + value);
    }
    plan_.variables.push_back({name, std::move(value)});
  }

  void choose_memory() {
    const auto nodes = [this] {
      return resolved(options_.memory_nodes.value_or(typed_list{"all", "all memory"}),
                      [this](const std::string& text) {
                        return resolve_nodes(text, here_, node_purpose::memory);
                      });
    };
    switch (options_.memory) {
    case memory_mode::inherited:
    case memory_mode::blocked:
      return;
    case memory_mode::local:
      plan_.memory = {sys::policy::local, {}};
      return;
    case memory_mode::bind:
      plan_.memory = {sys::policy::bind, nodes()};
      return;
    case memory_mode::interleave:
      plan_.memory = {sys::policy::interleave, nodes()};
      return;
    case memory_mode::prefer:
      node_set preferred = nodes();
      const auto mode =
          preferred.size() == 1 ? sys::policy::preferred : sys::policy::preferred_many;
      plan_.memory = {mode, std::move(preferred)};
      return;
    }
  }

  /// The node of each thread, in order: the blocks of memory are to meet them.
  [[nodiscard]] std::vector<node_id> owners() {
    if (!plan_.layout && here_.domains().size() > 1) {
      cannot("--memory blocked", "without --bind its threads may run anywhere", "give --bind close",
             "memory is placed as for threads bound close");
    }
    std::vector<node_id> nodes =
        plan_.layout ? plan_.layout->owners() : layout(bind_policy::close).owners();
    const node_set usable = here_.memory_nodes();
    for (const node_id node : nodes) {
      if (!usable.contains(node)) {
        throw error(error_kind::usage, "memory of node " + std::to_string(to_int(node)),
                    "threads run there, but this process may only use memory of " +
                        usable.to_string(),
                    "choose nodes with memory by -N");
      }
    }
    return nodes;
  }

  /// Whose pages are whose, if the program's loops are static: known where threads are bound.
  [[nodiscard]] std::vector<node_id> owners_to_count_by() const {
    return plan_.layout ? plan_.layout->owners() : std::vector<node_id>{};
  }

  void order_agent() {
    const bool blocked = options_.memory == memory_mode::blocked;
    if (!blocked && !options_.report) {
      return;
    }
    plan_.supervised = options_.report || (blocked && options_.strict);
    agent_orders orders{options_.agent, blocked ? owners() : owners_to_count_by(), !blocked,
                        options_.threshold_bytes, options_.quiet || plan_.supervised};
    const std::string file = find_executable(options_.command.front(), get_("PATH"));
    const auto obstacle = why_not_preloaded(file, options_.agent);
    if (!obstacle) {
      plan_.agent = std::move(orders);
      return;
    }
    if (!blocked) {
      cannot("--verify", obstacle->why, obstacle->cure, "it runs without");
      return;
    }
    node_set nodes;
    for (const node_id node : orders.owners) {
      nodes.insert(node);
    }
    cannot("--memory blocked", obstacle->why, obstacle->cure,
           "its memory is interleaved over node " + nodes.to_string() + " instead");
    plan_.memory = {sys::policy::interleave, std::move(nodes)};
  }

  const run_options& options_;
  const topology& here_;
  environment get_;
  plan plan_;
};

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

} // namespace

sysfs_detail detail_for(const run_options& options) noexcept {
  return options.bind != bind_policy::none || options.memory == memory_mode::blocked
             ? sysfs_detail::cores
             : sysfs_detail::nodes;
}

plan make_plan(const run_options& options, const topology& here, environment get) {
  return planner(options, here, get == nullptr ? process_environment : get).make();
}

std::vector<variable> agent_variables(const agent_orders& orders, const std::string& report,
                                      environment get) {
  if (orders.library.find_first_of(": ") != std::string::npos) {
    throw error(error_kind::system, "the agent " + orders.library,
                "LD_PRELOAD cannot hold a path with a blank or a colon",
                "install nodewise under a path without them");
  }
  std::string settings = NODEWISE_AGENT_SETTINGS;
  settings += ";threshold=" + std::to_string(orders.threshold_bytes);
  settings += orders.observe ? ";observe" : "";
  settings += orders.owners.empty() ? "" : ";blocked=" + run_lengths(orders.owners);
  settings += orders.quiet ? ";quiet" : "";
  settings += report.empty() ? "" : ";report=" + report;
  // In front of what the user preloads, which it calls: behind another malloc it would see nothing.
  const char* const others = (get == nullptr ? process_environment : get)("LD_PRELOAD");
  std::string preload = orders.library;
  if (others != nullptr && *others != '\0') {
    preload += std::string(":") + others;
  }
  return {{"LD_PRELOAD", preload}, {NODEWISE_AGENT_VARIABLE, settings}};
}

} // namespace nodewise::launch
