// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <nlohmann/json.hpp>

#include "plan/place_names.hpp"
#include "plan/plan_json.hpp"
#include "plan/plan_words.hpp"

namespace nodewise::plans {

namespace {

using json = nlohmann::ordered_json;

void set_text(json& object, const char* key, const std::string& text) {
  if (!text.empty()) {
    object[key] = text;
  }
}

json entry_json(const entry& what) {
  const condition& which = what.which;
  json made = json::object();
  set_text(made, "name", what.name);
  set_text(made, "kind", which.kind);
  set_text(made, "symbol", which.symbol.value_or(""));
  set_text(made, "site", which.source);
  for (const std::string& caller : which.callers) {
    made["callers"].push_back(caller);
  }
  for (const code_place& place : which.stack) {
    made["stack"].push_back(text_of(place));
  }
  set_text(made, "bytes", text_of(byte_range{which.least_bytes, which.most_bytes}));
  set_text(made, "nth", text_of(ordinals{which.first, which.last}));
  if (what.where.how == placements::kind::map) {
    made["placement"] = {{"map", placements::map_text(what.where.owners)}};
  } else {
    made["placement"] = placements::text_of(what.where);
  }
  set_text(made, "why", what.why);
  return made;
}

} // namespace

void append(json& document, const plan_file& what) {
  json program = json::object();
  set_text(program, "name", what.program);
  set_text(program, "build_id", what.build_id);
  json threads = json::object();
  if (what.threads != 0) {
    threads["count"] = what.threads;
  }
  if (!what.teams.empty()) {
    threads["teams"] = what.teams;
  }
  if (what.nodes != 0) {
    threads["nodes"] = what.nodes;
  }
  threads["bind"] = to_string(what.bind);
  threads["places"] = place_names[static_cast<std::size_t>(what.places)];
  if (what.main_works) {
    threads["main"] = main_names[1];
  }
  document["program"] = std::move(program);
  for (const library& each : what.libraries) {
    document["libraries"].push_back({{"name", each.name}, {"build_id", each.build_id}});
  }
  document["threads"] = std::move(threads);
  document["objects"] = json::array();
  for (const entry& each : what.objects) {
    document["objects"].push_back(entry_json(each));
  }
}

} // namespace nodewise::plans
