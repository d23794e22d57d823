// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/lab/runner.hpp"
#include "cli/machine/source.hpp"
#include "cli/verbs/doctor/flags.hpp"
#include "cli/verbs/doctor/view.hpp"
#include "report/envelope.hpp"
#include "report/table.hpp"
#include "topology/json_field.hpp"
#include "topology/machine_json.hpp"
#include "topology/measured_machine.hpp"

namespace nodewise::cli {

namespace verbs {

namespace {

using doctor::verdict;
using nlohmann::ordered_json;
using report::tone;

// Of the verdicts, in the order of their values.
constexpr std::array<std::string_view, 4> verdict_names = {"good", "warning", "bad", "unavailable"};
constexpr std::array verdict_tones = {tone::good, tone::warning, tone::bad, tone::faint};

std::string_view name_of(verdict what) {
  return verdict_names[static_cast<std::size_t>(what)];
}

struct section {
  const char* key; ///< in the result
  const char* title;
  std::vector<doctor::finding> doctor::examination::* findings;
};
constexpr std::array<section, 5> sections = {{
    {"calls", "System calls", &doctor::examination::calls},
    {"findings", "Settings", &doctor::examination::settings},
    {"state", "State", &doctor::examination::state},
    {"environment", "Environment", &doctor::examination::environment},
    {"lab", "Lab", &doctor::examination::lab},
}};

ordered_json json_of(const std::vector<doctor::finding>& findings) {
  ordered_json all = ordered_json::array();
  for (const doctor::finding& f : findings) {
    ordered_json one = {{"name", f.name}, {"verdict", name_of(f.verdict)}, {"found", f.found}};
    if (f.errno_value != 0) {
      one["errno"] = f.errno_value;
    }
    if (!f.cure.empty()) {
      one["cure"] = f.cure;
    }
    all.push_back(std::move(one));
  }
  return all;
}

verdict worst(const doctor::examination& of) {
  if (of.has(verdict::bad)) {
    return verdict::bad;
  }
  return of.has(verdict::warning) ? verdict::warning : verdict::good;
}

/// `settings`: of this kernel.
examined with_result(doctor::examination found, const std::optional<machine>& here,
                     sys::kernel& settings) {
  ordered_json result =
      report::envelope("doctor", 1, here ? machine_json(*here) : ordered_json("unavailable"),
                       settings_json(settings));
  result["verdict"] = name_of(worst(found));
  for (const section& each : sections) {
    result[each.key] = json_of(found.*each.findings);
  }
  return {std::move(found), std::make_shared<const ordered_json>(std::move(result))};
}

/// Several calls are often refused for one reason: each fix appears once, after their names.
std::string cures(const std::vector<doctor::finding>& findings, const report::style& how) {
  std::vector<std::pair<std::string, std::string>> names_of_cure;
  for (const doctor::finding& f : findings) {
    const auto same =
        std::ranges::find(names_of_cure, f.cure, &std::pair<std::string, std::string>::first);
    if (same != names_of_cure.end()) {
      same->second += ", " + f.name;
    } else if (!f.cure.empty()) {
      names_of_cure.emplace_back(f.cure, f.name);
    }
  }
  std::string text;
  for (const auto& [cure, names] : names_of_cure) {
    constexpr std::size_t indent = 4;
    const std::string line = printable(fmt::format("{}: {}", names, cure));
    text += fmt::format("  {} {}\n", report::paint(how, tone::accent, how.unicode ? "→" : ">"),
                        how.terminal ? report::wrap_indented(line, how.width, indent) : line);
  }
  return text;
}

std::string text_of(const section& which, const doctor::examination& of, const report::style& how) {
  report::table rows({{""}, {""}, {"", report::align::left, true}}, 2);
  for (const doctor::finding& f : of.*which.findings) {
    const tone look = verdict_tones[static_cast<std::size_t>(f.verdict)];
    rows.add({{std::string(name_of(f.verdict)), look}, printable(f.name), printable(f.found)});
  }
  return fmt::format("{}\n{}{}\n", report::paint(how, tone::strong, which.title),
                     rows.to_string(how), cures(of.*which.findings, how));
}

std::string summary(const doctor::examination& found, const report::style& how) {
  const bool tried = std::ranges::any_of(found.calls, [](const doctor::finding& call) {
    return call.verdict != verdict::unavailable;
  });
  const verdict of_all = worst(found);
  const char* text =
      tried ? "Everything needed is permitted." : "No problem was found; no call was tried.";
  if (of_all == verdict::bad) {
    text = "A call that nodewise needs is refused.";
  } else if (of_all == verdict::warning) {
    text = tried ? "Everything needed is permitted; see the warnings."
                 : "See the warnings; no call was tried.";
  }
  return report::paint(how, verdict_tones[static_cast<std::size_t>(of_all)], text) + "\n";
}

/// Sets the machine if its discovery works: doctor must also run where it does not. Adds its
/// measured costs if they can be read and match it; otherwise records why not.
void find_machine(doctor::surroundings& around) {
  try {
    around.here = topology::from_sysfs().machine();
  } catch (const error&) {
    return;
  }
  try {
    const measured::findings known = measured::find(*around.here);
    if (known.found) {
      around.here = measured::with_costs(*around.here, known.found->what);
    } else {
      around.unused = {joined(known.remarks, "; "),
                       known.remarks.empty() ? "" : "nodewise measure"};
    }
  } catch (const error& e) {
    around.unused = {fmt::format("{}: {}", e.asked(), e.answered()), e.hint()};
  }
}

/// Finds the Python interpreter that the lab would use, which need not be the first on the path.
doctor::surroundings surroundings_of_the_command() {
  doctor::surroundings around = doctor::surroundings::of_this_system();
  find_machine(around);
  around.find_program = [search = around.find_program](const std::string& name) {
    const std::string python = python_for_lab();
    return name == "python3" && python.starts_with('/') ? std::optional(python) : search(name);
  };
  return around;
}

examined examine_pid(std::string_view typed) {
  const int pid = parse_number<int>(typed).value_or(0);
  if (pid <= 0) {
    throw error(error_kind::usage, fmt::format("{} {}", option_name(flags::process), typed),
                fmt::format("'{}' is not a process number", typed), "`ps -e` lists the processes");
  }
  doctor::surroundings around;
  around.kernel = &sys::real_kernel();
  find_machine(around);
  const auto process = sys::real_process(pid);
  return with_result(nodewise::doctor::examine_process(around, *process), around.here,
                     sys::real_kernel());
}

std::vector<doctor::finding> findings_in(const json_field& document, const char* key) {
  std::vector<doctor::finding> all;
  for (const json_field& each : document.at(key).elements()) {
    each.allow_only({"name", "verdict", "found", "errno", "cure"});
    doctor::finding& one = all.emplace_back();
    one.name = each.at("name").text();
    one.verdict = static_cast<verdict>(each.at("verdict").one_of(verdict_names));
    one.found = each.at("found").text();
    if (const auto number = each.find("errno")) {
      one.errno_value = number->small_number(1, max_id);
    }
    if (const auto cure = each.find("cure")) {
      one.cure = cure->text();
    }
  }
  return all;
}

/// Reads what doctor wrote with --json or -o; nothing for a file of another kind.
std::optional<examined> read_examination(const std::string& file) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none) || !file_begins_with(file, '{')) {
    return std::nullopt;
  }
  ordered_json document = read_json_file(file, largest_machine_file);
  const json_field field(document, "the file " + file);
  const auto schema = field.find("schema");
  if (!schema || !schema->is_text() || !schema->text().starts_with("nodewise/doctor/")) {
    return std::nullopt;
  }
  check_schema(field, "nodewise/doctor/1");
  doctor::examination found;
  for (const section& each : sections) {
    found.*each.findings = findings_in(field, each.key);
  }
  return examined{std::move(found), std::make_shared<const ordered_json>(std::move(document))};
}

