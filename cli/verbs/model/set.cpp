// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Implements --set: the user's figures, which override the machine's file.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/joined.hpp"
#include "base/parse_number.hpp"
#include "base/parse_real.hpp"
#include "cli/verbs/model/flags.hpp"
#include "cli/verbs/model/options.hpp"
#include "model/said_figures.hpp"

namespace nodewise::cli {

namespace {

constexpr const char* example =
    "write for example --set bandwidth=20 or --set latency:0:1=120, without a unit";

/// A value of --set, split into its parts.
struct setting {
  std::string_view typed;
  std::string_view name;
  std::string_view from; ///< empty: every node
  std::string_view to;   ///< empty: as `from`
  double value = 0;

  [[noreturn]] void refuse(const std::string& answered, const std::string& hint) const {
    throw error(error_kind::usage, fmt::format("{} {}", option_name(flags::set), typed), answered,
                hint);
  }
};

setting parse_setting(std::string_view typed) {
  setting made{typed, {}, {}, {}, 0};
  const std::size_t equals = typed.find('=');
  if (equals == std::string_view::npos) {
    made.refuse("there is no value", example);
  }
  std::string_view left = typed.substr(0, equals);
  const auto next = [&left] {
    const std::string_view part = left.substr(0, left.find(':'));
    left.remove_prefix(std::min(left.size(), part.size() + 1));
    return part;
  };
  made.name = next();
  made.from = next();
  made.to = next();
  made.value = parse_real(typed.substr(equals + 1)).value_or(0);
  if (!left.empty() || !std::isfinite(made.value) || made.value <= 0) {
    made.refuse(left.empty() ? "the value is not a number above 0" : "it has too many colons",
                example);
  }
  return made;
}

const model::known_parameter& parameter_of(const setting& asked) {
  const auto* const known =
      std::ranges::find(model::known_parameters, asked.name, &model::known_parameter::name);
  if (known == model::known_parameters.end()) {
    std::vector<std::string_view> names;
    std::ranges::transform(model::known_parameters, std::back_inserter(names),
                           &model::known_parameter::name);
    const std::string near = nearest(asked.name, names);
    asked.refuse(fmt::format("there is no figure '{}'", asked.name),
                 fmt::format("{}use one of {}",
                             near.empty() ? "" : fmt::format("did you mean {}? ", near),
                             joined(names, ", ")));
  }
  if (known->unit == "ratio" && asked.value > 1) {
    asked.refuse("it is a share, above 0 and at most 1", "write for example 0.91");
  }
  return *known;
}

node_id node_of(const setting& asked, std::string_view text, const machine& of) {
  const node_id node{parse_number<int>(text).value_or(-1)};
  if (of.find_node(node) == nullptr) {
    asked.refuse(fmt::format("the machine has no node '{}'", text),
                 "its nodes are " + of.node_ids().to_string());
  }
  return node;
}

void put(machine& into, const setting& asked, const model::known_parameter& known, node_id from,
         node_id to) {
  std::erase_if(into.parameters, [&](const parameter& each) {
    return each.name == known.name && each.from == from && each.to == to;
  });
  into.parameters.push_back(
      {std::string(known.name), from, to, asked.value, std::string(known.unit), "given by --set"});
}

} // namespace

void set_parameters(machine& of, const invocation& given) {
  for (const std::string_view typed : given.texts(flags::set)) {
    const setting asked = parse_setting(typed);
    const model::known_parameter& known = parameter_of(asked);
    if (known.name == "link_bandwidth" && asked.to.empty()) {
      asked.refuse("a link is between two nodes", "write for example link_bandwidth:0:1=11.8");
    }
    if (!asked.from.empty()) {
      const node_id from = node_of(asked, asked.from, of);
      put(of, asked, known, from, asked.to.empty() ? from : node_of(asked, asked.to, of));
      continue;
    }
    for (const memory_node& node : of.nodes) {
      put(of, asked, known, node.id, node.id);
    }
  }
}

} // namespace nodewise::cli
