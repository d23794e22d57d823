// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Traffic files, as `nodewise model` reads and prices them.
#include <cmath>

#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

#include "cli/prediction/counted.hpp"
#include "fuzz/fuzz.hpp"
#include "model/price.hpp"
#include "unit/grid_machine.hpp"

using namespace nodewise;

std::vector<std::string> fuzz::seeds() {
  const std::string head =
      R"({"schema":"nodewise/traffic/1","model":{"line_bytes":64},"judged_by":"use","matrix":[)";
  const std::string counts = R"("fills":9,"write_backs":2,"streams":1)";
  return {head + R"({"cpu":0,"from":0,"to":1,"phase":"use","dirty":1,)" + counts +
              R"(},{"cpu":3,"from":1,"to":0,"phase":"init","dirty":0,)" + counts +
              R"(}],"regions":[{"name":"a","from":0,"to":1,)" + counts + "}]}",
          head + R"({"cpu":-1,"from":"unknown","to":"unknown","phase":"use","dirty":1,)" + counts +
              R"(}],"regions":[]})",
          head + R"(],"regions":[]})"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const model::machine_costs on = model::costs_of(test::grid(2, 2));
  try {
    const auto document = parse_json(fuzz::text(data, size), "a traffic file");
    const cli::traffic_file found = cli::traffic_from_json(json_field(document, "a traffic file"));
    const cli::priced_traffic what = cli::price_of_counts(found.all, {}, on);
    const double seconds = model::price(on, what.what).seconds;
    fuzz::require(std::isfinite(seconds) && seconds > 0 && what.lines > 0);
  } catch (const error& e) {
    fuzz::require(e.kind() == error_kind::input && !e.answered().empty());
  }
  return 0;
}
