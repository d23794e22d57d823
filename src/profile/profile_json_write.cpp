// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/hexadecimal.hpp"
#include "profile/profile_json.hpp"
#include "profile/runs_text.hpp"

namespace nodewise::profile {

namespace {

using json = nlohmann::ordered_json;

template <class Values, class Write>
json list(const Values& values, Write write) {
  json all = json::array();
  for (const auto& each : values) {
    all.push_back(write(each));
  }
  return all;
}

json node(node_id which) {
  return which == unknown_node ? json("unknown") : json(to_int(which));
}

/// Leaves out what is not known.
void add_known(json& to, const char* name, const std::string& text) {
  if (!text.empty()) {
    to[name] = text;
  }
}
template <class Number>
void add_known(json& to, const char* name, const std::optional<Number>& value) {
  if (value) {
    to[name] = *value;
  }
}

json frame_json(const frame& where) {
  json made = json::object();
  add_known(made, "module", where.module);
  made["offset"] = hexadecimal(where.offset);
  add_known(made, "function", where.function);
  add_known(made, "file", where.file);
  if (where.line > 0) {
    made["line"] = where.line;
  }
  if (where.inlined) {
    made["inlined"] = true;
  }
  return made;
}

json chain_json(const call_chain& where) {
  return list(where, frame_json);
}

json thread_json(const thread& what) {
  json made = {{"tid", what.tid},
               {"name", what.name},
               {"main", what.main},
               {"migrations", what.migrations},
               {"stays", list(what.stays, [](const thread::stay& each) -> json {
                  return {{"node", node(each.node)}, {"samples", each.samples}};
                })}};
  add_known(made, "number", what.number);
  if (what.nested) {
    made["nested"] = {{"teams", what.nested->teams}, {"number", what.nested->number}};
  }
  if (what.instructions != 0) {
    made["instructions"] = what.instructions;
  }
  if (what.began_s != 0) {
    made["began_s"] = what.began_s;
  }
  add_known(made, "ended_s", what.ended_s);
  return made;
}

json touch_json(const first_touch& what) {
  json made = {{"pages", what.pages}, {"how", to_string(what.how)}, {"from", node(what.from)}};
  add_known(made, "by", what.by);
  made["where"] = chain_json(what.where);
  return made;
}

json line_json(const contested_line& what) {
  json made = {{"offset", what.offset},
               {"transfers", what.transfers},
               {"writers", what.writers},
               {"same_bytes", what.same_bytes}};
  if (what.rewrites != 0) {
    made["rewrites"] = what.rewrites;
  }
  if (what.written_at) {
    made["written_at"] = frame_json(*what.written_at);
  }
  return made;
}

json object_json(const object& what) {
  json made = {{"id", what.id}, {"kind", to_string(what.kind)}};
  add_known(made, "name", what.name);
  made["made_at"] = chain_json(what.made_at);
  add_known(made, "made_by", what.made_by);
  made.update({{"start", hexadecimal(what.start)},
               {"bytes", what.bytes},
               {"blocks", what.blocks},
               {"born_s", what.born_s},
               {"died_s", what.died_s},
               {"live_at_end", what.live_at_end},
               {"pages", what.pages},
               {"resident", what.resident},
               {"unwitnessed", what.unseen_touches},
               {"page_bytes", what.page_bytes},
               {"where", text_of(what.where)},
               {"touches", list(what.touches, touch_json)},
               {"touched", text_of(what.touched)},
               {"uses", list(what.uses, [](const use_run& run) { return json(text_of(run)); })},
               {"write_share", what.write_share},
               {"used_at", list(what.used_at,
                                [](const using_code& each) -> json {
                                  return {{"amount", each.amount},
                                          {"where", frame_json(each.where)}};
                                })},
               {"contested", list(what.contested, line_json)}});
  if (!what.initialised.empty()) {
    made["initialised"] =
        list(what.initialised, [](const use_run& run) { return json(text_of(run)); });
    made["initialised_write_share"] = what.initialised_write_share;
  }
  return made;
}

json program_json(const program& what) {
  json made = {{"pid", what.pid}, {"parent", what.parent}};
  add_known(made, "rank", what.rank);
  if (!what.processors.empty()) {
    made["processors"] = what.processors;
  }
  made["name"] = what.name;
  add_known(made, "file", what.file);
  add_known(made, "build_id", what.build_id);
  if (!what.libraries.empty()) {
    made["libraries"] = list(what.libraries, [](const library& each) -> json {
      return {{"name", each.name}, {"build_id", each.build_id}};
    });
  }
  made["end"] = to_string(what.end);
  if (what.ended_s != 0) {
    made.update({{"began_s", what.began_s}, {"ended_s", what.ended_s}});
  }
  made.update({{"openmp", what.openmp},
               {"tbb", what.tbb},
               {"use_from", to_string(what.use_from)},
               {"use_unit_bytes", what.use_unit_bytes},
               {"threads", list(what.threads, thread_json)},
               {"objects", list(what.objects, object_json)}});
  return made;
}

json evidence_json(const evidence& what) {
  return {{"faults", what.faults},
          {"chains", what.chains},
          {"kernel", what.kernel},
          {"hinting", what.hinting},
          {"counts", what.counts},
          {"agent", what.agent},
          {"fault_samples", what.fault_samples},
          {"hinting_samples", what.hinting_samples},
          {"lost_samples", what.lost_samples},
          {"thinned_samples", what.thinned_samples},
          {"pages_moved", what.pages_moved},
          {"pages_held", what.pages_held},
          {"missing", what.missing}};
}

} // namespace

void append(json& document, const profile& what) {
  document["command"] = what.command;
  document["page_bytes"] = what.page_bytes;
  document["evidence"] = evidence_json(what.seen);
  document["overhead"] = {{"wall_s", what.cost.wall_s}, {"observer_s", what.cost.observer_s}};
  document["memory"] = list(what.memory, [](const node_memory& each) -> json {
    json made = {{"node", node(each.node)},
                 {"total_bytes", each.total_bytes},
                 {"free_bytes", each.free_bytes},
                 {"cache_bytes", each.cache_bytes}};
    if (each.fullest) {
      made["fullest"] = {{"free_bytes", each.fullest->free_bytes},
                         {"cache_bytes", each.fullest->cache_bytes}};
    }
    return made;
  });
  document["programs"] = list(what.programs, program_json);
}

} // namespace nodewise::profile
