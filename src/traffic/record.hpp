// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// One line of a counts file, word by word.
#pragma once

#include <nodewise/error.hpp>

#include "traffic/counts.hpp"

namespace nodewise::traffic {

/// An error in this line of the file, from 1.
[[nodiscard]] error damaged_line(std::size_t line, const std::string& what);

/// Takes the words of a line from left to right; each function throws `damaged_line` if the word is
/// missing or invalid.
class record {
 public:
  record(std::string_view text, std::size_t line);

  [[nodiscard]] std::string_view kind() const noexcept { return kind_; }
  [[nodiscard]] std::size_t line() const noexcept { return line_; }

  /// A count of lines, pages, ...: at most 2^48, so that sums cannot overflow.
  std::uint64_t count();
  /// Any number of 64 bits.
  std::uint64_t number();
  process_key pid() { return count(); }
  /// -1 is `unknown_node`.
  node_id node();
  cpu_id cpu();
  std::uint64_t address(); ///< 0x..., or 0
  std::uint64_t file_offset();
  std::optional<object_id> object();
  phase when();
  volume lines();
  bool flag();
  cpu_set cpus();
  int tid(); ///< "-" is 0
  /// All the rest of the line: INDEX:LINES, one or more, ascending.
  std::vector<thread_lines> users();
  /// The position of the word among these.
  std::size_t which_of(std::initializer_list<std::string_view> words);
  std::string one_of(std::initializer_list<std::string_view> words) {
    return std::string(words.begin()[which_of(words)]);
  }
  std::string name();
  /// All the rest of the line, which is not empty.
  std::string sentence();
  /// Throws if words are left.
  void end() const;

  /// `damaged_line` with this line's number.
  [[nodiscard]] error wrong(const std::string& what) const { return damaged_line(line_, what); }

 private:
  std::string_view word();
  [[nodiscard]] std::string decoded(std::string_view encoded) const;
  std::uint64_t in_base(std::string_view digits, int base, std::string_view shown) const;

  std::string_view kind_;
  std::string_view rest_;
  bool more_ = false; ///< a word follows, even if it is empty
  std::size_t line_;
};

} // namespace nodewise::traffic