examined examine_file(const std::string& file) {
  if (auto written = read_examination(file)) {
    return *std::move(written);
  }
  const topology what =
      for_option(flags::input, [&] { return read_machine(file, paths::of_this_process()); });
  doctor::recorded_kernel kernel(what);
  return with_result(nodewise::doctor::examine_recorded(what), what.machine(), kernel);
}

examined examine_what_is_given(const invocation& given) {
  const auto pids = given.texts(flags::process);
  const auto file = given.text(flags::input);
  if (pids.size() > 1) {
    throw error(error_kind::usage, fmt::format("--process {} times", pids.size()),
                "only one process can be examined", "use --process once");
  }
  if (!pids.empty() && file) {
    throw error(error_kind::usage, "--process with --input", "a file has no processes",
                "omit one of them");
  }
  if (!pids.empty()) {
    return examine_pid(pids.front());
  }
  if (file) {
    return examine_file(std::string(*file));
  }
  const doctor::surroundings around = surroundings_of_the_command();
  return with_result(nodewise::doctor::examine(around), around.here, sys::real_kernel());
}

} // namespace

int doctor(const invocation& given) {
  const auto what = examine_what_is_given(given);
  const doctor::examination& found = what.found;
  const auto as_text = [&](const report::style& how) {
    std::string text;
    for (const section& each : sections) {
      text += text_of(each, found, how);
    }
    return text + summary(found, how);
  };
  show_result(given, doctor_forms, what, as_text);
  if (found.has(verdict::bad)) {
    return exit_code::refused;
  }
  const bool warned = given.has(flags::strict) && found.has(verdict::warning);
  return warned ? exit_code::check_failed : exit_code::ok;
}

} // namespace verbs

std::string doctor_json(const examined& what) {
  return report::json_text(*what.json);
}

} // namespace nodewise::cli
