// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "tune/figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include <regex.h>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace nodewise::tune {

namespace {

constexpr std::string_view white = " \t\r\n\v\f";

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(white);
  return first == text.npos ? std::string_view()
                            : text.substr(first, text.find_last_not_of(white) - first + 1);
}

std::string shown_text(std::string_view text) {
  return printable(in_quotes(without_blanks(text)));
}

[[noreturn]] void refuse_figure(const std::string& answered, const std::string& hint) {
  throw error(error_kind::input, "the figure of a run", answered, hint);
}

/// A compiled expression. regexec, unlike std::regex, does not recurse over the length of the line.
class expression {
 public:
  explicit expression(const std::string& pattern) {
    const auto refuse = [&](const std::string& answered) {
      throw error(error_kind::usage,
                  fmt::format("the regular expression {}", printable(in_quotes(pattern))), answered,
                  "write an extended regular expression, such as 'rate: ([0-9.]+) MB/s'");
    };
    if (pattern.empty() || pattern.find('\0') != pattern.npos) {
      refuse(pattern.empty() ? "it is empty" : "it has a NUL byte");
    }
    if (const int failed = ::regcomp(&compiled_, pattern.c_str(), REG_EXTENDED); failed != 0) {
      refuse(words_of(failed));
    }
  }
  expression(const expression&) = delete;
  expression& operator=(const expression&) = delete;
  ~expression() { ::regfree(&compiled_); }

  /// The group, or the whole match, of the last match in a line that is not empty; nullopt if there
  /// is none. A group that took no part in the match is empty.
  [[nodiscard]] std::optional<std::string> last_match(const std::string& line) const {
    std::optional<std::size_t> start;
    // Only the last match is asked for its group: a search with groups needs memory for the line.
    for (std::size_t from = 0; from <= line.size();) {
      std::array<regmatch_t, 1> at{};
      if (!find(line, from, at)) {
        break;
      }
      const auto end = static_cast<std::size_t>(at[0].rm_eo);
      const bool is_empty = at[0].rm_so == at[0].rm_eo; // as of [0-9.]* behind a number
      start = is_empty ? start : static_cast<std::size_t>(at[0].rm_so);
      from = is_empty ? end + 1 : end;
    }
    std::array<regmatch_t, 2> at{};
    if (!start || !find(line, *start, at)) {
      return std::nullopt;
    }
    const regmatch_t& of = at[compiled_.re_nsub > 0 ? 1 : 0];
    return of.rm_so < 0 ? std::string()
                        : line.substr(static_cast<std::size_t>(of.rm_so),
                                      static_cast<std::size_t>(of.rm_eo - of.rm_so));
  }

 private:
  [[nodiscard]] std::string words_of(int failed) const {
    std::array<char, 256> words{};
    (void)::regerror(failed, &compiled_, words.data(), words.size());
    return words.data();
  }

  /// The first match from a position on. A line may hold NUL bytes, so it is passed with its end;
  /// `^` still matches only at its beginning.
  [[nodiscard]] bool find(const std::string& line, std::size_t from,
                          std::span<regmatch_t> matches) const {
    matches[0] = {static_cast<regoff_t>(from), static_cast<regoff_t>(line.size())};
    const int failed =
        ::regexec(&compiled_, line.c_str(), matches.size(), matches.data(), REG_STARTEND);
    if (failed != 0 && failed != REG_NOMATCH) {
      refuse_figure(words_of(failed), "write a simpler pattern, or one that matches less");
    }
    return failed == 0;
  }

  regex_t compiled_{};
};

/// Removes the last line from `rest` and returns it, without its end ("\n" or "\r\n").
std::string_view take_last_line(std::string_view& rest) {
  const std::size_t end = rest.rfind('\n');
  std::string_view line = rest.substr(end == rest.npos ? 0 : end + 1);
  rest = rest.substr(0, end == rest.npos ? 0 : end);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  return line;
}

std::string_view last_filled_line(std::string_view output) {
  const std::size_t last = output.find_last_not_of(white);
  std::string_view rest = output.substr(0, last == output.npos ? 0 : last + 1);
  return take_last_line(rest);
}

std::string where_text(const figure_source& source) {
  return source.file ? fmt::format("the file {}", printable(*source.file)) : "the output";
}

[[noreturn]] void refuse_output(const figure_source& source, std::string_view output) {
  const std::string_view last = last_filled_line(output);
  if (last.empty()) {
    refuse_figure(fmt::format("{} is empty", where_text(source)),
                  "check that the program prints its figure there");
  }
  refuse_figure(fmt::format("nothing in {} matches {}; its last line is {}", where_text(source),
                            printable(in_quotes(source.pattern.value_or(""))), shown_text(last)),
                source.pattern.value_or("").find("\\d") != std::string::npos
                    ? "write [0-9] instead of \\d, which extended regular expressions do not have"
                    : "write a pattern that matches the line with the figure");
}

std::string found_text(const figure_source& source, std::string_view output) {
  if (!source.pattern) {
    const std::string_view line = last_filled_line(output);
    if (line.empty()) {
      refuse_output(source, output);
    }
    return std::string(line);
  }
  const expression searched(*source.pattern);
  // From the end, because the last match counts: a long output costs little.
  std::string_view rest =
      output.substr(0, output.ends_with('\n') ? output.size() - 1 : output.npos);
  std::string line;
  while (!rest.empty()) {
    line = take_last_line(rest);
    if (line.size() > std::numeric_limits<regoff_t>::max()) {
      refuse_figure("a line is longer than 2 GiB", "write the figure into a file of its own");
    }
    if (const auto found = searched.last_match(line)) {
      return *found;
    }
  }
  refuse_output(source, output);
}

/// A number as C, C++ and Fortran print it. nullopt for anything else.
std::optional<double> printed_number(std::string_view text) {
  text = without_blanks(text);
  if (text.starts_with('+') && !text.starts_with("+-")) {
    text.remove_prefix(1);
  }
  if (const auto value = parse_real(text)) {
    return value;
  }
  // Fortran's double precision: 1.5D+02. An E instead of the D is no other number, because
  // parse_real has refused the text: "nan" and "infinity" never come here.
  std::string with_e(text);
  std::ranges::replace_if(with_e, [](char c) { return c == 'd' || c == 'D'; }, 'e');
  return parse_real(with_e);
}

} // namespace

void check(const figure_source& source) {
  if (source.pattern) {
    const expression compiled(*source.pattern);
  }
}

double figure_in(const figure_source& source, std::string_view output) {
  const std::string found = found_text(source, output);
  const auto value = printed_number(found);
  if (!value) {
    refuse_figure(fmt::format("{} is not a number", shown_text(found)),
                  "put the number's part of the pattern, such as ([0-9.eE+-]+), into the first "
                  "parentheses");
  }
  if (!std::isfinite(*value) || *value <= 0) {
    refuse_figure(fmt::format("{} is not a finite number above 0", shown_text(found)),
                  "choose a figure that is always above 0, such as a time or a rate");
  }
  return *value;
}

} // namespace nodewise::tune
