// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "survey/record.hpp"
#include "topology/json_field.hpp"

namespace nodewise::survey {

namespace {

using nlohmann::ordered_json;

constexpr int most_number = 1 << 24; // of ranks and nodes: more is a damaged record
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 60;
constexpr const char* run_again = "run the job again with nodewise survey";

ordered_json hardware_json(const host_machine& which) {
  ordered_json nodes = ordered_json::array();
  for (const host_machine::node& each : which.nodes) {
    nodes.push_back({{"node", to_int(each.id)}, {"cpus", each.cpus.to_string()}});
    if (each.package >= 0) {
      nodes.back()["package"] = each.package;
    }
  }
  return {{"nodes", std::move(nodes)}, {"cores", joined(which.cores, " ", [](const cpu_set& core) {
                                          return core.to_string();
                                        })}};
}

ordered_json devices_json(const std::vector<near_device>& devices) {
  ordered_json all = ordered_json::array();
  for (const near_device& each : devices) {
    all.push_back({{"name", each.name}, {"kind", each.kind}, {"nodes", each.nodes.to_string()}});
  }
  return all;
}

ordered_json workers_json(const std::vector<worker>& workers) {
  ordered_json all = ordered_json::array();
  for (const worker& each : workers) {
    all.push_back({{"allowed", each.allowed.to_string()},
                   {"ran", each.ran.to_string()},
                   {"busy_ms", each.busy_ms}});
  }
  return all;
}

template <class Value>
void add(ordered_json& into, const char* name, const std::optional<Value>& value) {
  if (value) {
    into[name] = *value;
  }
}

int small_number(const json_field& from) {
  return from.small_number(0, most_number);
}

/// The value of a field that may be missing.
std::optional<int> optional_number(const json_field& from, std::string_view key) {
  const auto field = from.find(key);
  return field ? std::optional(small_number(*field)) : std::nullopt;
}

std::uint64_t number_or_none(const json_field& from, std::string_view key) {
  const auto field = from.find(key);
  return field ? field->whole_number(0, most_bytes) : 0;
}

/// The elements of a list that may be missing.
std::vector<json_field> elements_of(const json_field& from, std::string_view key) {
  const auto field = from.find(key);
  return field ? field->elements() : std::vector<json_field>{};
}

host_machine read_hardware(const json_field& from) {
  host_machine made;
  for (const json_field& node : from.at("nodes").elements()) {
    const node_id id{small_number(node.at("node"))};
    if (!made.nodes.empty() && id <= made.nodes.back().id) {
      node.at("node").refuse("the nodes do not ascend", run_again);
    }
    made.nodes.push_back(
        {id, node.at("cpus").ids<cpu_id>(), optional_number(node, "package").value_or(-1)});
  }
  const json_field cores = from.at("cores");
  const std::string lists = cores.text();
  for (const std::string_view core : split(lists, ' ')) {
    try {
      made.cores.push_back(cpu_set::parse(core));
    } catch (const error& e) {
      cores.refuse(e.answered(), e.hint());
    }
  }
  std::erase_if(made.cores, [](const cpu_set& core) { return core.empty(); });
  return made;
}

void read_memory(const json_field& from, rank_record& into) {
  for (const auto& [key, bytes] : from.at("bytes").members()) {
    const auto node = parse_number<int>(key);
    if (!node || *node < 0 || *node > most_number) {
      bytes.refuse("it is not a node", run_again);
    }
    into.bytes[node_id{*node}] = bytes.whole_number(0, most_bytes);
  }
  into.unknown_bytes = number_or_none(from, "unknown_bytes");
}

void read_threads(const json_field& from, rank_record& into) {
  for (const json_field& each : elements_of(from, "workers")) {
    into.workers.push_back({each.at("allowed").ids<cpu_id>(), each.at("ran").ids<cpu_id>(),
                            number_or_none(each, "busy_ms")});
  }
  into.helpers = static_cast<std::size_t>(optional_number(from, "helpers").value_or(0));
}

void read_host(const json_field& from, rank_record& into) {
  into.host = from.at("host").text();
  into.machine = from.at("machine").text();
  if (const auto hardware = from.find("hardware")) {
    into.hardware = read_hardware(*hardware);
  }
  for (const json_field& each : elements_of(from, "devices")) {
    into.devices.push_back(
        {each.at("name").text(), each.at("kind").text(), each.at("nodes").ids<node_id>()});
  }
  for (const auto& [name, value] : from.at("settings").members()) {
    into.settings[name] = value.text();
  }
}

} // namespace

ordered_json record_json(const rank_record& what) {
  ordered_json made = {{"schema", record_schema},
                       {"job", what.job},
                       {"launcher", what.launcher},
                       {"rank", what.rank}};
  add(made, "ranks", what.ranks);
  add(made, "local", what.local);
  made["started"] = what.started;
  made["host"] = what.host;
  made["machine"] = what.machine;
  made["command"] = what.command;
  add(made, "exit_code", what.exit_code);
  add(made, "signal", what.signal);
  made["allowed"] = what.allowed.to_string();
  made["workers"] = workers_json(what.workers);
  made["helpers"] = what.helpers;
  made["bytes"] = ordered_json::object();
  for (const auto& [node, bytes] : what.bytes) {
    made["bytes"][std::to_string(to_int(node))] = bytes;
  }
  made["unknown_bytes"] = what.unknown_bytes;
  made["settings"] = what.settings;
  if (what.hardware) {
    made["hardware"] = hardware_json(*what.hardware);
    made["devices"] = devices_json(what.devices);
  }
  return made;
}

std::string record_text(const rank_record& what) {
  return record_json(what).dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

rank_record record_from_json(const json_field& from) {
  check_schema(from, record_schema);
  rank_record made;
  made.job = from.at("job").text();
  made.launcher = from.at("launcher").text();
  made.rank = small_number(from.at("rank"));
  made.ranks = optional_number(from, "ranks");
  made.local = optional_number(from, "local");
  made.started = number_or_none(from, "started");
  read_host(from, made);
  made.command = from.at("command").text();
  made.exit_code = optional_number(from, "exit_code");
  made.signal = optional_number(from, "signal");
  made.allowed = from.at("allowed").ids<cpu_id>();
  read_threads(from, made);
  read_memory(from, made);
  return made;
}

rank_record read_record(std::string_view text) {
  const std::string asked = "the record of a rank";
  const ordered_json document = parse_json(text, asked);
  return record_from_json(json_field(document, asked));
}

} // namespace nodewise::survey
