// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "traffic/record.hpp"

#include <algorithm>
#include <initializer_list>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace nodewise::traffic {

namespace {

constexpr std::uint64_t largest_count = std::uint64_t{1} << 48;

} // namespace

error damaged_line(std::size_t line, const std::string& what) {
  return {error_kind::input, fmt::format("the traffic count, line {}", line), what,
          "run it again; if that does not help, reinstall nodewise: all its parts must have the "
          "same version"};
}

record::record(std::string_view text, std::size_t line) : rest_(text), more_(true), line_(line) {
  kind_ = word();
}

std::string_view record::word() {
  if (!more_) {
    throw wrong(in_quotes(kind_) + " has too few words");
  }
  const std::size_t blank = rest_.find(' ');
  const std::string_view taken = rest_.substr(0, blank);
  more_ = blank != std::string_view::npos;
  rest_ = more_ ? rest_.substr(blank + 1) : std::string_view{};
  if (taken.empty()) {
    throw wrong("an empty word");
  }
  return taken;
}

void record::end() const {
  if (more_) {
    throw wrong(fmt::format("{} has too many words: {}", in_quotes(kind_), in_quotes(rest_)));
  }
}

std::uint64_t record::in_base(std::string_view digits, int base, std::string_view shown) const {
  const auto value = parse_number<std::uint64_t>(digits, base);
  if (!value) {
    throw wrong(
        fmt::format("{} is not {}", in_quotes(shown), base == 16 ? "an address" : "a number"));
  }
  return *value;
}

std::uint64_t record::number() {
  const std::string_view taken = word();
  return in_base(taken, 10, taken);
}

std::uint64_t record::count() {
  const std::uint64_t value = number();
  if (value > largest_count) {
    throw wrong(fmt::format("{} is too large", value));
  }
  return value;
}

node_id record::node() {
  const std::string_view taken = word();
  const std::uint64_t value = taken == "-1" ? 0 : in_base(taken, 10, taken);
  if (value > static_cast<std::uint64_t>(max_id)) {
    throw wrong(in_quotes(taken) + " is not a node");
  }
  return taken == "-1" ? unknown_node : node_id{static_cast<int>(value)};
}

cpu_id record::cpu() {
  return cpu_id{to_int(node())}; // written in the same way
}

std::uint64_t record::address() {
  const std::string_view taken = word();
  if (taken == "0") {
    return 0;
  }
  if (!taken.starts_with("0x")) {
    throw wrong(in_quotes(taken) + " is not an address");
  }
  return in_base(taken.substr(2), 16, taken);
}

std::uint64_t record::file_offset() {
  return rest_.starts_with("0x") ? address() : number();
}

std::optional<object_id> record::object() {
  const std::string_view taken = word();
  return taken == "-" ? std::nullopt : std::optional(in_base(taken, 10, taken));
}

phase record::when() {
  return static_cast<phase>(which_of({"init", "use"}));
}

volume record::lines() {
  return {.fills = count(), .write_backs = count(), .streams = count()};
}

bool record::flag() {
  return which_of({"0", "1"}) == 1;
}

cpu_set record::cpus() {
  const std::string_view taken = word();
  if (taken == "-") {
    return {};
  }
  try {
    return cpu_set::parse(taken);
  } catch (const error&) {
    throw wrong(in_quotes(taken) + " is not a list of processors");
  }
}

int record::tid() {
  const std::string_view taken = word();
  const std::uint64_t value = taken == "-" ? 0 : in_base(taken, 10, taken);
  if (value >= program_generation || (value == 0 && taken != "-")) {
    throw wrong(in_quotes(taken) + " is not a thread");
  }
  return static_cast<int>(value);
}

std::vector<thread_lines> record::users() {
  std::vector<thread_lines> all;
  do {
    const std::string_view taken = word();
    const std::size_t colon = taken.find(':');
    if (colon == std::string_view::npos) {
      throw wrong(in_quotes(taken) + " is not THREAD:LINES");
    }
    const thread_lines one{in_base(taken.substr(0, colon), 10, taken),
                           in_base(taken.substr(colon + 1), 10, taken)};
    if (one.lines == 0 || one.lines > largest_count) {
      throw wrong(in_quotes(taken) + " has an invalid number of lines");
    }
    if (!all.empty() && all.back().thread >= one.thread) {
      throw wrong("threads are not in ascending order");
    }
    all.push_back(one);
  } while (more_);
  return all;
}

std::size_t record::which_of(std::initializer_list<std::string_view> words) {
  const std::string_view taken = word();
  const auto* const found = std::ranges::find(words, taken);
  if (found == words.end()) {
    throw wrong(fmt::format("{} is invalid in {}", in_quotes(taken), in_quotes(kind_)));
  }
  return static_cast<std::size_t>(found - words.begin());
}

std::string record::decoded(std::string_view encoded) const {
  std::string text;
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    if (encoded[i] != '%') {
      text += encoded[i];
      continue;
    }
    if (encoded.size() - i < 3) {
      throw wrong(in_quotes(encoded) + " ends within a %XX");
    }
    text += static_cast<char>(in_base(encoded.substr(i + 1, 2), 16, encoded));
    i += 2;
  }
  return text;
}

std::string record::name() {
  const std::string_view taken = word();
  return taken == "-" ? std::string{} : decoded(taken);
}

std::string record::sentence() {
  if (!more_ || rest_.empty()) {
    throw wrong(in_quotes(kind_) + " has no text");
  }
  more_ = false;
  return decoded(rest_);
}

} // namespace nodewise::traffic
