// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From what was asked to what will be done: a value that can be printed, tested, or carried out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nodewise/id.hpp>
#include <nodewise/id_set.hpp>
#include <nodewise/team_layout.hpp>
#include <nodewise/topology.hpp>

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

/// What the preloaded agent is to do.
struct agent_orders {
  std::string library;
  /// The node of each thread: of the blocked distribution, or where nothing is placed to count by.
  std::vector<node_id> owners;
  bool observe = false; ///< place nothing, only report
  std::size_t threshold_bytes = 0;
  bool quiet = false;
};

struct plan {
  std::vector<std::string> command;
  std::optional<cpu_set> affinity;
  std::optional<memory_policy> memory;
  std::vector<variable> variables;
  std::optional<agent_orders> agent;
  std::optional<team_layout> layout; ///< where threads are bound
  bool supervised = false;           ///< wait for the program and read the agent's report
  std::vector<std::string> warnings;
};

/// How the environment is read: std::getenv, or a test's stand-in.
using environment = const char* (*)(const char* name);

/// How much of the machine `make_plan` has to know.
[[nodiscard]] sysfs_detail detail_for(const run_options& options) noexcept;

/// Throws `error` (usage) for what makes no sense on this machine, `not_started` under --strict for
/// what cannot be done as asked.
[[nodiscard]] plan make_plan(const run_options& options, const topology& here,
                             environment get = nullptr);

/// The agent's part of the environment: LD_PRELOAD and its settings. `report` is the file it writes
/// to, or empty. Throws `error` (system) if LD_PRELOAD cannot carry the library's path.
[[nodiscard]] std::vector<variable>
agent_variables(const agent_orders& orders, const std::string& report, environment get = nullptr);

/// The lines for a shell that do the same: variables and numactl.
[[nodiscard]] std::string shell_text(const plan& what);

} // namespace nodewise::launch
