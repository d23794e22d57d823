// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "topology/small_file.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <nodewise/error.hpp>

namespace nodewise::topology_detail {

namespace {

enum class end_of_file { short_read, empty_read };

std::optional<std::string> read_until(const std::string& path, end_of_file end) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return std::nullopt;
  }
  std::string text;
  char buffer[16384];
  ssize_t got = 0;
  do {
    got = ::read(fd, buffer, sizeof buffer);
    if (got > 0) {
      text.append(buffer, static_cast<std::size_t>(got));
    }
  } while ((got < 0 && errno == EINTR) || got == sizeof buffer ||
           (got > 0 && end == end_of_file::empty_read));
  ::close(fd);
  if (got < 0) {
    return std::nullopt;
  }
  // In recorded trees some files end with blanks and zero bytes from the tool that copied them.
  text.resize(text.find_last_not_of(std::string_view("\n \t\0", 4)) + 1);
  return text;
}

[[noreturn]] void refuse(const std::string& path, const std::string& answered) {
  throw error(error_kind::input, "what " + path + " says", answered,
              "check that the tree is a sysfs tree; if this is the running kernel, report it");
}

} // namespace

std::optional<std::string> read_small_file(const std::string& path) {
  return read_until(path, end_of_file::short_read);
}

std::optional<std::string> read_record_file(const std::string& path) {
  return read_until(path, end_of_file::empty_read);
}

template <class Id>
id_set<Id> parse_list(std::string_view text, const std::string& path) {
  try {
    return id_set<Id>::parse(text);
  } catch (const error& e) {
    refuse(path, e.answered());
  }
}

template cpu_set parse_list<cpu_id>(std::string_view, const std::string&);
template node_set parse_list<node_id>(std::string_view, const std::string&);

template <class Id>
std::optional<id_set<Id>> read_list(const std::string& path) {
  const auto text = read_small_file(path);
  return text ? std::optional(parse_list<Id>(*text, path)) : std::nullopt;
}

template std::optional<cpu_set> read_list<cpu_id>(const std::string&);
template std::optional<node_set> read_list<node_id>(const std::string&);

std::optional<cpu_set> read_mask(const std::string& path) {
  const auto text = read_small_file(path);
  if (!text) {
    return std::nullopt;
  }
  // Groups of 32 bits, the highest first; only the first group may be shorter than eight digits.
  const auto groups = static_cast<int>(std::count(text->begin(), text->end(), ',')) + 1;
  if (groups > (max_id + 1) / 32) {
    refuse(path, "a mask of " + std::to_string(groups) + " groups");
  }
  cpu_set cpus;
  std::string_view rest = *text;
  for (int group = groups - 1; group >= 0; --group) {
    const std::string_view digits = take_until(rest, ',');
    std::uint32_t bits = 0;
    const auto [end, code] =
        std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
    if (code != std::errc{} || end != digits.data() + digits.size()) {
      refuse(path, "no hexadecimal mask at '" + std::string(digits) + "'");
    }
    for (int bit = 0; bits != 0; ++bit, bits >>= 1) {
      if ((bits & 1U) != 0) {
        cpus.insert(cpu_id{group * 32 + bit});
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
    int number = -1;
    if (name.starts_with(prefix)) {
      const auto [end, code] =
          std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
      if (code == std::errc{} && end == name.data() + name.size() && number >= 0 &&
          number <= max_id) {
        numbers.push_back(number);
      }
    }
  }
  ::closedir(open_directory);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string_view take_until(std::string_view& rest, char separator) noexcept {
  const std::size_t at = rest.find(separator);
  const std::string_view taken = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
  return taken;
}

std::optional<std::uint64_t> leading_number(std::string_view text) noexcept {
  const std::size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data() + start, text.data() + text.size(), value);
  return code == std::errc{} ? std::optional(value) : std::nullopt;
}

} // namespace nodewise::topology_detail
