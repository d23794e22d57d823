// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A measurement's file: what is read is written as it was, every figure is one, and is shown and
// compared whatever it is.
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

#include "cli/verbs/measure/view.hpp"
#include "fuzz/fuzz.hpp"
#include "measure/measurement.hpp"

using namespace nodewise;

std::vector<std::string> fuzz::seeds() {
  return {
      R"({"schema": "nodewise/measurement/1", "set": "quick", "host": "h", "date": "2026-01-31T12:00:00Z",)"
      R"( "instruction_set": "AVX2", "planned": 3, "points": [)"
      R"({"experiment": "bandwidth", "label": "node 0 -> node 1", "unit": "GB/s", "from": 0, "to": 1,)"
      R"( "threads": 2, "bytes": 1024, "kernel": "load", "moved_per_counted": 1, "samples": [1, 2e1, 3.5], "visits": [2, 1],)"
      R"( "on_node": 1, "in_huge_pages": "unavailable", "stolen": 0, "others": 0.5},)"
      R"( {"experiment": "contention", "label": "all", "unit": "GB/s", "from": "any", "to": 1, "threads": 4,)"
      R"( "bytes": 0, "unavailable": "mbind: EPERM", "wrong": false},)"
      R"( {"experiment": "loaded-latency", "label": "0 pauses", "unit": "ns", "from": 0, "to": 0,)"
      R"( "threads": 2, "bytes": 64, "samples": [90], "beside_gb_per_s": [10]}]})"};
}

namespace {

/// The same with every second figure far from what it was: ratios come out of all sizes.
measure::measurement another(measure::measurement of) {
  for (std::size_t i = 0; i < of.records.size(); i += 2) {
    for (double& each : of.records[i].found.samples) {
      each = each > 1 ? 1e-300 : 1e30;
    }
  }
  return of;
}

/// No figure's text is longer than it can be.
void require_shown(const measure::measurement& what) {
  const report::style how{.unicode = true};
  fuzz::require(!cli::measurement_text(what, how).empty());
  const measure::measurement other = another(what);
  for (const auto& [before, after] : {std::pair{&what, &other}, {&other, &what}}) {
    fuzz::require(cli::comparison_text(*before, *after, how).ends_with("\n"));
  }
  for (const measure::record& each : what.records) {
    const double median = each.found.figure().median;
    for (const double value : {median, median / 1e-300, median * each.moved_per_counted}) {
      fuzz::require(cli::format_figure(value).size() <= 16);
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto document = parse_json(fuzz::text(data, size), "the file");
    const measure::measurement read = measure::read_measurement(json_field(document, "the file"));
    nlohmann::ordered_json written = {{"schema", measure::measurement_schema}};
    measure::write_measurement(read, written);
    nlohmann::ordered_json again = {{"schema", measure::measurement_schema}};
    measure::write_measurement(measure::read_measurement(json_field(written, "what was written")),
                               again);
    fuzz::require(written == again);
    for (const measure::record& each : read.records) {
      const measure::estimate figure = each.found.figure();
      fuzz::require(std::isfinite(figure.median) && figure.low <= figure.median &&
                    figure.median <= figure.high);
    }
    require_shown(read);
  } catch (const error& e) {
    fuzz::require(e.kind() == error_kind::input && !e.hint().empty());
  }
  return 0;
}
