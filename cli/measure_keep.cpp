// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/measure_keep.hpp"

#include <cstdlib>
#include <filesystem>

#include "cli/measure_flags.hpp"
#include "cli/result.hpp"
#include "report/envelope.hpp"
#include "topology/measured_machine.hpp"

namespace nodewise::cli {

namespace {

using measure::experiment;
using measure::measurement;

/// Whether most of what others compute with was measured while somebody else worked here.
bool is_disturbed(const measurement& what) {
  std::size_t all = 0;
  std::size_t disturbed = 0;
  for (const experiment each : {experiment::bandwidth, experiment::latency}) {
    for (const measure::record* one : what.all(each)) {
      ++all;
      const auto& by = one->found.disturbed;
      disturbed += by && (by->is_much() || by->is_much_elsewhere()) ? 1U : 0U;
    }
  }
  return 2 * disturbed > all;
}

std::string why_not_whole(const measurement& what) {
  if (!what.is_complete()) {
    return "it was stopped";
  }
  for (const experiment each : {experiment::bandwidth, experiment::latency}) {
    const auto records = what.all(each);
    if (records.empty()) {
      return "it has no " + std::string(to_string(each));
    }
    for (const measure::record* one : records) {
      if (!one->is_known()) {
        return std::string(to_string(each)) + " " + one->label + " is unavailable";
      }
    }
  }
  return {};
}

std::string why_other_buffers(const invocation& given) {
  if (given.has(flags::buffer_size)) {
    return option_name(flags::buffer_size) + " " + std::string(*given.text(flags::buffer_size));
  }
  const auto pages = given.text(flags::buffer_pages);
  return pages && *pages != flags::buffer_pages.standard
             ? option_name(flags::buffer_pages) + " " + std::string(*pages)
             : std::string();
}

} // namespace

std::string why_in_part(const topology& on) {
  const cpu_set cpus = on.machine().cpus();
  if (on.allowed_cpus() != cpus) {
    return "only processors " + on.allowed_cpus().to_string() + " of " + cpus.to_string() +
           " were allowed";
  }
  node_set memories;
  for (const memory_node& node : on.machine().nodes) {
    if (node.memory_bytes != 0) {
      memories.insert(node.id);
    }
  }
  return on.memory_nodes() == memories ? std::string()
                                       : "only memory of nodes " + on.memory_nodes().to_string() +
                                             " of " + memories.to_string() + " was allowed";
}

std::string why_not_kept(const measurement& what, const topology& on,
                         const std::vector<std::string>& doubts, const invocation& given) {
  if (const std::string why = why_not_whole(what); !why.empty()) {
    return why;
  }
  if (!doubts.empty()) {
    return doubts.front();
  }
  const std::string part = why_in_part(on);
  const std::string other = why_other_buffers(given);
  if (part.empty() && other.empty()) {
    return {};
  }
  // Whoever wants it used all the same says so by naming a file.
  return (part.empty() ? other + " is not what others compute with" : part) +
         "; -o FILE writes it, NODEWISE_MEASURED=FILE has it used";
}

std::string keep(const measurement& what, const topology& on,
                 const std::vector<std::string>& doubts, const nlohmann::ordered_json& result,
                 const invocation& given) {
  if (what.all(experiment::bandwidth).empty() && what.all(experiment::latency).empty()) {
    return "";
  }
  // Remote memory costs there what local memory costs; and the file could be the host's.
  if (const char* const lab = std::getenv("NODEWISE_LAB"); lab != nullptr && *lab != '\0') {
    return "Not kept: the virtual machine " + std::string(lab) +
           " shows where pages are, not what they cost.\n";
  }
  if (const std::string why = why_not_kept(what, on, doubts, given); !why.empty()) {
    return "Not kept: " + why + ".\n";
  }
  try {
    const std::filesystem::path file = nodewise::measured::file_to_write(
        [](const char* name) -> const char* { return std::getenv(name); }, what.host);
    if (is_disturbed(what) && std::filesystem::exists(file)) {
      return "Not kept: it was disturbed, and " + file.string() + " may be the better one.\n";
    }
    std::filesystem::create_directories(file.parent_path());
    const int failed = replace_file(file.string(), report::json_text(result));
    return failed == 0 ? "Kept in " + file.string() +
                             ": nodewise topo shows it, run --memory weighted:auto uses it.\n"
                       : "Not kept in " + file.string() + ": " + errno_text(failed) + "\n";
  } catch (const std::exception& e) {
    return std::string("Not kept: ") + e.what() + "\n";
  }
}

} // namespace nodewise::cli
