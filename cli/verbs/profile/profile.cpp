// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iterator>

#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/prediction/predicted.hpp"
#include "cli/start/start_run.hpp"
#include "cli/verbs/profile/flags.hpp"
#include "cli/verbs/profile/result.hpp"
#include "cli/verbs/profile/sites.hpp"
#include "doctor/settings.hpp"
#include "launch/start.hpp"
#include "report/envelope.hpp"
#include "report/table.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli::verbs {

namespace {

using json = nlohmann::ordered_json;

/// The objects with one name in one program.
struct compared_site {
  site_key key;
  std::optional<profile_site> before;
  std::optional<profile_site> after;

  [[nodiscard]] std::uint64_t bytes() const {
    return std::max(before ? before->bytes : 0, after ? after->bytes : 0);
  }
};

std::string remote_text(const std::optional<profile_site>& of) {
  return report::format_percent(of ? of->remote : std::nullopt, "-");
}

json side_json(const std::optional<profile_site>& of) {
  return of ? site_json(*of) : json("absent");
}

/// The model's outcome for a profile's largest program as a whole.
std::optional<advise::outcome> outcome_of(const profile_result& of) {
  const auto largest = largest_position(of.what);
  return largest ? std::optional(advise::make_plan(of.what, of.on, *largest).before) : std::nullopt;
}

std::string total_text(const std::optional<advise::outcome>& of) {
  if (!of || !of->remote) {
    return "unknown";
  }
  return fmt::format("{} remote{}", report::format_percent(*of->remote),
                     of->seconds ? ", " + format_seconds(*of->seconds) : "");
}

/// The reasons why the two profiles are not directly comparable.
std::vector<std::string> comparison_doubts(const profile_result& before,
                                           const profile_result& after) {
  std::vector<std::string> all;
  const auto source = [](const profile_result& of) {
    return of.what.programs.empty() ? profile::use_source::none : of.what.programs.front().use_from;
  };
  if (source(before) != source(after)) {
    all.push_back(fmt::format("uses come from different sources: {}, then {}",
                              profile::to_string(source(before)),
                              profile::to_string(source(after))));
  }
  if (source(before) == profile::use_source::none) {
    all.emplace_back("uses were not observed: only the locations of pages are compared");
  } else if (source(before) == profile::use_source::hinting_faults) {
    all.emplace_back("uses are samples: differences of a few percent may be chance");
  }
  if (before.on.machine().name != after.on.machine().name) {
    all.push_back(fmt::format("taken on different machines: {}, then {}", before.on.machine().name,
                              after.on.machine().name));
  }
  if (before.what.command != after.what.command) {
    all.emplace_back("the commands differ");
  }
  return all;
}

/// Largest first; the objects of a program are matched by allocation site or symbol.
std::vector<compared_site> compare_sites(const profile::profile& before,
                                         const profile::profile& after) {
  std::map<site_key, compared_site> by_key;
  for (const auto& [key, each] : sites_of(before)) {
    by_key[key] = {key, each, {}};
  }
  for (const auto& [key, each] : sites_of(after)) {
    by_key[key].key = key;
    by_key[key].after = each;
  }
  std::vector<compared_site> all;
  std::ranges::copy(std::views::values(by_key), std::back_inserter(all));
  std::ranges::sort(all, [](const compared_site& a, const compared_site& b) {
    return std::pair(b.bytes(), a.key) < std::pair(a.bytes(), b.key);
  });
  return all;
}

/// Prints the comparison on standard output.
void compare_profiles(const profile_result& before, const profile_result& after,
                      const invocation& given) {
  const std::vector<compared_site> sites = compare_sites(before.what, after.what);
  const auto was = outcome_of(before);
  const auto is = outcome_of(after);
  const std::vector<std::string> doubt = comparison_doubts(before, after);
  const auto as_json = [&] {
    auto made =
        report::envelope("comparison", 1, machine_json(before.on.machine()), *before.settings);
    made["sites"] = report::json_list(sites, [](const compared_site& each) -> json {
      return {{"program", each.key.first},
              {"name", each.key.second},
              {"before", side_json(each.before)},
              {"after", side_json(each.after)}};
    });
    const auto total = [](const std::optional<advise::outcome>& of) -> json {
      return {{"remote", of ? report::or_unavailable(of->remote) : "unavailable"},
              {"predicted_s", of ? report::or_unavailable(of->seconds) : "unavailable"}};
    };
    made["before"] = total(was);
    made["after"] = total(is);
    made["doubts"] = doubt;
    return made;
  };
  if (const flag* const form = given.selected_form()) {
    write_out(written<json_maker>(*form, json_only, as_json));
    return;
  }
  const report::style how = style_of(STDOUT_FILENO, given);
  using report::right, report::breaking;
  report::table rows({breaking("array"), right("size"), right("remote"), right("then"),
                      breaking("pages on"), breaking("then")});
  for (const compared_site& each : sites) {
    const profile_site& any = each.before ? *each.before : *each.after;
    rows.add({printable(each.key.second), report::format_bytes(any.bytes), remote_text(each.before),
              remote_text(each.after), each.before ? nodes_text(*each.before) : "absent",
              each.after ? nodes_text(*each.after) : "absent"});
  }
  const bool timed = was && is && was->seconds && is->seconds && *is->seconds > 0;
  const std::string gain =
      timed ? fmt::format(": {}x as fast (predicted)", short_number(*was->seconds / *is->seconds))
            : "";
  std::string text = fmt::format("{}\nIn total {}, then {}{}\n", rows.to_string(how),
                                 total_text(was), total_text(is), gain);
  for (const std::string& each : doubt) {
    text += fmt::format("  {}\n", printable(each));
  }
  write_out(text);
}

[[noreturn]] void refuse_profile(const std::string& answered) {
  throw error(error_kind::usage, "nodewise profile", answered,
              "write nodewise profile -- PROGRAM, -p PID, FILE.json... or --compare A B");
}

/// Throws unless exactly one of the valid forms is given.
void check_form(const invocation& given) {
  const int asked = (given.program.empty() ? 0 : 1) + (given.has(flags::process) ? 1 : 0) +
                    (given.operands.empty() ? 0 : 1);
  if (asked != 1) {
    refuse_profile(asked == 0 ? "what to profile is missing"
                              : "it takes a program, a process or files, not several of these");
  }
  if (given.texts(flags::process).size() > 1) {
    refuse_profile("it takes one process at a time");
  }
  if (given.has(flags::compare) && given.operands.size() != 2) {
    refuse_profile("--compare takes two files");
  }
  if (given.has(flags::duration) && !given.has(flags::process)) {
    refuse_profile("--duration needs a running process (-p PID)");
  }
}

std::shared_ptr<const nlohmann::ordered_json> settings_here() {
  return std::make_shared<const nlohmann::ordered_json>(settings_json(sys::real_kernel()));
}

/// Profiles the program and ends as it does.
[[noreturn]] void profile_program(const invocation& given) {
  launch::run_options options = read_run_options(given);
  if (options.ranks_per) {
    options.affinity_was = launch::widen_affinity(sys::real_kernel());
  }
  options.report = true;
  options.trace = true;
  options.numa_pin = doctor::read_settings(sys::real_kernel()).balances();
  const topology here = topology::from_sysfs();
  const launch::plan what = launch::make_plan(options, here);
  warn(what.warnings, given);
  check_profile_output(given);
  const recorded_profile found = record_program(what, here, given);
  if (found.end.started) {
    warn(found.warnings, given);
    report_profile({found.what, here, settings_here()}, given, STDERR_FILENO);
  }
  sys::end_as(found.end);
}

/// Whether the file begins as an ELF file or a script; false if it is not a regular file.
bool is_program(const std::string& file) {
  struct stat facts{};
  if (::stat(file.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return false;
  }
  std::string begin(4, '\0');
  std::ifstream(file, std::ios::binary)
      .read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == "\177ELF" || begin.starts_with("#!");
}

/// Throws for a program without -- before it, or a process without -p.
void check_is_file_of_profile(const std::string& file) {
  const bool exists = ::access(file.c_str(), F_OK) == 0;
  if (!exists && file.find_first_not_of("0123456789") == std::string::npos) {
    throw error(error_kind::usage, "the profile " + file, "there is no such file",
                fmt::format("to watch process {0}, write nodewise profile -p {0}", file));
  }
  if (is_program(file)) {
    throw error(error_kind::usage, "the profile " + file, "it is a program",
                "to profile it, write nodewise profile -- " + file);
  }
}

int profile_process(const invocation& given) {
  const int pid = process_number(*given.text(flags::process));
  check_profile_output(given);
  const topology here = topology::from_sysfs();
  const recorded_profile found = record_process(pid, here, given);
  warn(found.warnings, given);
  report_profile({found.what, here, settings_here()}, given, STDOUT_FILENO);
  return exit_code::ok;
}

} // namespace

int profile(const invocation& given) {
  check_form(given);
  if (given.has(flags::compare)) {
    compare_profiles(read_profile(given.operands[0]), read_profile(given.operands[1]), given);
    return exit_code::ok;
  }
  if (!given.operands.empty()) {
    const std::vector<std::string>& files = given.operands; // several: the ranks of one run
    check_profile_output(given);
    std::ranges::for_each(files, check_is_file_of_profile);
    report_profile(files.size() == 1 ? read_profile(files.front()) : read_ranks(files), given,
                   STDOUT_FILENO);
    return exit_code::ok;
  }
  if (given.has(flags::process)) {
    return profile_process(given);
  }
  profile_program(given);
}

} // namespace nodewise::cli::verbs
