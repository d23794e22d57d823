// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/prediction/counted.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/frame/flags.hpp"

namespace nodewise::cli {

namespace {

using traffic::cell;
using traffic::counts;
using traffic::phase;
using traffic::region_traffic;

[[noreturn]] void refuse_machine(const std::string& what) {
  throw error(error_kind::input, "predicting the time of the traffic",
              what + " is not on the machine",
              "leave --input out, or use the machine on which it was counted");
}

/// Collects what each processor moved.
class collector {
 public:
  collector(const counts& of, const model::machine_costs& on, priced_traffic& into)
      : of_(of), on_(on), into_(into) {
    into_.elsewhere = !is_counted_machine();
  }

  void add(cpu_id cpu, node_id to, const traffic::volume& lines, double dirty, double share) {
    const double moved = static_cast<double>(lines.moved()) + dirty;
    if (moved == 0) {
      return;
    }
    if (to == unknown_node || of_.node_of(cpu) == unknown_node) {
      into_.unknown += moved * share;
      return;
    }
    model::thread_traffic& thread =
        threads_.try_emplace(cpu, model::idle_thread(core_for(cpu), on_.size())).first->second;
    const auto memory = on_.position_of(to);
    if (!memory) {
      refuse_machine(fmt::format("the memory of node {}", to));
    }
    const double bytes = share * static_cast<double>(of_.line_bytes);
    thread.read[*memory] += bytes * static_cast<double>(lines.fills);
    thread.written[*memory] +=
        bytes * (static_cast<double>(lines.write_backs + lines.streams) + dirty);
    into_.lines += moved * share;
    into_.dirty += dirty * share;
  }

  void finish() {
    if (threads_.empty()) {
      throw error(error_kind::input, "predicting the time of the traffic",
                  into_.unknown > 0 ? "no line of it has a known processor and memory"
                                    : "no line was moved in this part of it",
                  "use --phase all or another --region, or count a larger run");
    }
    for (auto& [cpu, thread] : threads_) {
      into_.what.threads.push_back(std::move(thread));
    }
  }

 private:
  [[nodiscard]] bool is_counted_machine() const {
    return std::ranges::all_of(of_.processors, [&](const traffic::processor& each) {
      const auto core = on_.core_of(each.cpu);
      return core && on_.nodes[on_.cores[*core].node] == each.node;
    });
  }
  /// The processor's core; on another machine, the core at the same position in the same node.
  [[nodiscard]] std::size_t core_for(cpu_id cpu) {
    if (const auto core = on_.core_of(cpu); core && !into_.elsewhere) {
      return *core;
    }
    const node_id node = of_.node_of(cpu);
    const auto before = std::ranges::count_if(of_.processors, [&](const traffic::processor& other) {
      return other.node == node && other.cpu < cpu;
    });
    std::ptrdiff_t nth = 0;
    for (std::size_t core = 0; core < on_.cores.size(); ++core) {
      if (on_.nodes[on_.cores[core].node] == node && nth++ == before) {
        return core;
      }
    }
    refuse_machine(fmt::format("core {} of node {}", before + 1, node));
  }

