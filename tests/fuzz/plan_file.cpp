// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A plan: what is read is written as something that reads the same.
#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

#include "fuzz/fuzz.hpp"
#include "plan/plan_json.hpp"

using namespace nodewise;

std::vector<std::string> fuzz::seeds() {
  const std::string head = R"({"schema": "nodewise/plan/1", )";
  return {
      head + R"("program": {"name": "solver", "build_id": "00ab"}, "objects": []})",
      head +
          R"("threads": {"count": 8, "nodes": 4, "bind": "close", "places": "cores"}, "objects": [)"
          R"({"kind": "heap", "site": "solver.c:41", "callers": ["main.c:3"], "bytes": ">= 8M",)"
          R"( "stack": ["solver+0x1234"], "placement": "blocked", "why": "w"}]})",
      head +
          R"("objects": [{"symbol": "field", "nth": "0-3", "placement": {"map": "0*128 1*3 7"}},)"
          R"({"bytes": "8M-16M, < 9M", "placement": "cyclic:64K"}, {"placement": "thread:3"},)"
          R"({"kind": "group", "nth": "4-", "placement": "interleave"}, {"placement": "none"}]})",
  };
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  plans::plan_file read;
  try {
    const auto document = parse_json(fuzz::text(data, size), "the plan");
    read = plans::plan_from_json({document, "the plan"});
  } catch (const error& e) {
    fuzz::require(e.kind() == error_kind::input && !e.hint().empty());
    return 0;
  }
  nlohmann::ordered_json written = {{"schema", plans::schema}};
  plans::append(written, read);
  fuzz::require(plans::plan_from_json({written, "the plan"}) == read);
  for (const plans::entry& each : read.objects) {
    if (each.where.how == placements::kind::map && read.threads != 0) {
      const auto scaled = placements::scaled_parts(each.where.owners, read.threads, 6);
      fuzz::require(!placements::simplified(scaled, 1024).empty());
    }
  }
  return 0;
}
