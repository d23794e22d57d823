// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/report/comparison.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/prediction/predicted.hpp"
#include "cli/verbs/report/arrays_picture.hpp"
#include "cli/verbs/report/fields.hpp"
#include "drawing/bars.hpp"
#include "drawing/colours.hpp"
#include "drawing/ranges.hpp"
#include "report/style.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using drawing::weight;
using html::cell_kind;
using compared_side = std::optional<profile_site>;

std::string share_words(const std::optional<double>& share) {
  return report::format_percent(share, unavailable_cell);
}

std::string time_words(const std::optional<double>& seconds) {
  return seconds && *seconds > 0 ? format_seconds(*seconds) : std::string(unavailable_cell);
}

std::optional<double> remote_of(const compared_side& side) {
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

/// "16.0 MiB", "16.0 MiB, then 8.00 MiB": once if both sides say the same.
std::string then_words(const std::string& before, const std::string& after) {
  return before == after ? before : fmt::format("{}, then {}", before, after);
}

std::string size_words(const compared_side& side) {
  return side ? fmt::format("{}{}", bytes_words(static_cast<double>(side->bytes)),
                            side->objects > 1 ? fmt::format(" in {} objects", side->objects) : "")
              : "absent";
}

std::string touched_words(const compared_side& side) {
  if (!side || (side->touched_at.empty() && side->touching_threads == 0)) {
    return side ? std::string(unavailable_cell) : "absent";
  }
  return fmt::format(
      "{}{}", side->touched_at.empty() ? "unknown line" : side->touched_at,
      side->touching_threads == 0 ? "" : ", by " + counted(side->touching_threads, "thread"));
}

std::string pages_words(const compared_side& side) {
  if (!side) {
    return "absent";
  }
  return side->on_node.empty() ? std::string(unavailable_cell) : nodes_text(*side);
}

class table_maker {
 public:
  explicit table_maker(const compared_profiles& of)
      : used_before_(of.used(&compared_site::before)), used_after_(of.used(&compared_site::after)) {
    std::set<std::string> programs;
    for (const compared_site& each : of.sites) {
      programs.insert(each.key.first);
    }
    with_program_ = programs.size() > 1;
  }

  [[nodiscard]] html::table of(std::span<const compared_site> rows, std::string caption) const {
    html::table made{std::move(caption),
                     {{"array"},
                      {"size", cell_kind::number},
                      {"traffic before", cell_kind::number},
                      {"traffic after", cell_kind::number},
                      {"remote before", cell_kind::number},
                      {"remote after", cell_kind::number},
                      {"pages before"},
                      {"pages after"},
                      {"first touched at", cell_kind::code}},
                     {}};
    for (const compared_site& each : rows) {
      made.rows.push_back({each.name() + (with_program_ ? " in " + each.key.first : ""),
                           then_words(size_words(each.before), size_words(each.after)),
                           traffic_words(each.before, used_before_),
                           traffic_words(each.after, used_after_), remote_words(each.before),
                           remote_words(each.after), pages_words(each.before),
                           pages_words(each.after),
                           then_words(touched_words(each.before), touched_words(each.after))});
    }
    return made;
  }

 private:
  static std::string traffic_words(const compared_side& side, double all) {
    return !side ? "absent" : share_words(all > 0 ? std::optional(side->used / all) : std::nullopt);
  }

  static std::string remote_words(const compared_side& side) {
    return side ? share_words(side->remote) : "absent";
  }

  double used_before_;
  double used_after_;
  bool with_program_ = false;
};

drawing::bar bar_of_side(const std::string& name, const std::string& when,
                         const compared_side& side) {
  constexpr std::size_t most_in_words = 2; // of more nodes, the colours and the table
  drawing::bar made{fmt::format("{}, {}", name, when),
                    side && side->on_node.size() > most_in_words ? "" : pages_words(side),
                    {}};
  if (side) {
    for (const auto& [node, share] : side->on_node) {
      made.parts.push_back({fmt::format("node {}: {}", node, report::format_percent(share)),
                            drawing::node_colour(node), share});
    }
  }
  return made;
}

/// A comparison knows shares, not which page is where.
drawing::picture bars_of(std::span<const compared_site> sites) {
  drawing::bars drawn{.rows = {}, .whole = 1};
  std::set<node_id> nodes;
  for (const compared_site& each : sites) {
    for (const auto& [when, side] :
         {std::pair("before", &each.before), std::pair("after", &each.after)}) {
      drawn.rows.push_back(bar_of_side(each.name(), when, *side));
      if (*side) {
        for (const auto& [node, share] : (*side)->on_node) {
          nodes.insert(node);
        }
      }
    }
  }
  drawn.nodes.assign(nodes.begin(), nodes.end());
  return pictured("Where the pages of arrays were before and after",
                  "Two bars for each array; the table below has the numbers.", drawn);
}

} // namespace