  const counts& of_;
  const model::machine_costs& on_;
  priced_traffic& into_;
  std::map<cpu_id, model::thread_traffic> threads_;
};

/// For each node, the processors that moved anything, in any phase.
std::map<node_id, std::set<cpu_id>> workers_of(const counts& of) {
  std::map<node_id, std::set<cpu_id>> workers;
  for (const cell& each : of.cells) {
    if (each.lines.moved() > 0) {
      workers[of.node_of(each.cpu)].insert(each.cpu);
    }
  }
  return workers;
}

void require_region(const counts& of, const std::string& name) {
  const std::vector<std::string> names = region_names(of);
  if (std::ranges::find(names, name) != names.end()) {
    return;
  }
  throw error(error_kind::usage, fmt::format("--{} {}", flags::region.name, name),
              "the traffic has no such region",
              names.empty() ? "it has none: mark them with NODEWISE_MARKER_START(\"name\")"
                            : "use one of " + joined(names, ", "));
}

void collect_region(const counts& of, const std::string& name, collector& into) {
  require_region(of, name);
  const auto workers = workers_of(of);
  for (const region_traffic& each : of.regions) {
    if (each.name != name) {
      continue;
    }
    const auto found = workers.find(each.from);
    if (each.from == unknown_node || found == workers.end()) {
      into.add(cpu_id{-1}, unknown_node, each.lines, 0, 1);
      continue;
    }
    for (const cpu_id cpu : found->second) {
      into.add(cpu, each.to, each.lines, 0, 1 / static_cast<double>(found->second.size()));
    }
  }
}

// Reading the file.

node_id node_in(const json_field& field, std::string_view key) {
  const json_field node = field.at(key);
  return node.is_text() && node.text() == "unknown" ? unknown_node
                                                    : node_id{node.small_number(0, max_id)};
}

cpu_id cpu_in(const json_field& field) {
  return field.number() == -1 ? cpu_id{-1} : cpu_id{field.small_number(0, max_id)};
}

traffic::volume volume_in(const json_field& field) {
  // Moving a line takes at least a nanosecond, so no count comes near this limit.
  constexpr std::uint64_t most = std::uint64_t{1} << 50;
  return {field.at("fills").whole_number(0, most), field.at("write_backs").whole_number(0, most),
          field.at("streams").whole_number(0, most)};
}

phase phase_in(const json_field& field) {
  static constexpr std::array<std::string_view, 2> names = {"init", "use"};
  return field.one_of(names) == 0 ? phase::initialisation : phase::use;
}

void read_cells(const json_field& list, counts& into) {
  std::map<cpu_id, node_id> nodes;
  for (const json_field& each : list.elements()) {
    const cell one{.cpu = cpu_in(each.at("cpu")),
                   .to = node_in(each, "to"),
                   .when = phase_in(each.at("phase")),
                   .lines = volume_in(each),
                   .dirty = each.at("dirty").whole_number(0, std::uint64_t{1} << 50)};
    const node_id from = node_in(each, "from");
    if (nodes.try_emplace(one.cpu, from).first->second != from) {
      each.at("from").refuse(
          fmt::format("processor {} is on another node in an earlier cell", one.cpu),
          "give each processor one node");
    }
    into.cells.push_back(one);
  }
  for (const auto& [cpu, node] : nodes) {
    into.processors.push_back({cpu, node});
  }
}

} // namespace

std::vector<std::string> region_names(const counts& of) {
  std::vector<std::string> names;
  for (const region_traffic& each : of.regions) {
    if (std::ranges::find(names, each.name) == names.end()) {
      names.push_back(each.name);
    }
  }
  return names;
}

priced_traffic price_of_counts(const counts& of, const traffic_choice& which,
                               const model::machine_costs& on) {
  priced_traffic made;
  collector into(of, on, made);
  if (which.region) {
    collect_region(of, *which.region, into);
  } else {
    for (const cell& each : of.cells) {
      if (!which.when || each.when == *which.when) {
        into.add(each.cpu, each.to, each.lines, static_cast<double>(each.dirty), 1);
      }
    }
  }
  into.finish();
  return made;
}

traffic_file traffic_from_json(const json_field& document) {
  check_schema(document, "nodewise/traffic/1");
  traffic_file made;
  constexpr std::uint64_t longest_line = 4096;
  made.all.line_bytes = document.at("model").at("line_bytes").whole_number(1, longest_line);
  made.judged = phase_in(document.at("judged_by"));
  read_cells(document.at("matrix"), made.all);
  for (const json_field& each : document.at("regions").elements()) {
    made.all.regions.push_back({.name = each.at("name").text(),
                                .from = node_in(each, "from"),
                                .to = node_in(each, "to"),
                                .lines = volume_in(each)});
  }
  return made;
}

} // namespace nodewise::cli
