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
  std::string prefix;        ///< of ids: "comparison-" for what two files have in common
  std::string suffix;        ///< of ids, if several files are in one page: "-2"
  std::string file;          ///< that is being read
  std::string source;        ///< `file`, if several files are in one page
  bool is_explained = false; ///< what the words of profiles mean
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
  [[nodiscard]] std::string id(std::string_view name) const;
  /// The sentence at the top of the page; those of later files are sections. Returns the section
  /// that the facts are in or above, until the next section is added.
  html::section& set_verdict(std::string sentence,
                             std::vector<std::pair<std::string, std::string>> facts);
};

struct result_file {
  std::string name;
  json_field root;
};

/// Adds the sections of each file. If exactly two files are of one kind that can be compared, the
/// page begins with their comparison; hosts of one cluster are not compared. Throws `error` (input)
/// naming what is wrong with a file.
void add_results(const std::vector<result_file>& files, report_page& into);

void add_profile(const json_field& document, report_page& into);
void add_run(const json_field& document, report_page& into);
void add_machine(const json_field& document, report_page& into);
void add_measurement(const json_field& document, report_page& into);
void add_counted_traffic(const json_field& document, report_page& into);
void add_tune(const json_field& document, report_page& into);
void add_prediction(const json_field& document, report_page& into);
void add_examination(const json_field& document, report_page& into);
void add_pages(const json_field& document, report_page& into);
void add_survey(const json_field& document, report_page& into);
void add_comparison(const json_field& document, report_page& into);

/// What changed between two results of one kind. Adds nothing if they are parts of one result.
void compare_profiles(const result_file& before, const result_file& after, report_page& into);
void compare_measurements(const result_file& before, const result_file& after, report_page& into);
void compare_counted_traffic(const result_file& before, const result_file& after,
                             report_page& into);

/// The section with the machine as a picture.
void add_machine_section(const topology& what, const std::vector<std::string>& remarks,
                         report_page& into);

} // namespace nodewise::cli
