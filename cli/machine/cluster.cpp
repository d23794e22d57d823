// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/machine/cluster.hpp"

#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/machine/source.hpp"
#include "topology/json_field.hpp"

namespace nodewise::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view cluster_schema = "nodewise/cluster/1";
constexpr int most_hosts = 64; // as in lab/nodewise_lab/network.py

/// Of a cluster file: names of other files are relative to its folder.
std::string machine_name(const json_field& field, const fs::path& folder) {
  const std::string name = field.text();
  return names_file(name) ? (folder / name).string() : name;
}

void add_hosts(std::vector<topology>& into, const json_field& entry, const fs::path& folder,
               const paths& from) {
  if (entry.is_text()) {
    into.push_back(read_lab_machine(machine_name(entry, folder), from));
    return;
  }
  entry.allow_only({"machine", "count"});
  const auto count = entry.find("count");
  const int many = count ? count->small_number(1, most_hosts) : 1;
  const topology host = read_lab_machine(machine_name(entry.at("machine"), folder), from);
  into.insert(into.end(), static_cast<std::size_t>(many), host);
}

/// Adds the hosts of a cluster file. False: the file is of another kind.
bool add_cluster(std::vector<topology>& into, std::string_view name, const paths& from) {
  std::error_code none;
  if (!names_file(name) || !fs::is_regular_file(name, none)) {
    return false; // the reader of machines says what is wrong with it
  }
  const fs::path file(name);
  const nlohmann::ordered_json document = read_json_file(file, largest_machine_file);
  const json_field whole(document, fmt::format("the cluster file {}", file.string()));
  const auto schema = document.is_object() ? whole.find("schema") : std::nullopt;
  if (!schema || !schema->is_text() || schema->text() != cluster_schema) {
    return false;
  }
  whole.allow_only({"schema", "hosts"});
  const auto hosts = whole.at("hosts").elements();
  if (hosts.empty()) {
    whole.at("hosts").refuse("there are no hosts", "write for example [\"4x2\", \"4x2\"]");
  }
  for (const json_field& each : hosts) {
    add_hosts(into, each, file.parent_path(), from);
  }
  return true;
}

} // namespace

std::vector<topology> read_lab_hosts(std::string_view names, const paths& from) {
  std::vector<topology> hosts;
  for (const std::string_view name : split(names, '+')) {
    if (!add_cluster(hosts, name, from)) {
      hosts.push_back(read_lab_machine(name, from));
    }
  }
  return hosts;
}

} // namespace nodewise::cli
