// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Examines another process, or a machine that is known from a file only: tries no calls, so it
// cannot report permissions.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include <nodewise/error.hpp>

#include "base/counted.hpp"
#include "doctor/environment.hpp"
#include "doctor/examine.hpp"
#include "doctor/other_kernel.hpp"
#include "doctor/text.hpp"

namespace nodewise::doctor {

namespace {

finding unknown(const char* name, const std::string& why) {
  return {name, verdict::unavailable, "unavailable: " + why, "", 0};
}

/// The number of threads for each set of allowed processors, the largest number first.
finding threads_of(sys::process& of) {
  const std::string name = "threads";
  const auto threads = of.threads();
  std::map<std::string, std::size_t> by_cpus;
  for (const int tid : threads.value) {
    const auto status = of.read_file("task/" + std::to_string(tid) + "/status");
    if (const auto cpus = field(status.value, "Cpus_allowed_list")) {
      ++by_cpus[std::string(*cpus)];
    }
  }
  if (by_cpus.empty()) {
    return unreadable(name);
  }
  std::vector<std::pair<std::string, std::size_t>> sorted(by_cpus.begin(), by_cpus.end());
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  constexpr std::size_t most_shown = 8;
  std::string found;
  for (std::size_t i = 0; i < std::min(sorted.size(), most_shown); ++i) {
    found += (i == 0 ? "" : "; ") + counted(sorted[i].second, "thread") + " on processors " +
             sorted[i].first;
  }
  if (sorted.size() > most_shown) {
    found += "; and " + counted(sorted.size() - most_shown, "other set") + " of processors";
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
  found.push_back(
      fine("process", std::to_string(of.pid()) + (name ? " (" + std::string(*name) + ")" : "")));
  found.push_back(threads_of(of));
  const auto limits = of.read_file("limits");
  found.push_back(limit_of(limits.value, "Max locked memory", "limit_locked_memory"));
  found.push_back(limit_of(limits.value, "Max address space", "limit_address_space"));
  const auto thp = field(status, "THP_enabled");
  if (thp && *thp == "0") {
    found.push_back(fine("transparent_huge_pages_of_process",
                         "never: the process has switched them off (PR_SET_THP_DISABLE)"));
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
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
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
    const error why(error_kind::system, "", "it may not be read", "", text.errno_value);
    return {{"variables", verdict::unavailable, "unavailable: " + why.answered(),
             "ask as the same user or as root (CAP_SYS_PTRACE)", 0}};
  }
  return examine_environment(as_seen, variables_in(text.value));
}

} // namespace

examination examine_process(const surroundings& around, sys::process& of) {
  const auto status = of.read_file("status");
  if (!status) {
    throw error(error_kind::usage, "process " + std::to_string(of.pid()),
                "there is no such process", "`ps -e` lists the processes there are",
                status.errno_value);
  }
  process_kernel seen(*around.kernel, of);
  examination found;
  found.calls = {unknown("system_calls", "only the process itself could try them")};
  found.settings = examine_itself(of, status.value);
  std::ranges::move(examine_settings(seen), std::back_inserter(found.settings));
  found.state = examine_state(seen, around.here ? &*around.here : nullptr, around.unused);
  found.environment = examine_its_environment(seen, of);
  found.lab = {unknown("lab", "it is not asked of another process")};
  return found;
}

examination examine_recorded(const topology& what) {
  recorded_kernel kernel(what);
  const std::string why = "a file does not say";
  examination found;
  found.calls = {unknown("system_calls", why)};
  found.settings = examine_settings(kernel);
  found.state = examine_state(kernel, &what.machine());
  found.environment = {unknown("variables", why)};
  found.lab = {unknown("lab", why)};
  return found;
}

} // namespace nodewise::doctor
