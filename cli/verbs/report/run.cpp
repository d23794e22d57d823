// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/report/run.hpp"

#include <algorithm>
#include <span>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/verbs/report/arrays_picture.hpp"
#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/kinds.hpp"
#include "report/style.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using html::cell_kind;

/// Of the located pages of all objects; nullopt if none has the share.
std::optional<double> share_of_all(const shown_run& of,
                                   std::optional<double> shown_object::* share) {
  double located = 0;
  double sum = 0;
  for (const shown_object& each : of.objects) {
    if (each.*share) {
      located += each.located;
      sum += each.located * *(each.*share);
    }
  }
  return located > 0 ? std::optional(std::min(1.0, sum / located)) : std::nullopt;
}

std::string pages_words(const shown_object& of) {
  return of.located > 0
             ? joined(of.pages_on, ", ",
                      [&](const auto& each) {
                        return fmt::format("N{} {}", each.first,
                                           report::format_percent(each.second / of.located));
                      })
             : "unavailable";
}

std::string run_sentence(const shown_run& of) {
  if (of.objects.empty()) {
    return "No large object was seen.";
  }
  double bytes = 0;
  for (const shown_object& each : of.objects) {
    bytes += each.bytes;
  }
  std::string made =
      fmt::format("{} of {}", counted(of.objects.size(), "large object"), bytes_words(bytes));
  if (const auto share = share_of_all(of, &shown_object::as_asked)) {
    made += fmt::format(": {} of the located pages are on a node that was asked for",
                        report::format_percent(*share));
  }
  if (const auto share = share_of_all(of, &shown_object::local)) {
    made += fmt::format("; {} are on the node of the thread that a static schedule gives them",
                        report::format_percent(*share));
  }
  return made + ".";
}

/// Without columns that say nothing, and without the process if there is only one.
void shorten(html::table& of) {
  if (std::ranges::all_of(of.rows, [&](const auto& row) { return row[0] == of.rows[0][0]; })) {
    drop_column(of, 0);
  }
  drop_empty_columns(of);
}

html::table objects_table(const shown_run& of) {
  html::table made{"Large objects, largest first",
                   {{"process"},
                    {"object", cell_kind::code},
                    {"size", cell_kind::number},
                    {"pages on"},
                    {"as asked", cell_kind::number},
                    {"local", cell_kind::number},
                    {"not placed because"}},
                   {}};
  for (const shown_object& each : of.objects) {
    made.rows.push_back({each.process, each.name, bytes_words(each.bytes), pages_words(each),
                         report::format_percent(each.as_asked, unavailable_cell),
                         report::format_percent(each.local, unavailable_cell), each.refused});
  }
  shorten(made);
  return made;
}

drawing::picture objects_picture(std::span<const shown_object> drawn) {
  std::vector<drawn_array> rows;
  for (const shown_object& each : drawn) {
    rows.push_back({fmt::format("{}, {}", each.name, bytes_words(each.bytes)),
                    {{std::max(each.pages, std::uint64_t{1}), {each.where}}}});
  }
  return picture_of_arrays("Where the pages of the largest objects are",
                           "A strip for each object, coloured by node; the table below has the "
                           "numbers.",
                           rows);
}

void add_objects(const shown_run& of, report_page& into) {
  html::section& made = into.add_section("objects", "Objects");
  if (of.objects.empty()) {
    made.paragraph("No large object was seen.");
    return;
  }
  const std::size_t drawn = std::min(most_arrays_drawn, of.objects.size());
  into.add_figure(made, "objects", objects_picture(std::span(of.objects).first(drawn)),
                  "Each object from its first page to its last. Grey: the node is unknown, or the "
                  "part has pages on several nodes. Dashed: not in memory.",
                  {});
  const html::table rows = objects_table(of);
  made.long_table(into.add_table("objects", rows), rows);
}

void add_threads_of_run(const shown_run& of, report_page& into) {
  if (of.threads.empty()) {
    return;
  }
  html::table rows{"Threads at the end",
                   {{"process"}, {"thread"}, {"may run on", cell_kind::code}, {"bound by"}},
                   {}};
  for (const shown_run_thread& each : of.threads) {
    rows.rows.push_back({each.process, each.name, each.cpus, each.bound_by});
  }
  shorten(rows);
  html::section& made = into.add_section("threads", "Threads");
  made.long_table(into.add_table("threads", rows), rows);
}

void add_plan_entries(const shown_run& of, report_page& into) {
  if (of.entries.empty()) {
    return;
  }
  html::table rows{"Entries of " + of.plan,
                   {{"entry", cell_kind::code},
                    {"placement"},
                    {"objects", cell_kind::number},
                    {"as asked", cell_kind::number},
                    {"left out because"}},
                   {}};
  for (const shown_plan_entry& each : of.entries) {
    rows.rows.push_back({each.label, each.placement, fmt::format("{}", each.objects),
                         report::format_percent(each.as_asked, unavailable_cell), each.left_out});
  }
  drop_empty_columns(rows);
  html::section& made = into.add_section("plan", "The plan");
  made.long_table(into.add_table("plan", rows), rows);
}

} // namespace

void add_run(const json_field& document, report_page& into) {
  check_schema(document, "nodewise/run/1");
  const topology on(machine_from_json(document.at("machine")));
  const shown_run what = run_in(document);
  std::vector<std::pair<std::string, std::string>> facts = {{"command", what.command},
                                                            {"memory", what.placement}};
  if (!what.bind.empty()) {
    facts.emplace_back("threads bound", what.bind);
  }
  facts.emplace_back("machine", machine_name_of(on.machine()));
  facts.emplace_back("ended with", what.ended);
  into.set_verdict(run_sentence(what), std::move(facts));
  add_machine_section(on, {}, into);
  add_objects(what, into);
  add_threads_of_run(what, into);
  add_plan_entries(what, into);
  html::section& rest = into.add_section("unseen", "What did not happen as asked");
  rest.list(what.warnings);
  if (what.as_asked && what.warnings.empty()) {
    rest.paragraph("Nothing, as far as could be seen.");
  } else if (!what.as_asked) {
    rest.paragraph("Not all that was asked for memory has happened.");
  }
}

} // namespace nodewise::cli
