// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/prediction/predicted.hpp"
#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/kinds.hpp"
#include "drawing/bars.hpp"
#include "drawing/colours.hpp"
#include "drawing/ranges.hpp"
#include "report/style.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using drawing::weight;
using html::cell_kind;

struct compared_side {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
  std::map<node_id, double> shares;
  std::optional<double> remote;
  double used = 0;
  std::string touched_at;
  std::uint64_t touching_threads = 0; ///< 0: unknown
};

struct compared_array {
  std::string program;
  std::string name;
  std::optional<compared_side> before; ///< nullopt: absent
  std::optional<compared_side> after;
};

struct compared_total {
  std::optional<double> remote;
  std::optional<double> seconds;
};

struct compared_profiles {
  std::vector<compared_array> arrays;
  compared_total before;
  compared_total after;
  std::vector<std::string> doubts;
};

std::optional<compared_side> side_in(const json_field& field) {
  if (field.is_text() && field.text() == "absent") {
    return std::nullopt;
  }
  compared_side made{.objects = field.at("objects").whole_number(),
                     .bytes = field.at("bytes").whole_number(),
                     .shares = {},
                     .remote = known_amount_in(field.at("remote")),
                     .used = amount_in(field.at("used")),
                     .touched_at = field.at("touched_at").text(),
                     .touching_threads = field.at("touching_threads").whole_number()};
  for (const json_field& each : field.at("nodes").elements()) {
    made.shares[node_id{each.at("node").small_number(0, max_id)}] += amount_in(each.at("share"));
  }
  return made;
}

compared_total total_in(const json_field& field) {
  return {known_amount_in(field.at("remote")), known_amount_in(field.at("predicted_s"))};
}

compared_profiles compared_in(const json_field& document) {
  compared_profiles made;
  for (const json_field& each : document.at("sites").elements()) {
    made.arrays.push_back({each.at("program").text(), each.at("name").text(),
                           side_in(each.at("before")), side_in(each.at("after"))});
  }
  made.before = total_in(document.at("before"));
  made.after = total_in(document.at("after"));
  made.doubts = texts_in(document.at("doubts"));
  return made;
}

std::string share_words(const std::optional<double>& share) {
  return report::format_percent(share, unavailable_cell);
}

std::string time_words(const std::optional<double>& seconds) {
  return seconds ? format_seconds(*seconds) : std::string(unavailable_cell);
}

std::string comparison_sentence(const compared_profiles& of) {
  std::string made;
  if (of.before.remote && of.after.remote) {
    made = fmt::format("{} of the memory traffic was remote before, {} after",
                       share_words(of.before.remote), share_words(of.after.remote));
  } else {
    made = "How much memory traffic was remote is not known for both profiles";
  }
  if (of.before.seconds && of.after.seconds) {
    made += fmt::format("; the predicted time of the memory traffic was {}, then {}",
                        time_words(of.before.seconds), time_words(of.after.seconds));
  }
  return made + ".";
}

std::optional<double> remote_of(const std::optional<compared_side>& side) {
  return side ? side->remote : std::nullopt;
}

/// The line of a row is its share after, the dot the one before.
drawing::range_row remote_row(const std::string& name, const std::optional<double>& before,
                              const std::optional<double>& after, weight matters) {
  drawing::range_row made{.name = name,
                          .note =
                              fmt::format("{}, then {}", share_words(before), share_words(after)),
                          .matters = matters};
  if (before) {
    made.points = {*before * 100};
  }
  if (after) {
    made.median = *after * 100;
  }
  return made;
}

html::table totals_table(const compared_profiles& of) {
  return {"Both profiles",
          {{"figure"}, {"before", cell_kind::number}, {"after", cell_kind::number}},
          {{"remote traffic", share_words(of.before.remote), share_words(of.after.remote)},
           {"predicted time", time_words(of.before.seconds), time_words(of.after.seconds)}}};
}

void add_remote(const compared_profiles& of, report_page& into) {
  drawing::ranges drawn{"remote share of the traffic (%)", true, {}};
  drawn.rows.push_back(remote_row("all arrays", of.before.remote, of.after.remote, weight::chosen));
  for (const compared_array& each : of.arrays) {
    const auto before = remote_of(each.before);
    const auto after = remote_of(each.after);
    if (before || after) {
      drawn.rows.push_back(remote_row(each.name, before, after, weight::plain));
    }
  }
  html::section& made = into.add_section("remote", "Remote traffic before and after");
  if (drawn.rows.size() == 1 && !of.before.remote && !of.after.remote) {
    made.paragraph("Which traffic was remote was not observed.");
  } else {
    into.add_figure(made, "remote",
                    pictured("Remote traffic before and after",
                             "A row for all arrays and for each array; the table below has the "
                             "numbers.",
                             drawn),
                    "The dot is before, the upright line after. To the left is better.", {});
  }
  made.add(totals_table(of));
  made.remark("Shares are of what each profile observed. Times are predicted by a model.");
}

