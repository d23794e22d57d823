// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/profiles/comparison.hpp"
#include "report/envelope.hpp"

namespace nodewise::cli {

namespace {

using json = nlohmann::ordered_json;

json side_json(const std::optional<profile_site>& of) {
  return of ? profile_site_json(*of) : json("absent");
}

json compared_site_json(const compared_site& of) {
  json made = {{"program", of.key.first}, {"name", of.key.second}};
  if (of.after_key) {
    made["program_after"] = of.after_key->first;
    made["name_after"] = of.after_key->second;
  }
  made["before"] = side_json(of.before);
  made["after"] = side_json(of.after);
  return made;
}

json total_json(const compared_total& of) {
  return {{"remote", report::or_unavailable(of.remote)},
          {"predicted_s", report::or_unavailable(of.seconds)}};
}

json finding_side_json(const finding_side& of) {
  json made = {{"state", finding_states.at(static_cast<std::size_t>(of.is))}};
  report::add_if_any(made, "note", of.note);
  return made;
}

json compared_finding_json(const compared_finding& of) {
  return {{"pattern", of.pattern},
          {"program", of.program},
          {"arrays", of.arrays},
          {"before", finding_side_json(of.before)},
          {"after", finding_side_json(of.after)}};
}

} // namespace

void append(json& into, const compared_profiles& what) {
  into["sites"] = report::json_list(what.sites, compared_site_json);
  into["findings"] = report::json_list(what.findings, compared_finding_json);
  into["before"] = total_json(what.before);
  into["after"] = total_json(what.after);
  into["doubts"] = what.doubts;
}

} // namespace nodewise::cli
