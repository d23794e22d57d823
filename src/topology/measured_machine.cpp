// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "topology/measured_machine.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <tuple>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>
#include <nodewise/topology.hpp>

#include "base/environment.hpp"

namespace nodewise::measured {

namespace {

namespace fs = std::filesystem;

constexpr const char* variable = "NODEWISE_MEASURED";

/// The variable's value; an empty variable counts as not set.
std::optional<std::string> value_of(environment get, const char* name) {
  const char* const text = get(name);
  return text != nullptr && *text != '\0' ? std::optional<std::string>(text) : std::nullopt;
}

/// $XDG_STATE_HOME (its specification says to ignore relative paths), else ~/.local/state.
std::optional<fs::path> state_folder(environment get) {
  if (const auto chosen = value_of(get, "XDG_STATE_HOME"); chosen && chosen->front() == '/') {
    return fs::path(*chosen);
  }
  const auto home = value_of(get, "HOME");
  return home ? std::optional(fs::path(*home) / ".local/state") : std::nullopt;
}

std::optional<fs::path> own_file(environment get, const std::string& host) {
  if (const auto chosen = value_of(get, variable)) {
    return fs::path(*chosen);
  }
  const auto folder = state_folder(get);
  std::string name = fmt::format("measured-{}.json", host);
  std::ranges::replace(name, '/', '_');
  return folder ? std::optional(*folder / "nodewise" / name) : std::nullopt;
}

/// Whether the file does not exist. A file that may not be looked at counts as existing.
bool is_missing(const fs::path& file) {
  struct stat facts{};
  return ::stat(file.c_str(), &facts) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

} // namespace

std::filesystem::path file_to_write(environment get, const std::string& host) {
  if (const auto file = own_file(get, host)) {
    return *file;
  }
  throw error(error_kind::usage, "cannot choose a file for measurements",
              "neither NODEWISE_MEASURED, XDG_STATE_HOME nor HOME is set",
              "set NODEWISE_MEASURED=FILE");
}

std::vector<std::filesystem::path> files_to_read(environment get, const std::string& host) {
  std::vector<fs::path> files;
  if (const auto own = own_file(get, host)) {
    files.push_back(*own);
  }
  if (!value_of(get, variable)) {
    files.emplace_back(system_file);
  }
  return files;
}

bool was_disturbed(const parameter& figure) noexcept {
  return std::string_view(figure.source).ends_with(disturbed_mark);
}

std::string host_name() {
  std::array<char, 256> name{};
  const bool known = ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0';
  return known ? std::string(name.data()) : "unknown-host";
}

profile read(const std::filesystem::path& file) {
  const std::string asked = fmt::format("the measurement {}", file.string());
  const std::string hint =
      fmt::format("measure again: nodewise measure; or remove {}", file.string());
  profile made{file, {}};
  try {
    made.what = topology::from_json(file).machine();
  } catch (const error& e) {
    throw error(error_kind::input, asked, fmt::format("{}: {}", e.asked(), e.answered()), hint);
  }
  if (!has_costs(made.what)) {
    throw error(error_kind::input, asked, "it has no bandwidth and no latency between nodes", hint);
  }
  return made;
}

findings find(const machine& now, const std::vector<std::filesystem::path>& files) {
  findings made;
  for (const fs::path& file : files) {
    if (is_missing(file)) {
      continue;
    }
    profile one = read(file);
    const std::string why = why_another(now, one.what);
    if (why.empty()) {
      made.found = std::move(one);
      return made;
    }
    made.remarks.push_back(fmt::format("{} is not used: {}", file.string(), why));
  }
  return made;
}

findings find(const machine& now) {
  findings made = find(now, files_to_read(process_environment, host_name()));
  const auto chosen = value_of(process_environment, variable);
  if (!made.found && chosen && is_missing(*chosen)) {
    made.remarks.push_back(fmt::format("{} names {}, which does not exist", variable, *chosen));
  }
  return made;
}

std::string why_another(const machine& now, const machine& of) {
  if (now.node_ids() != of.node_ids()) {
    return fmt::format("it describes a machine with nodes {}, but this one has {}",
                       of.node_ids().to_string(), now.node_ids().to_string());
  }
  for (const memory_node& node : now.nodes) {
    const memory_node& other = *of.find_node(node.id);
    const auto named = [](const cpu_set& cpus) {
      return cpus.empty() ? std::string("no processors") : "processors " + cpus.to_string();
    };
    if (node.cpus != other.cpus) {
      return fmt::format("its node {} has {}, but here it has {}", node.id, named(other.cpus),
                         named(node.cpus));
    }
  }
  return {};
}

bool has_costs(const machine& what) noexcept {
  return std::ranges::any_of(what.parameters, [](const parameter& each) {
    return each.name == "bandwidth" || each.name == "latency";
  });
}

machine with_costs(machine into, const machine& measured) {
  const auto key = [](const parameter& each) { return std::tie(each.name, each.from, each.to); };
  for (const parameter& each : measured.parameters) {
    if (into.find_node(each.from) == nullptr || into.find_node(each.to) == nullptr) {
      continue;
    }
    const auto same = std::ranges::find(into.parameters, key(each), key);
    if (same == into.parameters.end()) {
      into.parameters.push_back(each);
    } else {
      *same = each;
    }
  }
  return into;
}

} // namespace nodewise::measured
