// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>

#include <unistd.h>

#include "cli/exit_codes.hpp"
#include "cli/lab_runner.hpp"
#include "cli/result.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "doctor/examine.hpp"
#include "report/envelope.hpp"
#include "report/table.hpp"
#include "report/wrap.hpp"
#include "topology/machine_json.hpp"
#include "topology/measured_machine.hpp"

namespace nodewise::cli::verbs {

namespace {

using doctor::verdict;
using nlohmann::ordered_json;
using report::tone;

std::string_view name_of(verdict what) {
  switch (what) {
  case verdict::good:
    return "good";
  case verdict::warning:
    return "warning";
  case verdict::bad:
    return "bad";
  case verdict::unavailable:
    break;
  }
  return "unavailable";
}

tone tone_of(verdict what) {
  switch (what) {
  case verdict::good:
    return tone::good;
  case verdict::warning:
    return tone::warning;
  case verdict::bad:
    return tone::bad;
  case verdict::unavailable:
    break;
  }
  return tone::faint;
}

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
  for (const verdict v : {verdict::bad, verdict::warning}) {
    if (of.has(v)) {
      return v;
    }
  }
  return verdict::good;
}

ordered_json result_of(const doctor::examination& found, const std::optional<machine>& here) {
  ordered_json result =
      report::envelope("doctor", 1, here ? machine_json(*here) : ordered_json("unavailable"),
                       settings_json(sys::real_kernel()));
  result["verdict"] = name_of(worst(found));
  result["calls"] = json_of(found.calls);
  result["findings"] = json_of(found.settings);
  result["state"] = json_of(found.state);
  result["environment"] = json_of(found.environment);
  result["lab"] = json_of(found.lab);
  return result;
}

/// Several calls are often refused for one reason: each cure once, after the names it is for.
std::string cures(const std::vector<doctor::finding>& findings, const report::style& how) {
  std::vector<std::pair<std::string, std::string>> names_of_cure;
  for (const doctor::finding& f : findings) {
    if (f.cure.empty()) {
      continue;
    }
    const auto same =
        std::ranges::find(names_of_cure, f.cure, &std::pair<std::string, std::string>::first);
    if (same == names_of_cure.end()) {
      names_of_cure.emplace_back(f.cure, f.name);
    } else {
      same->second += ", " + f.name;
    }
  }
  std::string text;
  for (const auto& [cure, names] : names_of_cure) {
    constexpr std::size_t indent = 4;
    const std::string line = std::string(names).append(": ").append(cure);
    text.append("  ").append(report::paint(how, tone::accent, how.unicode ? "→" : ">")).append(" ");
    text.append(how.terminal ? report::wrap_indented(line, how.width, indent) : line).append("\n");
  }
  return text;
}

std::string section(std::string_view title, const std::vector<doctor::finding>& findings,
                    const report::style& how) {
  report::table rows({{""}, {""}, {"", report::align::left, true}}, 2);
  for (const doctor::finding& f : findings) {
    rows.add({{std::string(name_of(f.verdict)), tone_of(f.verdict)}, f.name, f.found});
  }
  return report::paint(how, tone::strong, title) + "\n" + rows.to_string(how) +
         cures(findings, how);
}

std::string summary(const doctor::examination& found, const report::style& how) {
  switch (worst(found)) {
  case verdict::bad:
    return report::paint(how, tone::bad, "A call that nodewise needs is refused.") + "\n";
  case verdict::warning:
    return report::paint(how, tone::warning, "Everything needed is permitted; see the warnings.") +
           "\n";
  default:
    return report::paint(how, tone::good, "Everything needed is permitted.") + "\n";
  }
}

/// With what was measured on it, if that can be read and is of it; why not, otherwise.
void set_machine(doctor::surroundings& around, const machine& here) {
  around.here = here;
  try {
    const measured::findings known = measured::find(here);
    if (known.found) {
      around.here = measured::with_costs(here, known.found->what);
      return;
    }
    for (const std::string& each : known.remarks) {
      around.unused.why += (around.unused.why.empty() ? "" : "; ") + each;
    }
    around.unused.cure = known.remarks.empty() ? "" : "nodewise measure";
  } catch (const error& e) {
    around.unused = {e.asked() + ": " + e.answered(), e.cure()};
  }
}

/// The machine, where its discovery works: a doctor is asked where things do not.
void find_machine(doctor::surroundings& around) {
  try {
    set_machine(around, topology::from_sysfs().machine());
  } catch (const error&) {
    around.here.reset();
  }
}

/// With the interpreter that the lab would be started with, which need not be the first on the
/// path.
doctor::surroundings surroundings_of_the_command() {
  doctor::surroundings around = doctor::surroundings::of_this_system();
  find_machine(around);
  around.find_program = [search = around.find_program](const std::string& name) {
    const std::string python = python_for_lab();
    return name == "python3" && python.starts_with('/') ? std::optional(python) : search(name);
  };
  return around;
}

int exit_code_for(const doctor::examination& found, bool strict) {
  if (found.has(verdict::bad)) {
    return exit_code::refused;
  }
  return strict && found.has(verdict::warning) ? exit_code::check_failed : exit_code::ok;
}

} // namespace

int doctor(const invocation& given) {
  const doctor::surroundings around = surroundings_of_the_command();
  const doctor::examination found = nodewise::doctor::examine(around);
  if (given.has(flags::json) || given.has(flags::output)) {
    write_result(result_of(found, around.here), given);
  }
  if (!given.has(flags::json) && !given.has(flags::quiet)) {
    const report::style how = style_of(STDOUT_FILENO, given);
    write_out(section("System calls", found.calls, how) + "\n" +
              section("Settings", found.settings, how) + "\n" + section("State", found.state, how) +
              "\n" + section("Environment", found.environment, how) + "\n" +
              section("Lab", found.lab, how) + "\n" + summary(found, how));
  }
  return exit_code_for(found, given.has(flags::strict));
}

} // namespace nodewise::cli::verbs
