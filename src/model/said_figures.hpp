// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The figures of a machine file, looked up by name and nodes.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nodewise/machine.hpp>

#include "model/figure.hpp"

namespace nodewise::model {

/// A parameter that the model knows, and the factor that turns its unit into bytes/s or seconds.
struct known_parameter {
  std::string_view name;
  std::string_view unit;
  double scale;
};
inline constexpr std::array known_parameters = {
    known_parameter{"bandwidth", "GB/s", 1e9},
    known_parameter{"latency", "ns", 1e-9},
    known_parameter{"shared_bandwidth", "GB/s", 1e9},
    known_parameter{"core_bandwidth", "GB/s", 1e9},
    known_parameter{"link_bandwidth", "GB/s", 1e9},
    known_parameter{"shared_efficiency", "ratio", 1},
    known_parameter{"lines_in_flight", "lines", 1},
};

/// Nodes are given by their position in the machine.
class file_figures {
 public:
  /// Throws `error` (input) for a known name with another unit, or a value that is not finite and
  /// above 0. Ignores parameters of other names.
  explicit file_figures(const machine& of);

  [[nodiscard]] std::optional<figure> find(std::string_view name, std::size_t from,
                                           std::size_t to) const;
  /// The first figure of this name, of any nodes.
  [[nodiscard]] std::optional<figure> any(std::string_view name) const;

  /// Names that the model does not know, perhaps misspelt.
  [[nodiscard]] const std::vector<std::string>& unknown() const noexcept { return unknown_; }

 private:
  std::vector<std::string> unknown_;
  std::map<std::tuple<std::string_view, std::size_t, std::size_t>, figure> figures_;
};

/// Figures of pairs of nodes. A pair without a figure gets the one of the first pair with the same
/// distance in the firmware's table.
class pair_figures {
 public:
  using lookup = std::vector<std::optional<figure>>; ///< row: from, column: to
  pair_figures(const machine& of, lookup known);

  /// The pair's own figure; else another pair's, marked as assumed.
  [[nodiscard]] std::optional<figure> of(std::size_t from, std::size_t to) const;

 private:
  using distance_class = std::pair<bool, std::optional<int>>; ///< same node; distance
  [[nodiscard]] distance_class between(std::size_t from, std::size_t to) const;

  const machine& machine_;
  lookup known_;
  std::map<distance_class, figure> first_; ///< as assumed for other pairs
};

} // namespace nodewise::model
