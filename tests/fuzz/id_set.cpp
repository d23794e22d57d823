// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/error.hpp>
#include <nodewise/id_set.hpp>

#include "fuzz/fuzz.hpp"

using namespace nodewise;

std::vector<std::string> fuzz::seeds() {
  return {"", "0", "0-3,8", "63,64,65", "0-255", "1,1,1", "1023-1030,5", "7,63-64,255"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const cpu_set set = cpu_set::parse(fuzz::text(data, size));
    fuzz::require(set.highest() <= max_id);
    constexpr int dear = 4096; // a number more, and a range of a million is written out again
    fuzz::require(set.highest() > dear || cpu_set::parse(set.to_string()) == set);
  } catch (const error& e) {
    fuzz::require(e.kind() == error_kind::usage && !e.hint().empty());
  }
  return 0;
}
