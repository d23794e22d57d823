// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/completion.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "cli/completion_words.hpp"
#include "cli/invocation.hpp"

namespace nodewise::cli {

namespace {

std::vector<const verb*> shown_verbs() {
  std::vector<const verb*> shown;
  for (const verb& v : all_verbs()) {
    if (!v.hidden) {
      shown.push_back(&v);
    }
  }
  return shown;
}

/// The words proposed as the value, separated by blanks; `colon` replaces each colon.
std::string words_of(const flag& of, std::string_view colon = ":") {
  std::string text;
  for (const std::string& word : proposed_words(of)) {
    text += text.empty() ? "" : " ";
    for (const char letter : word) {
      text += letter == ':' ? std::string(colon) : std::string(1, letter);
    }
  }
  return text;
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

/// Joins the words that `word_of` makes of the items with `between`; leaves out empty words.
template <class Items>
std::string joined(const Items& items, std::string_view between,
                   const std::function<std::string(decltype(*std::begin(items)))>& word_of) {
  std::string text;
  for (const auto& item : items) {
    const std::string word = word_of(item);
    text += (text.empty() || word.empty() ? "" : std::string(between)) + word;
  }
  return text;
}

std::string names_of(const flag& of, std::string_view between) {
  return (of.letter == '\0' ? "" : "-" + std::string(1, of.letter) + std::string(between)) +
         option_name(of);
}

// bash

/// The values proposed after an option that takes one: its choices, files, or nothing.
std::string bash_values(const verb& of) {
  std::string text;
  for (const flag* const f : of.flags) {
    if (!needs_value(*f)) {
      continue;
    }
    text += "      " + names_of(*f, "|") + ") ";
    if (takes_file(*f)) {
      text += "_nodewise_files \"" + words_of(*f) + "\"; ";
    } else if (const std::string words = words_of(*f); !words.empty()) {
      text += std::string(takes_a_list(*f) ? "_nodewise_list" : "_nodewise_words") + " \"" + words +
              "\"; ";
    }
    text += "return ;;\n";
  }
  return text;
}

std::string bash_verb(const verb& of) {
  const std::string options =
      joined(of.flags, " ", [](const flag* const& f) { return names_of(*f, " "); });
  const std::string values = joined(of.flags, "|", [](const flag* const& f) {
    return needs_value(*f) ? names_of(*f, "|") : std::string{};
  });
  std::string text = "  " + std::string(of.name);
  for (const std::string_view alias : of.aliases) {
    text += "|" + std::string(alias);
  }
  text += ")\n";
  if (takes_program(of)) {
    const bool behind_dashes = of.takes == operands::names_or_program;
    text +=
        "    _nodewise_program \"" + values + "\"" + (behind_dashes ? " --" : "") + " && return\n";
  }
  text += "    case $previous in\n" + bash_values(of) + "    esac\n";
  const std::string actions =
      joined(of.actions, " ", [](const action& a) { return std::string(a.name); });
  text += "    if [[ $word == -* ]]; then\n      _nodewise_words \"" + options + "\"\n";
  if (!actions.empty()) {
    text += "    else\n      _nodewise_words \"" + actions + "\"\n";
  } else if (takes_program(of)) {
    text += "    else\n      COMPREPLY=($(compgen -c -- \"$word\") $(compgen -f -- \"$word\"))\n";
  }
  return text + "    fi ;;\n";
}

std::string bash_script() {
  const auto verbs = shown_verbs();
  const std::string names =
      joined(verbs, " ", [](const verb* const& v) { return std::string(v->name); });
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
  text += "    _nodewise_words \"" + names + " " +
          joined(command_flags(), " ", [](const flag* const& f) { return option_name(*f); }) +
          "\"\n    return\n  fi\n  case ${words[at]} in\n";
  for (const verb* const v : verbs) {
    text += bash_verb(*v);
  }
  return text + "  esac\n}\n\ncomplete -o bashdefault -F _nodewise nodewise\n";
}

// zsh

/// Help text in the brackets of an _arguments specification, which is in single quotes.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\'') {
      out += "'\\''";
      continue;
    }
    out += letter == '[' || letter == ']' || letter == ':' || letter == '\\'
               ? std::string{'\\', letter}
               : std::string(1, letter);
  }
  return out;
}

bool more_follows(const flag& of) {
  return std::ranges::any_of(proposed_words(of),
                             [](const std::string& word) { return word.ends_with(':'); });
}

