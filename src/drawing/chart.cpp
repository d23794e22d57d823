// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "drawing/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "drawing/heat_map.hpp"

namespace nodewise::drawing {

namespace {

constexpr double plot_width = 420;
constexpr double plot_height = 220;
constexpr double left_room = 58; ///< for the numbers of the axis
constexpr double tick_length = 4;
constexpr std::size_t most_ticks = 6;

struct bounds {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
};

class chart_painter {
 public:
  chart_painter(svg& into, point at, const chart& what) : into_(into), what_(what), at_(at) {
    bounds x;
    bounds y;
    for (const chart_line& line : what.lines) {
      for (const chart_point& each : line.points) {
        x.include(each.x);
        y.include(each.y);
        y.include(each.low.value_or(each.y));
        y.include(each.high.value_or(each.y));
      }
    }
    is_empty_ = x.low > x.high || y.low > y.high;
    x_ticks_ = is_empty_
                   ? std::vector<double>{0, 1}
                   : ticks(what.x.from_zero ? std::min(0.0, x.low) : x.low, x.high, most_ticks);
    y_ticks_ = is_empty_
                   ? std::vector<double>{0, 1}
                   : ticks(what.y.from_zero ? std::min(0.0, y.low) : y.low, y.high, most_ticks);
  }

  area draw() {
    into_.text({at_.x, at_.y + text_size}, what_.title, {.strong = true});
    if (is_empty_) {
      return {at_.x, at_.y, width_of(what_.title, {.strong = true}), line_height};
    }
    top_ = at_.y + 2 * line_height;
    into_.text({at_.x, top_ - 8}, what_.y.title, {.colour = shade::faint});
    draw_axes();
    for (const chart_line& each : what_.lines) {
      draw_line(each);
    }
    return {at_.x, at_.y, left_room + plot_width + names_width(),
            bottom() + 2.5 * line_height - at_.y};
  }

 private:
  [[nodiscard]] double left() const { return at_.x + left_room; }
  [[nodiscard]] double bottom() const { return top_ + plot_height; }
  [[nodiscard]] double x_of(double value) const {
    return left() + plot_width * (value - x_ticks_.front()) / (x_ticks_.back() - x_ticks_.front());
  }
  [[nodiscard]] double y_of(double value) const {
    return bottom() -
           plot_height * (value - y_ticks_.front()) / (y_ticks_.back() - y_ticks_.front());
  }
  [[nodiscard]] double names_width() const {
    double widest = 0;
    for (const chart_line& each : what_.lines) {
      widest = std::max(widest, width_of(each.name));
    }
    return widest + 12;
  }

  void draw_axes() {
    for (const double each : y_ticks_) {
      into_.line({left(), y_of(each)}, {left() + plot_width, y_of(each)}, shade::frame);
      into_.text({left() - tick_length - 2, y_of(each) + text_size / 3}, figure_text(each),
                 {.at = text_look::anchor::end, .colour = shade::faint});
    }
    for (const double each : x_ticks_) {
      into_.line({x_of(each), bottom()}, {x_of(each), bottom() + tick_length}, shade::frame);
      into_.text({x_of(each), bottom() + tick_length + text_size}, figure_text(each),
                 {.at = text_look::anchor::middle, .colour = shade::faint});
    }
    into_.text({left() + plot_width / 2, bottom() + tick_length + 2 * line_height - 4},
               what_.x.title, {.at = text_look::anchor::middle, .colour = shade::faint});
  }

  void draw_line(const chart_line& line) {
    std::vector<point> joined;
    for (const chart_point& each : line.points) {
      if (std::isfinite(each.x) && std::isfinite(each.y)) {
        joined.push_back({x_of(each.x), y_of(each.y)});
      }
    }
    into_.path(joined, line.colour);
    for (const chart_point& each : line.points) {
      if (std::isfinite(each.x) && std::isfinite(each.y)) {
        draw_point(line, each);
      }
    }
    if (!joined.empty()) {
      const point last = *std::ranges::max_element(joined, {}, &point::x);
      into_.text({last.x + 8, last.y + text_size / 3}, line.name);
    }
  }

  void draw_point(const chart_line& line, const chart_point& each) {
    const bool bounded = each.low && each.high;
    into_.begin_part(fmt::format(
        "{}{}{}: {}, {}: {}{}", line.name, line.name.empty() ? "" : ", ", what_.x.title,
        figure_text(each.x), what_.y.title, figure_text(each.y),
        bounded ? fmt::format(" ({} to {})", figure_text(*each.low), figure_text(*each.high))
                : ""));
    if (bounded) {
      into_.path({{x_of(each.x), y_of(*each.low)}, {x_of(each.x), y_of(*each.high)}}, line.colour);
    }
    into_.dot({x_of(each.x), y_of(each.y)}, line.colour);
    into_.end_part();
  }

  svg& into_;
  const chart& what_;
  point at_;
  double top_ = 0;
  bool is_empty_ = false;
  std::vector<double> x_ticks_;
  std::vector<double> y_ticks_;
};

} // namespace

std::vector<double> ticks(double low, double high, std::size_t most) {
  if (!(high > low)) {
    high = low + std::max(std::abs(low), 1.0);
  }
  constexpr std::array round = {1.0, 2.0, 2.5, 5.0, 10.0};
  const double exact = (high - low) / static_cast<double>(most);
  const double power = std::pow(10, std::floor(std::log10(exact)));
  // The last one is large enough whatever rounding does.
  const auto next = std::ranges::find_if(round, [&](double each) { return each * power >= exact; });
  const double step = (next == round.end() ? round.back() : *next) * power;
  std::vector<double> made;
  const double first = std::floor(low / step);
  for (std::size_t i = 0; i <= most + 1; ++i) {
    made.push_back((first + static_cast<double>(i)) * step);
    if (made.back() >= high) {
      break;
    }
  }
  return made;
}

area draw(svg& into, point at, const chart& what) {
  return chart_painter(into, at, what).draw();
}

} // namespace nodewise::drawing
