// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The result of a run: a plain value that is written to a file and read again, and the machine
// parameters that follow from it.
#pragma once

#include "measure/visit.hpp"
#include "topology/json_field.hpp"

namespace nodewise::measure {

/// One figure, with a description of the work that gave it.
struct record {
  experiment of = experiment::bandwidth;
  std::string label; ///< unique in its experiment
  std::string unit;  ///< "GB/s" (10^9) or "ns"
  node_id from = unknown_node;
  node_id to = unknown_node;
  std::string kernel; ///< of streams; empty for the rest
  std::size_t threads = 0;
  std::uint64_t bytes = 0; ///< of all buffers together; 0 for a line
  /// Bytes moved for each byte counted, since stores may read their line first; 1 without stores;
  /// 0 where it does not apply.
  double moved_per_counted = 0;
  outcome found;

  [[nodiscard]] bool more_is_better() const noexcept { return unit != "ns"; }
  [[nodiscard]] bool is_known() const noexcept { return !found.samples.empty(); }
};

struct measurement {
  std::string set;                          ///< "quick", "full", "chosen", "workgroups"
  std::string host;                         ///< "" if unknown
  std::string date;                         ///< UTC, "2026-01-31T12:00:00Z"
  std::string instruction_set;              ///< "AVX-512"
  std::vector<std::string> workgroups = {}; ///< as the user wrote them
  std::vector<record> records;              ///< in the order of measurement
  std::size_t planned = 0;                  ///< may be more than `records` if the run was stopped
  bool stopped = false;                     ///< before every figure was as precise as required

  [[nodiscard]] bool is_complete() const noexcept { return records.size() == planned && !stopped; }
  /// nullptr if it was not measured.
  [[nodiscard]] const record* find(experiment of, std::string_view label) const noexcept;
  [[nodiscard]] std::vector<const record*> all(experiment of) const;
};

/// The figure of a point.
[[nodiscard]] record record_of(const point& what, outcome found);

/// The result as parameters of the machine: `bandwidth` and `latency` of each pair of nodes,
/// `core_bandwidth` where single threads were measured, `shared_bandwidth` of each memory that all
/// processors used together. Their source is "measured DATE by nodewise ...", with
/// `measured::disturbed_mark` if other work disturbed the figure.
[[nodiscard]] std::vector<parameter> parameters_of(const measurement& all);

/// The machine with these parameters; they replace those with the same names and nodes.
[[nodiscard]] machine with_parameters(machine of, std::vector<parameter> found);

/// `nodewise/measurement/1` of docs/formats.md, but for its envelope.
inline constexpr std::string_view measurement_schema = "nodewise/measurement/1";

/// Appends all fields to those of an envelope.
void write_measurement(const measurement& what, nlohmann::ordered_json& into);

/// Checks every field that it reads, and computes the figures anew from the samples. Throws `error`
/// (input) that names the wrong field.
[[nodiscard]] measurement read_measurement(const json_field& document);

} // namespace nodewise::measure
