// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/measure/keep.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/verbs/measure/flags.hpp"
#include "place/kernel_weights.hpp"
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
    for (const measure::record& one : of.records) {
      const bool is_used = !about(one.of).parameter.empty() && one.of != experiment::scaling;
      if (is_used && one.is_known()) {
        ++figures;
        sure += one.found.figure().has_enough_visits() ? 1U : 0U;
        disturbed += one.found.was_disturbed() ? 1U : 0U;
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
      return fmt::format("it has no {}", to_string(each));
    }
    for (const measure::record* one : records) {
      if (!one->is_known()) {
        return fmt::format("{} {} is unavailable", to_string(each), one->label);
      }
    }
  }
  return {};
}

std::string why_other_buffers(const invocation& given) {
  for (const flag* const asks : {&flags::buffer_size, &flags::buffer_pages}) {
    if (const auto text = given.text(*asks); text && *text != asks->standard) {
      return fmt::format("{} {}", option_name(*asks), *text);
    }
  }
  return "";
}

} // namespace

std::string why_in_part(const topology& on) {
  const cpu_set cpus = on.machine().cpus();
  if (on.allowed_cpus() != cpus) {
    return fmt::format("only processors {} of {} were allowed", on.allowed_cpus().to_string(),
                       cpus.to_string());
  }
  const node_set memories = topology(on.machine()).memory_nodes();
  return on.memory_nodes() == memories
             ? ""
             : fmt::format("only memory of nodes {} of {} was allowed",
                           on.memory_nodes().to_string(), memories.to_string());
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
  // The user can still name a file for it.
  return fmt::format("{}; write it with -o FILE, use it with NODEWISE_MEASURED=FILE",
                     part.empty() ? other + " is not the standard" : part);
}

std::string why_worse(const measurement& now, const measurement& kept) {
  const quality old(kept);
  const quality made(now);
  if (made.disturbed > old.disturbed) {
    return "more of it was disturbed";
  }
  if (made.sure < old.sure) {
    return "fewer figures have enough visits";
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
    return fmt::format("Not saved: the virtual machine {} shows where pages are, not what they "
                       "cost.\n",
                       lab);
  }
  if (const std::string why = why_not_kept(what, on, doubts, given); !why.empty()) {
    return fmt::format("Not saved: {}.\n", why);
  }
  try {
    const std::filesystem::path file = nodewise::measured::file_to_write(
        [](const char* name) -> const char* { return std::getenv(name); }, what.host);
    const auto kept = read_kept(file, on.machine());
    if (const std::string why = kept ? why_worse(what, *kept) : ""; !why.empty()) {
      return fmt::format("Not saved: {} than in {}; remove that file to save this one.\n", why,
                         file.string());
    }
    std::error_code failed;
    std::filesystem::create_directories(file.parent_path(), failed);
    if (!failed) {
      failed.assign(replace_file(file.string(), report::json_text(result)),
                    std::generic_category());
    }
    if (failed) {
      return fmt::format(
          "Not saved in {}: {}; NODEWISE_MEASURED=FILE names another file, --no-keep "
          "saves nothing.\n",
          file.string(), failed.message());
    }
    if (const std::size_t disturbed = quality(what).disturbed; disturbed != 0) {
      return fmt::format("Saved in {}, with a mark at {} that other work disturbed: nodewise topo "
                         "shows it, run --memory weighted:auto over several nodes refuses marked "
                         "bandwidths. Measure again on an idle machine.\n",
                         file.string(), counted(disturbed, "figure"));
    }
    return fmt::format("Saved in {}: nodewise topo shows it, run --memory weighted:auto uses it.\n",
                       file.string());
  } catch (const error& e) { // no home directory
    return fmt::format("Not saved: {}; {}.\n", e.answered(), e.hint());
  }
}

std::string why_no_weights(const measurement& what, const machine& of, const machine& here) {
  if (!what.is_complete()) {
    return "the measurement was stopped";
  }
  for (const measure::record& each : what.records) {
    if (each.found.wrong) {
      return fmt::format("{} {} gave a wrong result: {}", to_string(each.of), each.label,
                         each.found.unavailable);
    }
    if (each.of == experiment::bandwidth && !each.is_known()) {
      return fmt::format("bandwidth {} is unavailable: {}", each.label, each.found.unavailable);
    }
  }
  return nodewise::measured::why_another(here, of);
}

std::string weight_lines(const measurement& what, const topology& on, const std::string& file,
                         const invocation& given) {
  const bool applies = given.text(flags::weights) == "apply";
  const bool measured_now = file.empty();
  const std::string option = option_name(flags::weights) + (applies ? "=apply" : "");
  const std::string asked = measured_now ? option : fmt::format("{} of {}", option, file);
  std::string why = why_no_weights(what, on.machine(),
                                   measured_now ? on.machine() : topology::system().machine());
  bool refused = applies || measured_now;
  if (why.empty() && measured_now) {
    why = why_in_part(on);
    refused = applies;
  }
  if (!why.empty() && refused) {
    throw error(error_kind::input, asked, why,
                fmt::format("measure the whole machine to the end: nodewise measure {}; nodewise "
                            "doctor reports what the system refuses",
                            option));
  }
  if (!why.empty()) {
    write_error(
        report::warning_text(fmt::format("{}: {}", asked, why), style_of(STDERR_FILENO, given)));
  }
  // Uses the measured bandwidths only: the firmware may have published others.
  machine of = on.machine();
  std::erase_if(of.parameters, [](const parameter& each) { return each.name == "bandwidth"; });
  const auto weights = kernel_weights::by_bandwidth(
      measure::with_parameters(std::move(of), measure::parameters_of(what)));
  if (applies) {
    kernel_weights::apply_weights(sys::real_kernel(), weights);
  }
  return kernel_weights::shell_lines(weights);
}

} // namespace nodewise::cli
