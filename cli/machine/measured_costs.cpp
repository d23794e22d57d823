// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/machine/measured_costs.hpp"

#include <utility>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/joined.hpp"
#include "place/kernel_weights.hpp"
#include "topology/measured_machine.hpp"

namespace nodewise::cli {

namespace {

topology with(const topology& what, const machine& measured) {
  return {measured::with_costs(what.machine(), measured), what.allowed_cpus(),
          what.allowed_nodes()};
}

/// Weights from a disturbed figure would silently place arrays wrongly. For one node any weight is
/// right.
void refuse_disturbed(const measured::profile& kept, const node_set& nodes) {
  node_set with_own; // the figure of the node's own processors has priority
  for (const parameter& each : kept.what.parameters) {
    if (each.name == "bandwidth" && each.from == each.to) {
      with_own.insert(each.to);
    }
  }
  node_set disturbed;
  for (const parameter& each : kept.what.parameters) {
    const bool counts = each.from == each.to || !with_own.contains(each.to);
    if (each.name == "bandwidth" && counts && measured::was_disturbed(each)) {
      disturbed.insert(each.to);
    }
  }
  disturbed = std::move(disturbed) & nodes;
  if (nodes.size() > 1 && !disturbed.empty()) {
    throw error(
        error_kind::input,
        fmt::format("weighted:auto, weights by the bandwidths in {}", kept.file.string()),
        fmt::format("other work disturbed the measurement of node {}", disturbed.to_string()),
        "measure again on an idle machine (nodewise measure), or give the weights: "
        "weighted:0=3,1=1");
  }
}

launch::measured_weights weigh(const topology& here, const node_set& nodes) {
  const measured::findings all = measured::find(here.machine());
  if (!all.found) {
    throw error(error_kind::input, "weighted:auto, weights by measured bandwidths",
                "this machine was not measured" +
                    joined(all.remarks, "", [](const std::string& each) { return "; " + each; }),
                "measure it (nodewise measure), or give the weights: weighted:0=3,1=1");
  }
  refuse_disturbed(*all.found, nodes);
  launch::measured_weights made{all.found->file.string(), {}};
  for (const kernel_weights::weight& each : kernel_weights::by_bandwidth(all.found->what, nodes)) {
    made.weights.push_back({each.value, static_cast<std::size_t>(to_int(each.node))});
  }
  return made;
}

} // namespace

measured_machine this_machine_with_costs() {
  measured_machine made{topology::system(), std::nullopt, {}};
  measured::findings all = measured::find(made.what.machine());
  made.remarks = std::move(all.remarks);
  if (all.found) {
    made.measured = std::move(all.found->what);
    made.what = with(made.what, *made.measured);
    made.remarks.push_back("measured: " + all.found->file.string());
  } else if (!measured::has_costs(made.what.machine())) {
    made.remarks.emplace_back("not measured; nodewise measure");
  }
  return made;
}

measured_machine machine_with_costs(const topology& what, std::string_view file) {
  const std::string asked = fmt::format("--costs {}", file);
  measured::profile read = measured::read(file);
  if (const std::string why = measured::why_another(what.machine(), read.what); !why.empty()) {
    throw error(error_kind::input, asked, why, "use costs that were measured on it");
  }
  measured_machine made{with(what, read.what), std::move(read.what), {}};
  made.remarks.push_back(fmt::format("from {}", file));
  return made;
}

launch::weight_source make_weight_source() {
  return weigh;
}

} // namespace nodewise::cli
