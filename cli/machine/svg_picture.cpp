// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/machine/svg_picture.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/machine/boxes.hpp"
#include "drawing/heat_map.hpp"
#include "drawing/svg.hpp"

namespace nodewise::cli {

namespace {

using drawing::area;
using drawing::line_height;
using drawing::point;
using drawing::shade;
using drawing::svg;
using drawing::text_look;
using drawing::text_size;
using drawing::width_of;

constexpr double margin = 16;
constexpr double padding = 10;
constexpr double gap = 12;
constexpr double page_width = 960;
constexpr double cell_height = 24;
constexpr std::size_t most_cells = 512; ///< of a machine; if more, a node's processors are a range

/// Puts areas side by side, and begins a new row where the page ends.
class rows {
 public:
  explicit rows(point at) : left_(at.x), x_(at.x), y_(at.y) {}

  /// Where the next thing of this size begins.
  point place(double width, double height) {
    if (x_ > left_ && x_ + width > page_width - margin) {
      next();
    }
    const point at{x_, y_};
    x_ += width + gap;
    row_height_ = std::max(row_height_, height);
    right_ = std::max(right_, at.x + width);
    return at;
  }
  void next() {
    if (row_height_ > 0) {
      y_ += row_height_ + gap;
    }
    x_ = left_;
    row_height_ = 0;
  }
  /// The bottom of all rows so far.
  [[nodiscard]] double bottom() const { return y_ + row_height_; }
  [[nodiscard]] double right() const { return right_; }

 private:
  double left_;
  double x_;
  double y_;
  double row_height_ = 0;
  double right_ = 0;
};

std::string cell_text(const topology& what, const cpu_set& cpus) {
  constexpr std::size_t most_listed = 4;
  if (cpus.size() > most_listed) {
    return cpus.to_string();
  }
  return joined(cpus, " ", [&](cpu_id cpu) {
    return fmt::format("{}{}", what.allowed_cpus().contains(cpu) ? "" : "x", cpu);
  });
}

/// One node: a frame with its name, its memory and its cores.
class node_picture {
 public:
  node_picture(const topology& what, const node_box& box, bool with_cells)
      : what_(what), box_(box) {
    double widest = std::max(width_of(box.title, {.strong = true}), 96.0);
    for (const std::string& each : box.facts) {
      widest = std::max(widest, width_of(each));
    }
    double height = line_height * static_cast<double>(1 + box.facts.size());
    for (const core_group& group : box.groups) {
      const double of_cells = add_cells(group, with_cells);
      widest = std::max({widest, of_cells, width_of(group.heading)});
      height += group.heading.empty() ? 0 : line_height;
      height += gap / 2 + cell_height * static_cast<double>(cells_.back().lines);
    }
    width_ = widest + 2 * padding;
    height_ = height + 2 * padding;
  }

  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }

  void draw(svg& into, point at, double height) const {
    into.begin_part(fmt::format("{}: {}", box_.title, joined(box_.facts, ", ")));
    into.field({at.x, at.y, width_, height});
    double y = at.y + padding + text_size;
    into.text({at.x + padding, y}, box_.title, {.strong = true});
    for (const std::string& each : box_.facts) {
      y += line_height;
      into.text({at.x + padding, y}, each, {.colour = shade::faint});
    }
    for (std::size_t i = 0; i < box_.groups.size(); ++i) {
      if (!box_.groups[i].heading.empty()) {
        y += line_height;
        into.text({at.x + padding, y}, box_.groups[i].heading, {.colour = shade::faint});
      }
      y = draw_cells(into, cells_[i], {at.x + padding, y + gap / 2 + 2}) + text_size - 2;
    }
    into.end_part();
  }

 private:
  struct grid {
    std::vector<std::string> texts;
    double width = 0; ///< of a cell
    std::size_t columns = 1;
    std::size_t lines = 0;
  };

  /// Returns the width of the grid.
  double add_cells(const core_group& group, bool with_cells) {
    grid made;
    if (with_cells) {
      for (const cpu_set& each : group.cores) {
        made.texts.push_back(cell_text(what_, each));
      }
    } else {
      cpu_set all;
      for (const cpu_set& each : group.cores) {
        all = std::move(all) | each;
      }
      made.texts.push_back(fmt::format("{} cores, P#{}", group.cores.size(), all.to_string()));
    }
    for (const std::string& each : made.texts) {
      made.width = std::max(made.width, width_of(each) + padding);
    }
    const auto count = static_cast<double>(made.texts.size());
    made.lines =
        std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(std::sqrt(count) / 2)));
    made.columns = (made.texts.size() + made.lines - 1) / made.lines;
    cells_.push_back(made);
    return made.width * static_cast<double>(std::min(made.columns, made.texts.size()));
  }

  /// Returns the bottom of the cells.
  static double draw_cells(svg& into, const grid& cells, point at) {
    for (std::size_t i = 0; i < cells.texts.size(); ++i) {
      const area where{at.x + cells.width * static_cast<double>(i % cells.columns),
                       at.y + cell_height * static_cast<double>(i / cells.columns), cells.width,
                       cell_height};
      into.field(where);
      into.text({where.x + where.width / 2, where.y + cell_height / 2 + text_size / 3},
                cells.texts[i], {.at = text_look::anchor::middle});
    }
    return at.y + cell_height * static_cast<double>(cells.lines);
  }

  const topology& what_;
  const node_box& box_;
  std::vector<grid> cells_; ///< of each group
  double width_ = 0;
  double height_ = 0;
};

