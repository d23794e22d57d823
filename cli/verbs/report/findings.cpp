// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/profiles/gain.hpp"
#include "cli/verbs/report/profile.hpp"
#include "report/style.hpp"
#include "symbols/names.hpp"

namespace nodewise::cli {

namespace {

using name_and_value = std::pair<std::string, std::string>;

std::string places_words(const std::vector<advise::code_share>& places) {
  constexpr std::size_t most = 5;
  const std::size_t shown = std::min(most, places.size());
  return joined(std::span(places).first(shown), ", ",
                [](const advise::code_share& each) {
                  return fmt::format("{} ({})", symbols::abbreviated(profile::label_of(each.where)),
                                     report::format_percent(each.share));
                }) +
         (places.size() > shown ? ", ..." : "");
}

html::table objects_table(const advise::finding& what) {
  html::table made{"Arrays",
                   {{"array"},
                    {"size", html::cell_kind::number},
                    {"share of the traffic", html::cell_kind::number},
                    {"remote", html::cell_kind::number}},
                   {}};
  for (const advise::named_objects& each : what.objects) {
    const bool used = each.share > 0;
    const std::string name = symbols::abbreviated(each.name);
    made.rows.push_back(
        {each.ids.size() > 1 ? fmt::format("{} ({} objects)", name, each.ids.size()) : name,
         report::format_bytes(each.bytes),
         used ? report::format_percent(each.share) : "unavailable",
         used ? report::format_percent(each.remote) : "unavailable"});
  }
  return made;
}

/// `has_plan`: its lines are above all findings.
void add_cures(const std::vector<advise::cure>& cures, bool has_plan, html::section& into) {
  for (const advise::cure& each : cures) {
    if (has_plan && each.code.starts_with("nodewise run --plan")) {
      into.paragraph("command: the plan above places it from outside, without changing the "
                     "program, together with the arrays of other findings");
      continue;
    }
    into.paragraph(fmt::format("{}: {}", each.with, each.what));
    if (!each.code.empty()) {
      into.code(each.code);
    }
  }
}

void add_finding(const advise::finding& what, std::size_t number, bool has_plan,
                 html::section& into) {
  into.begin_card(fmt::format("{}. {}", number, what.title));
  std::vector<name_and_value> facts = {{"gain", gain_with_range(what.worth)}};
  if (!what.worth.binds_before.empty()) {
    facts.emplace_back("limited by", what.worth.binds_before);
  }
  if (!what.first_touched.empty()) {
    facts.emplace_back("first touched at", places_words(what.first_touched));
  }
  if (!what.used.empty()) {
    facts.emplace_back("used at", places_words(what.used));
  }
  into.facts(facts);
  into.heading("Fix");
  add_cures(what.cures, has_plan, into);
  if (!what.objects.empty()) {
    into.begin_folded(counted(what.objects.size(), "array"));
    into.add(objects_table(what));
    into.end_folded();
  }
  into.begin_folded("Evidence");
  into.list(what.evidence);
  into.end_folded();
  if (!what.remarks.empty()) {
    into.begin_folded("Doubts");
    into.list(what.remarks);
    into.end_folded();
  }
  into.end_card();
}

} // namespace

void add_findings(const profile_parts& of, report_page& into) {
  html::section& made = into.add_section("findings", "Findings");
  if (of.found.findings.empty()) {
    made.paragraph("No finding.");
  }
  for (std::size_t i = 0; i < of.found.findings.size(); ++i) {
    add_finding(of.found.findings[i], i + 1, !of.found.plans.empty(), made);
  }
  std::vector<std::string> rest;
  for (const advise::dismissal& each : of.found.not_worth) {
    rest.push_back(
        fmt::format("{}{}{}: {}", advise::name_of(each.what), each.objects.empty() ? "" : " of ",
                    joined(each.objects, ", ", &advise::named_objects::name), each.reason));
  }
  if (!rest.empty()) {
    made.begin_folded("Examined, and not worth a change");
    made.list(rest);
    made.end_folded();
  }
}

} // namespace nodewise::cli
