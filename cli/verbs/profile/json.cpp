// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/profiles/sites.hpp"
#include "cli/verbs/profile/flags.hpp"
#include "cli/verbs/profile/ranks.hpp"
#include "cli/verbs/profile/result.hpp"
#include "profile/profile_json.hpp"
#include "report/envelope.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using json = nlohmann::ordered_json;
using report::add_if_any;
using report::json_list;
using report::or_unavailable;

json gain_json(const advise::gain& worth) {
  using kind = advise::gain::kind;
  if (worth.how == kind::unavailable) {
    return {{"kind", "unavailable"}, {"note", worth.note}};
  }
  json made = {{"kind", worth.how == kind::at_most ? "at most" : "predicted"},
               {"ratio", worth.ratio},
               {"low", worth.low},
               {"high", worth.high},
               {"before_s", or_unavailable(worth.before_s)},
               {"after_s", or_unavailable(worth.after_s)},
               {"binds_before", worth.binds_before},
               {"binds_after", worth.binds_after}};
  add_if_any(made, "note", worth.note);
  return made;
}

json objects_json(const std::vector<advise::named_objects>& objects) {
  return json_list(objects, [](const advise::named_objects& each) -> json {
    return {{"program", each.program}, {"ids", each.ids},     {"name", each.name},
            {"bytes", each.bytes},     {"share", each.share}, {"remote", each.remote}};
  });
}

json places_json(const std::vector<advise::code_share>& places) {
  return json_list(places, [](const advise::code_share& each) -> json {
    json made = {{"label", profile::label_of(each.where)}, {"share", each.share}};
    if (!each.where.file.empty()) {
      made["file"] = each.where.file;
      made["line"] = each.where.line;
    }
    add_if_any(made, "function", each.where.function);
    return made;
  });
}

json cure_json(const advise::cure& what) {
  return {{"with", what.with}, {"what", what.what}, {"code", what.code}};
}

json finding_json(const advise::finding& what) {
  return {{"pattern", advise::to_string(what.what)},
          {"title", what.title},
          {"gain", gain_json(what.worth)},
          {"objects", objects_json(what.objects)},
          {"first_touched", places_json(what.first_touched)},
          {"used", places_json(what.used)},
          {"evidence", what.evidence},
          {"cures", json_list(what.cures, cure_json)},
          {"remarks", what.remarks}};
}

} // namespace

std::string advice_json(const reported_advice& reported) {
  const profile::profile& what = reported.profiled.what;
  const advise::advice& found = reported.found;
  json made = report::envelope("advice", 2, machine_json(reported.on), *reported.profiled.settings);
  made["command"] = what.command;
  add_if_any(made, "ranks", ranks_json(what));
  made["findings"] = json_list(found.findings, finding_json);
  made["not_worth"] = json_list(found.not_worth, [](const advise::dismissal& each) -> json {
    return {{"pattern", advise::to_string(each.what)},
            {"objects", objects_json(each.objects)},
            {"gain", gain_json(each.worth)},
            {"reason", each.reason}};
  });
  made["unexamined"] = json_list(found.not_asked, [](const advise::unexamined& each) -> json {
    return {{"pattern", advise::to_string(each.what)}, {"missing", each.missing}};
  });
  made["plans"] = json_list(found.plans, [&](const advise::proposal& each) -> json {
    json made_plan = {{"program", what.programs[each.program].name},
                      {"entries", each.plan.objects.size()},
                      {"before", outcome_json(each.before)},
                      {"after", outcome_json(each.after)},
                      {"gain", gain_json(each.worth)},
                      {"remarks", each.remarks}};
    add_if_any(made_plan, "pays_from", each.pays_from);
    return made_plan;
  });
  if (reported.proven) {
    made["proof"] = proof_json(*reported.proven);
  }
  made["refused_plans"] = json_list(found.refused, [&](const advise::proposal& each) -> json {
    return {{"program", what.programs[each.program].name},
            {"gain", gain_json(each.worth)},
            {"reason", each.refused}};
  });
  made["objects"] = json_list(sites_of(what), [](const auto& each) {
    const auto& [key, site] = each;
    json one = {{"program", key.first}, {"name", key.second}};
    one.update(profile_site_json(site));
    return one;
  });
  json whole = json::object();
  profile::append(whole, what);
  made["evidence"] = whole["evidence"];
  made["overhead"] = whole["overhead"];
  made["remarks"] = found.remarks;
  return report::json_text(made);
}

json profile_json(const profile::profile& what, const machine& on, json settings) {
  json made = report::envelope("profile", 2, machine_json(on), std::move(settings));
  profile::append(made, what);
  return made;
}

} // namespace nodewise::cli
