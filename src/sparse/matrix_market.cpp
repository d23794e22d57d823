// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/matrix_market.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <system_error>
#include <tuple>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/text.hpp"

namespace nodewise::inline v0::detail {

namespace {

constexpr std::string_view blanks = " \t\r";

/// The words of a line, one after the other.
class line_words {
 public:
  explicit line_words(std::string_view line) : rest_(line) {}

  /// Returns the next word; empty behind the last.
  std::string_view next() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size()));
    const std::string_view word = rest_.substr(0, rest_.find_first_of(blanks));
    rest_.remove_prefix(word.size());
    return word;
  }

 private:
  std::string_view rest_;
};

std::string_view line_at(std::string_view text, std::size_t at) {
  return text.substr(at, text.find('\n', at) - at);
}

/// Where the next line begins.
std::size_t behind(std::string_view text, std::size_t at) {
  const std::size_t end = text.find('\n', at);
  return end == std::string_view::npos ? text.size() : end + 1;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(blanks) == std::string_view::npos;
}

template <class Number>
bool read_number(std::string_view word, Number& number) {
  if (word.size() > 1 && word.front() == '+' && word[1] != '-') {
    word.remove_prefix(1);
  }
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), number);
  return failed == std::errc() && end == word.data() + word.size();
}

[[noreturn]] void refuse(std::string_view text, const std::string& name, const file_fault& fault) {
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(fault.at), '\n');
  throw error(error_kind::input, fmt::format("cannot read the matrix '{}', line {}", name, line),
              fault.reason, "write the file again, in the format Matrix Market coordinate");
}

std::string lower(std::string_view word) {
  std::string made(word);
  std::ranges::transform(made, made.begin(), [](unsigned char c) { return std::tolower(c); });
  return made;
}

/// "%%MatrixMarket matrix coordinate real general"
void read_banner(std::string_view text, matrix_file& of) {
  line_words words(line_at(text, 0));
  const auto fail = [&](std::string reason) { refuse(text, of.name, {0, std::move(reason)}); };
  if (words.next() != "%%MatrixMarket") {
    fail("the file does not begin with %%MatrixMarket");
  }
  const std::string object = lower(words.next());
  const std::string format = lower(words.next());
  if (object != "matrix" || format != "coordinate") {
    fail(fmt::format("it holds {} {}; only 'matrix coordinate' is sparse", in_quotes(object),
                     in_quotes(format)));
  }
  const std::string field = lower(words.next());
  if (field == "real" || field == "double") {
    of.field = matrix_file::values::real;
  } else if (field == "integer") {
    of.field = matrix_file::values::integer;
  } else if (field == "pattern") {
    of.field = matrix_file::values::pattern;
  } else {
    fail(fmt::format("its values are {}, not real, integer or pattern", in_quotes(field)));
  }
  const std::string symmetry = lower(words.next());
  if (symmetry == "general") {
    of.symmetry = matrix_file::halves::whole;
  } else if (symmetry == "symmetric") {
    of.symmetry = matrix_file::halves::symmetric;
  } else if (symmetry == "skew-symmetric") {
    of.symmetry = matrix_file::halves::skew;
  } else {
    fail(fmt::format("it is {}, not general, symmetric or skew-symmetric", in_quotes(symmetry)));
  }
}

/// Rows take memory also if they are empty, so a short file must not announce any number of them.
/// 100 rows for each byte are hundreds for each entry, more than matrices in use have.
std::size_t most_rows_of(std::size_t file_bytes) {
  constexpr std::size_t always = 1'000'000;
  return always + 100 * file_bytes;
}

/// The line of rows, columns and entries.
void read_sizes(std::string_view text, std::size_t at, std::uint64_t most, matrix_file& of) {
  const auto fail = [&](std::string reason) { refuse(text, of.name, {at, std::move(reason)}); };
  line_words words(line_at(text, at));
  for (std::size_t* const size : {&of.rows, &of.columns, &of.entries}) {
    const std::string_view word = words.next();
    if (!read_number(word, *size)) {
      fail(fmt::format("{} is not a number of rows, columns or entries", in_quotes(word)));
    }
  }
  if (!words.next().empty()) {
    fail("more than three numbers; only rows, columns and entries are expected");
  }
  if (of.rows == 0 || of.columns == 0) {
    fail("a matrix needs at least one row and one column");
  }
  if (of.rows > most || of.columns > most) {
    fail(fmt::format("{} rows and {} columns, but the type of the indices ends at {}", of.rows,
                     of.columns, most));
  }
  if (of.symmetry != matrix_file::halves::whole && of.rows != of.columns) {
    fail(fmt::format("a symmetric matrix of {} rows and {} columns", of.rows, of.columns));
  }
  of.body = behind(text, at);
  // "1 1" and the end of the line, which the last line may lack.
  const std::size_t shortest = of.field == matrix_file::values::pattern ? 4 : 6;
  const std::size_t room = (text.size() - of.body + 1) / shortest;
  if (of.entries > room) {
    fail(fmt::format("{} entries, but the rest of the file has {} bytes", of.entries,
                     text.size() - of.body));
  }
  if (of.rows > most_rows_of(text.size())) {
    fail(fmt::format("{} rows, but the file has only {} bytes; nearly all rows would be empty",
                     of.rows, text.size()));
  }
}

