// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/node_boxes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/counted.hpp"
#include "report/wrap.hpp"
#include "topology/withheld.hpp"

namespace nodewise::cli {

namespace {

using report::display_width;
using report::style;
using report::tone;

constexpr std::size_t longest_picture = 64; ///< in lines; if longer, cores become ranges

/// The strokes of a box, in Unicode or ASCII.
struct strokes {
  const char *line, *bar, *corners[4], *cell[6], *dot;
};
constexpr strokes unicode_strokes{
    "─", "│", {"╭", "╮", "╰", "╯"}, {"┌", "┬", "┐", "└", "┴", "┘"}, "·"};
constexpr strokes ascii_strokes{
    "-", "|", {"+", "+", "+", "+"}, {"+", "+", "+", "+", "+", "+"}, ","};

/// Cores drawn as one grid, with a heading if a node has several packages.
struct core_group {
  std::string heading;
  std::vector<cpu_set> cores;
};

struct node_box {
  node_id node = unknown_node;
  std::string title;
  std::vector<std::string> facts;
  std::vector<core_group> groups;
};

/// Draws the boxes of a machine as text, all of one kind (cells or ranges) and one cell width.
class painter {
 public:
  painter(const topology& what, const style& how, bool with_cells)
      : what_(what), how_(how), draw_(how.unicode ? unicode_strokes : ascii_strokes),
        with_cells_(with_cells) {
    for (const cpu_id cpu : what.machine().cpus()) {
      label_width_ = std::max(label_width_, label(cpu).size());
    }
    for (const core& each : what.machine().cores) {
      cell_width_ = std::max(cell_width_, cell_text(each.cpus).size());
    }
  }

  /// The boxes in as few lines as the width allows.
  [[nodiscard]] std::vector<std::string> rows(const std::vector<node_box>& boxes) const {
    std::vector<std::string> best;
    for (std::size_t in_row = 1; in_row <= boxes.size(); ++in_row) {
      const std::size_t outer = (how_.width + 1) / in_row;
      if (outer < smallest_inner(boxes) + frame + 1 && in_row > 1) {
        break;
      }
      const std::size_t room = std::max(outer - 1, frame + 10) - frame;
      auto lines = rows_of(boxes, in_row, std::min(room, widest_inner(boxes, room)));
      if (best.empty() || lines.size() < best.size()) {
        best = std::move(lines);
      }
    }
    return best;
  }

 private:
  static constexpr std::size_t frame = 4; ///< "│ " and " │"

  [[nodiscard]] std::string label(cpu_id cpu) const {
    return (what_.allowed_cpus().contains(cpu) ? "" : "x") + std::to_string(to_int(cpu));
  }

  /// "0 12", each number padded to the widest; more than four as ranges.
  [[nodiscard]] std::string cell_text(const cpu_set& cpus) const {
    constexpr std::size_t most_listed = 4;
    if (cpus.size() > most_listed) {
      return (what_.allowed_cpus().intersects(cpus) ? "" : "x") + cpus.to_string();
    }
    std::string text;
    for (const cpu_id cpu : cpus) {
      text += (text.empty() ? "" : " ") + report::pad_left(label(cpu), label_width_);
    }
    return text;
  }

  [[nodiscard]] std::size_t cells_per_row(std::size_t cores, std::size_t inner) const {
    const std::size_t fit = std::max<std::size_t>(1, (inner - 1) / (cell_width_ + 3));
    const std::size_t lines = (cores + fit - 1) / fit;
    return (cores + lines - 1) / lines; // as evenly as possible
  }

  [[nodiscard]] std::size_t smallest_inner(const std::vector<node_box>& boxes) const {
    std::size_t inner = with_cells_ ? cell_width_ + frame : 0;
    for (const node_box& box : boxes) {
      inner = std::max(inner, display_width(box.title) + 2);
      for (const std::string& fact : box.facts) {
        inner = std::max(inner, display_width(fact));
      }
    }
    return inner;
  }

  [[nodiscard]] std::size_t widest_inner(const std::vector<node_box>& boxes,
                                         std::size_t room) const {
    std::size_t inner = smallest_inner(boxes);
    for (const node_box& box : boxes) {
      for (const std::string& line : group_lines(box, room)) {
        inner = std::max(inner, display_width(line));
      }
    }
    return inner;
  }

  [[nodiscard]] std::string repeat(const char* stroke, std::size_t times) const {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) {
      text += stroke;
    }
    return text;
  }

  [[nodiscard]] std::string grid_edge(std::size_t cells, const char* const (&ends)[6],
                                      std::size_t at) const {
    std::string text = ends[at];
    for (std::size_t i = 0; i < cells; ++i) {
      text += (i == 0 ? "" : ends[at + 1]) + repeat(draw_.line, cell_width_ + 2);
    }
    return report::paint(how_, tone::faint, text + ends[at + 2]);
  }

