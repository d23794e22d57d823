// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What each kind of result adds to a page.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <nodewise/topology.hpp>

#include "drawing/chart.hpp"
#include "html/page.hpp"
#include "topology/json_field.hpp"

namespace nodewise::cli {

/// A page, with the data that its script shows on demand (docs/design.md, the page of a report).
struct report_page {
  html::page shown;
  std::shared_ptr<nlohmann::ordered_json> data; ///< nodewise/report-data/1; never null
  std::string suffix;                           ///< of ids, if several files are in one page: "-2"
  std::string file;                             ///< that is being read
  /// All pictures of the page, in order, with the names that --figure takes.
  std::vector<std::pair<std::string, drawing::picture>> pictures;

  report_page();
  html::section& add_section(std::string_view id, std::string_view title);
  /// With `chart` the script makes it interactive: the same figures in the form of the data.
  void add_figure(html::section& to, std::string_view name, drawing::picture what,
                  std::string_view caption, const html::table& numbers,
                  const drawing::chart* chart = nullptr);
  /// Adds the whole table to the data. Returns its id.
  std::string add_table(std::string_view name, const html::table& what);
  [[nodiscard]] std::string id(std::string_view name) const { return std::string(name) + suffix; }
  /// Below the verdict; those of later files have a heading of their own.
  void set_verdict(std::string sentence, std::vector<std::pair<std::string, std::string>> facts);
};

/// Adds the sections of a result. Throws `error` (input) naming what is wrong with the file.
void add_result(const json_field& document, const std::string& file, report_page& into);

void add_profile(const json_field& document, report_page& into);
void add_run(const json_field& document, report_page& into);
void add_machine(const json_field& document, report_page& into);
void add_measurement(const json_field& document, report_page& into);
void add_counted_traffic(const json_field& document, report_page& into);
void add_tune(const json_field& document, report_page& into);
void add_prediction(const json_field& document, report_page& into);
void add_examination(const json_field& document, report_page& into);
void add_pages(const json_field& document, report_page& into);
void add_comparison(const json_field& document, report_page& into);

/// The section with the machine as a picture.
void add_machine_section(const topology& what, const std::vector<std::string>& remarks,
                         report_page& into);

} // namespace nodewise::cli
