// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/said_figures.hpp"

#include <algorithm>
#include <string>

#include <fmt/core.h>

#include <nodewise/error.hpp>

namespace nodewise::model {

namespace {

std::size_t position(const machine& in, node_id node) {
  const auto found = std::ranges::find(in.nodes, node, &memory_node::id);
  return static_cast<std::size_t>(found - in.nodes.begin());
}

void check(const parameter& each, const known_parameter& known, const machine& in) {
  const auto refuse = [&](const std::string& what, const std::string& hint) {
    throw error(error_kind::input,
                fmt::format("parameter {} from node {} to {} of machine '{}'", each.name, each.from,
                            each.to, in.name),
                what, hint);
  };
  if (each.unit != known.unit) {
    refuse(fmt::format("its unit is \"{}\"", each.unit), fmt::format("give it in {}", known.unit));
  }
  // Wide enough for any machine, narrow enough for arithmetic.
  constexpr double least = 1e-9;
  constexpr double most = 1e12;
  if (!(each.value >= least && each.value <= most)) {
    refuse(fmt::format("the value {} is out of range", each.value),
           "give a value from 1e-9 to 1e12");
  }
  if (known.name == "shared_efficiency" && each.value > 1) {
    refuse(fmt::format("the value {} is above 1", each.value),
           "give a share, above 0 and at most 1");
  }
}

} // namespace

file_figures::file_figures(const machine& of) {
  for (const parameter& each : of.parameters) {
    const auto* const known =
        std::ranges::find(known_parameters, std::string_view(each.name), &known_parameter::name);
    if (known == known_parameters.end()) {
      if (!each.name.starts_with("read_") && !each.name.starts_with("write_")) {
        unknown_.push_back(each.name); // read_ and write_ are hwloc's, beside the mean
      }
      continue;
    }
    check(each, *known, of);
    // If a figure is given twice, the last one counts, so that one can be added after a file's.
    figures_[{known->name, position(of, each.from), position(of, each.to)}] = {
        each.value * known->scale, origin_of(each.source), each.source};
  }
}

std::optional<figure> file_figures::find(std::string_view name, std::size_t from,
                                         std::size_t to) const {
  const auto found = figures_.find({name, from, to});
  return found == figures_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<figure> file_figures::any(std::string_view name) const {
  const auto found = figures_.lower_bound({name, 0, 0});
  return found == figures_.end() || std::get<0>(found->first) != name
             ? std::nullopt
             : std::optional(found->second);
}

pair_figures::pair_figures(const machine& of, lookup known)
    : machine_(of), known_(std::move(known)) {
  const std::size_t n = of.nodes.size();
  for (std::size_t from = 0; from < n; ++from) {
    for (std::size_t to = 0; to < n; ++to) {
      if (const std::optional<figure>& own = known_[from * n + to]) {
        first_.try_emplace(between(from, to),
                           figure{own->value, origin::assumed,
                                  fmt::format("assumed: as from node {} to {}", of.nodes[from].id,
                                              of.nodes[to].id)});
      }
    }
  }
}

pair_figures::distance_class pair_figures::between(std::size_t from, std::size_t to) const {
  return {from == to,
          machine_.distances.empty() ? std::nullopt : std::optional(machine_.distances[from][to])};
}

std::optional<figure> pair_figures::of(std::size_t from, std::size_t to) const {
  const std::optional<figure>& own = known_[from * machine_.nodes.size() + to];
  if (own) {
    return own;
  }
  const auto like = first_.find(between(from, to));
  return like == first_.end() ? std::nullopt : std::optional(like->second);
}

} // namespace nodewise::model
