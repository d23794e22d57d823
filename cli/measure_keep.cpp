// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/measure_keep.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "cli/measure_flags.hpp"
#include "cli/result.hpp"
#include "measure/measurement_json.hpp"
#include "report/envelope.hpp"
#include "topology/machine_json.hpp"
#include "topology/measured_machine.hpp"

namespace nodewise::cli {

namespace {

using measure::experiment;
using measure::measurement;

/// The quality of the figures that other verbs use.
struct quality {
  std::size_t figures = 0;
  std::size_t sure = 0;      ///< with a 95 % interval
  std::size_t disturbed = 0; ///< by other work on the machine

  explicit quality(const measurement& of) {
    for (const experiment each :
         {experiment::bandwidth, experiment::latency, experiment::contention}) {
      for (const measure::record* one : of.all(each)) {
        if (one->is_known()) {
          ++figures;
          sure += one->found.figure().has_enough_visits() ? 1U : 0U;
          disturbed += one->found.was_disturbed() ? 1U : 0U;
        }
      }
    }
  }
};

/// Reads the measurement in a file; nothing if it cannot be read or is of another machine.
std::optional<measurement> read_kept(const std::filesystem::path& file, const machine& on) {
  try {
    const nlohmann::ordered_json document = read_json_file(file, largest_machine_file);
    const json_field field(document, file.string());
    return nodewise::measured::why_another(on, topology_from_json(field).machine()).empty()
               ? std::optional(measure::read_measurement(field))
               : std::nullopt;
  } catch (const error&) {
    return std::nullopt;
  }
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
  const std::string part = why_in_part(on);
  const std::string other = why_other_buffers(given);
  if (part.empty() && other.empty()) {
    return doubts.empty() ? std::string() : doubts.front();
  }
  // The user can still have it used by naming a file.
  return (part.empty() ? other + " is not what others compute with" : part) +
         "; -o FILE writes it, NODEWISE_MEASURED=FILE has it used";
}

std::string why_worse(const measurement& now, const measurement& kept) {
  const quality old(kept);
  const quality made(now);
  if (made.disturbed > old.disturbed) {
    return "more of it was disturbed";
  }
  if (made.sure < old.sure) {
    return "fewer figures were visited often enough";
  }
  return made.figures < old.figures ? "it has fewer figures" : "";
}

std::string keep(const measurement& what, const topology& on,
                 const std::vector<std::string>& doubts, const nlohmann::ordered_json& result,
                 const invocation& given) {
  if (what.all(experiment::bandwidth).empty() && what.all(experiment::latency).empty()) {
    return "";
  }
  // In a virtual machine remote memory costs as much as local memory, and the file could be the
  // host's.
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
    const auto kept = read_kept(file, on.machine());
    if (const std::string why = kept ? why_worse(what, *kept) : ""; !why.empty()) {
      return "Not kept: " + why + " than in " + file.string() +
             "; remove that to have this one used.\n";
    }
    std::error_code failed;
    std::filesystem::create_directories(file.parent_path(), failed);
    if (!failed) {
      failed.assign(replace_file(file.string(), report::json_text(result)),
                    std::generic_category());
    }
    if (failed) {
      return "Not kept in " + file.string() + ": " + failed.message() +
             "; NODEWISE_MEASURED=FILE names another, --no-keep leaves it out.\n";
    }
    if (const std::size_t disturbed = quality(what).disturbed; disturbed != 0) {
      return "Kept in " + file.string() + ", with a mark at " + counted(disturbed, "figure") +
             " that other work disturbed: nodewise topo shows it, run --memory weighted:auto over "
             "several nodes refuses marked bandwidths. Measure again while nothing else runs.\n";
    }
    return "Kept in " + file.string() +
           ": nodewise topo shows it, run --memory weighted:auto uses it.\n";
  } catch (const error& e) { // no home directory
    return "Not kept: " + e.answered() + "; " + e.hint() + ".\n";
  }
}

} // namespace nodewise::cli
