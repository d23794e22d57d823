// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/topology.hpp>

namespace nodewise::test {

/// A machine of tests/data/topologies and what must be found in it.
struct recorded_machine {
  std::string name;
  bool is_tree = false; ///< a file-system root, else an XML file
  std::filesystem::path path;
  node_set nodes;
  cpu_set cpus;
  std::size_t cores = 0;
  std::size_t packages = 0;
  node_set memory_only; ///< nodes without processors
  cpu_set allowed_cpus;
  node_set allowed_nodes;

  /// By hwloc.
  [[nodiscard]] topology load() const;
};

void PrintTo(const recorded_machine& machine, std::ostream* out);

[[nodiscard]] const std::vector<recorded_machine>& recorded_machines();
[[nodiscard]] std::vector<recorded_machine> recorded_trees();
[[nodiscard]] topology load_recorded(std::string_view name);

/// The name of a parametrised test: letters, digits and underscores.
template <class Info>
std::string test_name(const Info& info) {
  std::string name = info.param.name;
  for (char& c : name) {
    c = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? c : '_';
  }
  return name;
}

/// A folder that is gone after the test.
class scratch_folder {
 public:
  scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// Writes a file, with the folders it needs, and returns its path.
  std::filesystem::path write(const std::string& name, std::string_view text) const;

 private:
  std::filesystem::path path_;
};

/// What a command prints, without the final newline; fails the test if it does not end well.
[[nodiscard]] std::string output_of(const std::string& command);

} // namespace nodewise::test
