// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What several kinds of results have in their files, and pictures of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nodewise/machine.hpp>

#include "drawing/svg.hpp"
#include "html/table.hpp"
#include "topology/json_field.hpp"

namespace nodewise::cli {

/// "unavailable", as cells say it.
inline constexpr std::string_view unavailable_cell = "unavailable";

/// A number that is not below 0. Throws `error` (input) like all that read fields.
[[nodiscard]] double amount_in(const json_field& field);
/// The same, or nullopt for the text "unavailable".
[[nodiscard]] std::optional<double> known_amount_in(const json_field& field);
[[nodiscard]] std::vector<std::string> texts_in(const json_field& list);
/// A command, as a shell takes it.
[[nodiscard]] std::string command_in(const json_field& list);
/// At most `format_bytes` can say; more is cut.
[[nodiscard]] std::string bytes_words(double bytes);

/// As the facts of a page say it: "unnamed" without a name.
[[nodiscard]] std::string machine_name_of(const machine& on);

/// For a column that says the same in all rows.
void drop_column(html::table& of, std::size_t at);
void drop_empty_columns(html::table& of);

/// Ascending, `unknown_node` last.
struct unknown_last {
  bool operator()(node_id a, node_id b) const noexcept {
    return static_cast<unsigned>(to_int(a)) < static_cast<unsigned>(to_int(b));
  }
};

/// A drawing with a margin around it.
template <class Drawing>
[[nodiscard]] drawing::picture pictured(std::string title, std::string description,
                                        const Drawing& what) {
  constexpr double margin = 8;
  drawing::picture made;
  made.title = std::move(title);
  made.description = std::move(description);
  const drawing::area size = draw(made.content, {margin, margin}, what);
  made.width = size.right() + margin;
  made.height = size.bottom() + margin;
  return made;
}

} // namespace nodewise::cli
