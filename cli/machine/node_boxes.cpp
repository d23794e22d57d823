// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/machine/drawing.hpp"
#include "topology/part_sets.hpp"

namespace nodewise::cli {

namespace {

using report::display_width;
using report::paint;
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

void add_lines(std::vector<std::string>& lines, const std::vector<std::string>& more) {
  lines.insert(lines.end(), more.begin(), more.end());
}

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
    return fmt::format("{}{}", what_.allowed_cpus().contains(cpu) ? "" : "x", cpu);
  }

  /// "0 12", each number padded to the widest; more than four as ranges.
  [[nodiscard]] std::string cell_text(const cpu_set& cpus) const {
    constexpr std::size_t most_listed = 4;
    if (cpus.size() > most_listed) {
      return (what_.allowed_cpus().intersects(cpus) ? "" : "x") + cpus.to_string();
    }
    return joined(cpus, " ",
                  [this](cpu_id cpu) { return report::pad_left(label(cpu), label_width_); });
  }

  [[nodiscard]] std::size_t cells_per_row(std::size_t cores, std::size_t inner) const {
    const std::size_t fit = std::max<std::size_t>(1, (inner - 1) / (cell_width_ + 3));
    const std::size_t lines = (cores + fit - 1) / fit;
    return (cores + lines - 1) / lines; // as evenly as possible
  }

  [[nodiscard]] std::size_t smallest_inner(const std::vector<node_box>& boxes) const {
    std::size_t inner = with_cells_ ? cell_width_ + frame : 0;
    for (const node_box& box : boxes) {
      inner = report::widest(box.facts, std::max(inner, display_width(box.title) + 2));
    }
    return inner;
  }

  [[nodiscard]] std::size_t widest_inner(const std::vector<node_box>& boxes,
                                         std::size_t room) const {
    std::size_t inner = smallest_inner(boxes);
    for (const node_box& box : boxes) {
      inner = report::widest(group_lines(box, room), inner);
    }
    return inner;
  }

  [[nodiscard]] std::string line_of(std::size_t length) const {
    return joined(std::vector(length, draw_.line), "");
  }

  [[nodiscard]] std::string grid_edge(std::size_t cells, std::size_t at) const {
    const std::vector<std::string> edges(cells, line_of(cell_width_ + 2));
    const char* const* const ends = draw_.cell + at;
    return paint(how_, tone::faint, ends[0] + joined(edges, ends[1]) + ends[2]);
  }

  void add_grid(std::vector<std::string>& lines, const core_group& group, std::size_t inner) const {
    const std::size_t cells = cells_per_row(group.cores.size(), inner);
    const std::string bar = paint(how_, tone::faint, draw_.bar);
    lines.push_back(grid_edge(cells, 0));
    for (std::size_t first = 0; first < group.cores.size(); first += cells) {
      std::string line = bar;
      for (std::size_t i = first; i < first + cells; ++i) {
        const cpu_set cpus = i < group.cores.size() ? group.cores[i] : cpu_set{};
        const tone look = what_.allowed_cpus().intersects(cpus) ? tone::plain : tone::faint;
        const std::string cell = report::pad_right(cell_text(cpus), cell_width_);
        line += fmt::format(" {} {}", paint(how_, look, cell), bar);
      }
      lines.push_back(line);
    }
    lines.push_back(grid_edge(cells, 3));
  }

  /// "P# 0-7,192-199", wrapped after commas.
  void add_ranges(std::vector<std::string>& lines, const char* mark, const cpu_set& cpus,
                  std::size_t inner) const {
    if (!cpus.empty()) {
      add_lines(lines, report::wrap(mark + joined(split(cpus.to_string(), ','), ", "), inner));
    }
  }

  void add_summary(std::vector<std::string>& lines, const core_group& group,
                   std::size_t inner) const {
    cpu_set cpus;
    for (const cpu_set& core : group.cores) {
      cpus = std::move(cpus) | core;
    }
    lines.push_back(
        fmt::format("{}, {}", counted(group.cores.size(), "core"), counted(cpus.size(), "thread")));
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
    const auto edge = [&](const std::string& text) { return paint(how_, tone::faint, text); };
    std::vector<std::string> inside = box.facts;
    add_lines(inside, group_lines(box, inner));
    inside.resize(height);
    const std::size_t rest = inner - std::min(inner, display_width(box.title) + 1);
    const auto& corners = draw_.corners;
    std::vector<std::string> lines = {edge(fmt::format("{}{} ", corners[0], draw_.line)) +
                                      report::paint_node(how_, to_int(box.node), box.title) +
                                      edge(fmt::format(" {}{}", line_of(rest), corners[1]))};
    for (const std::string& line : inside) {
      lines.push_back(fmt::format("{0} {1} {0}", edge(draw_.bar), report::pad_right(line, inner)));
    }
    lines.push_back(edge(corners[2] + line_of(inner + 2) + corners[3]));
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
      add_lines(all, row);
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
  return each.id < 0 ? "package" : fmt::format("package P#{}", each.id);
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
  const bool in_several = std::ranges::none_of(
      all.packages, [&](const package& each) { return each.cpus.includes(cpus); });
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

/// In the order of `memory_kind`: unknown, dram, hbm, cxl, gpu, other.
constexpr std::array kind_texts = {"", " DRAM", " HBM", " CXL", " GPU memory", " special memory"};

/// "24.0 GiB HBM", and the package if its number adds to the node's.
std::string memory_text(const machine& all, const memory_node& node, const char* dot) {
  const char* const kind = kind_texts.at(static_cast<std::size_t>(node.kind));
  std::string text =
      node.memory_bytes == 0 ? "no memory" : report::format_bytes(node.memory_bytes) + kind;
  for (const package& each : all.packages) {
    const bool says_the_same = each.cpus == node.cpus && each.id == to_int(node.id);
    if (all.packages.size() > 1 && !node.cpus.empty() && each.cpus.includes(node.cpus) &&
        !says_the_same) {
      text += fmt::format(" {} {}", dot, package_name(each));
    }
  }
  return text;
}

node_box box_of(const topology& what, const memory_node& node, const char* dot) {
  node_box box;
  box.node = node.id;
  const bool allowed = !is_withheld(what, node);
  box.title = fmt::format("{}node {}P#{}", allowed ? "" : "x ",
                          node.logical < 0 ? "" : fmt::format("L#{} ", node.logical), node.id);
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
    add_lines(lines, paints.rows(boxes));
  }
  return lines;
}

} // namespace

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
  for (const std::string& line : report::wrap(legend, how.width)) {
    lines.push_back(paint(how, tone::faint, line));
  }
  return joined(lines, "\n") + "\n";
}

} // namespace nodewise::cli
