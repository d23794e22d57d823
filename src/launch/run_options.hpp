// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nodewise/team_layout.hpp>

namespace nodewise::launch {

enum class memory_mode {
  inherited,  ///< whatever policy this process has
  local,      ///< the node of the processor that touches first
  bind,       ///< these nodes only
  prefer,     ///< these nodes while they have any
  interleave, ///< pages in turn
  blocked,    ///< each large object in equal parts over the nodes of the threads: by the agent
};

/// A list of nodes or processors as typed, and how errors name the option that it came with.
struct typed_list {
  std::string text;
  std::string option;
};

/// What `nodewise run` was asked for.
struct run_options {
  std::optional<typed_list> cpu_nodes;
  std::optional<typed_list> cpus;
  memory_mode memory = memory_mode::inherited;
  std::optional<typed_list> memory_nodes; ///< without them all
  bind_policy bind = bind_policy::none;
  std::optional<std::size_t> threads;
  std::size_t threshold_bytes = std::size_t{1} << 20;
  bool report = false; ///< wait for the program, ask the kernel where its pages were
  bool strict = false; ///< what cannot be done as asked is an error
  bool quiet = false;
  std::string agent; ///< the file of the library to preload
  std::vector<std::string> command;
};

} // namespace nodewise::launch
