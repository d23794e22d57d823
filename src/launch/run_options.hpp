// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include <nodewise/id_set.hpp>
#include <nodewise/team_layout.hpp>
#include <nodewise/topology.hpp>

#include "base/environment.hpp"
#include "launch/memory_words.hpp"
#include "sys/kernel.hpp"

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

/// The build id of the program's file; empty if it has none.
using build_id_reader = std::function<std::string(const std::string& program_file)>;

/// The files that the loader maps before the program starts, by their last parts; empty if unknown.
using library_finder =
    std::function<std::map<std::string, std::string>(const std::string& program_file)>;

/// Weights of nodes by the bandwidths measured on this machine.
struct measured_weights {
  std::string file;                           ///< that holds the measurements
  std::vector<placements::owner_run> weights; ///< of nodes

  friend bool operator==(const measured_weights&, const measured_weights&) = default;
};

/// Throws `error` if one of the nodes has no measurement.
using weight_source = std::function<measured_weights(const topology& here, const node_set& nodes)>;

/// --plan or --plan-optional, and which of its thread settings the command line overrides.
struct plan_choice {
  std::string name; ///< of the file
  plans::plan_file file;
  std::string problem;      ///< why the file is not applied; then `file` is empty
  bool own_binding = false; ///< --bind or --pin
  bool own_places = false;  ///< --places
  bool own_main = false;    ///< --main
  bool optional = false;    ///< --plan-optional: without the file the program runs with no plan

  /// "--plan app.plan.json"
  [[nodiscard]] std::string shown() const {
    return (optional ? "--plan-optional " : "--plan ") + name;
  }
};

/// The options of `nodewise run`.
struct run_options {
  // Processors. Of the first two the one typed last counts, as with numactl; the other is empty.
  std::optional<typed_list> cpu_nodes;
  std::optional<typed_list> cpus;
  bool widen = false;                  ///< replace the affinity that the caller has set
  bool rank_memory = false;            ///< with `ranks_per`: only memory of the rank's own nodes
  std::optional<cpu_set> affinity_was; ///< that of the caller, if it was replaced
  std::optional<place_kind> ranks_per; ///< each MPI rank gets its own node, package or core
  /// With `ranks_per` nodes: each rank gets processors near the "gpu" or "fabric" device with its
  /// number. Empty: by nodes.
  std::string ranks_near;
  std::optional<local_rank> as_rank; ///< plan for this rank; empty: for that of this process
  std::optional<typed_list> pin;     ///< the k-th thread on the k-th processor
  bind_policy bind = bind_policy::none;
  place_kind places = place_kind::threads;
  smt_use smt = smt_use::as_needed;
  std::optional<std::size_t> threads;
  std::vector<std::size_t> teams; ///< sizes of nested parallel regions, outermost first; or empty
  /// The main thread is one of the workers if the program starts threads without a runtime.
  bool main_works = false;

  // Memory.
  memory_choice memory;
  std::vector<memory_rule> rules; ///< for objects that match; checked before `memory`
  bool also_files = false;        ///< `memory` is also for read-only mappings of files
  bool read_files = false;        ///< of those that are placed, read what is not cached
  std::size_t group_bytes = 256;  ///< smaller blocks are not grouped by site; 0: no block is
  std::optional<plan_choice> plan;
  site_finder find_site;              ///< empty if line tables cannot be read
  build_id_reader build_id;           ///< likewise
  library_finder libraries;           ///< likewise
  weight_source weigh;                ///< empty if measured weights cannot be read
  bool balancing = false;             ///< with `bind`: the kernel may move pages between the nodes
  std::optional<bool> numa_balancing; ///< the kernel's, for the whole system: on or off
  std::size_t threshold_bytes = std::size_t{1} << 20;
  std::optional<bool> huge_pages; ///< of the program: on or off; empty: as without Nodewise
  /// With `huge_pages` on: to which memory the kernel gives them, and their size.
  sys::huge_page_mode huge_page_mode = sys::huge_page_mode::unavailable;
  std::size_t huge_page_bytes = 0;
  bool trace = false; ///< observe for a profile: record more about each object
  /// With `trace`: the kernel's NUMA balancing is on and samples accesses, but moves no pages.
  bool numa_pin = false;
  bool report = false; ///< wait for the program and report where its pages were
  bool strict = false; ///< a request that cannot be met is an error
  bool quiet = false;
  std::string agent;              ///< the file of the library to preload
  std::vector<std::string> notes; ///< warnings from before there is a plan
  std::vector<std::string> command;
};

} // namespace nodewise::launch
