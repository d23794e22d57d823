// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/leftovers.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <exception>
#include <memory>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/parse_number.hpp"

namespace nodewise::launch {

namespace {

/// FNV-1a.
std::uint32_t hash(std::string_view text) {
  std::uint32_t value = 2166136261U;
  for (const char each : text) {
    value = (value ^ static_cast<unsigned char>(each)) * 16777619U;
  }
  return value;
}

/// A hash of the host and the container: 8 hexadecimal digits.
std::string place_of_processes() {
  utsname host{};
  (void)::uname(&host);
  struct stat numbers{};
  const bool known = ::stat("/proc/self/ns/pid", &numbers) == 0;
  const std::string name = fmt::format("{}/{}", &host.nodename[0], known ? numbers.st_ino : 0);
  return fmt::format("{:08x}", hash(name));
}

/// The process that made a file of this name; 0 if the name has another form.
pid_t owner_of(std::string_view name, std::string_view prefix, std::string_view place) {
  if (!name.starts_with(prefix)) {
    return 0;
  }
  name.remove_prefix(prefix.size());
  const pid_t owner = take_number<pid_t>(name).value_or(0);
  return owner > 0 && name.starts_with(fmt::format("-{}-", place)) ? owner : 0;
}

bool has_ended(pid_t process) {
  return ::kill(process, 0) != 0 && errno == ESRCH;
}

void remove_entry(int directory, const char* name, const std::string& inside) {
  struct stat facts{};
  if (::fstatat(directory, name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || facts.st_uid != ::geteuid()) {
    return;
  }
  if (!S_ISDIR(facts.st_mode)) {
    (void)::unlinkat(directory, name, 0);
    return;
  }
  const int folder = ::openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder >= 0) {
    (void)::unlinkat(folder, inside.c_str(), 0);
    ::close(folder);
    (void)::unlinkat(directory, name, AT_REMOVEDIR);
  }
}

void remove_all(const std::string& directory, const std::string& prefix,
                const std::string& inside) {
  const auto close = [](DIR* each) { ::closedir(each); };
  const std::unique_ptr<DIR, decltype(close)> listed(::opendir(directory.c_str()), close);
  if (!listed) {
    return;
  }
  const std::string place = place_of_processes();
  while (const dirent* const each = ::readdir(listed.get())) {
    const pid_t owner = owner_of(&each->d_name[0], prefix, place);
    if (owner != 0 && has_ended(owner)) {
      remove_entry(::dirfd(listed.get()), &each->d_name[0], inside);
    }
  }
}

} // namespace

std::string name_of_owner(const std::string& prefix) {
  return fmt::format("{}{}-{}-", prefix, ::getpid(), place_of_processes());
}

void remove_leftovers(const std::string& directory, const std::string& prefix,
                      const std::string& inside) noexcept {
  try {
    remove_all(directory, prefix, inside);
  } catch (const std::exception&) {
    return; // no memory: the next run removes them
  }
}

} // namespace nodewise::launch
