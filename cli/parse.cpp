// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// One parser for both executables. `nodewise run` must start in about a millisecond from a static
// executable. There CLI11 2.1 takes 60 us to build and read 25 options, 100 us more for its streams
// and locales, and adds 2 MB (measured with GCC 12 -O2; an empty static program takes 450 us). The
// grammar is small, and the parser reads the same flag table as everything else.
#include <algorithm>

#include "cli/invocation.hpp"

namespace nodewise::cli {

namespace {

std::string quoted(std::string_view word) {
  return "'" + std::string(word) + "'";
}

std::string did_you_mean(const std::string& near) {
  return near.empty() ? std::string{} : "did you mean " + near + "? ";
}

class reader {
 public:
  explicit reader(std::span<const char* const> arguments) : rest_(arguments) {}

  invocation read() {
    while (!rest_.empty()) {
      const std::string_view word = rest_.front();
      if (word == "--" && given_.verb != nullptr) {
        rest_ = rest_.subspan(1);
        take_the_rest();
      } else if (word.starts_with("--") && word != "--") {
        rest_ = rest_.subspan(1);
        take_long(word.substr(2));
      } else if (word.size() > 1 && word.starts_with('-') && word != "--") {
        rest_ = rest_.subspan(1);
        take_letters(word.substr(1));
      } else if (given_.verb == nullptr) {
        rest_ = rest_.subspan(1);
        take_verb(word);
      } else if (takes_program()) {
        take_the_rest();
      } else {
        rest_ = rest_.subspan(1);
        take_operand(word);
      }
    }
    check_complete();
    return std::move(given_);
  }

 private:
  [[nodiscard]] bool takes_program() const {
    return given_.verb->takes == operands::program ||
           given_.verb->takes == operands::optional_program;
  }
  [[nodiscard]] std::span<const flag* const> known() const {
    return given_.verb != nullptr ? given_.verb->flags : command_flags();
  }
  [[nodiscard]] std::string help_command() const {
    return given_.verb != nullptr ? "nodewise " + std::string(given_.verb->name) + " --help"
                                  : "nodewise --help";
  }

  void take_verb(std::string_view word) {
    given_.verb = find_verb(word);
    if (given_.verb != nullptr) {
      return;
    }
    std::vector<std::string_view> names;
    for (const cli::verb& v : all_verbs()) {
      if (!v.hidden) {
        names.push_back(v.name);
        names.insert(names.end(), v.aliases.begin(), v.aliases.end());
      }
    }
    throw error(error_kind::usage, "the verb " + quoted(word), "there is no such verb",
                did_you_mean(nearest(word, names)) + "`nodewise --help` lists the verbs");
  }

  void take_long(std::string_view word) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const flag* const found = find_flag(known(), name);
    if (found == nullptr) {
      refuse_option("--" + std::string(name), name);
    }
    if (equals != std::string_view::npos) {
      add(*found, word.substr(equals + 1), true);
    } else {
      add(*found, "", false);
    }
  }

  /// "-qN0": toggles, optionally ending with an option that takes the rest as its value.
  void take_letters(std::string_view letters) {
    while (!letters.empty()) {
      const flag* const found = find_flag(known(), letters.front());
      if (found == nullptr) {
        refuse_option("-" + std::string(1, letters.front()), {});
      }
      letters.remove_prefix(1);
      if (found->kind == flag_kind::toggle || found->kind == flag_kind::optional_value) {
        add(*found, "", false);
        continue;
      }
      const bool attached = !letters.empty();
      if (letters.starts_with('=')) {
        letters.remove_prefix(1);
      }
      add(*found, letters, attached);
      return;
    }
  }

  void add(const flag& which, std::string_view value, bool attached) {
    if (which.kind == flag_kind::toggle) {
      if (attached) {
        throw error(error_kind::usage, option_name(which) + "=" + std::string(value),
                    option_name(which) + " takes no value",
                    "leave =" + std::string(value) + " out");
      }
      given_.options.push_back({&which, {}});
      return;
    }
    if (!attached && which.kind == flag_kind::optional_value) {
      given_.options.push_back({&which, {}});
      return;
    }
    if (!attached) {
      if (rest_.empty() || std::string_view(rest_.front()) == "--") {
        throw error(error_kind::usage, option_name(which), "its value is missing",
                    "write " + option_name(which) + " " + std::string(which.value) + "; `" +
                        help_command() + "` explains it");
      }
      value = rest_.front();
      rest_ = rest_.subspan(1);
    }
    check_choice(which, value);
    given_.options.push_back({&which, std::string(value)});
  }

