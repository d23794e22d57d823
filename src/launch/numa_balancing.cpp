// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/numa_balancing.hpp"

#include <cerrno>
#include <cstdlib>
#include <utility>

#include <unistd.h>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "sys/locked_file.hpp"

namespace nodewise::launch {

namespace {

constexpr const char* setting_file = "/proc/sys/kernel/numa_balancing";
constexpr const char* setting_name = "kernel.numa_balancing";
constexpr const char* saved_name = "numa_balancing";

/// What the file says about a change that is not undone.
struct saved_change {
  int before = 0;
  int set = 0;
  int owner = 0;              ///< the process that made it
  std::uint64_t began_at = 0; ///< when this process began: another may get its number
};

/// When a process began, in clock ticks since the boot; nullopt if it has ended.
std::optional<std::uint64_t> begin_of_process(sys::kernel& kernel, int pid) {
  const auto stat = kernel.read_file(fmt::format("/proc/{}/stat", pid).c_str());
  const std::size_t end_of_name = stat.value.rfind(") ");
  if (end_of_name == std::string::npos) {
    return std::nullopt;
  }
  const auto fields = split(std::string_view(stat.value).substr(end_of_name + 2), ' ');
  constexpr std::size_t start_time = 19; // after the state: proc(5)
  const bool has_ended = fields.front() == "Z" || fields.front() == "X";
  return has_ended || fields.size() <= start_time ? std::nullopt
                                                  : parse_number<std::uint64_t>(fields[start_time]);
}

std::string text_of_change(const saved_change& of) {
  return fmt::format("{} {} {} {}\n", of.before, of.set, of.owner, of.began_at);
}

/// nullopt if the file is empty. An incomplete text is from before the change: the same.
std::optional<saved_change> change_in(const sys::locked_file& file) {
  const std::string text = file.read().value;
  if (!text.ends_with('\n')) {
    return std::nullopt;
  }
  const auto words = split(std::string_view(text).substr(0, text.size() - 1), ' ');
  if (words.size() != 4) {
    return std::nullopt;
  }
  const auto before = parse_number<int>(words[0]);
  const auto set = parse_number<int>(words[1]);
  const auto owner = parse_number<int>(words[2]);
  const auto began_at = parse_number<std::uint64_t>(words[3]);
  return before && set && owner && began_at
             ? std::optional(saved_change{*before, *set, *owner, *began_at})
             : std::nullopt;
}

bool is_running(const saved_change& change, sys::kernel& kernel) {
  return begin_of_process(kernel, change.owner) == change.began_at;
}

sys::answer<int> read_setting_value(sys::kernel& kernel) {
  const auto text = kernel.read_file(setting_file);
  const auto value = parse_number<int>(text.value);
  return {value.value_or(0), text && !value ? EINVAL : text.errno_value};
}

int write_setting_value(sys::kernel& kernel, int value) {
  return kernel.write_file(setting_file, fmt::format("{}", value));
}

enum class undone { now, before, not_ours, refused };
struct undo_result {
  undone how = undone::before;
  std::string warning; ///< of `not_ours` and `refused`
};

/// Undoes a change unless the value was changed again.
undo_result undo_change(int before, int set, sys::kernel& kernel) {
  const auto now = read_setting_value(kernel);
  if (now && now.value == before) {
    return {};
  }
  if (now && now.value != set) {
    return {undone::not_ours, fmt::format("{} is not restored to {}: another program has set it "
                                          "to {}",
                                          setting_name, before, now.value)};
  }
  const int refused = now ? write_setting_value(kernel, before) : now.errno_value;
  if (refused == 0) {
    return {undone::now, ""};
  }
  return {undone::refused, fmt::format("{0} cannot be restored: {1} (run `sysctl {0}={2}` as root)",
                                       setting_name, errno_text(refused), before)};
}

/// Restores what a killed process left, and empties the file unless that is refused. Returns a
/// warning that reports it.
std::optional<std::string> undo_leftover(const sys::locked_file& file, const saved_change& left,
                                         sys::kernel& kernel) {
  const undo_result done = undo_change(left.before, left.set, kernel);
  if (done.how == undone::refused) {
    return done.warning;
  }
  (void)file.replace("");
  return done.how == undone::now
             ? std::optional(fmt::format("{} is restored to {}: a nodewise that was killed had set "
                                         "it to {}",
                                         setting_name, left.before, left.set))
             : std::nullopt;
}

[[noreturn]] void refuse_switch(const std::string& asked, const std::string& answered,
                                int errno_value) {
  throw error(error_kind::system, asked, answered,
              fmt::format("run as root and outside of containers; or leave the option out and run "
                          "`sysctl {}=VALUE` as root yourself (1: on, 0: off)",
                          setting_name),
              errno_value);
}

/// The value now. Throws if there is none.
int required_value(const std::string& asked, sys::kernel& kernel) {
  const auto now = read_setting_value(kernel);
  if (!now) {
    throw error(error_kind::system, asked, fmt::format("{} cannot be read", setting_file),
                "the kernel has no automatic NUMA balancing, or a container hides it: leave the "
                "option out",
                now.errno_value);
  }
  return now.value;
}

/// The file without a change in it. Throws while the process that made the change is running.
sys::answer<sys::locked_file> file_without_change(const std::string& asked, sys::kernel& kernel,
                                                  const std::string& directory) {
  auto file = sys::locked_file::make(directory, saved_name);
  const auto change = file ? change_in(file.value) : std::nullopt;
  if (!change) {
    return file;
  }
  if (is_running(*change, kernel)) {
    throw error(error_kind::system, asked,
                fmt::format("{} is already switched by another nodewise, process {}", setting_name,
                            change->owner),
                "wait until it ends; in front of several processes of one program, such as MPI "
                "ranks, start nodewise once");
  }
  (void)undo_leftover(file.value, *change, kernel);
  return file;
}

[[noreturn]] void refuse_file(const std::string& asked, const std::string& directory,
                              int errno_value) {
  refuse_switch(
      asked,
      fmt::format("{}/{}, where the old value is saved, cannot be written", directory, saved_name),
      errno_value);
}

std::string option_text(bool on) {
  return fmt::format("--numa-balancing {}", on ? "on" : "off");
}

} // namespace

std::string state_directory(environment get) {
  const char* const chosen =
      get == nullptr ? std::getenv("NODEWISE_STATE_DIR") : get("NODEWISE_STATE_DIR");
  return chosen != nullptr && *chosen == '/' ? chosen : "/run/nodewise";
}

std::string numa_balancing_sysctl(bool on) {
  return fmt::format("{}={}", setting_name, numa_balancing_value(on, 0));
}

numa_balancing_switch::numa_balancing_switch(bool on, sys::kernel& kernel, std::string directory)
    : kernel_(kernel), directory_(std::move(directory)) {
  const std::string asked = option_text(on);
  before_ = required_value(asked, kernel_);
  const auto file = file_without_change(asked, kernel_, directory_);
  before_ = required_value(asked, kernel_); // a leftover may have been undone
  set_ = numa_balancing_value(on, before_);
  if (!file) {
    if (set_ != before_) {
      refuse_file(asked, directory_, file.errno_value);
    }
    return;
  }
  const int owner = ::getpid();
  const saved_change change{before_, set_, owner, begin_of_process(kernel_, owner).value_or(0)};
  if (const int failed = file.value.replace(text_of_change(change))) {
    (void)file.value.replace("");
    refuse_file(asked, directory_, failed);
  }
  active_ = true;
  if (set_ == before_) {
    return;
  }
  if (const int refused = write_setting_value(kernel_, set_)) {
    active_ = false;
    (void)file.value.replace("");
    refuse_switch(asked, fmt::format("{} cannot be written", setting_file), refused);
  }
}

numa_balancing_switch::~numa_balancing_switch() {
  (void)restore();
}

std::optional<std::string> numa_balancing_switch::restore() {
  if (!std::exchange(active_, false)) {
    return std::nullopt;
  }
  // Restored also if the file is gone.
  const auto file = sys::locked_file::open(directory_, saved_name);
  const undo_result done = undo_change(before_, set_, kernel_);
  if (file && done.how != undone::refused) { // otherwise the next start tries again
    (void)file.value.replace("");
  }
  return done.warning.empty() ? std::nullopt : std::optional(done.warning);
}

std::optional<std::string> restore_numa_balancing(sys::kernel& kernel,
                                                  const std::string& directory) {
  const auto file = sys::locked_file::open(directory, saved_name);
  const auto change = file ? change_in(file.value) : std::nullopt;
  return change && !is_running(*change, kernel) ? undo_leftover(file.value, *change, kernel)
                                                : std::nullopt;
}

int changeable_numa_balancing(const std::string& asked, sys::kernel& kernel,
                              const std::string& directory) {
  (void)required_value(asked, kernel);
  const auto file = file_without_change(asked, kernel, directory);
  if (!file) {
    refuse_file(asked, directory, file.errno_value);
  }
  const int now = required_value(asked, kernel);
  if (const int refused = write_setting_value(kernel, now)) {
    refuse_switch(asked, fmt::format("{} cannot be written", setting_file), refused);
  }
  return now;
}

} // namespace nodewise::launch
