// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "tune/setting.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace nodewise::tune {

namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";

[[noreturn]] void refuse_setting(std::string_view given, const std::string& answered,
                                 const char* hint) {
  throw error(error_kind::usage, fmt::format("the setting {}", printable(in_quotes(given))),
              answered, hint);
}

/// Splits a text as a POSIX shell does, but expands nothing.
class word_splitter {
 public:
  explicit word_splitter(std::string_view text) : all_(text), rest_(text) {}

  std::vector<std::string> split() {
    while (!rest_.empty()) {
      take();
    }
    end_word();
    return std::move(words_);
  }

 private:
  char next() {
    const char first = rest_.front();
    rest_.remove_prefix(1);
    return first;
  }

  void take() {
    const char c = next();
    if (blanks.find(c) != blanks.npos) {
      end_word();
    } else if (c == '#' && !in_word_) {
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    } else if (c == '\'' || c == '"') {
      take_quoted(c);
    } else if (c == '\\') {
      take_escaped();
    } else {
      add(c);
    }
  }

  void take_quoted(char quote) {
    in_word_ = true; // '' is an empty word
    while (!rest_.empty()) {
      const char c = next();
      if (c == quote) {
        return;
      }
      // In double quotes, a backslash escapes only what would be special there.
      const bool escapes = quote == '"' && c == '\\' && !rest_.empty() &&
                           std::string_view("\"\\$`").find(rest_.front()) != std::string_view::npos;
      add(escapes ? next() : c);
    }
    refuse_setting(all_, fmt::format("a quote ({}) has no end", quote), "close the quote");
  }

  void take_escaped() {
    if (rest_.empty()) {
      refuse_setting(all_, "it ends with a backslash", "write \\\\ for a backslash");
    }
    add(next());
  }

  void add(char c) {
    in_word_ = true;
    word_ += c;
  }

  void end_word() {
    if (in_word_) {
      words_.push_back(word_);
      word_.clear();
      in_word_ = false;
    }
  }

  std::string_view all_;
  std::string_view rest_;
  std::string word_;
  bool in_word_ = false;
  std::vector<std::string> words_;
};

/// The number of --threads; the last one counts. 0 if there is none.
std::size_t threads_option(const std::vector<std::string>& options) {
  constexpr std::string_view name = "--threads";
  std::size_t found = 0;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string_view word = options[i];
    if (word == name && i + 1 < options.size()) {
      found = parse_number<std::size_t>(options[i + 1]).value_or(0);
    } else if (word.starts_with(name) && word.substr(name.size()).starts_with('=')) {
      found = parse_number<std::size_t>(word.substr(name.size() + 1)).value_or(0);
    }
  }
  return found;
}

} // namespace

bool pins_threads(const setting& of) {
  constexpr std::string_view joined_option = "--bind=";
  for (std::size_t i = 0; i < of.options.size(); ++i) {
    const std::string& word = of.options[i];
    if (word == "--bind" && i + 1 < of.options.size()) {
      return of.options[i + 1] != "none";
    }
    if (word.starts_with(joined_option)) {
      return word.substr(joined_option.size()) != "none";
    }
  }
  return false;
}

std::string text(const setting& of) {
  return of.options.empty() ? "as it is" : joined(of.options, " ", shell_word);
}

setting read_setting(std::string_view text) {
  setting made{word_splitter(text).split(), 0};
  for (const std::string& word : made.options) {
    if (word.find('\0') != word.npos) {
      refuse_setting(text, "it has a NUL byte", "remove it");
    }
    if (word == "--") {
      refuse_setting(text, "it has the word --", "leave out -- and the program");
    }
  }
  if (!made.options.empty() && (made.options[0].size() < 2 || made.options[0][0] != '-')) {
    refuse_setting(text, fmt::format("{} is not an option", printable(in_quotes(made.options[0]))),
                   "write options of `nodewise run`, such as --bind close");
  }
  made.cores = threads_option(made.options);
  return made;
}

bool has_run_mark(const std::vector<std::string>& program) {
  return std::ranges::find(program, run_mark) != program.end();
}

std::vector<std::string> command_of(const setting& how, std::vector<std::string> run,
                                    const std::vector<std::string>& program) {
  if (how.options.empty()) {
    run.clear();
  } else {
    run.insert(run.end(), how.options.begin(), how.options.end());
    run.emplace_back("--");
  }
  if (!has_run_mark(program)) {
    run.insert(run.end(), program.begin(), program.end());
    return run;
  }
  std::vector<std::string> made;
  for (const std::string& word : program) {
    if (word == run_mark) {
      made.insert(made.end(), run.begin(), run.end());
    } else {
      made.push_back(word);
    }
  }
  return made;
}

} // namespace nodewise::tune
