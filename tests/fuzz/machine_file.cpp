// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A machine's file, or a result that carries one: what is read is written as something that reads
// the same.
#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

#include "fuzz/fuzz.hpp"
#include "topology/machine_json.hpp"
#include "topology/measured_machine.hpp"

using namespace nodewise;

std::vector<std::string> fuzz::seeds() {
  const std::string machine =
      R"({"schema": "nodewise/machine/1", "name": "m", "threads_per_core": 2, "nodes": [)"
      R"({"id": 0, "cpus": "0-3", "memory_bytes": 1073741824, "kind": "dram"},)"
      R"( {"id": 2, "cpus": "", "memory_bytes": 4096, "kind": "cxl"}],)"
      R"( "packages": [{"id": 0, "cpus": "0-3"}], "distances": [[10, 21], [21, 10]],)"
      R"( "caches": [{"level": 2, "kind": "unified", "size_bytes": 1048576, "shared_by": "core"}],)"
      R"( "parameters": [{"name": "bandwidth", "from": 0, "to": 2, "value": 21.5, "unit": "GB/s",)"
      R"( "source": "measured"}, {"name": "latency", "from": 0, "to": 0, "value": 9e1,)"
      R"( "unit": "ns", "source": "HMAT"}], "lab": {"memory_bytes_per_node": [64, 64]}})";
  return {machine,
          R"({"schema": "nodewise/measurement/1", "nodewise": "0.1.0", "machine": )" + machine +
              R"(, "settings": {}})",
          R"({"schema": "nodewise/topology/1", "machine": )" + machine +
              R"(, "allowed": {"cpus": "0-1", "nodes": "0"}})"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto document = parse_json(fuzz::text(data, size), "the file");
    const topology read = topology_from_json(json_field(document, "the file"));
    const auto written = topology_json(read);
    const topology again = topology_from_json(json_field(written, "the file"));
    fuzz::require(topology_json(again) == written);
    const machine both = measured::with_costs(read.machine(), again.machine());
    fuzz::require(both.parameters.size() == read.machine().parameters.size());
  } catch (const error& e) {
    fuzz::require(e.kind() == error_kind::input && !e.hint().empty());
  }
  return 0;
}
