// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Examines this system; another process; or a machine that is known from a file only. The last two
// try no calls, so they cannot report permissions.
#include "doctor/examine.hpp"

#include <cstdlib>
#include <ranges>
#include <tuple>

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/environment.hpp"
#include "sys/descriptor.hpp"
#include "sys/perf.hpp"

namespace nodewise::doctor {

namespace {

// This system.

int open_fault_counter_now() {
  const sys::perf_request what{
      .what = sys::perf_counter::any_faults, .period = 0, .disabled = true};
  return sys::perf_event::open(what).errno_value;
}

int open_userfaultfd_now() {
#ifdef UFFD_USER_MODE_ONLY
  constexpr int user_mode_only = UFFD_USER_MODE_ONLY;
#else
  constexpr int user_mode_only = 1;
#endif
  const sys::descriptor opened(
      static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | user_mode_only)));
  return opened ? 0 : errno;
}

bool is_program(const std::string& path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> find_on_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "" : path, ':')) {
    std::string candidate = fmt::format("{}/{}", folder, name);
    if (!folder.empty() && is_program(candidate)) {
      return candidate;
    }
  }
  return std::nullopt;
}

std::vector<finding> examine_lab(const surroundings& around) {
#if !defined(__x86_64__)
  (void)around;
  return {doubtful("lab", "--on lab:MACHINE will not work: its guests are x86-64",
                   "use the lab on an x86-64 system")};
#else
  std::vector<finding> found;
  const auto look_for = [&](const std::string& program, const std::string& package) {
    const auto path = around.find_program(program);
    found.push_back(path ? fine(program, *path)
                         : doubtful(program, "not found: --on lab:MACHINE will not work",
                                    "install it: apt install " + package));
  };
  look_for("qemu-system-x86_64", "qemu-system-x86");
  look_for("python3", "python3");
  return found;
#endif
}

std::optional<int> errno_of(const std::vector<finding>& calls, std::string_view name) {
  const auto at = std::ranges::find(calls, name, &finding::name);
  return at == calls.end() || at->verdict == verdict::unavailable ? std::nullopt
                                                                  : std::optional(at->errno_value);
}

// Another process.

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

/// The variables that `look_up` reads: an `environment` is a plain function and holds no state.
thread_local const bind::settings* read_now = nullptr;
const char* look_up(const char* name) {
  const auto found = read_now->find(std::string_view(name));
  return found == read_now->end() ? nullptr : found->second.c_str();
}

/// From the content of /proc/PID/environ, a row of C strings.
bind::settings variables_in(std::string_view text) {
  bind::settings all;
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

surroundings surroundings::of_this_system() {
  surroundings here;
  here.kernel = &sys::real_kernel();
  here.open_fault_counter = open_fault_counter_now;
  here.open_userfaultfd = open_userfaultfd_now;
  here.find_program = find_on_path;
  here.variables = read_variables(process_environment);
  return here;
}

examination examine(const surroundings& around) {
  sys::kernel& kernel = *around.kernel;
  examination found;
  found.calls = try_calls(around);
  found.settings = examine_settings(kernel, errno_of(found.calls, "perf_event_open"));
  found.state = examine_state(kernel, around.here ? &*around.here : nullptr, around.unused);
  found.environment = examine_environment(kernel, around.variables);
  found.lab = examine_lab(around);
  return found;
}

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