void draw_nodes(svg& into, rows& at, const topology& what) {
  const bool with_cells = what.machine().cores.size() <= most_cells;
  for (const auto& boxes : sorts_of(what, "·")) {
    std::vector<node_picture> pictures;
    double height = 0;
    for (const node_box& each : boxes) {
      pictures.emplace_back(what, each, with_cells);
      height = std::max(height, pictures.back().height());
    }
    for (const node_picture& each : pictures) {
      each.draw(into, at.place(each.width(), height), height);
    }
    at.next();
  }
}

std::vector<node_id> ids_of(const machine& all, bool with_processors) {
  std::vector<node_id> ids;
  for (const memory_node& each : all.nodes) {
    if (!with_processors || !each.cpus.empty()) {
      ids.push_back(each.id);
    }
  }
  return ids;
}

std::vector<std::string> names_of(const std::vector<node_id>& ids) {
  std::vector<std::string> names;
  for (const node_id each : ids) {
    names.push_back(fmt::format("{}", each));
  }
  return names;
}

std::optional<std::size_t> position_in(const std::vector<node_id>& ids, node_id which) {
  const auto found = std::ranges::find(ids, which);
  return found == ids.end() ? std::nullopt
                            : std::optional(static_cast<std::size_t>(found - ids.begin()));
}

drawing::heat_map empty_map(std::string title, std::string remark, const std::vector<node_id>& rows,
                            const std::vector<node_id>& columns) {
  drawing::heat_map made;
  made.title = std::move(title);
  made.remark = std::move(remark);
  made.row = "processors of node";
  made.column = "memory of node";
  made.rows = names_of(rows);
  made.columns = names_of(columns);
  made.values.assign(rows.size(), std::vector<std::optional<double>>(columns.size()));
  return made;
}

drawing::heat_map distances_of(const machine& all) {
  const std::vector<node_id> ids = ids_of(all, false);
  drawing::heat_map made =
      empty_map("distances", "from the firmware: an order, not a cost", ids, ids);
  for (std::size_t row = 0; row < ids.size(); ++row) {
    std::ranges::copy(all.distances[row], made.values[row].begin());
  }
  made.more_is_better = false;
  return made;
}

/// Parameters between nodes that have the same name, unit and source: a map each.
std::vector<drawing::heat_map> costs_of(const machine& all) {
  const std::vector<node_id> from = ids_of(all, true);
  const std::vector<node_id> to = ids_of(all, false);
  const auto key_of = [](const parameter& each) {
    return std::tie(each.name, each.unit, each.source);
  };
  std::vector<const parameter*> firsts;
  std::vector<drawing::heat_map> maps;
  for (const parameter& each : all.parameters) {
    const auto same = std::ranges::find_if(
        firsts, [&](const parameter* first) { return key_of(*first) == key_of(each); });
    const auto which = static_cast<std::size_t>(same - firsts.begin());
    if (same == firsts.end()) {
      firsts.push_back(&each);
      const std::string name = joined(split(each.name, '_'), " ");
      drawing::heat_map& made = maps.emplace_back(
          empty_map(fmt::format("{} ({})", name, each.unit), each.source, from, to));
      made.unit = each.unit;
      made.more_is_better = each.name.find("bandwidth") != std::string::npos;
    }
    const auto row = position_in(from, each.from);
    const auto column = position_in(to, each.to);
    if (row && column) {
      maps[which].values[*row][*column] = each.value;
    }
  }
  return maps;
}

void draw_maps(svg& into, rows& at, const machine& all) {
  std::vector<drawing::heat_map> maps = costs_of(all);
  if (!all.distances.empty() && all.nodes.size() > 1) {
    maps.insert(maps.begin(), distances_of(all));
  }
  for (const drawing::heat_map& each : maps) {
    svg measure; // its size is known only when it is drawn
    const area size = draw(measure, {}, each);
    (void)draw(into, at.place(size.width, size.height), each);
  }
}

} // namespace

std::string machine_svg(const topology& what, const std::vector<std::string>& remarks) {
  const machine& all = what.machine();
  svg into;
  double y = margin + 18;
  const std::string name = all.name.empty() ? "a machine" : all.name;
  into.text({margin, y}, name, {.size = 18, .strong = true});
  if (!all.title.empty()) {
    y += line_height;
    into.text({margin, y}, all.title, {.colour = shade::faint});
  }
  rows at({margin, y + gap});
  draw_nodes(into, at, what);
  draw_maps(into, at, all);
  y = at.bottom();
  double width = std::max({at.right(), margin + width_of(name, {.size = 18, .strong = true}),
                           margin + width_of(all.title)});
  for (const std::string& each : remarks) {
    y += line_height;
    into.text({margin, y}, each, {.colour = shade::faint});
    width = std::max(width, margin + width_of(each));
  }
  const std::string description = fmt::format("{} nodes, {} cores, {} processors", all.nodes.size(),
                                              all.cores.size(), all.cpus().size());
  return into.to_string(name, description, width + margin, y + margin);
}

} // namespace nodewise::cli