std::string zsh_value(const flag& of) {
  const std::string name = zsh_text(of.value);
  if (of.kind == flag_kind::toggle) {
    return "";
  }
  const std::string words = words_of(of, "\\:");
  if (words.empty()) {
    return ":" + name + ":" + (takes_file(of) ? "_files" : " ");
  }
  if (takes_a_list(of)) {
    return ":" + name + ":_sequence compadd - " + words;
  }
  // A word that ends in a colon continues, so no blank follows it.
  const std::string some =
      "compadd " + std::string(more_follows(of) ? "-S \"\" " : "") + "- " + words;
  return ":" + name + ":" +
         (takes_file(of)     ? "{" + some + "; _files}"
          : more_follows(of) ? "{" + some + "}"
                             : "(" + words + ")");
}

std::string zsh_flag(const flag& of) {
  const std::string help = "[" + zsh_text(of.help) + "]" + zsh_value(of);
  const std::string sign = of.kind == flag_kind::toggle           ? ""
                           : of.kind == flag_kind::optional_value ? "=-"
                                                                  : "=";
  const std::string many = of.kind == flag_kind::list ? "*" : "";
  std::string text = "      '" + many + option_name(of) + sign + help + "' \\\n";
  if (of.letter != '\0') {
    const std::string letter = "-" + std::string(1, of.letter);
    text += "      '" + many + letter + (sign.empty() ? "" : "+") + help + "' \\\n";
  }
  return text;
}

std::string zsh_script() {
  std::string text = "#compdef nodewise\n# Completion of nodewise for zsh.\n\n_nodewise() {\n"
                     "  local context state line\n  typeset -A opt_args\n  local -a verbs=(\n";
  for (const verb* const v : shown_verbs()) {
    text += "    '" + std::string(v->name) + ":" + zsh_text(v->summary) + "'\n";
  }
  text += "  )\n  _arguments -C \\\n";
  for (const flag* const f : command_flags()) {
    text += zsh_flag(*f);
  }
  text += "      '1:verb:->verb' '*::argument:->argument'\n"
          "  case $state in\n  verb) _describe verb verbs ;;\n  argument)\n    case $words[1] in\n";
  for (const verb* const v : shown_verbs()) {
    text += "    " + std::string(v->name) + ")\n      _arguments -s \\\n";
    for (const flag* const f : v->flags) {
      text += zsh_flag(*f);
    }
    if (!v->actions.empty()) {
      text += "      '1:action:(" +
              joined(v->actions, " ", [](const action& a) { return std::string(a.name); }) +
              ")' '*:operand:_files' ;;\n";
    } else {
      text +=
          takes_program(*v) ? "      '*::program:_normal' ;;\n" : "      '*:operand:_files' ;;\n";
    }
  }
  return text + "    esac ;;\n  esac\n}\n\n_nodewise \"$@\"\n";
}

// fish

std::string fish_text(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    out += letter == '\'' || letter == '\\' ? std::string{'\\', letter} : std::string(1, letter);
  }
  return "'" + out + "'";
}

std::string fish_flag(const flag& of) {
  std::string text = " -l " + std::string(of.name);
  text += of.letter == '\0' ? "" : " -s " + std::string(1, of.letter);
  if (needs_value(of)) {
    text += takes_file(of) ? " -r -F" : " -x";
    const std::string words = words_of(of);
    text += words.empty() ? ""
            : takes_a_list(of)
                ? " -a \"(__fish_complete_list , 'string split \\\" \\\" \\\"" + words + "\\\"')\""
                : " -a '" + words + "'";
  }
  return text + " -d " + fish_text(of.help);
}

std::string fish_script() {
  std::string text = "# Completion of nodewise for fish.\n\ncomplete -c nodewise -f\n";
  for (const verb* const v : shown_verbs()) {
    text += "complete -c nodewise -n __fish_use_subcommand -a " + std::string(v->name) + " -d " +
            fish_text(v->summary) + "\n";
  }
  for (const flag* const f : command_flags()) {
    text += "complete -c nodewise -n __fish_use_subcommand" + fish_flag(*f) + "\n";
  }
  for (const verb* const v : shown_verbs()) {
    const std::string line =
        "complete -c nodewise -n '__fish_seen_subcommand_from " + std::string(v->name) + "'";
    for (const flag* const f : v->flags) {
      text += line + fish_flag(*f) + "\n";
    }
    for (const action& a : v->actions) {
      text += line + " -a " + std::string(a.name) + " -d " + fish_text(a.summary) + "\n";
    }
    if (takes_program(*v)) {
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
  throw error(error_kind::usage, "completion for " + std::string(shell),
              "there is none for this shell", "name bash, zsh or fish");
}

} // namespace nodewise::cli
