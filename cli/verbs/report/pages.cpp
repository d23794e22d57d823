// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/report/pages.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/kinds.hpp"
#include "drawing/bars.hpp"
#include "drawing/colours.hpp"
#include "report/style.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using html::cell_kind;

constexpr std::size_t most_processes_drawn = 8;
constexpr std::size_t most_mappings_drawn = 20;

double resident_bytes(const bytes_by_node& on) {
  double sum = 0;
  for (const auto& [node, bytes] : on) {
    sum += bytes;
  }
  return sum;
}

std::string node_words(node_id node) {
  return node == unknown_node ? "unknown" : fmt::format("node {}", node);
}

/// "node 0 24.0 GiB, unknown 4 KiB"
std::string bytes_on_nodes(const bytes_by_node& on) {
  return on.empty() ? "nothing in memory" : joined(on, ", ", [](const auto& each) {
    return fmt::format("{} {}", node_words(each.first), bytes_words(each.second));
  });
}

drawing::bar bar_of_bytes(const std::string& name, const bytes_by_node& on) {
  drawing::bar made{name, bytes_words(resident_bytes(on)), {}};
  for (const auto& [node, bytes] : on) {
    made.parts.push_back({fmt::format("{}: {}", node_words(node), bytes_words(bytes)),
                          drawing::node_colour(node), bytes});
  }
  return made;
}

std::vector<node_id> nodes_of_bytes(const std::vector<const bytes_by_node*>& all) {
  std::set<node_id, unknown_last> nodes;
  for (const bytes_by_node* const each : all) {
    for (const auto& [node, bytes] : *each) {
      nodes.insert(node);
    }
  }
  return {nodes.begin(), nodes.end()};
}

std::string pages_sentence(const shown_sample& of) {
  bytes_by_node on;
  double known = 0;
  double local = 0;
  for (const shown_process& process : of.processes) {
    for (const auto& [node, bytes] : process.on) {
      on[node] += bytes;
      if (process.local && node != unknown_node) {
        known += bytes;
        local += bytes * *process.local;
      }
    }
  }
  std::string made =
      fmt::format("{} in memory of {}: {}", bytes_words(resident_bytes(on)),
                  of.processes.size() == 1 ? of.processes.front().name
                                           : fmt::format("{} processes", of.processes.size()),
                  bytes_on_nodes(on));
  if (known > 0) {
    made += fmt::format("; {} is on nodes where threads of its process ran last",
                        report::format_percent(std::min(1.0, local / known)));
  }
  return made + ".";
}

html::table processes_table(const std::vector<shown_sample>& samples) {
  html::table made{"Bytes by node",
                   {{"time", cell_kind::number},
                    {"process"},
                    {"in memory", cell_kind::number},
                    {"on"},
                    {"local", cell_kind::number},
                    {"threads"},
                    {"asked by"}},
                   {}};
  for (const shown_sample& sample : samples) {
    for (const shown_process& each : sample.processes) {
      made.rows.push_back({fmt::format("{:.3f} s", sample.time_s - samples.front().time_s),
                           each.name, bytes_words(resident_bytes(each.on)), bytes_on_nodes(each.on),
                           report::format_percent(each.local, unavailable_cell), each.threads,
                           each.reduced ? each.method + ": whole mappings only" : each.method});
    }
  }
  if (samples.size() == 1) {
    drop_column(made, 0);
  }
  return made;
}

void add_processes(const std::vector<shown_sample>& samples, report_page& into) {
  drawing::bars drawn;
  std::vector<const bytes_by_node*> all;
  for (const shown_sample& sample : samples) {
    for (const shown_process& each : sample.processes) {
      const std::string when =
          samples.size() > 1 ? fmt::format("{:.3f} s, ", sample.time_s - samples.front().time_s)
                             : "";
      drawn.rows.push_back(bar_of_bytes(when + each.name, each.on));
      all.push_back(&each.on);
    }
  }
  drawn.nodes = nodes_of_bytes(all);
  const html::table rows = processes_table(samples);
  html::section& made = into.add_section("processes", "Processes");
  into.add_figure(made, "processes",
                  pictured("Memory of processes by node",
                           "A bar for each process; the table below has the numbers.", drawn),
                  "What is in memory, coloured by the node that has it.", {});
  made.long_table(into.add_table("processes", rows), rows);
}

