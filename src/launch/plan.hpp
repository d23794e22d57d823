// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Turns options into a plan: a value that can be printed, tested or carried out.
#pragma once

#include <nodewise/id.hpp>
#include <nodewise/id_set.hpp>
#include <nodewise/team_layout.hpp>
#include <nodewise/topology.hpp>

#include "base/environment.hpp"
#include "launch/run_options.hpp"
#include "sys/kernel.hpp"

namespace nodewise::launch {

/// A variable of the program's environment: set, or removed if there is no value.
struct variable {
  std::string name;
  std::optional<std::string> value;

  friend bool operator==(const variable&, const variable&) = default;
};

/// The memory policy that the program's threads inherit.
struct memory_policy {
  sys::policy mode = sys::policy::system_default;
  node_set nodes;

  friend bool operator==(const memory_policy&, const memory_policy&) = default;
};

/// How a policy is shown. The nodes follow `applied` and `numactl`, unless it is local.
struct policy_words {
  sys::policy mode;
  const char* name;    ///< in results
  const char* applied; ///< "bound to node "
  const char* numactl; ///< its option
  /// If the kernel answers EINVAL; for newer policies this means that it does not have them.
  const char* hint = "choose among the nodes that `nodewise topo` shows";
};
[[nodiscard]] const policy_words& words_of(sys::policy mode) noexcept;

/// Where the agent puts an object.
struct agent_placement {
  placements::placement what;   ///< its owners are nodes, also of a map
  std::string measured_in = {}; ///< the file of the measurements that the weights come from

  friend bool operator==(const agent_placement&, const agent_placement&) = default;
};

struct agent_rule : plans::object_match {
  std::string text;                 ///< as typed, or from the entry of a plan file
  std::optional<std::size_t> entry; ///< its position in the plan file
  std::vector<code_range> code;     ///< the allocation is in one of these; empty: anywhere
  std::vector<code_range> above; ///< return addresses on the stack above the caller, in this order
  agent_placement where;
};
/// As the agent reads it.
[[nodiscard]] std::string text_of(const agent_rule& rule);

/// The kernel's limit for one variable, including its name and terminator (MAX_ARG_STRLEN).
inline constexpr std::size_t longest_variable = std::size_t{128} << 10;

/// What the preloaded agent has to do.
struct agent_orders {
  std::string library;
  /// The node of each thread: for the blocked distribution, or for counting if nothing is placed.
  std::vector<node_id> owners;
  std::optional<agent_placement> standard; ///< of large objects that match no rule
  std::vector<agent_rule> rules;           ///< the first match applies
  bool observe = false;                    ///< place nothing, only report
  bool trace = false;                      ///< record more about each object, and what wrote to it
  bool numa_pin = false;                   ///< the kernel samples accesses but moves no pages
  bool announce = false;                   ///< to the traffic counter of the virtual machine
  std::size_t threshold_bytes = 0;
  std::size_t group_bytes = 0;     ///< smaller blocks are not grouped
  std::size_t huge_page_bytes = 0; ///< huge pages for objects of at least this size; 0: for none
  bool quiet = false;
  bool read_files = false;            ///< of mapped files that are placed, what is not cached
  std::vector<cpu_set> thread_places; ///< for plain pthreads; empty: not bound
  bool main_works = false;            ///< the first of these places is the main thread's

  [[nodiscard]] bool places_memory() const noexcept { return standard || !rules.empty(); }
};

/// A plan file as applied.
struct planned_file {
  struct entry {
    std::string label;     ///< "solver.c:41"
    std::string placement; ///< "blocked"
    std::string left_out;  ///< why it becomes no rule of the agent; usually empty
  };
  std::string name;
  std::string problem; ///< why none of it is applied; usually empty
  std::vector<entry> entries;

  /// Whether a part of it is not even tried.
  [[nodiscard]] bool is_incomplete() const noexcept;
};

struct plan {
  std::vector<std::string> command;
  std::optional<cpu_set> affinity;
  std::optional<memory_policy> memory;
  std::optional<bool> huge_pages; ///< whether the program may have them; empty: as the caller may
  std::vector<variable> variables;
  std::optional<agent_orders> agent;
  std::optional<team_layout> layout;  ///< if threads are bound
  bool pinned = false;                ///< by a list, one thread after the other
  bool widened = false;               ///< the affinity that the caller had set is replaced
  std::optional<int> rank;            ///< the local MPI rank that owns this part of the machine
  std::size_t rank_parts = 0;         ///< with a rank: the parts of this host
  std::string rank_device;            ///< that it is near to, "gpu 0000:3b:00.0"; usually empty
  bool supervised = false;            ///< wait for the program and read the agent's report
  std::optional<bool> numa_balancing; ///< the kernel's setting until the program ends
  std::optional<planned_file> planned;
  std::vector<std::string> warnings;
};

/// Copies the thread settings of the plan file into the options unless the command line sets them;
/// notes where the two differ. Throws `error` (usage) for --places or --smt on without any binding.
/// Call it before `detail_for`.
void take_threads_of_plan(run_options& options);

/// How much of the machine `make_plan` needs to read.
[[nodiscard]] sysfs_detail detail_for(const run_options& options) noexcept;

/// Throws `error` (usage) for options that are invalid on this machine, and under --strict
/// `not_started` for requests that cannot be met.
[[nodiscard]] plan make_plan(const run_options& options, const topology& here,
                             environment get = nullptr);

/// The agent's part of the environment: LD_PRELOAD and its settings. `report` is the file that it
/// writes to, or empty. Throws `error`: system if LD_PRELOAD cannot carry the library's path, usage
/// if there are more rules or parts than the agent takes.
[[nodiscard]] std::vector<variable>
agent_variables(const agent_orders& orders, const std::string& report, environment get = nullptr);

/// "--memory weighted:0=3,1=1 as measured: FILE": one line for each placement by measured weights,
/// after the option that requested it.
[[nodiscard]] std::vector<std::string> measured_texts(const agent_orders& orders);

/// Shell commands with the same effect: variables and numactl.
[[nodiscard]] std::string shell_text(const plan& what);

} // namespace nodewise::launch