/// Reads a value. Returns why it is none, or nothing.
std::string read_value(std::string_view word, const matrix_file& of, double& value) {
  std::int64_t whole = 0;
  const bool integer = of.field == matrix_file::values::integer;
  if (integer ? !read_number(word, whole) : !read_number(word, value)) {
    return fmt::format("{} is not {} value in range", in_quotes(word),
                       integer ? "an integer" : "a");
  }
  value = integer ? static_cast<double>(whole) : value;
  if (std::isfinite(value) && std::abs(value) > of.largest) {
    return fmt::format("{} is beyond {}, the largest value of the matrix's type", in_quotes(word),
                       of.largest);
  }
  return {};
}

/// Reads an entry. Returns why it is none, or nothing.
std::string read_entry(std::string_view line, const matrix_file& of, file_entry& entry) {
  line_words words(line);
  for (const auto& [index, size, name] :
       {std::tuple(&entry.row, of.rows, "row"), std::tuple(&entry.column, of.columns, "column")}) {
    const std::string_view word = words.next();
    if (!read_number(word, *index)) {
      return fmt::format("{} is not the number of a {}", in_quotes(word), name);
    }
    if (*index == 0 || *index > size) {
      return fmt::format("{0} {1} of {2}; {0}s count from 1", name, *index, size);
    }
    --*index;
  }
  entry.value = 1;
  if (of.field != matrix_file::values::pattern) {
    if (std::string reason = read_value(words.next(), of, entry.value); !reason.empty()) {
      return reason;
    }
  }
  if (const std::string_view word = words.next(); !word.empty()) {
    return fmt::format("{} behind the value", in_quotes(word));
  }
  if (of.symmetry != matrix_file::halves::whole && entry.column > entry.row) {
    return "an entry right of the diagonal; the file of a symmetric matrix holds the lower half";
  }
  if (of.symmetry == matrix_file::halves::skew && entry.column == entry.row) {
    return "an entry on the diagonal of a skew-symmetric matrix, which is zero there";
  }
  return {};
}

} // namespace

std::size_t matrix_file_bytes(const std::filesystem::path& path) {
  const std::string asked = fmt::format("cannot read the matrix '{}'", path.string());
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(path, failed);
  if (failed) {
    throw error(error_kind::input, asked, "file_size", "check the path and its permissions",
                failed.value());
  }
  if (bytes == 0) {
    throw error(error_kind::input, asked, "the file is empty",
                "give a file in the format Matrix Market coordinate");
  }
  return bytes;
}

matrix_file read_matrix_head(std::string_view text, std::string name, std::uint64_t most,
                             double largest) {
  matrix_file of;
  of.largest = largest;
  of.name = std::move(name);
  read_banner(text, of);
  std::size_t at = behind(text, 0);
  while (at < text.size() && (text[at] == '%' || is_blank(line_at(text, at)))) {
    at = behind(text, at);
  }
  read_sizes(text, at, most, of);
  return of;
}

std::optional<file_fault> read_matrix_part(std::string_view text, const matrix_file& of,
                                           std::size_t part, std::size_t parts,
                                           std::vector<file_entry>& entries) {
  const auto mine = arithmetic::blocked(part, text.size() - of.body, parts);
  const auto line_from = [&](std::size_t at) {
    return at == 0 ? of.body : behind(text, of.body + at - 1);
  };
  const std::size_t last = line_from(mine.last);
  file_entry entry;
  for (std::size_t at = line_from(mine.first); at < last; at = behind(text, at)) {
    const std::string_view line = line_at(text, at);
    if (is_blank(line)) {
      continue;
    }
    if (std::string reason = read_entry(line, of, entry); !reason.empty()) {
      return file_fault{at, std::move(reason)};
    }
    entries.push_back(entry);
  }
  return std::nullopt;
}

void require_no_fault(std::string_view text, const matrix_file& of,
                      const std::vector<std::optional<file_fault>>& faults, std::size_t lines) {
  for (const auto& each : faults) {
    if (each) {
      refuse(text, of.name, *each); // parts are in the order of the file
    }
  }
  if (lines != of.entries) {
    refuse(text, of.name,
           {text.size() - (text.ends_with('\n') ? 1 : 0),
            fmt::format("the file ends after {} entries, but announces {}", lines, of.entries)});
  }
}

} // namespace nodewise::inline v0::detail