std::vector<const shown_mapping*> largest_first(const shown_process& of) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < of.mappings.size(); ++i) {
    order.emplace_back(-resident_bytes(of.mappings[i].on), i);
  }
  std::ranges::sort(order);
  std::vector<const shown_mapping*> all;
  for (const auto& [bytes, i] : order) {
    all.push_back(&of.mappings[i]);
  }
  return all;
}

std::string mapping_name(const shown_mapping& of) {
  return of.name.empty() ? fmt::format("{} at {}", of.kind, of.start)
                         : fmt::format("{} ({})", of.name, of.kind);
}

void draw_mappings(const shown_process& of, const std::string& name, html::section& into,
                   report_page& page) {
  drawing::bars drawn;
  std::vector<const bytes_by_node*> shown;
  for (const shown_mapping* const each : largest_first(of)) {
    if (shown.size() < most_mappings_drawn && !each->on.empty()) {
      drawn.rows.push_back(bar_of_bytes(mapping_name(*each), each->on));
      shown.push_back(&each->on);
    }
  }
  drawn.nodes = nodes_of_bytes(shown);
  into.heading(of.name);
  if (shown.empty()) {
    into.paragraph("Nothing of it is in memory.");
    return;
  }
  page.add_figure(
      into, name,
      pictured("Memory of mappings by node",
               "A bar for each of the largest mappings; the table below has the numbers.", drawn),
      shown.size() < of.mappings.size()
          ? fmt::format("The {} that have most in memory, of {}.", shown.size(),
                        counted(of.mappings.size(), "mapping"))
          : "All mappings.",
      {});
}

html::table mappings_table(const shown_sample& of) {
  html::table made{"Mappings, most in memory first",
                   {{"process"},
                    {"mapping"},
                    {"kind"},
                    {"start", cell_kind::code},
                    {"size", cell_kind::number},
                    {"in memory", cell_kind::number},
                    {"on"},
                    {"local", cell_kind::number},
                    {"page of zeros", cell_kind::number},
                    {"policy"}},
                   {}};
  for (const shown_process& process : of.processes) {
    for (const shown_mapping* const each : largest_first(process)) {
      made.rows.push_back({process.name, each->name.empty() ? "(no name)" : each->name, each->kind,
                           each->start, bytes_words(each->bytes),
                           bytes_words(resident_bytes(each->on)), bytes_on_nodes(each->on),
                           report::format_percent(each->local, unavailable_cell),
                           bytes_words(each->zero_bytes), each->policies});
    }
  }
  if (of.processes.size() == 1) {
    drop_column(made, 0);
  }
  return made;
}

void add_mappings(const shown_sample& of, report_page& into) {
  const html::table rows = mappings_table(of);
  html::section& made = into.add_section("mappings", "Mappings");
  for (std::size_t i = 0; i < std::min(most_processes_drawn, of.processes.size()); ++i) {
    draw_mappings(of.processes[i],
                  i == 0 ? "mappings" : fmt::format("mappings-of-process-{}", i + 1), made, into);
  }
  made.long_table(into.add_table("mappings", rows), rows);
}

std::vector<std::string> notes_of_pages(const shown_sample& of) {
  std::vector<std::string> all;
  for (const shown_process& process : of.processes) {
    if (process.reduced) {
      all.push_back(process.name + ": the node of each page is unknown, only totals of mappings");
    }
    for (const std::string& each : process.notes) {
      all.push_back(fmt::format("{}: {}", process.name, each));
    }
  }
  return all;
}

} // namespace

void add_pages(const json_field& document, report_page& into) {
  check_schema(document, "nodewise/pages/1");
  const topology on(machine_from_json(document.at("machine")));
  const std::vector<shown_sample> samples = samples_in(document);
  const std::string name = machine_name_of(on.machine());
  if (samples.empty()) {
    into.set_verdict("No pages were observed.", {{"machine", name}});
    add_machine_section(on, {}, into);
    return;
  }
  into.set_verdict(pages_sentence(samples.back()),
                   {{"machine", name}, {"samples", fmt::format("{}", samples.size())}});
  add_machine_section(on, {}, into);
  add_processes(samples, into);
  add_mappings(samples.back(), into);
  html::section& rest = into.add_section("unseen", "What was not seen");
  const std::vector<std::string> notes = notes_of_pages(samples.back());
  rest.list(notes);
  if (notes.empty()) {
    rest.paragraph("All pages were asked for.");
  }
  rest.remark("Where pages are is measured: the kernel was asked. Who uses them is not: \"local\" "
              "is about where threads ran last.");
}

} // namespace nodewise::cli
