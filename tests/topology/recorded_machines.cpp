// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "recorded_machines.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace nodewise::test {

namespace {

std::vector<recorded_machine> read_expectations() {
  std::ifstream file(NODEWISE_TEST_DATA "/expectations.json");
  std::vector<recorded_machine> machines;
  const auto document = nlohmann::json::parse(file);
  for (const auto& [name, entry] : document.items()) {
    recorded_machine each;
    each.name = name;
    each.is_tree = !name.ends_with(".xml");
    each.path =
        std::filesystem::path(each.is_tree ? NODEWISE_TEST_TREES : NODEWISE_TEST_DATA) / name;
    each.nodes = node_set::parse(entry.at("nodes").get<std::string>());
    each.cpus = cpu_set::parse(entry.at("cpus").get<std::string>());
    entry.at("cores").get_to(each.cores);
    entry.at("packages").get_to(each.packages);
    each.memory_only = node_set::parse(entry.at("memory_only").get<std::string>());
    each.allowed_cpus = cpu_set::parse(entry.at("allowed_cpus").get<std::string>());
    each.allowed_nodes = node_set::parse(entry.at("allowed_nodes").get<std::string>());
    machines.push_back(std::move(each));
  }
  return machines;
}

} // namespace

topology recorded_machine::load() const {
  return is_tree ? topology::from_sysfs_by_hwloc(path) : topology::from_xml(path);
}

void PrintTo(const recorded_machine& machine, std::ostream* out) {
  *out << machine.name;
}

const std::vector<recorded_machine>& recorded_machines() {
  static const std::vector<recorded_machine> machines = read_expectations();
  return machines;
}

std::vector<recorded_machine> recorded_trees() {
  std::vector<recorded_machine> trees;
  std::copy_if(recorded_machines().begin(), recorded_machines().end(), std::back_inserter(trees),
               [](const recorded_machine& each) { return each.is_tree; });
  return trees;
}

topology load_recorded(std::string_view name) {
  for (const recorded_machine& each : recorded_machines()) {
    if (each.name == name) {
      return each.load();
    }
  }
  throw std::out_of_range("no recorded machine " + std::string(name));
}

scratch_folder::scratch_folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "nodewise-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::runtime_error("no scratch folder " + pattern);
  }
  path_ = pattern;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path scratch_folder::write(const std::string& name, std::string_view text) const {
  const auto file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

std::string output_of(const std::string& command) {
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) {
    ADD_FAILURE() << "cannot run " << command;
    return {};
  }
  std::string text;
  std::array<char, 4096> buffer{};
  std::size_t got = 0;
  while ((got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
    text.append(buffer.data(), got);
  }
  EXPECT_EQ(::pclose(pipe), 0) << command;
  text.resize(text.find_last_not_of('\n') + 1);
  return text;
}

} // namespace nodewise::test
