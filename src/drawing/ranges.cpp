// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "drawing/ranges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/core.h>

#include "base/text.hpp"
#include "drawing/chart.hpp"
#include "drawing/heat_map.hpp"

namespace nodewise::drawing {

namespace {

constexpr double ranges_width = 560;
constexpr double ranges_edge = 24; ///< left and right of the axis, for half a number
constexpr double range_height = 20;
constexpr double range_gap = 6;
constexpr double dots_at = 6; ///< below the top of the row's field
constexpr double interval_at = 14;
constexpr double dot_step = 3; ///< pixels: closer dots are one
constexpr std::size_t most_range_ticks = 6;

/// Beyond it, differences of two values may not be finite.
bool is_drawable(double value) {
  return std::abs(value) < 1e300;
}

std::string range_words(const range_row& of, const std::string& axis) {
  std::string made = fmt::format("{}, {}: {}", of.name, axis,
                                 of.median && std::isfinite(*of.median)
                                     ? fmt::format("median {}", figure_text(*of.median))
                                     : "no figure");
  if (of.low && of.high && std::isfinite(*of.low) && std::isfinite(*of.high)) {
    made += fmt::format(" ({} to {})", figure_text(*of.low), figure_text(*of.high));
  }
  if (!of.points.empty()) {
    made += ", " + counted(of.points.size(), "figure");
  }
  return made + (of.note.empty() ? "" : "; " + of.note);
}

class range_painter {
 public:
  range_painter(svg& into, point at, const ranges& what)
      : into_(into), what_(what), at_(at), shown_(std::min(most_ranges, what.rows.size())) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (std::size_t i = 0; i < shown_; ++i) {
      for_each_value(what.rows[i], [&](double value) {
        low = std::min(low, value);
        high = std::max(high, value);
      });
    }
    if (low <= high) {
      ticks_ = ticks(what.from_zero ? std::min(low, 0.0) : low, high, most_range_ticks);
    }
  }

  area draw() {
    const double row_height = line_height + range_height + range_gap;
    const double bottom = at_.y + row_height * static_cast<double>(shown_);
    draw_axis(bottom);
    for (std::size_t i = 0; i < shown_; ++i) {
      draw_row(what_.rows[i], at_.y + row_height * static_cast<double>(i));
    }
    double end = bottom + (ticks_.empty() ? 0 : 2 * line_height + range_gap);
    if (shown_ < what_.rows.size()) {
      end += line_height;
      into_.text({at_.x, end - range_gap},
                 fmt::format("{} more: see the table", what_.rows.size() - shown_),
                 {.colour = shade::faint});
    }
    return {at_.x, at_.y, ranges_width, end - at_.y};
  }

 private:
  template <class See>
  static void for_each_value(const range_row& of, See see) {
    for (const double each : of.points) {
      if (is_drawable(each)) {
        see(each);
      }
    }
    for (const auto& each : {of.median, of.low, of.high}) {
      if (each && is_drawable(*each)) {
        see(*each);
      }
    }
  }

  [[nodiscard]] double x_of(double value) const {
    constexpr double room = ranges_width - 2 * ranges_edge;
    return at_.x + ranges_edge + room * (value - ticks_.front()) / (ticks_.back() - ticks_.front());
  }

  void draw_axis(double bottom) {
    for (const double each : ticks_) {
      into_.line({x_of(each), bottom - range_gap}, {x_of(each), bottom}, shade::frame);
      into_.text({x_of(each), bottom + text_size}, figure_text(each),
                 {.at = text_look::anchor::middle, .colour = shade::faint});
    }
    if (!ticks_.empty()) {
      into_.text({at_.x + ranges_width / 2, bottom + text_size + line_height},
                 fitting(what_.axis, ranges_width),
                 {.at = text_look::anchor::middle, .colour = shade::faint});
    }
  }

  void draw_row(const range_row& of, double y) {
    const std::string colour(colour_of(of.matters));
    into_.begin_part(range_words(of, what_.axis));
    draw_label(into_, {at_.x, y + text_size}, ranges_width, of.name, of.note, of.matters);
    const double top = y + line_height;
    for (const double each : ticks_) {
      into_.line({x_of(each), top}, {x_of(each), top + range_height}, shade::frame);
    }
    std::set<long> columns;
    for (const double each : of.points) {
      if (is_drawable(each)) {
        columns.insert(std::lround(x_of(each) / dot_step));
      }
    }
    for (const long each : columns) {
      into_.dot({static_cast<double>(each) * dot_step, top + dots_at}, colour);
    }
    if (of.low && of.high && is_drawable(*of.low) && is_drawable(*of.high)) {
      into_.path({{x_of(*of.low), top + interval_at}, {x_of(*of.high), top + interval_at}}, colour);
      for (const double end : {*of.low, *of.high}) {
        into_.path({{x_of(end), top + interval_at - 3}, {x_of(end), top + interval_at + 3}},
                   colour);
      }
    }
    if (of.median && is_drawable(*of.median)) {
      into_.path({{x_of(*of.median), top}, {x_of(*of.median), top + range_height}}, colour);
    }
    into_.end_part();
  }

  svg& into_;
  const ranges& what_;
  point at_;
  std::size_t shown_;
  std::vector<double> ticks_; ///< empty: nothing can be drawn
};

} // namespace

area draw(svg& into, point at, const ranges& what) {
  return range_painter(into, at, what).draw();
}

} // namespace nodewise::drawing