std::vector<compared_site> sites_with_traffic(const compared_profiles& of) {
  constexpr double hardly_any = 0.001; // of the traffic
  const double before = of.used(&compared_site::before) * hardly_any;
  const double after = of.used(&compared_site::after) * hardly_any;
  std::vector<compared_site> made;
  std::ranges::copy_if(of.sites, std::back_inserter(made), [&](const compared_site& each) {
    return (each.before && each.before->used >= before) ||
           (each.after && each.after->used >= after);
  });
  return made;
}

void add_compared_remote(const compared_profiles& of, report_page& into) {
  drawing::ranges drawn{"remote share of the traffic (%)", true, {}};
  drawn.rows.push_back(remote_row("all arrays", of.before.remote, of.after.remote, weight::chosen));
  for (const compared_site& each : sites_with_traffic(of)) {
    const auto before = remote_of(each.before);
    const auto after = remote_of(each.after);
    if (before || after) {
      drawn.rows.push_back(remote_row(each.name(), before, after, weight::plain));
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

void add_compared_arrays(const compared_profiles& of, drawing::picture what,
                         std::string_view caption, report_page& into) {
  html::section& made = into.add_section("arrays", "Arrays before and after");
  if (of.sites.empty()) {
    made.paragraph("No array was observed.");
    return;
  }
  into.add_figure(made, "arrays", std::move(what), caption, {});
  const table_maker tables(of);
  const std::vector<compared_site> used = sites_with_traffic(of);
  const html::table rows = tables.of(used, "Arrays, largest first");
  made.long_table(into.add_table("arrays", rows), rows);
  if (used.size() == of.sites.size()) {
    return;
  }
  std::vector<compared_site> small;
  std::ranges::copy_if(of.sites, std::back_inserter(small), [&](const compared_site& each) {
    return std::ranges::find(used, each.key, &compared_site::key) == used.end();
  });
  const std::string title =
      fmt::format("{} with at most 0.1 % of the traffic each", counted(small.size(), "other"));
  const html::table rest = tables.of(small, title);
  made.begin_folded(title);
  made.long_table(into.add_table("small-arrays", rest), rest);
  made.end_folded();
}

void add_compared_findings(const compared_profiles& of, report_page& into) {
  if (of.findings.empty()) {
    return;
  }
  html::table rows{
      "What is gone, new and still there", {{"finding"}, {"change"}, {"before"}, {"after"}}, {}};
  for (const compared_finding& each : of.findings) {
    rows.rows.push_back(
        {each.title(), std::string(each.change()), words_of(each.before), words_of(each.after)});
  }
  html::section& made = into.add_section("findings", "Findings before and after");
  made.long_table(into.add_table("findings", rows), rows);
}

void add_comparison_doubts(const compared_profiles& of, report_page& into) {
  if (!of.doubts.empty()) {
    into.add_section("doubts", "Why the two may not be compared as they are").list(of.doubts);
  }
}

void add_comparison(const json_field& document, report_page& into) {
  check_schema(document, "nodewise/comparison/1");
  const topology on(machine_from_json(document.at("machine")));
  const compared_profiles of = compared_in(document);
  into.set_verdict(sentence_of(of), {{"machine", machine_name_of(on.machine())},
                                     {"arrays", fmt::format("{}", of.sites.size())}});
  add_machine_section(on, {}, into);
  add_compared_remote(of, into);
  const std::span all(of.sites);
  const std::size_t drawn = std::min(most_arrays_drawn, all.size());
  add_compared_arrays(of, bars_of(all.first(drawn)),
                      fmt::format("Pages by node, of the largest {}.", counted(drawn, "array")),
                      into);
  add_compared_findings(of, into);
  add_comparison_doubts(of, into);
}

} // namespace nodewise::cli