  void check_choice(const flag& which, std::string_view value) const {
    std::vector<std::string_view> names;
    for (std::string_view left = which.choices; !left.empty();) {
      const std::size_t bar = std::min(left.find('|'), left.size());
      names.push_back(left.substr(0, bar));
      left.remove_prefix(std::min(bar + 1, left.size()));
    }
    if (!names.empty() && std::ranges::find(names, value) == names.end()) {
      throw error(error_kind::usage, option_name(which) + " " + std::string(value),
                  "it takes one of " + std::string(which.choices),
                  did_you_mean(nearest(value, names)) + "`" + help_command() + "` explains it");
    }
  }

  [[noreturn]] void refuse_option(const std::string& shown, std::string_view name) const {
    if (given_.verb == nullptr) {
      throw error(error_kind::usage, "the option " + shown,
                  "only --help, --version and --color may "
                  "come before the verb",
                  "write the verb first: nodewise VERB " + shown);
    }
    std::vector<std::string_view> names;
    for (const flag* const f : known()) {
      names.push_back(f->name);
    }
    const std::string near = name.empty() ? std::string{} : nearest(name, names);
    throw error(error_kind::usage, "the option " + shown,
                std::string(given_.verb->name) + " has no such option",
                did_you_mean(near.empty() ? near : "--" + near) + "`" + help_command() +
                    "` lists the options");
  }

  void take_operand(std::string_view word) {
    const cli::verb& v = *given_.verb;
    if (v.takes == operands::none) {
      throw error(error_kind::usage, "the word " + quoted(word),
                  std::string(v.name) + " takes options only", "see `" + help_command() + "`");
    }
    if (given_.operands.empty() && !v.actions.empty()) {
      check_action(word);
    }
    given_.operands.emplace_back(word);
  }

  void check_action(std::string_view word) const {
    std::vector<std::string_view> names;
    for (const action& a : given_.verb->actions) {
      names.push_back(a.name);
    }
    if (std::ranges::find(names, word) == names.end()) {
      throw error(error_kind::usage, std::string(given_.verb->name) + " " + std::string(word),
                  "there is no such action",
                  did_you_mean(nearest(word, names)) + "`" + help_command() + "` lists them");
    }
  }

  void take_the_rest() {
    // After `--` the action of a verb still comes first.
    const bool are_names = !given_.verb->actions.empty() && given_.operands.empty();
    const bool program =
        takes_program() || (given_.verb->takes == operands::names_or_program && !are_names);
    for (const char* const word : rest_) {
      if (program) {
        given_.program.emplace_back(word);
      } else {
        take_operand(word);
      }
    }
    rest_ = {};
  }

  void check_complete() const {
    if (given_.has(flags::help) || given_.has(flags::version)) {
      return;
    }
    if (given_.verb == nullptr) {
      throw error(error_kind::usage, "nodewise", "the verb is missing",
                  "`nodewise --help` lists the verbs");
    }
    const cli::verb& v = *given_.verb;
    const bool alone = std::ranges::any_of(
        given_.options, [](const invocation::option& o) { return o.what->stands_alone; });
    if (v.takes == operands::program && given_.program.empty() && !alone) {
      throw error(error_kind::usage, "nodewise " + std::string(v.name), "the program is missing",
                  "write nodewise " + std::string(v.name) + " " + std::string(v.usage));
    }
    if (!v.actions.empty() && given_.operands.empty()) {
      throw error(error_kind::usage, "nodewise " + std::string(v.name), "the action is missing",
                  "`" + help_command() + "` lists them");
    }
  }

  std::span<const char* const> rest_;
  invocation given_;
};

} // namespace

invocation parse(std::span<const char* const> arguments) {
  return reader(arguments).read();
}

} // namespace nodewise::cli
