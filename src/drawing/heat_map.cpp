// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "drawing/heat_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "drawing/colours.hpp"
#include "report/style.hpp"

namespace nodewise::drawing {

namespace {

constexpr double widest_field = 56;
constexpr double narrowest_field = 8;
constexpr double most_width = 720; ///< of all fields together, where they need not be narrower
constexpr double margin = 6;

class painter {
 public:
  painter(svg& into, point at, const heat_map& what) : into_(into), what_(what), at_(at) {
    const auto columns = static_cast<double>(std::max<std::size_t>(1, what.columns.size()));
    field_width_ = std::clamp(most_width / columns, narrowest_field, widest_field);
    field_height_ = std::min(field_width_, 26.0);
    for (const std::string& each : what.rows) {
      labels_width_ = std::max(labels_width_, width_of(each));
    }
    double widest = 0;
    for (const auto& row : what.values) {
      for (const auto& value : row) {
        if (value) {
          least_ = std::min(least_, *value);
          most_ = std::max(most_, *value);
          widest = std::max(widest, width_of(figure_text(*value)));
        }
      }
    }
    with_figures_ = widest + 4 <= field_width_;
    width_ = std::max(labels_width_ + margin + field_width_ * columns,
                      width_of(what.title, {.strong = true}));
    constexpr double least_for_text = 300;
    if (!what.remark.empty()) {
      const double room = std::max(width_, least_for_text) / width_of("0");
      remark_ = report::wrap(what.remark, static_cast<std::size_t>(room));
    }
    for (const std::string& each : remark_) {
      width_ = std::max(width_, width_of(each));
    }
  }

  area draw() {
    double y = at_.y + text_size;
    into_.text({at_.x, y}, what_.title, {.strong = true});
    for (const std::string& line : remark_) {
      y += line_height;
      into_.text({at_.x, y}, line, {.colour = shade::faint});
    }
    y += margin + text_size;
    draw_column_labels(y);
    y += margin;
    const double top = y;
    for (std::size_t row = 0; row < what_.rows.size(); ++row, y += field_height_) {
      draw_row(row, y);
    }
    into_.outline({x_of(0), top, x_of(what_.columns.size()) - x_of(0), y - top});
    return {at_.x, at_.y, width_, y - at_.y};
  }

 private:
  [[nodiscard]] double x_of(std::size_t column) const {
    return at_.x + labels_width_ + margin + field_width_ * static_cast<double>(column);
  }

  /// Every label, or every second, fourth, ... so that they do not overlap.
  void draw_column_labels(double y) {
    double widest = 0;
    for (const std::string& each : what_.columns) {
      widest = std::max(widest, width_of(each));
    }
    std::size_t step = 1;
    while (widest + 4 > field_width_ * static_cast<double>(step) && step < what_.columns.size()) {
      step *= 2;
    }
    for (std::size_t i = 0; i < what_.columns.size(); i += step) {
      into_.text({x_of(i) + field_width_ / 2, y}, what_.columns[i],
                 {.at = text_look::anchor::middle, .colour = shade::faint});
    }
  }

  void draw_row(std::size_t row, double y) {
    const bool has_room = field_height_ >= text_size || row % 2 == 0;
    if (has_room) {
      into_.text({at_.x + labels_width_, y + field_height_ / 2 + text_size / 3}, what_.rows[row],
                 {.at = text_look::anchor::end, .colour = shade::faint});
    }
    for (std::size_t column = 0; column < what_.columns.size(); ++column) {
      draw_field(row, column, y);
    }
  }

  void draw_field(std::size_t row, std::size_t column, double y) {
    const area where{x_of(column), y, field_width_, field_height_};
    const std::optional<double>& value = what_.values[row][column];
    const std::string names = fmt::format("{} {}, {} {}: ", what_.row, what_.rows[row],
                                          what_.column, what_.columns[column]);
    if (!value) {
      into_.begin_part(names + "unavailable");
      into_.missing_field(where);
      into_.end_part();
      return;
    }
    const double share = goodness(*value);
    into_.begin_part(names + figure_text(*value) + (what_.unit.empty() ? "" : " " + what_.unit));
    into_.field(where, scale_colour(share));
    if (with_figures_) {
      into_.text({where.x + where.width / 2, y + field_height_ / 2 + text_size / 3},
                 figure_text(*value),
                 {.at = text_look::anchor::middle, .own_colour = ink_on_scale(share)});
    }
    into_.end_part();
  }

  [[nodiscard]] double goodness(double value) const {
    if (most_ <= least_) {
      return 1;
    }
    const double share = (value - least_) / (most_ - least_);
    return what_.more_is_better ? share : 1 - share;
  }

  svg& into_;
  const heat_map& what_;
  point at_;
  double field_width_ = widest_field;
  double field_height_ = 26;
  double labels_width_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
  double width_ = 0;
  bool with_figures_ = true;
  std::vector<std::string> remark_; ///< in lines
};

} // namespace

area draw(svg& into, point at, const heat_map& what) {
  return painter(into, at, what).draw();
}

std::string figure_text(double value) {
  const bool is_whole = std::abs(value) >= 9999.5 && std::abs(value) < 9'999'999.5;
  return is_whole ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

} // namespace nodewise::drawing
