// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/manual/manual.hpp"

#include <iterator>

#include "base/text.hpp"
#include "cli/frame/invocation.hpp"
#include "cli/machine/source.hpp"
#include "cli/start/flags.hpp"
#include "cli/verbs/measure/flags.hpp"
#include "measure/kernels.hpp"
#include "placement/placement.hpp"

namespace nodewise::cli {

namespace {

template <class Values, class Text = std::identity>
std::vector<std::string> words_from(const Values& values, Text text = {}) {
  std::vector<std::string> words;
  for (const auto& each : values) {
    words.emplace_back(std::invoke(text, each));
  }
  return words;
}

/// What a shell proposes as the value of an option, besides files: its choices, the virtual
/// machines of `--on`, the placements of `--memory`. A word that ends in ':' needs more after it.
/// Empty if there is nothing to propose.
std::vector<std::string> proposed_words(const flag& of) {
  if (!of.choices.empty()) {
    return words_from(split(of.choices, '|'));
  }
  if (&of == &flags::on || &of == &flags::input) {
    return words_from(lab_machine_names(paths::of_this_process()),
                      [](const std::string& name) { return "lab:" + name; });
  }
  if (&of == &flags::memory) {
    return placements::command_words();
  }
  if (&of == &flags::only) {
    return words_from(measure::all_experiments, &measure::description::name);
  }
  if (&of == &flags::measured_kernel) {
    return words_from(measure::kernels(), &measure::kernel::name);
  }
  if (&of == &flags::workgroup) { // LIKWID's domains: node, sockets, memories, last-level caches
    return {"N:", "S0:", "S1:", "M0:", "M1:", "C0:", "C1:"};
  }
  return {};
}

/// Whether the value is a comma-separated list of such words.
bool takes_a_list(const flag& of) {
  return &of == &flags::only || &of == &flags::measured_kernel;
}

/// The words proposed as the value, separated by blanks; `colon` replaces each colon.
std::string words_of(const flag& of, std::string_view colon = ":") {
  return joined(proposed_words(of), " ",
                [&](std::string_view word) { return joined(split(word, ':'), colon); });
}

bool needs_value(const flag& of) {
  return of.kind == flag_kind::value || of.kind == flag_kind::list;
}

bool takes_file(const flag& of) {
  return of.value == "FILE" || of.value == "MACHINE";
}

bool takes_program(const verb& of) {
  return of.takes != operands::none && of.takes != operands::names;
}

std::string names_of(const flag& of, std::string_view between) {
  return of.letter == '\0' ? option_name(of)
                           : fmt::format("-{}{}{}", of.letter, between, option_name(of));
}

/// The name and the aliases.
std::string names_of(const verb& of, std::string_view between) {
  std::string text(of.name);
  for (const std::string_view alias : of.aliases) {
    text.append(between).append(alias);
  }
  return text;
}

std::string action_names(const verb& of) {
  return joined(of.actions, " ", &action::name);
}

std::vector<const flag*> flags_with_value(const verb& of) {
  std::vector<const flag*> flags;
  std::ranges::copy_if(of.flags, std::back_inserter(flags),
                       [](const flag* f) { return needs_value(*f); });
  return flags;
}

// bash

/// The values proposed after an option that takes one: its choices, files, or nothing.
std::string bash_values(const verb& of) {
  std::string text;
  for (const flag* const f : flags_with_value(of)) {
    const std::string words = words_of(*f);
    const char* const function = takes_file(*f)     ? "_nodewise_files"
                                 : takes_a_list(*f) ? "_nodewise_list"
                                                    : "_nodewise_words";
    const bool proposes = takes_file(*f) || !words.empty();
    text += fmt::format("      {}) {}return ;;\n", names_of(*f, "|"),
                        proposes ? fmt::format("{} \"{}\"; ", function, words) : "");
  }
  return text;
}

std::string bash_verb(const verb& of) {
  const std::string options =
      joined(of.flags, " ", [](const flag* f) { return names_of(*f, " "); });
  const std::string values =
      joined(flags_with_value(of), "|", [](const flag* f) { return names_of(*f, "|"); });
  std::string text = fmt::format("  {})\n", names_of(of, "|"));
  if (takes_program(of)) {
    text += fmt::format("    _nodewise_program \"{}\"{} && return\n", values,
                        of.takes == operands::names_or_program ? " --" : "");
  }
  text += fmt::format("    case $previous in\n{}    esac\n    if [[ $word == -* ]]; then\n"
                      "      _nodewise_words \"{}\"\n",
                      bash_values(of), options);
  if (!of.actions.empty()) {
    text += fmt::format("    else\n      _nodewise_words \"{}\"\n", action_names(of));
  } else if (takes_program(of)) {
    text += "    else\n      COMPREPLY=($(compgen -c -- \"$word\") $(compgen -f -- \"$word\"))\n";
  }
  return text + "    fi ;;\n";
}

std::string bash_script() {
  std::string text = R"(# Completion of nodewise for bash.

_nodewise_words() { COMPREPLY=($(compgen -W "$1" -- "$word")); }
_nodewise_files() { COMPREPLY=($(compgen -W "$1" -- "$word") $(compgen -f -- "$word")); }
# Of words with commas between, the last one.
_nodewise_list() {
  local before=''
  [[ $word == *,* ]] && before=${word%,*},
  COMPREPLY=($(compgen -P "$before" -W "$1" -- "${word##*,}"))
}

# words, here, origin: COMP_WORDS and COMP_CWORD with "lab:4x2" as one word again, which bash breaks
# at its colons unless COMP_WORDBREAKS has none; and where each began.
_nodewise_join() {
  local i last
  words=() origin=()
  for ((i = 0; i < ${#COMP_WORDS[@]}; ++i)); do
    last=$((${#words[@]} - 1))
    if ((last > 0)) && [[ ${COMP_WORDS[i]} == :* || ( ${COMP_WORDS[i-1]} == : && ${COMP_WORDS[i]} != -* ) ]]; then
      words[last]+=${COMP_WORDS[i]}
    else
      words+=("${COMP_WORDS[i]}")
      origin+=("$i")
      ((++last))
    fi
    ((i == COMP_CWORD)) && here=$last
  done
}

# Behind "--" or the first word that is no option: the program's own completion. $1: the options
# whose value is the next word, "-N|--cpunodebind"; $2: not empty if only "--" begins a program.
_nodewise_program() {
  local i=$((at + 1))
  while ((i < here)); do
    case ${words[i]} in
    --) ((++i)); break ;;
    --*) [[ ${words[i+1]} == '=' ]] && ((i += 2)) || { [[ "|$1|" == *"|${words[i]}|"* ]] && ((++i)); } ;;
    -?) [[ "|$1|" == *"|${words[i]}|"* ]] && ((++i)) ;;
    -*) ;;
    *) [[ $2 ]] || break ;;
    esac
    ((++i))
  done
  ((i > here)) && return 1
  ((i == here)) && [[ ${words[i-1]} != -- ]] && return 1
  if ((i == here)); then
    COMPREPLY=($(compgen -c -- "$word") $(compgen -f -- "$word"))
  elif declare -F _command_offset >/dev/null; then
    _command_offset "${origin[i]}"
  else
    _nodewise_files
  fi
  return 0 # also where nothing fits
}

_nodewise() {
  local -a words origin
  local here=0
  _nodewise_join
  _nodewise_propose
  # What bash has broken off already is not proposed again.
  local current=${COMP_WORDS[COMP_CWORD]} known=${words[here]}
  [[ $current == : ]] && current=''
  known=${known%"$current"}
  if [[ $known == *: ]] && ((${origin[here]} < COMP_CWORD)); then
    COMPREPLY=("${COMPREPLY[@]#"$known"}")
  fi
  if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *: ]]; then
    compopt -o nospace 2>/dev/null # more follows a colon
  fi
  return 0
}

_nodewise_propose() {
  local word=${words[here]} previous=${words[here-1]} at
  COMPREPLY=()
  # "--bind=close" comes as three words.
  if [[ $word == '=' ]]; then
    word=''
  elif [[ $previous == '=' ]]; then
    previous=${words[here-2]}
  fi
  for ((at = 1; at < here; ++at)); do
    [[ ${words[at]} != -* ]] && break
  done
  if ((at >= here)); then
)";
  std::string words;
  for (const verb& v : shown_verbs()) {
    words.append(v.name) += ' ';
  }
  words += joined(command_flags(), " ", [](const flag* f) { return option_name(*f); });
  text += fmt::format("    _nodewise_words \"{}\"\n    return\n  fi\n  case ${{words[at]}} in\n",
                      words);
  for (const verb& v : shown_verbs()) {
    text += bash_verb(v);
  }
  return text + "  esac\n}\n\ncomplete -o bashdefault -F _nodewise nodewise\n";
}

// zsh

std::string backslashed(std::string_view text, std::string_view special) {
  return joined(text, "", [&](char letter) {
    return fmt::format("{}{}", special.find(letter) == std::string_view::npos ? "" : "\\", letter);
  });
}

/// Help text in the brackets of an _arguments specification, which is in single quotes.
std::string zsh_text(std::string_view text) {
  return joined(split(backslashed(text, "[]:\\"), '\''), "'\\''");
}

bool more_follows(const flag& of) {
  return std::ranges::any_of(proposed_words(of),
                             [](const std::string& word) { return word.ends_with(':'); });
}

std::string zsh_value(const flag& of) {
  if (of.kind == flag_kind::toggle) {
    return "";
  }
  const std::string words = words_of(of, "\\:");
  // A word that ends in a colon continues, so no blank follows it.
  const std::string some = fmt::format("compadd {}- {}", more_follows(of) ? "-S \"\" " : "", words);
  const std::string proposed = words.empty()      ? (takes_file(of) ? "_files" : " ")
                               : takes_a_list(of) ? "_sequence compadd - " + words
                               : takes_file(of)   ? fmt::format("{{{}; _files}}", some)
                               : more_follows(of) ? fmt::format("{{{}}}", some)
                                                  : fmt::format("({})", words);
  return fmt::format(":{}:{}", zsh_text(of.value), proposed);
}

std::string zsh_flag(const flag& of) {
  const std::string help = fmt::format("[{}]{}", zsh_text(of.help), zsh_value(of));
  const bool toggle = of.kind == flag_kind::toggle;
  const char* const sign = toggle ? "" : of.kind == flag_kind::optional_value ? "=-" : "=";
  const char* const many = of.kind == flag_kind::list ? "*" : "";
  std::string text = fmt::format("      '{}{}{}{}' \\\n", many, option_name(of), sign, help);
  if (of.letter != '\0') {
    text += fmt::format("      '{}-{}{}{}' \\\n", many, of.letter, toggle ? "" : "+", help);
  }
  return text;
}

std::string zsh_script() {
  std::string text = "#compdef nodewise\n# Completion of nodewise for zsh.\n\n_nodewise() {\n"
                     "  local context state line\n  typeset -A opt_args\n  local -a verbs=(\n";
  for (const verb& v : shown_verbs()) {
    text += fmt::format("    '{}:{}'\n", v.name, zsh_text(v.summary));
  }
  text += "  )\n  _arguments -C \\\n";
  for (const flag* const f : command_flags()) {
    text += zsh_flag(*f);
  }
  text += "      '1:verb:->verb' '*::argument:->argument'\n"
          "  case $state in\n  verb) _describe verb verbs ;;\n  argument)\n    case $words[1] in\n";
  for (const verb& v : shown_verbs()) {
    text += fmt::format("    {})\n      _arguments -s \\\n", names_of(v, "|"));
    for (const flag* const f : v.flags) {
      text += zsh_flag(*f);
    }
    if (!v.actions.empty()) {
      text += fmt::format("      '1:action:({})' '*:operand:_files' ;;\n", action_names(v));
    } else {
      text +=
          takes_program(v) ? "      '*::program:_normal' ;;\n" : "      '*:operand:_files' ;;\n";
    }
  }
  return text + "    esac ;;\n  esac\n}\n\n_nodewise \"$@\"\n";
}

// fish

std::string fish_text(std::string_view text) {
  return fmt::format("'{}'", backslashed(text, "'\\"));
}

std::string fish_flag(const flag& of) {
  std::string text = fmt::format(" -l {}", of.name);
  text += of.letter == '\0' ? "" : fmt::format(" -s {}", of.letter);
  if (needs_value(of)) {
    text += takes_file(of) ? " -r -F" : " -x";
    const std::string words = words_of(of);
    if (takes_a_list(of)) {
      text += fmt::format(R"#( -a "(__fish_complete_list , 'string split \" \" \"{}\"')")#", words);
    } else if (!words.empty()) {
      text += fmt::format(" -a '{}'", words);
    }
  }
  return text + " -d " + fish_text(of.help);
}

std::string fish_script() {
  constexpr const char* without_verb = "complete -c nodewise -n __fish_use_subcommand";
  std::string text = "# Completion of nodewise for fish.\n\ncomplete -c nodewise -f\n";
  for (const verb& v : shown_verbs()) {
    text += fmt::format("{} -a {} -d {}\n", without_verb, v.name, fish_text(v.summary));
  }
  for (const flag* const f : command_flags()) {
    text += fmt::format("{}{}\n", without_verb, fish_flag(*f));
  }
  for (const verb& v : shown_verbs()) {
    const std::string line =
        fmt::format("complete -c nodewise -n '__fish_seen_subcommand_from {}'", names_of(v, " "));
    for (const flag* const f : v.flags) {
      text += fmt::format("{}{}\n", line, fish_flag(*f));
    }
    for (const action& a : v.actions) {
      text += fmt::format("{} -a {} -d {}\n", line, a.name, fish_text(a.summary));
    }
    if (takes_program(v)) {
      text += line + " -a '(__fish_complete_subcommand)'\n";
    }
  }
  return text;
}

} // namespace

std::string completion_script(std::string_view shell) {
  if (shell == "bash") {
    return bash_script();
  }
  if (shell == "zsh") {
    return zsh_script();
  }
  if (shell == "fish") {
    return fish_script();
  }
  throw error(error_kind::usage, fmt::format("completion for {}", shell),
              "this shell is not supported", "use bash, zsh or fish");
}

} // namespace nodewise::cli
