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
  try {
    const spec::cpu_list list = spec::resolve_cpus(text, where);
    fuzz::require(!list.in_order.empty());
    fuzz::require(where.allowed_cpus().includes(list.cpus()));
    const bool ascending = spec::syntax_of(text) != spec::syntax::likwid;
    for (std::size_t i = 1; ascending && i < list.in_order.size(); ++i) {
      fuzz::require(list.in_order[i - 1] < list.in_order[i]);
    }
  } catch (const error& e) {
    fuzz::require(e.kind() == error_kind::usage && !e.hint().empty());
  }
  return 0;
}
