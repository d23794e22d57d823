// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A section of a page. All texts may be anything: they are escaped here, and nowhere else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drawing/svg.hpp"
#include "html/table.hpp"

namespace nodewise::html {

/// Of a longer table the page shows these rows; the others are in its data (page.hpp).
inline constexpr std::size_t most_rows_shown = 50;

class section {
 public:
  /// `id`: lower case letters and hyphens, unique in the page.
  section(std::string id, std::string title);

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] const std::string& title() const noexcept { return title_; }
  /// The file that it shows, beside its title; empty if the page shows one file.
  [[nodiscard]] const std::string& source() const noexcept { return source_; }
  void set_source(std::string file) { source_ = std::move(file); }

  void heading(std::string_view what); ///< of a part of the section
  void paragraph(std::string_view what);
  void remark(std::string_view what); ///< of less weight
  void list(const std::vector<std::string>& items);
  /// A name and its value each.
  void facts(const std::vector<std::pair<std::string, std::string>>& all);
  void command(std::string_view line); ///< to copy
  void code(std::string_view what);    ///< several lines, to copy
  void add(const table& what);
  /// A picture with its numbers as a table, which opens on demand. `chart`: its id in the page's
  /// data, if the script makes it interactive.
  void figure(const drawing::picture& what, std::string_view caption, const table& numbers,
              std::string_view chart = {});
  /// A table with more rows than the page shows, its id in the page's data.
  void long_table(std::string_view id, const table& what);
  /// What follows until `end_card` belongs together, under a title.
  void begin_card(std::string_view title);
  void end_card();
  /// What follows until `end_folded` opens on demand.
  void begin_folded(std::string_view title);
  void end_folded();

  [[nodiscard]] const std::string& elements() const noexcept { return elements_; }

 private:
  std::string id_;
  std::string title_;
  std::string source_;
  std::string elements_;
  std::size_t figures_ = 0;
  bool in_card_ = false;
};

} // namespace nodewise::html
