// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/machine/svg_picture.hpp"
#include "cli/verbs/report/kinds.hpp"
#include "report/style.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

html::table nodes_table(const machine& all) {
  html::table made{
      "Nodes",
      {{"node", html::cell_kind::number}, {"memory", html::cell_kind::number}, {"processors"}},
      {}};
  for (const memory_node& each : all.nodes) {
    made.rows.push_back({fmt::format("{}", each.id),
                         each.memory_bytes > 0 ? report::format_bytes(each.memory_bytes) : "none",
                         each.cpus.to_string()});
  }
  return made;
}

} // namespace

void add_machine_section(const topology& what, const std::vector<std::string>& remarks,
                         report_page& into) {
  html::section& made = into.add_section("machine", "The machine");
  into.add_figure(
      made, "machine", machine_picture(what, remarks),
      "Nodes with their memory and processors, and figures between them. The line above "
      "each table says whether they were measured or assumed. Lighter is faster.",
      nodes_table(what.machine()));
}

void add_machine(const json_field& document, report_page& into) {
  const topology what = topology_from_json(document);
  const machine& all = what.machine();
  into.set_verdict(fmt::format("{}: {} with {}", all.name.empty() ? "A machine" : all.name,
                               counted(all.nodes.size(), "node"),
                               counted(all.cores.size(), "core")),
                   {});
  add_machine_section(what, {}, into);
}

} // namespace nodewise::cli
