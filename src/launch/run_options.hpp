// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nodewise/id_set.hpp>
#include <nodewise/team_layout.hpp>
#include <nodewise/topology.hpp>

#include "launch/memory_words.hpp"
#include "plan/plan.hpp"

namespace nodewise::launch {

/// Machine code in a module: offsets from its lowest mapped address, half-open.
struct code_range {
  std::string module; ///< the file's last part
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// The code of "file.c:12" or of a function in the program's file; empty if it has none.
using site_finder = std::function<std::vector<code_range>(const std::string& site,
                                                          const std::string& program_file)>;

/// What the linker stamped the program's file with; empty if it has nothing of the kind.
using build_id_reader = std::function<std::string(const std::string& program_file)>;

/// The files that the loader will map with a program's file before it begins, by their last parts;
/// empty where nobody can tell.
using library_finder =
    std::function<std::map<std::string, std::string>(const std::string& program_file)>;

/// Weights of nodes by the bandwidths that were measured on this machine.
struct measured_weights {
  std::string file; ///< that says what was measured
  std::vector<plans::memory_weight> weights;

  friend bool operator==(const measured_weights&, const measured_weights&) = default;
};

/// Throws `error` where nothing is measured of one of the nodes.
using weight_source = std::function<measured_weights(const topology& here, const node_set& nodes)>;

/// --plan or --plan-optional, and which of its lines for threads the command line has answered
/// itself.
struct plan_choice {
  std::string name; ///< of the file
  plans::plan_file file;
  std::string problem;      ///< why the file is not followed; then `file` is empty
  bool own_binding = false; ///< --bind or --pin
  bool own_places = false;  ///< --places
  bool own_main = false;    ///< --main
  bool optional = false;    ///< --plan-optional: without the file the program runs unplanned

  /// "--plan app.plan.json"
  [[nodiscard]] std::string shown() const {
    return (optional ? "--plan-optional " : "--plan ") + name;
  }
};

/// What `nodewise run` was asked for.
struct run_options {
  // Processors. Of the first two the one typed last counts, as with numactl; the other is left out.
  std::optional<typed_list> cpu_nodes;
  std::optional<typed_list> cpus;
  bool widen = false;                  ///< leave the affinity that the caller has set
  std::optional<cpu_set> affinity_was; ///< that of the caller, if it was left
  std::optional<place_kind> ranks_per; ///< each MPI rank has a node, package or core of its own
  std::optional<typed_list> pin;       ///< the k-th thread on the k-th processor
  bind_policy bind = bind_policy::none;
  place_kind places = place_kind::threads;
  smt_use smt = smt_use::as_needed;
  std::optional<std::size_t> threads;
  std::vector<std::size_t> teams; ///< sizes of nested parallel regions, outermost first; or empty
  /// The main thread is one of those that work where the program starts threads without a runtime.
  bool main_works = false;

  // Memory.
  memory_choice memory;
  std::vector<memory_rule> rules; ///< for objects that they fit, in front of `memory`
  std::size_t group_bytes = 256;  ///< smaller blocks make no group of their site; 0: none do
  std::optional<plan_choice> plan;
  site_finder find_site;    ///< nothing where line tables cannot be read
  build_id_reader build_id; ///< likewise
  library_finder libraries; ///< likewise
  weight_source weigh;      ///< nothing where measured weights cannot be read
  bool balancing = false;   ///< with `bind`: the kernel may move pages between the nodes
  std::size_t threshold_bytes = std::size_t{1} << 20;
  bool trace = false; ///< observe for a profile: record more of each object
  /// With `trace`: the kernel's NUMA balancing is on, and samples accesses but moves nothing.
  bool numa_pin = false;
  bool report = false; ///< wait for the program, ask the kernel where its pages were
  bool strict = false; ///< what cannot be done as asked is an error
  bool quiet = false;
  std::string agent;              ///< the file of the library to preload
  std::vector<std::string> notes; ///< what is worth a warning before there is a plan
  std::vector<std::string> command;
};

} // namespace nodewise::launch
