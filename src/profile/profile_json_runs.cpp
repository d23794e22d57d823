// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Runs as text, see profile_json_fields.hpp.
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/core.h>

#include "base/text.hpp"
#include "profile/profile_json_fields.hpp"

namespace nodewise::profile {

namespace {

std::string node_text(node_id node) {
  return node == unknown_node ? "-" : std::to_string(to_int(node));
}

/// The shortest text that reads back as the same value.
std::string amount_text(double amount) {
  std::array<char, 32> digits{};
  char* const end = std::to_chars(digits.begin(), digits.end(), amount).ptr;
  return {digits.begin(), end};
}

/// Parses a text from left to right. After the first error every further read fails.
class word_reader {
 public:
  explicit word_reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool good() const noexcept { return good_; }
  [[nodiscard]] bool done() const noexcept { return rest_.empty(); }
  /// False if the next character is another one.
  bool letter(char which) noexcept {
    const bool is_next = good_ && rest_.starts_with(which);
    rest_.remove_prefix(is_next ? 1 : 0);
    return is_next;
  }
  void expect(char which) noexcept { good_ = letter(which) && good_; }
  template <class Number>
  Number number() noexcept {
    Number value{};
    const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    good_ = good_ && problem == std::errc{};
    rest_.remove_prefix(good_ ? static_cast<std::size_t>(end - rest_.data()) : 0);
    return value;
  }
  node_id node() noexcept {
    if (letter('-')) {
      return unknown_node;
    }
    const int value = number<int>();
    good_ = good_ && value >= 0;
    return node_id{value};
  }
  void require(bool holds) noexcept { good_ = good_ && holds; }

 private:
  std::string_view rest_;
  bool good_ = true;
};

/// "FIRST+COUNT", not before `from`.
void read_pages(word_reader& words, const run_bounds& in, std::uint64_t from, auto& into) {
  into.first = words.number<std::uint64_t>();
  words.expect('+');
  into.count = words.number<std::uint64_t>();
  words.require(into.first >= from && into.first < in.pages && into.count > 0 &&
                into.count <= in.pages - into.first);
}

thread_index read_thread(word_reader& words, const run_bounds& in) {
  const auto by = words.number<std::size_t>();
  words.require(by < in.threads);
  return by;
}

/// Words separated by blanks; `rest` reads each one after its pages.
template <class Run, class Rest>
bool read_all(std::string_view text, const run_bounds& in, std::vector<Run>& into, Rest rest) {
  word_reader words(text);
  std::uint64_t from = 0;
  while (words.good() && !words.done()) {
    if (!into.empty()) {
      words.expect(' ');
    }
    Run run;
    read_pages(words, in, from, run);
    words.expect('@');
    rest(words, run);
    from = run.first + run.count;
    into.push_back(run);
  }
  return words.good();
}

} // namespace

std::string text_of(const std::vector<resident_run>& runs) {
  return joined(runs, " ", [](const resident_run& run) {
    return fmt::format("{}+{}@{}", run.first, run.count, node_text(run.node));
  });
}

std::string text_of(const std::vector<touched_run>& runs) {
  return joined(runs, " ", [](const touched_run& run) {
    return fmt::format("{}+{}@{}/{}", run.first, run.count, run.by ? std::to_string(*run.by) : "-",
                       node_text(run.from));
  });
}

std::string text_of(const use_run& run) {
  const auto user = [](const use& of) {
    return fmt::format("{}:{}", of.by, amount_text(of.amount));
  };
  return fmt::format("{}+{}{}{}", run.first, run.count, run.by.empty() ? "" : " ",
                     joined(run.by, ",", user));
}

std::string text_of(const timed_uses& run) {
  return fmt::format("{}+{} {}", run.first, run.count, joined(run.by, ",", [](const node_use& of) {
                       return fmt::format("{}/{}:{}", node_text(of.from), node_text(of.memory),
                                          amount_text(of.amount));
                     }));
}

bool read(std::string_view text, const run_bounds& in, std::vector<resident_run>& into) {
  return read_all(text, in, into,
                  [](word_reader& words, resident_run& run) { run.node = words.node(); });
}

bool read(std::string_view text, const run_bounds& in, std::vector<touched_run>& into) {
  return read_all(text, in, into, [&](word_reader& words, touched_run& run) {
    if (!words.letter('-')) {
      run.by = read_thread(words, in);
    }
    words.expect('/');
    run.from = words.node();
  });
}

bool read(std::string_view text, const run_bounds& in, use_run& into) {
  word_reader words(text);
  read_pages(words, in, 0, into);
  words.expect(' ');
  do {
    use each;
    each.by = read_thread(words, in);
    words.expect(':');
    each.amount = words.number<double>();
    words.require(std::isfinite(each.amount) && each.amount > 0 &&
                  (into.by.empty() || into.by.back().by < each.by));
    into.by.push_back(each);
  } while (words.letter(','));
  return words.good() && words.done();
}

bool read(std::string_view text, const run_bounds& in, timed_uses& into) {
  word_reader words(text);
  read_pages(words, in, 0, into);
  words.expect(' ');
  do {
    node_use each;
    each.from = words.node();
    words.expect('/');
    each.memory = words.node();
    words.expect(':');
    each.amount = words.number<double>();
    words.require(std::isfinite(each.amount) && each.amount > 0);
    into.by.push_back(each);
  } while (words.letter(','));
  return words.good() && words.done();
}

} // namespace nodewise::profile
