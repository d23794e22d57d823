// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/tune/lab.hpp"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/verbs/help_parts.hpp"
#include "cli/verbs/tune/flags.hpp"
#include "model/price.hpp"
#include "topology/json_field.hpp"

namespace nodewise::cli {

namespace {

traffic_choice choice_of(const std::string& part) {
  if (part == "use") {
    return {.when = traffic::phase::use};
  }
  if (part == "init") {
    return {.when = traffic::phase::initialisation};
  }
  return part == "all" ? traffic_choice{} : traffic_choice{.region = part};
}

void check_region(const traffic::counts& of, const traffic_choice& part) {
  const std::vector<std::string> names = region_names(of);
  if (part.region && std::ranges::find(names, *part.region) == names.end()) {
    throw error(error_kind::input,
                fmt::format("{} {}", option_name(flags::region), printable(*part.region)),
                "the program has marked no such region",
                names.empty()
                    ? fmt::format("mark it: NODEWISE_MARKER_START(\"{}\")", printable(*part.region))
                    : "it has " + joined(names, ", "));
  }
}

} // namespace

std::vector<std::string> words_of_on(const invocation& given) {
  std::vector<std::string> words;
  for (const invocation::option& each : given.options) {
    if (std::ranges::find(on_a_machine, each.what) != on_a_machine.end()) {
      words.push_back(word_of(each));
    }
  }
  return words;
}

lab_figure::lab_figure(const machine& on, std::string part)
    : costs_(model::costs_of(on)), part_(std::move(part)) {}

traffic_file lab_figure::counted() const {
  const std::string asked = "the counted traffic";
  const nlohmann::ordered_json document =
      parse_json(read_whole(file(), asked, largest_result_file), asked);
  return traffic_from_json(json_field(document, asked));
}

double lab_figure::read() const {
  const traffic_choice part = choice_of(part_);
  const traffic_file all = counted();
  check_region(all.all, part);
  return model::price(costs_, price_of_counts(all.all, part, costs_).what).seconds;
}

} // namespace nodewise::cli
