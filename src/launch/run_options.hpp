// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nodewise/id_set.hpp>
#include <nodewise/team_layout.hpp>
#include <nodewise/topology.hpp>

#include "launch/memory_words.hpp"

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

  // Memory.
  memory_choice memory;
  std::vector<memory_rule> rules; ///< for objects that they fit, in front of `memory`
  std::size_t group_bytes = 256;  ///< smaller blocks make no group of their site; 0: none do
  site_finder find_site;          ///< nothing where line tables cannot be read
  bool balancing = false;         ///< with `bind`: the kernel may move pages between the nodes
  std::size_t threshold_bytes = std::size_t{1} << 20;
  bool report = false; ///< wait for the program, ask the kernel where its pages were
  bool strict = false; ///< what cannot be done as asked is an error
  bool quiet = false;
  std::string agent; ///< the file of the library to preload
  std::vector<std::string> command;
};

} // namespace nodewise::launch