  void add_grid(std::vector<std::string>& lines, const core_group& group, std::size_t inner) const {
    const std::size_t cells = cells_per_row(group.cores.size(), inner);
    const std::string bar = report::paint(how_, tone::faint, draw_.bar);
    lines.push_back(grid_edge(cells, draw_.cell, 0));
    for (std::size_t first = 0; first < group.cores.size(); first += cells) {
      std::string line = bar;
      for (std::size_t i = first; i < first + cells; ++i) {
        const cpu_set cpus = i < group.cores.size() ? group.cores[i] : cpu_set{};
        const bool dimmed = !what_.allowed_cpus().intersects(cpus);
        line += " " +
                report::paint(how_, dimmed ? tone::faint : tone::plain,
                              report::pad_right(cell_text(cpus), cell_width_)) +
                " " + bar;
      }
      lines.push_back(line);
    }
    lines.push_back(grid_edge(cells, draw_.cell, 3));
  }

  /// "P# 0-7,192-199", wrapped after commas.
  void add_ranges(std::vector<std::string>& lines, const char* mark, const cpu_set& cpus,
                  std::size_t inner) const {
    if (cpus.empty()) {
      return;
    }
    std::string list = cpus.to_string();
    for (std::size_t at = 0; (at = list.find(',', at)) != std::string::npos; at += 2) {
      list.insert(at + 1, " ");
    }
    for (const std::string& line : report::wrap(mark + list, inner)) {
      lines.push_back(line);
    }
  }

  void add_summary(std::vector<std::string>& lines, const core_group& group,
                   std::size_t inner) const {
    cpu_set cpus;
    for (const cpu_set& core : group.cores) {
      cpus = std::move(cpus) | core;
    }
    lines.push_back(counted(group.cores.size(), "core") + ", " + counted(cpus.size(), "thread"));
    add_ranges(lines, "P# ", cpus & what_.allowed_cpus(), inner);
    add_ranges(lines, "x P# ", cpus - what_.allowed_cpus(), inner);
  }

  [[nodiscard]] std::vector<std::string> group_lines(const node_box& box, std::size_t inner) const {
    std::vector<std::string> lines;
    for (const core_group& group : box.groups) {
      if (!group.heading.empty()) {
        lines.push_back(group.heading);
      }
      if (with_cells_) {
        add_grid(lines, group, inner);
      } else {
        add_summary(lines, group, inner);
      }
    }
    return lines;
  }

  /// One box, `height` lines inside.
  [[nodiscard]] std::vector<std::string> box_lines(const node_box& box, std::size_t inner,
                                                   std::size_t height) const {
    const auto edge = [&](const std::string& text) {
      return report::paint(how_, tone::faint, text);
    };
    std::vector<std::string> inside = box.facts;
    for (std::string& line : group_lines(box, inner)) {
      inside.push_back(std::move(line));
    }
    inside.resize(height);
    std::vector<std::string> lines;
    const std::size_t rest = inner - std::min(inner, display_width(box.title) + 1);
    lines.push_back(edge(std::string(draw_.corners[0]) + draw_.line + " ") +
                    report::paint_node(how_, to_int(box.node), box.title) +
                    edge(" " + repeat(draw_.line, rest) + draw_.corners[1]));
    for (const std::string& line : inside) {
      lines.push_back(edge(draw_.bar) + " " + report::pad_right(line, inner) + " " +
                      edge(draw_.bar));
    }
    lines.push_back(edge(draw_.corners[2] + repeat(draw_.line, inner + 2) + draw_.corners[3]));
    return lines;
  }

  [[nodiscard]] std::vector<std::string> rows_of(const std::vector<node_box>& boxes,
                                                 std::size_t in_row, std::size_t inner) const {
    std::vector<std::string> all;
    for (std::size_t first = 0; first < boxes.size(); first += in_row) {
      const std::size_t last = std::min(boxes.size(), first + in_row);
      std::size_t height = 0;
      for (std::size_t i = first; i < last; ++i) {
        height = std::max(height, boxes[i].facts.size() + group_lines(boxes[i], inner).size());
      }
      std::vector<std::string> row(height + 2);
      for (std::size_t i = first; i < last; ++i) {
        const auto lines = box_lines(boxes[i], inner, height);
        for (std::size_t line = 0; line < row.size(); ++line) {
          row[line] += (i == first ? "" : " ") + lines[line];
        }
      }
      all.insert(all.end(), row.begin(), row.end());
    }
    return all;
  }

