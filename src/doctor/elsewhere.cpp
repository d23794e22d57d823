// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Examines another process, or a machine that is known from a file only: tries no calls, so it
// cannot report permissions.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <ranges>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/counted.hpp"
#include "base/joined.hpp"
#include "base/split.hpp"
#include "doctor/environment.hpp"
#include "doctor/examine.hpp"
#include "doctor/other_kernel.hpp"
#include "doctor/text.hpp"

namespace nodewise::doctor {

namespace {

/// The number of threads for each set of allowed processors, the largest number first.
finding threads_of(sys::process& of) {
  const std::string name = "threads";
  const auto threads = of.threads();
  std::map<std::string, std::size_t> by_cpus;
  for (const int tid : threads.value) {
    const auto status = of.read_file(fmt::format("task/{}/status", tid));
    if (const auto cpus = field(status.value, "Cpus_allowed_list")) {
      ++by_cpus[std::string(*cpus)];
    }
  }
  if (by_cpus.empty()) {
    return unreadable(name);
  }
  using group = std::pair<std::string, std::size_t>;
  std::vector<group> sorted(by_cpus.begin(), by_cpus.end());
  std::ranges::sort(sorted, [](const group& a, const group& b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  constexpr std::size_t most_shown = 8;
  std::string found = joined(sorted | std::views::take(most_shown), "; ", [](const group& each) {
    return fmt::format("{} on processors {}", counted(each.second, "thread"), each.first);
  });
  if (sorted.size() > most_shown) {
    found +=
        fmt::format("; and {} of processors", counted(sorted.size() - most_shown, "other set"));
  }
  return fine(name, found);
}

/// The soft limit of a line such as "Max locked memory   8388608   8388608   bytes".
finding limit_of(std::string_view limits, std::string_view line, const char* name) {
  const std::size_t at = limits.find(line);
  if (at == std::string_view::npos) {
    return unreadable(name);
  }
  std::string_view rest = limits.substr(at + line.size());
  rest = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::string soft(rest.substr(0, rest.find_first_of(" \n")));
  return soft.empty() ? unreadable(name) : fine(name, soft == "unlimited" ? soft : soft + " bytes");
}

/// Checks that apply to another process only.
std::vector<finding> examine_itself(sys::process& of, std::string_view status) {
  std::vector<finding> found;
  const auto name = field(status, "Name");
  found.push_back(fine("process", name ? fmt::format("{} ({})", of.pid(), *name)
                                       : fmt::format("{}", of.pid())));
  found.push_back(threads_of(of));
  const auto limits = of.read_file("limits");
  found.push_back(limit_of(limits.value, "Max locked memory", "limit_locked_memory"));
  found.push_back(limit_of(limits.value, "Max address space", "limit_address_space"));
  const auto thp = field(status, "THP_enabled");
  if (thp && *thp == "0") {
    found.push_back(fine("transparent_huge_pages_of_process",
                         "never: the process disabled them (PR_SET_THP_DISABLE)"));
  }
  return found;
}

/// The content of /proc/PID/environ, a row of C strings.
using variables = std::map<std::string, std::string, std::less<>>;

/// The variables that `look_up` reads: an `environment` is a plain function and holds no state.
thread_local const variables* read_now = nullptr;
const char* look_up(const char* name) {
  const auto found = read_now->find(std::string_view(name));
  return found == read_now->end() ? nullptr : found->second.c_str();
}

bind::settings variables_in(std::string_view text) {
  variables all;
  for (const std::string_view one : split(text, '\0')) {
    const std::size_t equals = one.find('=');
    if (equals != std::string_view::npos) {
      all.emplace(one.substr(0, equals), one.substr(equals + 1));
    }
  }
  read_now = &all;
  bind::settings found = read_variables(look_up);
  read_now = nullptr;
  return found;
}

std::vector<finding> examine_its_environment(sys::kernel& as_seen, sys::process& of) {
  const auto text = of.read_file("environ");
  if (!text) {
    return {unreadable("variables",
                       fmt::format("cannot read environ: {}", errno_text(text.errno_value)),
                       "run as the same user or as root (CAP_SYS_PTRACE)")};
  }
  return examine_environment(as_seen, variables_in(text.value));
}

} // namespace

examination examine_process(const surroundings& around, sys::process& of) {
  const auto status = of.read_file("status");
  if (!status) {
    throw error(error_kind::usage, fmt::format("process {}", of.pid()), "no such process",
                "`ps -e` lists the processes", status.errno_value);
  }
  process_kernel seen(*around.kernel, of);
  examination found;
  found.calls = {unreadable("system_calls", "only the process itself can try them")};
  found.settings = examine_itself(of, status.value);
  std::ranges::move(examine_settings(seen), std::back_inserter(found.settings));
  found.state = examine_state(seen, around.here ? &*around.here : nullptr, around.unused);
  found.environment = examine_its_environment(seen, of);
  found.lab = {unreadable("lab", "not checked for another process")};
  return found;
}

examination examine_recorded(const topology& what) {
  recorded_kernel kernel(what);
  const std::string why = "not recorded in the file";
  examination found;
  found.calls = {unreadable("system_calls", why)};
  found.settings = examine_settings(kernel);
  found.state = examine_state(kernel, &what.machine());
  found.environment = {unreadable("variables", why)};
  found.lab = {unreadable("lab", why)};
  return found;
}

} // namespace nodewise::doctor
