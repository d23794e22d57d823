// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "drawing/colours.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

namespace nodewise::drawing {

namespace {

using rgb = std::array<double, 3>; ///< each 0 to 255

/// Nine colours of the scale, at equal distances.
constexpr std::array<rgb, 9> anchors = {{{0, 34, 78},
                                         {18, 53, 112},
                                         {59, 73, 108},
                                         {87, 93, 109},
                                         {112, 113, 115},
                                         {138, 134, 120},
                                         {165, 156, 116},
                                         {195, 179, 105},
                                         {254, 232, 56}}};

rgb colour_at(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * (anchors.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), anchors.size() - 2);
  const double part = at - static_cast<double>(below);
  rgb made{};
  for (std::size_t i = 0; i < made.size(); ++i) {
    made[i] = std::lerp(anchors[below][i], anchors[below + 1][i], part);
  }
  return made;
}

/// WCAG 2: relative luminance, 0 to 1.
double luminance(const rgb& of) {
  constexpr rgb weights = {0.2126, 0.7152, 0.0722};
  double sum = 0;
  for (std::size_t i = 0; i < of.size(); ++i) {
    const double value = of[i] / 255;
    sum += weights[i] * (value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
  }
  return sum;
}

} // namespace

std::string scale_colour(double share) {
  const rgb found = colour_at(share);
  return fmt::format("#{:02x}{:02x}{:02x}", static_cast<int>(std::lround(found[0])),
                     static_cast<int>(std::lround(found[1])),
                     static_cast<int>(std::lround(found[2])));
}

std::string ink_on_scale(double share) {
  const double light = luminance(colour_at(share)) + 0.05;
  return 1.05 / light > light / 0.05 ? "#ffffff" : "#000000";
}

std::string node_colour(node_id of) {
  constexpr std::array<std::string_view, 8> colours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                       "#56b4e9", "#d55e00", "#f0e442", "#7f5fb3"};
  return std::string(of == unknown_node
                         ? "#9aa0a6"
                         : colours.at(static_cast<std::size_t>(to_int(of)) % colours.size()));
}

} // namespace nodewise::drawing
