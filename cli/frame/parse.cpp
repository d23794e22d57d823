// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// One parser for both executables. `nodewise run` must start in about a millisecond from a static
// executable. There CLI11 2.1 takes 60 us to build and read 25 options, 100 us more for its streams
// and locales, and adds 2 MB (measured with GCC 12 -O2; an empty static program takes 450 us). The
// grammar is small, and the parser reads the same flag table as everything else.
#include "base/text.hpp"
#include "cli/frame/invocation.hpp"

namespace nodewise::cli {

namespace {

class reader {
 public:
  explicit reader(std::span<const char* const> arguments) : rest_(arguments) {}

  invocation read() {
    while (!rest_.empty()) {
      const std::string_view word = next();
      if (word == "--" && given_.verb != nullptr) {
        take_the_rest();
      } else if (word.starts_with("--") && word != "--") {
        take_long(word.substr(2));
      } else if (word.size() > 1 && word.starts_with('-') && word != "--") {
        take_letters(word.substr(1));
      } else if (given_.verb == nullptr) {
        take_verb(word);
      } else if (takes_program()) {
        given_.program.emplace_back(word);
        take_the_rest();
      } else {
        take_operand(word);
      }
    }
    check_complete();
    return std::move(given_);
  }

 private:
  [[noreturn]] static void refuse(std::string what, const std::string& reason, std::string hint) {
    throw error(error_kind::usage, std::move(what), reason, std::move(hint));
  }
  /// Takes the next word.
  std::string_view next() {
    const std::string_view word = rest_.front();
    rest_ = rest_.subspan(1);
    return word;
  }
  [[nodiscard]] bool takes_program() const { return given_.verb->takes == operands::program; }
  [[nodiscard]] std::span<const flag* const> known() const {
    return given_.verb != nullptr ? given_.verb->flags : command_flags();
  }
  /// "nodewise run"
  [[nodiscard]] std::string command() const {
    return given_.verb != nullptr ? fmt::format("nodewise {}", given_.verb->name) : "nodewise";
  }
  /// "did you mean --json? `nodewise run --help` lists the options"; `near` may be empty.
  [[nodiscard]] std::string hint(std::string_view near, std::string_view help_does) const {
    return fmt::format("{}`{} --help` {}",
                       near.empty() ? "" : fmt::format("did you mean {}? ", near), command(),
                       help_does);
  }

  void take_verb(std::string_view word) {
    given_.verb = find_verb(word);
    if (given_.verb != nullptr) {
      return;
    }
    std::vector<std::string_view> names;
    for (const cli::verb& v : shown_verbs()) {
      names.push_back(v.name);
      names.insert(names.end(), v.aliases.begin(), v.aliases.end());
    }
    refuse(fmt::format("the verb '{}'", word), "there is no such verb",
           hint(nearest(word, names), "lists the verbs"));
  }

  void take_long(std::string_view word) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const flag* const found = find_flag(known(), name);
    if (found == nullptr) {
      refuse_option(fmt::format("--{}", name), name);
    }
    const bool attached = equals != std::string_view::npos;
    add(*found, attached ? word.substr(equals + 1) : "", attached);
  }

  /// "-qN0": toggles, optionally ending with an option that takes the rest as its value.
  void take_letters(std::string_view letters) {
    while (!letters.empty()) {
      const flag* const found = find_flag(known(), letters.front());
      if (found == nullptr) {
        refuse_option(fmt::format("-{}", letters.front()), {});
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
        refuse(fmt::format("--{}={}", which.name, value),
               fmt::format("--{} takes no value", which.name), fmt::format("leave ={} out", value));
      }
    } else if (attached || which.kind != flag_kind::optional_value) {
      if (!attached && (rest_.empty() || std::string_view(rest_.front()) == "--")) {
        refuse(option_name(which), "its value is missing",
               fmt::format("write --{} {}; {}", which.name, which.value, hint("", "explains it")));
      }
      value = attached ? value : next();
      if (!which.choices.empty()) {
        require_one_of(split(which.choices, '|'), value, fmt::format("--{} {}", which.name, value),
                       which.names_form ? fmt::format("{} has the formats {}", given_.verb->name,
                                                      joined(split(which.choices, '|'), ", "))
                                        : fmt::format("it takes one of {}", which.choices),
                       "explains it");
      }
    }
    if (which.names_form) {
      given_.options.push_back({find_flag(known(), value), {}});
    } else {
      given_.options.push_back({&which, std::string(value)});
    }
  }

