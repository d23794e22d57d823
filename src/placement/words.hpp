// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Lists of the words of kind.hpp, as help texts and errors print them: "bind:NODES,
// interleave[:NODES]". The compiler makes them, because the help texts are constants.
#pragma once

#include <cstddef>
#include <string_view>

#include "placement/kind.hpp"

namespace nodewise::placements {

/// Text that a constant expression builds.
struct word_list {
  char text[800] = {};
  std::size_t length = 0;

  constexpr word_list& add(std::string_view more) {
    for (const char c : more) {
      text[length++] = c;
    }
    return *this;
  }
  constexpr word_list& add_item(std::string_view item) {
    return add(length == 0 || text[length - 1] == ' ' ? "" : ", ").add(item);
  }
  [[nodiscard]] constexpr std::string_view view() const { return {text, length}; }
};

/// What may follow, as it is shown behind the word.
[[nodiscard]] constexpr std::string_view form_of(rest what) {
  switch (what) {
  case rest::never:
  case rest::nothing:
    break;
  case rest::nodes:
    return ":NODES";
  case rest::perhaps_nodes:
    return "[:NODES]";
  case rest::weights:
    return ":NODE=WEIGHT,...";
  case rest::row:
    return ":SIZE";
  case rest::granule:
    return ":SIZE[:NODES]";
  case rest::perhaps_granule:
    return "[:SIZE]";
  case rest::thread:
    return ":N";
  }
  return "";
}

/// Adds the words of the command line: those for which the kernel has a policy, or the others.
constexpr void add_command_words(word_list& into, bool divided, bool with_help) {
  for (const word& each : all_words) {
    const bool is_divided = traits_of(each.how).divided != division::none;
    if (each.in_command == rest::never || is_divided != divided) {
      continue;
    }
    into.add_item(each.name).add(form_of(each.in_command));
    if (each.in_command == rest::weights) {
      into.add_item(each.name).add(":auto[:NODES]");
    }
    if (with_help && *each.help != '\0') {
      into.add(" (").add(each.help).add(")");
    }
  }
}

/// "local, bind:NODES, ..., cyclic:SIZE[:NODES]"
inline constexpr word_list command_words_text = [] {
  word_list made;
  add_command_words(made, false, false);
  add_command_words(made, true, false);
  return made;
}();

/// "none, interleave[:NODES], ..., thread:N"
inline constexpr word_list plan_words_text = [] {
  word_list made;
  for (const word& each : all_words) {
    if (each.in_plan != rest::never) {
      made.add_item(each.name).add(form_of(each.in_plan));
    }
  }
  return made;
}();

} // namespace nodewise::placements
