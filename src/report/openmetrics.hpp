// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The text format of OpenMetrics 1.0, which Prometheus and others read:
// https://prometheus.io/docs/specs/om/open_metrics_spec/. No sample has a time, because readers of
// text files (the textfile collector of node_exporter) refuse files with times.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nodewise::report {

enum class metric_type { gauge, counter };

/// Metrics of the same name.
struct metric_family {
  std::string_view name; ///< ends with the unit; for a counter without "_total", which is added
  metric_type type = metric_type::gauge;
  std::string_view unit; ///< "bytes"; may be empty
  std::string_view help; ///< one sentence
};

/// Pairs of a name and a value. A value may hold any bytes: they are escaped.
using metric_labels = std::vector<std::pair<std::string_view, std::string>>;

/// One exposition: all metrics of one moment.
class exposition {
 public:
  /// All metrics until the next call belong to this family. A family without metrics is left out.
  void begin(const metric_family& next);
  template <std::integral Number>
  void add(const metric_labels& labels, Number value) {
    add_text(labels, std::to_string(value));
  }
  void add(const metric_labels& labels, double value);
  /// The text, with the last line that every reader requires.
  [[nodiscard]] std::string text() const { return text_ + "# EOF\n"; }

 private:
  void add_text(const metric_labels& labels, std::string_view value);

  std::string text_;
  metric_family now_;
  bool begun_ = false; ///< the lines about the family are written
};

} // namespace nodewise::report
