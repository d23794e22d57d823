// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Reads the small text files of /sys and /proc with as few system calls as possible.
#pragma once

#include <optional>

#include <nodewise/error.hpp>
#include <nodewise/id_set.hpp>

namespace nodewise::topology_detail {

/// The text of a file of /sys, or a one-record file of /proc, without blanks at its end; nullopt if
/// it cannot be read. One large enough read returns such a file whole, so a short read is the last.
[[nodiscard]] std::optional<std::string> read_small_file(const std::string& path);

/// The text of a file with any number of records, such as /proc/mounts: reads until it ends.
[[nodiscard]] std::optional<std::string> read_record_file(const std::string& path);

/// Throws `error` (input) for the text of a file.
[[noreturn]] void refuse_file(const std::string& path, const std::string& answered);

/// The kernel's list format, "0-3,8", in a text that was read from `path`. Throws `error` (input),
/// naming the file, for anything that is not a list.
template <class Id>
[[nodiscard]] id_set<Id> parse_list(std::string_view text, const std::string& path) {
  try {
    return id_set<Id>::parse(text);
  } catch (const error& e) {
    refuse_file(path, e.answered());
  }
}

/// As above, for a file; nullopt if there is no such file.
template <class Id>
[[nodiscard]] std::optional<id_set<Id>> read_list(const std::string& path) {
  const auto text = read_small_file(path);
  return text ? std::optional(parse_list<Id>(*text, path)) : std::nullopt;
}

/// The kernel's mask format, "00000000,0000ffff"; otherwise like `read_list`.
[[nodiscard]] std::optional<cpu_set> read_mask(const std::string& path);

/// The numbers N of the entries `prefix`N of a directory, ascending; nullopt without a directory.
[[nodiscard]] std::optional<std::vector<int>> numbered_entries(const std::string& directory,
                                                               std::string_view prefix);

/// Takes the text up to `separator` (or all of it) off the front of `rest`.
[[nodiscard]] std::string_view take_until(std::string_view& rest, char separator) noexcept;

/// The number at the front of `text` after blanks, or nullopt.
[[nodiscard]] std::optional<std::uint64_t> leading_number(std::string_view text) noexcept;

} // namespace nodewise::topology_detail