std::string nodes_of_side(const std::optional<compared_side>& side) {
  if (!side) {
    return "absent";
  }
  return side->shares.empty()
             ? std::string(unavailable_cell)
             : joined(side->shares, ", ", [](const auto& each) {
                 return fmt::format("node {} {}", each.first, report::format_percent(each.second));
               });
}

std::string size_of_side(const std::optional<compared_side>& side) {
  return side ? fmt::format("{}{}", bytes_words(static_cast<double>(side->bytes)),
                            side->objects > 1 ? fmt::format(" in {} objects", side->objects) : "")
              : "absent";
}

std::string touched_words(const std::optional<compared_side>& side) {
  if (!side || (side->touched_at.empty() && side->touching_threads == 0)) {
    return side ? std::string(unavailable_cell) : "absent";
  }
  return fmt::format(
      "{}{}", side->touched_at.empty() ? "unknown line" : side->touched_at,
      side->touching_threads == 0 ? "" : ", by " + counted(side->touching_threads, "thread"));
}

html::table arrays_before_after(const compared_profiles& of) {
  html::table made{"Arrays, largest first",
                   {{"array"},
                    {"program"},
                    {"size before", cell_kind::number},
                    {"size after", cell_kind::number},
                    {"remote before", cell_kind::number},
                    {"remote after", cell_kind::number},
                    {"pages before"},
                    {"pages after"},
                    {"first touched before", cell_kind::code},
                    {"first touched after", cell_kind::code}},
                   {}};
  for (const compared_array& each : of.arrays) {
    const auto remote = [](const std::optional<compared_side>& side) {
      return side ? share_words(side->remote) : "absent";
    };
    made.rows.push_back({each.name, each.program, size_of_side(each.before),
                         size_of_side(each.after), remote(each.before), remote(each.after),
                         nodes_of_side(each.before), nodes_of_side(each.after),
                         touched_words(each.before), touched_words(each.after)});
  }
  return made;
}

drawing::bar bar_of_side(const std::string& name, const std::string& when,
                         const std::optional<compared_side>& side) {
  constexpr std::size_t most_in_words = 2; // of more nodes, the colours and the table
  drawing::bar made{fmt::format("{}, {}", name, when),
                    side && side->shares.size() > most_in_words ? "" : nodes_of_side(side),
                    {}};
  if (side) {
    for (const auto& [node, share] : side->shares) {
      made.parts.push_back({fmt::format("node {}: {}", node, report::format_percent(share)),
                            drawing::node_colour(node), share});
    }
  }
  return made;
}

void add_arrays_compared(const compared_profiles& of, report_page& into) {
  constexpr std::size_t most_sites_drawn = 12;
  drawing::bars drawn{.rows = {}, .whole = 1};
  std::set<node_id> nodes;
  const std::size_t shown = std::min(most_sites_drawn, of.arrays.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const compared_array& each = of.arrays[i];
    for (const auto& [when, side] :
         {std::pair("before", &each.before), std::pair("after", &each.after)}) {
      drawn.rows.push_back(bar_of_side(each.name, when, *side));
      if (*side) {
        for (const auto& [node, share] : (*side)->shares) {
          nodes.insert(node);
        }
      }
    }
  }
  drawn.nodes.assign(nodes.begin(), nodes.end());
  html::section& made = into.add_section("arrays", "Arrays before and after");
  if (of.arrays.empty()) {
    made.paragraph("No array was observed.");
    return;
  }
  const html::table rows = arrays_before_after(of);
  into.add_figure(made, "arrays",
                  pictured("Where the pages of arrays were before and after",
                           "Two bars for each array; the table below has the numbers.", drawn),
                  fmt::format("Pages by node, of the largest {}.", counted(shown, "array")), {});
  made.long_table(into.add_table("arrays", rows), rows);
}

} // namespace

void add_comparison(const json_field& document, report_page& into) {
  check_schema(document, "nodewise/comparison/1");
  const topology on(machine_from_json(document.at("machine")));
  const compared_profiles of = compared_in(document);
  into.set_verdict(comparison_sentence(of), {{"machine", machine_name_of(on.machine())},
                                             {"arrays", fmt::format("{}", of.arrays.size())}});
  add_machine_section(on, {}, into);
  add_remote(of, into);
  add_arrays_compared(of, into);
  if (!of.doubts.empty()) {
    html::section& rest = into.add_section("doubts", "Why the two may not be compared as they are");
    rest.list(of.doubts);
  }
}

} // namespace nodewise::cli
