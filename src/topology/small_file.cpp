// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "topology/small_file.hpp"

#include <algorithm>
#include <cerrno>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "sys/descriptor.hpp"

namespace nodewise::topology_detail {

namespace {

enum class end_of_file { short_read, empty_read };

std::optional<std::string> read_until(const std::string& path, end_of_file end) {
  const sys::descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    return std::nullopt;
  }
  std::string text;
  char buffer[16384];
  ssize_t got = 0;
  do {
    got = ::read(file.number(), buffer, sizeof buffer);
    text.append(buffer, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  } while ((got < 0 && errno == EINTR) || got == sizeof buffer ||
           (got > 0 && end == end_of_file::empty_read));
  if (got < 0) {
    return std::nullopt;
  }
  // In recorded trees some files end with blanks and zero bytes from the tool that copied them.
  text.resize(text.find_last_not_of(std::string_view("\n \t\0", 4)) + 1);
  return text;
}

} // namespace

void refuse_file(const std::string& path, const std::string& answered) {
  throw error(error_kind::input, fmt::format("the file {}", path), answered,
              "check that the tree is a sysfs tree; if this is the running kernel, report it");
}

std::optional<std::string> read_small_file(const std::string& path) {
  return read_until(path, end_of_file::short_read);
}

std::optional<std::string> read_record_file(const std::string& path) {
  return read_until(path, end_of_file::empty_read);
}

std::optional<cpu_set> read_mask(const std::string& path) {
  const auto text = read_small_file(path);
  if (!text) {
    return std::nullopt;
  }
  // Groups of 32 bits, the highest first; only the first group may be shorter than eight digits.
  const std::vector<std::string_view> groups = split(*text, ',');
  if (groups.size() > static_cast<std::size_t>(max_id + 1) / 32) {
    refuse_file(path, fmt::format("a mask of {} groups", groups.size()));
  }
  cpu_set cpus;
  int first = static_cast<int>(groups.size()) * 32;
  for (const std::string_view digits : groups) {
    first -= 32;
    const auto bits = parse_number<std::uint32_t>(digits, 16);
    if (!bits) {
      refuse_file(path, fmt::format("'{}' is not a hexadecimal mask", digits));
    }
    for (int bit = 0; bit < 32; ++bit) {
      if ((*bits >> bit & 1U) != 0) {
        cpus.insert(cpu_id{first + bit});
      }
    }
  }
  return cpus;
}

std::optional<std::vector<int>> numbered_entries(const std::string& directory,
                                                 std::string_view prefix) {
  DIR* const open_directory = ::opendir(directory.c_str());
  if (open_directory == nullptr) {
    return std::nullopt;
  }
  std::vector<int> numbers;
  while (const dirent* const entry = ::readdir(open_directory)) {
    const std::string_view name = entry->d_name;
    const std::string_view digits = name.substr(std::min(prefix.size(), name.size()));
    const auto number = parse_number<int>(digits);
    if (name.starts_with(prefix) && number && *number >= 0 && *number <= max_id) {
      numbers.push_back(*number);
    }
  }
  ::closedir(open_directory);
  std::ranges::sort(numbers);
  return numbers;
}

std::string_view take_until(std::string_view& rest, char separator) noexcept {
  const std::size_t at = rest.find(separator);
  const std::string_view taken = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
  return taken;
}

std::optional<std::uint64_t> leading_number(std::string_view text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return take_number<std::uint64_t>(text);
}

} // namespace nodewise::topology_detail
