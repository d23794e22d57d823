// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <string_view>

#include "doctor/examine.hpp"

namespace nodewise::doctor {

namespace {

/// Version 1 writes "no limit" as the largest number of pages it can hold.
constexpr unsigned long long no_limit = 1ULL << 62;

/// The path behind "0::" (version 2) or behind a list of controllers with "memory" (version 1).
std::string_view group_path(std::string_view groups, bool version_2) {
  while (!groups.empty()) {
    const std::size_t end = std::min(groups.find('\n'), groups.size());
    const std::string_view line = groups.substr(0, end);
    groups.remove_prefix(std::min(end + 1, groups.size()));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) {
      continue;
    }
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool wanted =
        version_2 ? controllers.empty()
                  : ("," + std::string(controllers) + ",").find(",memory,") != std::string::npos;
    if (wanted) {
      return line.substr(second + 1);
    }
  }
  return {};
}

/// Nothing for "max".
std::optional<unsigned long long> bytes_in(const sys::answer<std::string>& text) {
  unsigned long long bytes = 0;
  const char* const end = text.value.data() + text.value.size();
  const auto [stop, code] = std::from_chars(text.value.data(), end, bytes);
  const bool number = text && code == std::errc{} && stop == end && bytes < no_limit;
  return number ? std::optional(bytes) : std::nullopt;
}

void take_limit(memory_limit& lowest, const sys::answer<std::string>& limit,
                const sys::answer<std::string>& use) {
  lowest.readable = lowest.readable || limit;
  const auto most = bytes_in(limit);
  if (!most) {
    return;
  }
  lowest.bytes = lowest.limited ? std::min(lowest.bytes, *most) : *most;
  lowest.limited = true;
  if (const auto used = bytes_in(use)) {
    const unsigned long long room = *most - std::min(*most, *used);
    lowest.room_bytes = std::min(lowest.room_bytes.value_or(room), room);
  }
}

/// The files that a version's groups have.
struct group_files {
  const char* limit;
  const char* use;
};
constexpr group_files version_1{"/memory.limit_in_bytes", "/memory.usage_in_bytes"};
constexpr group_files version_2{"/memory.max", "/memory.current"};

/// From the group up to the root. In a container the path may be the host's, of which only the root
/// can be seen; the container's own group is that root then.
memory_limit lowest_limit(sys::kernel& from, const std::string& mount, std::string path,
                          const group_files& files) {
  memory_limit lowest;
  while (true) {
    const bool at_root = path.empty() || path == "/";
    const std::string group = mount + (at_root ? "" : path);
    take_limit(lowest, from.read_file((group + files.limit).c_str()),
               from.read_file((group + files.use).c_str()));
    if (at_root) {
      return lowest;
    }
    path.erase(path.rfind('/'));
  }
}

} // namespace

memory_limit read_memory_limit(sys::kernel& from) {
  const auto groups = from.read_file("/proc/self/cgroup");
  if (!groups) {
    return {};
  }
  const std::string_view v1 = group_path(groups.value, false);
  if (!v1.empty()) {
    return lowest_limit(from, "/sys/fs/cgroup/memory", std::string(v1), version_1);
  }
  const std::string_view v2 = group_path(groups.value, true);
  memory_limit lowest = lowest_limit(from, "/sys/fs/cgroup", std::string(v2), version_2);
  // The root of version 2 has no such file: with a mounted hierarchy that means no limit.
  if (!lowest.readable && !v2.empty()) {
    lowest.readable = bool{from.read_file("/sys/fs/cgroup/cgroup.controllers")};
  }
  return lowest;
}

} // namespace nodewise::doctor
