// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A run as its file has it: what was asked, and where the large objects were.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "drawing/strips.hpp"
#include "topology/json_field.hpp"

namespace nodewise::cli {

struct shown_object {
  std::string process; ///< "135: solver"
  std::string name;    ///< "counters", "solver.c:16", "solver+0x13c9"
  double bytes = 0;
  std::uint64_t pages = 0;
  double located = 0; ///< pages
  std::map<node_id, double> pages_on;
  std::optional<double> local;    ///< of located pages, by the threads of schedule(static)
  std::optional<double> as_asked; ///< of located pages
  std::string refused;            ///< why it was not placed
  drawing::strip where;           ///< up to 64 equal parts
};

struct shown_run_thread {
  std::string process;
  std::string name;
  std::string cpus;
  std::string bound_by; ///< "the program", "nodewise", ""
};

struct shown_plan_entry {
  std::string label;
  std::string placement;
  std::uint64_t objects = 0;
  std::optional<double> as_asked = {};
  std::string left_out;
};

struct shown_run {
  std::string command;
  std::string placement; ///< of --memory
  std::string bind;      ///< "" if not asked
  std::string ended;     ///< "exit code 3", "signal 11"
  bool as_asked = true;  ///< as far as could be seen
  std::string plan = {}; ///< its file
  std::vector<std::string> warnings;
  std::vector<shown_object> objects = {}; ///< largest first
  std::vector<shown_run_thread> threads = {};
  std::vector<shown_plan_entry> entries = {};
};

/// Throws `error` (input) naming what is wrong.
[[nodiscard]] shown_run run_in(const json_field& document);

} // namespace nodewise::cli