  /// Throws unless the word is one of these.
  void require_one_of(const std::vector<std::string_view>& names, std::string_view word,
                      std::string what, const std::string& reason,
                      std::string_view help_does) const {
    if (std::ranges::find(names, word) == names.end()) {
      refuse(std::move(what), reason, hint(nearest(word, names), help_does));
    }
  }
  template <class Range, class Name>
  static std::vector<std::string_view> names_of(const Range& all, Name name) {
    std::vector<std::string_view> names;
    std::ranges::transform(all, std::back_inserter(names), name);
    return names;
  }

  [[noreturn]] void refuse_option(const std::string& shown, std::string_view name) const {
    if (given_.verb == nullptr) {
      refuse("the option " + shown, "only --help, --version and --color may come before the verb",
             "write the verb first: nodewise VERB " + shown);
    }
    const std::string near =
        name.empty() ? std::string{} : nearest(name, names_of(known(), &flag::name));
    refuse("the option " + shown, fmt::format("{} has no such option", given_.verb->name),
           hint(near.empty() ? near : "--" + near, "lists the options"));
  }

  void take_operand(std::string_view word) {
    const cli::verb& v = *given_.verb;
    if (v.takes == operands::none) {
      refuse(fmt::format("the word '{}'", word), fmt::format("{} takes options only", v.name),
             fmt::format("see `{} --help`", command()));
    }
    if (given_.operands.empty() && !v.actions.empty()) {
      require_one_of(names_of(v.actions, &action::name), word, fmt::format("{} {}", v.name, word),
                     "there is no such action", "lists them");
    }
    given_.operands.emplace_back(word);
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
      refuse("nodewise", "the verb is missing", hint("", "lists the verbs"));
    }
    const cli::verb& v = *given_.verb;
    const bool alone = std::ranges::any_of(
        given_.options, [](const invocation::option& o) { return o.what->stands_alone; });
    if (v.takes == operands::program && given_.program.empty() && !alone) {
      refuse(command(), "the program is missing",
             fmt::format("write nodewise {} {}", v.name, v.usage));
    }
    if (!v.actions.empty() && given_.operands.empty()) {
      refuse(command(), "the action is missing", hint("", "lists the actions"));
    }
    const flag* form = nullptr;
    for (const flag* const each : v.flags) {
      if (each->is_form && given_.has(*each)) {
        refuse_both(form, each);
        form = each;
      }
    }
    // `lab shell` starts a machine without --on.
    for (const flag* const each : v.flags) {
      if (v.actions.empty() && each->group == group::virtual_machine && each != &flags::on &&
          each != &flags::on_counts && given_.has(*each) && !given_.has(flags::on)) {
        refuse(option_name(*each) + " without --on", "there is no virtual machine",
               "add for example --on lab:4x2");
      }
    }
    for (const auto& [a, b] : v.excludes) {
      refuse_both(given_.has(*a) ? a : nullptr, given_.has(*b) ? b : nullptr);
    }
  }
  /// Throws if both options are given, that is, neither is null.
  static void refuse_both(const flag* a, const flag* b) {
    if (a != nullptr && b != nullptr) {
      refuse(fmt::format("{} and {}", option_name(*a), option_name(*b)), "they cannot be combined",
             "leave one of them out");
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
