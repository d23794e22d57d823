// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

#include "base/text.hpp"
#include "survey/record.hpp"

namespace nodewise::survey {

namespace {

using nlohmann::ordered_json;

constexpr int most_number = 1 << 24; // of ranks and nodes: more is a damaged record
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 60;

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

[[noreturn]] void refuse(const std::string& field, const std::string& answered) {
  throw error(error_kind::input, fmt::format("the record of a rank: {}", field), answered,
              "run the job again with nodewise survey");
}

/// The fields of an object, each checked.
class fields {
 public:
  fields(const ordered_json& from, std::string path) : from_(from), path_(std::move(path)) {
    if (!from.is_object()) {
      refuse(path_.empty() ? "all of it" : path_, "it is not an object");
    }
  }

  [[nodiscard]] std::string name(const char* field) const {
    return path_.empty() ? field : fmt::format("{}.{}", path_, field);
  }
  [[nodiscard]] const ordered_json* find(const char* field) const {
    const auto found = from_.find(field);
    return found == from_.end() ? nullptr : &*found;
  }
  [[nodiscard]] std::string text(const char* field, bool required = true) const {
    const ordered_json* const value = find(field);
    if (value == nullptr ? required : !value->is_string()) {
      refuse(name(field), "it is not a text");
    }
    return value == nullptr ? std::string{} : value->get<std::string>();
  }
  [[nodiscard]] std::optional<std::uint64_t> number(const char* field, std::uint64_t most) const {
    const ordered_json* const value = find(field);
    if (value == nullptr) {
      return std::nullopt;
    }
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() > most) {
      refuse(name(field), "it is not a number of the expected size");
    }
    return value->get<std::uint64_t>();
  }
  [[nodiscard]] std::optional<int> small(const char* field) const {
    const auto value = number(field, most_number);
    return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
  }
  template <class Set>
  [[nodiscard]] Set set(const char* field) const {
    return read_set<Set>(name(field), text(field));
  }
  template <class Set>
  static Set read_set(const std::string& field, std::string_view list) {
    try {
      return Set::parse(list);
    } catch (const error& e) {
      refuse(field, e.answered());
    }
  }
  /// Calls `each` with every element of a list, which may be missing.
  template <class Each>
  void for_each(const char* field, Each each) const {
    const ordered_json* const list = find(field);
    if (list == nullptr) {
      return;
    }
    if (!list->is_array()) {
      refuse(name(field), "it is not a list");
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
      each(fields((*list)[i], fmt::format("{}[{}]", name(field), i)));
    }
  }
  /// Calls `each` with every name and value of an object, which may be missing.
  template <class Each>
  void for_each_named(const char* field, Each each) const {
    const ordered_json* const object = find(field);
    if (object == nullptr) {
      return;
    }
    if (!object->is_object()) {
      refuse(name(field), "it is not an object");
    }
    for (const auto& [key, value] : object->items()) {
      each(fmt::format("{}.{}", name(field), key), key, value);
    }
  }

 private:
  const ordered_json& from_;
  std::string path_;
};

host_machine read_hardware(const fields& from) {
  host_machine made;
  from.for_each("nodes", [&](const fields& node) {
    const auto id = node.small("node");
    if (!id || (!made.nodes.empty() && node_id{*id} <= made.nodes.back().id)) {
      refuse(node.name("node"), "it does not ascend");
    }
    made.nodes.push_back(
        {node_id{*id}, node.set<cpu_set>("cpus"), node.small("package").value_or(-1)});
  });
  const std::string cores = from.text("cores");
  for (const std::string_view core : split(cores, ' ')) {
    if (!core.empty()) {
      made.cores.push_back(fields::read_set<cpu_set>(from.name("cores"), core));
    }
  }
  return made;
}

void read_memory(const fields& from, rank_record& into) {
  from.for_each_named(
      "bytes", [&](const std::string& field, const std::string& key, const ordered_json& value) {
        const node_set node = fields::read_set<node_set>(field, key);
        if (node.size() != 1 || !value.is_number_unsigned() ||
            value.get<std::uint64_t>() > most_bytes) {
          refuse(field, "it is not a size of memory on a node");
        }
        into.bytes[node.first()] = value.get<std::uint64_t>();
      });
  into.unknown_bytes = from.number("unknown_bytes", most_bytes).value_or(0);
}

void read_threads(const fields& from, rank_record& into) {
  from.for_each("workers", [&](const fields& each) {
    into.workers.push_back({each.set<cpu_set>("allowed"), each.set<cpu_set>("ran"),
                            each.number("busy_ms", most_bytes).value_or(0)});
  });
  into.helpers = static_cast<std::size_t>(from.small("helpers").value_or(0));
}

void read_host(const fields& from, rank_record& into) {
  into.host = from.text("host");
  into.machine = from.text("machine");
  if (const ordered_json* const hardware = from.find("hardware")) {
    into.hardware = read_hardware(fields(*hardware, "hardware"));
  }
  from.for_each("devices", [&](const fields& each) {
    into.devices.push_back({each.text("name"), each.text("kind"), each.set<node_set>("nodes")});
  });
  from.for_each_named(
      "settings", [&](const std::string& field, const std::string& key, const ordered_json& value) {
        if (!value.is_string()) {
          refuse(field, "it is not a text");
        }
        into.settings[key] = value.get<std::string>();
      });
}

} // namespace

std::string record_text(const rank_record& what) {
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
  return made.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

rank_record read_record(std::string_view text) {
  const ordered_json parsed = ordered_json::parse(text, nullptr, false);
  if (parsed.is_discarded()) {
    refuse("all of it", "it is cut off or damaged");
  }
  const fields from(parsed, "");
  if (from.text("schema") != record_schema) {
    refuse("schema",
           fmt::format("it is {}, not {}", in_quotes(from.text("schema")), record_schema));
  }
  rank_record made;
  made.job = from.text("job");
  made.launcher = from.text("launcher");
  const auto rank = from.small("rank");
  if (!rank) {
    refuse("rank", "it is missing");
  }
  made.rank = *rank;
  made.ranks = from.small("ranks");
  made.local = from.small("local");
  made.started = from.number("started", most_bytes).value_or(0);
  read_host(from, made);
  made.command = from.text("command");
  made.exit_code = from.small("exit_code");
  made.signal = from.small("signal");
  made.allowed = from.set<cpu_set>("allowed");
  read_threads(from, made);
  read_memory(from, made);
  return made;
}

} // namespace nodewise::survey
