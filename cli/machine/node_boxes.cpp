// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/machine/boxes.hpp"
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
