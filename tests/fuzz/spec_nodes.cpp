// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/error.hpp>

#include "fuzz/fuzz.hpp"
#include "fuzz/spec_machines.hpp"
#include "spec/spec.hpp"

using namespace nodewise;

std::vector<std::string> fuzz::seeds() {
  return spec_seeds();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text(data, size);
  const topology& where = fuzz::machine_for(text);
  for (const auto purpose : {spec::node_purpose::memory, spec::node_purpose::processors}) {
    try {
      const node_set nodes = spec::resolve_nodes(text, where, purpose);
      fuzz::require(!nodes.empty());
      for (const node_id node : nodes) {
        const memory_node* const found = where.machine().find_node(node);
        fuzz::require(found != nullptr);
        fuzz::require(purpose == spec::node_purpose::memory
                          ? where.memory_nodes().contains(node)
                          : found->cpus.intersects(where.allowed_cpus()));
      }
    } catch (const error& e) {
      fuzz::require(e.kind() == error_kind::usage && !e.hint().empty());
    }
  }
  return 0;
}