  const topology& what_;
  const style& how_;
  const strokes& draw_;
  bool with_cells_;
  std::size_t label_width_ = 1;
  std::size_t cell_width_ = 1;
};

std::string package_name(const package& each) {
  return each.id < 0 ? "package" : "package P#" + std::to_string(each.id);
}

/// The cores among `cpus`, grouped by package if they lie in several.
std::vector<core_group> groups_of(const machine& all, cpu_set cpus) {
  const auto cores_in = [&](const cpu_set& wanted) {
    std::vector<cpu_set> cores;
    for (const core& each : all.cores) {
      if (const cpu_set part = each.cpus & wanted; !part.empty()) {
        cores.push_back(part);
      }
    }
    return cores;
  };
  const bool in_several =
      std::none_of(all.packages.begin(), all.packages.end(),
                   [&](const package& each) { return each.cpus.includes(cpus); });
  std::vector<core_group> groups;
  for (const package& each : all.packages) {
    if (in_several && each.cpus.intersects(cpus)) {
      groups.push_back({package_name(each), cores_in(each.cpus & cpus)});
      cpus = std::move(cpus) - each.cpus;
    }
  }
  if (!cpus.empty()) {
    groups.push_back({groups.empty() ? "" : "in no package", cores_in(cpus)});
  }
  return groups;
}

/// "24.0 GiB HBM", and the package if its number adds to the node's.
std::string memory_text(const machine& all, const memory_node& node, const char* dot) {
  const std::string kind = kind_text(node.kind);
  std::string text = node.memory_bytes == 0 ? "no memory"
                                            : report::format_bytes(node.memory_bytes) +
                                                  (kind.empty() ? "" : " ") + kind;
  for (const package& each : all.packages) {
    const bool says_the_same = each.cpus == node.cpus && each.id == to_int(node.id);
    if (all.packages.size() > 1 && !node.cpus.empty() && each.cpus.includes(node.cpus) &&
        !says_the_same) {
      text += std::string(" ") + dot + " " + package_name(each);
    }
  }
  return text;
}

node_box box_of(const topology& what, const memory_node& node, const char* dot) {
  node_box box;
  box.node = node.id;
  const bool allowed = !is_withheld(what, node);
  box.title = std::string(allowed ? "" : "x ") + "node " +
              (node.logical < 0 ? "" : "L#" + std::to_string(node.logical) + " ") + "P#" +
              std::to_string(to_int(node.id));
  box.facts.push_back(memory_text(what.machine(), node, dot));
  if (!allowed) {
    box.facts.emplace_back("x memory not allowed");
  }
  if (node.cpus.empty()) {
    box.facts.emplace_back("no processors");
  } else {
    box.groups = groups_of(what.machine(), node.cpus);
  }
  return box;
}

/// Nodes with processors, nodes without, and processors of no node: each sort in its own rows.
std::vector<std::vector<node_box>> sorts_of(const topology& what, const char* dot) {
  std::vector<std::vector<node_box>> sorts(3);
  cpu_set rest = what.machine().cpus();
  for (const memory_node& node : what.machine().nodes) {
    sorts[node.cpus.empty() ? 1 : 0].push_back(box_of(what, node, dot));
    rest = std::move(rest) - node.cpus;
  }
  if (!rest.empty()) {
    sorts[2].push_back({unknown_node, "in no node", {}, groups_of(what.machine(), rest)});
  }
  return sorts;
}

std::vector<std::string> all_rows(const topology& what, const style& how, bool with_cells) {
  const char* const dot = (how.unicode ? unicode_strokes : ascii_strokes).dot;
  const painter paints(what, how, with_cells);
  std::vector<std::string> lines;
  for (const auto& boxes : sorts_of(what, dot)) {
    for (std::string& line : paints.rows(boxes)) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

} // namespace

std::string kind_text(memory_kind kind) {
  switch (kind) {
  case memory_kind::unknown:
    break;
  case memory_kind::dram:
    return "DRAM";
  case memory_kind::hbm:
    return "HBM";
  case memory_kind::cxl:
    return "CXL";
  case memory_kind::gpu:
    return "GPU memory";
  case memory_kind::other:
    return "special memory";
  }
  return {};
}

std::string draw_nodes(const topology& what, const style& how) {
  std::string legend = "a cell is a core, its numbers are processors (P#)";
  std::vector<std::string> lines = all_rows(what, how, true);
  if (lines.size() > longest_picture) {
    lines = all_rows(what, how, false);
    legend = "P# are the numbers of the processors";
  }
  const machine& all = what.machine();
  if (what.allowed_cpus() != all.cpus() || !withheld_nodes(what).empty()) {
    legend += "; x: not allowed";
  }
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  for (const std::string& line : report::wrap(legend, how.width)) {
    text += report::paint(how, tone::faint, line) + "\n";
  }
  return text;
}

} // namespace nodewise::cli
