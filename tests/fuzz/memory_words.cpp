// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What --memory and --rule take.
#include <nodewise/error.hpp>

#include "fuzz/fuzz.hpp"
#include "launch/memory_words.hpp"

using namespace nodewise;

std::vector<std::string> fuzz::seeds() {
  return {"local",
          "bind:0-3",
          "interleave:!0",
          "weighted:0=3,1,2=1",
          "weighted:auto",
          "weighted:auto:0-1",
          "cyclic:64K:0,2",
          "site=file.c:12,size>=8M:cyclic:64K",
          "symbol=field_,size<1G:prefer:1",
          "site=ns::solve,site=solver+0x12-0x34,size=4096:blocked"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::text(data, size));
  try {
    (void)launch::parse_placement(text, "--memory");
  } catch (const error& e) {
    fuzz::require(e.kind() == error_kind::usage);
  }
  try {
    const launch::memory_rule rule = launch::parse_rule(text, "--rule");
    fuzz::require(rule.text == text);
  } catch (const error& e) {
    fuzz::require(e.kind() == error_kind::usage);
  }
  return 0;
}
