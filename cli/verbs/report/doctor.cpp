// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <span>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/kinds.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

/// The worst first.
constexpr std::array<std::string_view, 4> severity_names = {"bad", "warning", "unavailable",
                                                            "good"};
constexpr std::array<std::string_view, 4> severity_titles = {"In the way", "Warnings",
                                                             "Could not be examined", "Good"};
constexpr std::size_t severity_bad = 0;
constexpr std::size_t severity_warning = 1;
constexpr std::size_t severity_good = 3;

/// The parts of an examination, by their keys in the file.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> examined_parts = {
    {{"calls", "system calls"},
     {"findings", "settings"},
     {"state", "state"},
     {"environment", "environment"},
     {"lab", "lab"}}};

struct examined_fact {
  std::string_view part;
  std::string name;
  std::size_t severity = 0; ///< of `severity_names`
  std::string found;
  std::string cure; ///< may be empty
};

examined_fact examined_fact_in(const json_field& field, std::string_view part) {
  examined_fact made{part, field.at("name").text(), field.at("verdict").one_of(severity_names),
                     field.at("found").text(), ""};
  if (const auto number = field.find("errno")) {
    (void)number->small_number(1, max_id); // `found` says it in words
  }
  if (const auto cure = field.find("cure")) {
    made.cure = cure->text();
  }
  return made;
}

std::vector<examined_fact> examined_facts_in(const json_field& document) {
  std::vector<examined_fact> all;
  for (const auto& [key, title] : examined_parts) {
    for (const json_field& each : document.at(key).elements()) {
      all.push_back(examined_fact_in(each, title));
    }
  }
  return all;
}

std::size_t how_many(const std::vector<examined_fact>& all, std::size_t severity) {
  return static_cast<std::size_t>(
      std::ranges::count(all, severity, [](const examined_fact& each) { return each.severity; }));
}

std::string examined_verdict(const std::vector<examined_fact>& all) {
  const bool tried = std::ranges::any_of(all, [](const examined_fact& each) {
    return each.part == examined_parts.front().second && each.severity != 2;
  });
  const std::string warnings = counted(how_many(all, severity_warning), "warning");
  if (how_many(all, severity_bad) > 0) {
    return fmt::format("{} that nodewise needs {} in the way, and there {} {}.",
                       counted(how_many(all, severity_bad), "thing"),
                       how_many(all, severity_bad) == 1 ? "is" : "are",
                       how_many(all, severity_warning) == 1 ? "is" : "are", warnings);
  }
  if (how_many(all, severity_warning) > 0) {
    return tried ? fmt::format("Everything needed is permitted; there {} {}.",
                               how_many(all, severity_warning) == 1 ? "is" : "are", warnings)
                 : fmt::format("{}; no call was tried.", warnings);
  }
  return tried ? "Everything needed is permitted." : "No problem was found; no call was tried.";
}

/// Without the cures' column if there is none.
html::table examined_table(const std::vector<examined_fact>& all, std::size_t severity) {
  html::table made{
      std::string(severity_titles.at(severity)), {{"examined"}, {"what"}, {"found"}}, {}};
  const bool with_cures = std::ranges::any_of(all, [&](const examined_fact& each) {
    return each.severity == severity && !each.cure.empty();
  });
  if (with_cures) {
    made.columns.emplace_back("what to do");
  }
  for (const examined_fact& each : all) {
    if (each.severity == severity) {
      auto& row =
          made.rows.emplace_back(std::vector{std::string(each.part), each.name, each.found});
      if (with_cures) {
        row.push_back(each.cure);
      }
    }
  }
  return made;
}

/// Several are often refused for one reason: each cure appears once, with their names.
void add_cures_once(const std::vector<examined_fact>& all, html::section& into) {
  std::vector<std::pair<std::string, std::vector<std::string>>> cures;
  for (const examined_fact& each : all) {
    if (each.cure.empty() || each.severity == severity_good) {
      continue;
    }
    auto found = std::ranges::find(cures, each.cure, [](const auto& one) { return one.first; });
    if (found == cures.end()) {
      found = cures.insert(cures.end(), {each.cure, {}});
    }
    found->second.push_back(each.name);
  }
  constexpr std::size_t most_cures = 100;
  constexpr std::size_t most_names = 12;
  std::vector<std::string> lines;
  for (const auto& [cure, names] : std::span(cures).first(std::min(most_cures, cures.size()))) {
    const std::size_t shown = std::min(most_names, names.size());
    lines.push_back(fmt::format(
        "{}{}: {}", joined(std::span(names).first(shown), ", "),
        names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "", cure));
  }
  into.list(lines);
  if (cures.size() > most_cures) {
    into.remark(fmt::format("{} more: see the tables.", cures.size() - most_cures));
  }
  if (cures.empty()) {
    into.paragraph("Nothing.");
  }
}

} // namespace

void add_examination(const json_field& document, report_page& into) {
  check_schema(document, "nodewise/doctor/1");
  const std::vector<examined_fact> all = examined_facts_in(document);
  const json_field on = document.at("machine");
  const bool known = !on.is_text();
  std::optional<topology> machine;
  if (known) {
    machine.emplace(machine_from_json(on));
  }
  into.set_verdict(examined_verdict(all), {{"machine", machine ? machine_name_of(machine->machine())
                                                               : std::string(unavailable_cell)},
                                           {"examined", counted(all.size(), "fact")}});
  if (machine) {
    add_machine_section(*machine, {}, into);
  }
  html::section& cures = into.add_section("cures", "What to do");
  add_cures_once(all, cures);
  html::section& facts = into.add_section("examined", "What was examined");
  for (std::size_t severity = 0; severity < severity_names.size(); ++severity) {
    const html::table rows = examined_table(all, severity);
    if (rows.rows.empty()) {
      continue;
    }
    const std::string id =
        into.add_table(fmt::format("examined-{}", severity_names.at(severity)), rows);
    if (severity == severity_good) {
      facts.begin_folded(fmt::format("{} that are good", counted(rows.rows.size(), "fact")));
      facts.long_table(id, rows);
      facts.end_folded();
    } else {
      facts.long_table(id, rows);
    }
  }
}

} // namespace nodewise::cli
