// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Pages of processes as their file has them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nodewise/id.hpp>

#include "cli/verbs/report/fields.hpp"
#include "topology/json_field.hpp"

namespace nodewise::cli {

/// `unknown_node`: in memory, but the kernel would not say where.
using bytes_by_node = std::map<node_id, double, unknown_last>;

struct shown_mapping {
  std::string name;
  std::string kind;
  std::string start;
  double bytes = 0;
  bytes_by_node on;
  double zero_bytes = 0; ///< the kernel's page of zeros
  std::optional<double> local = {};
  std::string policies = {};
};

struct shown_process {
  std::string name; ///< "1234: ./solver"
  std::string method;
  bool reduced = false; ///< the node of each page is unknown
  bytes_by_node on;
  std::optional<double> local = {}; ///< of located pages of known locality
  std::string threads = {};         ///< "8 threads, last seen on nodes 0, 1"
  std::vector<std::string> notes = {};
  std::vector<shown_mapping> mappings = {};
};

struct shown_sample {
  double time_s = 0; ///< since 1970
  std::vector<shown_process> processes;
};

/// Throws `error` (input) naming what is wrong.
[[nodiscard]] std::vector<shown_sample> samples_in(const json_field& document);

} // namespace nodewise::cli
