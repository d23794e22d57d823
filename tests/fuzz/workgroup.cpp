// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// likwid-bench's workgroups: threads and arrays of this machine, or a complaint.
#include <nodewise/error.hpp>
#include <nodewise/topology.hpp>

#include "fuzz/fuzz.hpp"
#include "spec/spec.hpp"
#include "unit/grid_machine.hpp"

using namespace nodewise;

std::vector<std::string> fuzz::seeds() {
  return {"S0:1GB:2:1:2-0:S1,1:S1", "M1:64kB", "N:100MiB:8", "M0:1GB:4:2:2-3:M1"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const topology where(test::grid(2, 4, 2));
  try {
    const spec::workgroup made = spec::parse_workgroup(fuzz::text(data, size), where);
    fuzz::require(!made.cpus.empty() && made.bytes > 0 && made.arrays.size() <= 4);
    for (const cpu_id cpu : made.cpus) {
      fuzz::require(where.allowed_cpus().contains(cpu));
    }
    for (const node_id node : made.arrays) {
      fuzz::require(node == unknown_node || where.memory_nodes().contains(node));
    }
  } catch (const error& e) {
    fuzz::require(e.kind() == error_kind::usage && !e.hint().empty());
  }
  return 0;
}
