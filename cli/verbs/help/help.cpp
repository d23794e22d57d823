// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/help.hpp"

#include <cerrno>
#include <fstream>

#include <unistd.h>

#include <fmt/core.h>

#include "cli/frame/terminal.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/manual/manual.hpp"

namespace nodewise::cli::verbs {

namespace {

const verb& verb_named(const std::string& name) {
  // Uses the parser, so that a typing error gets the usual message.
  const std::array<const char*, 2> words = {name.c_str(), "--help"};
  return *parse(words).verb;
}

void write_page(const std::string& directory, std::string_view page, const std::string& text) {
  const std::string file = fmt::format("{}/{}.1", directory, page);
  std::ofstream out(file, std::ios::trunc);
  out << text << std::flush;
  if (!out) {
    throw error(error_kind::system, "writing the manual page " + file, "the file was not written",
                "check that the directory exists", errno);
  }
}

} // namespace

int help(const invocation& given) {
  const report::style how = style_of(STDOUT_FILENO, given);
  write_out(given.operands.empty() ? command_help(how)
                                   : verb_help(verb_named(given.operands.front()), how));
  return exit_code::ok;
}

int internal(const invocation& given) {
  const std::vector<std::string>& words = given.operands;
  if (words.size() == 2 && words[0] == "man-pages") {
    write_page(words[1], "nodewise", command_manual());
    for (const verb& v : shown_verbs()) {
      write_page(words[1], fmt::format("nodewise-{}", v.name), verb_manual(v));
    }
    return exit_code::ok;
  }
  if (!words.empty() && words.size() <= 2 && words[0] == "man") {
    write_out(words.size() == 1 ? command_manual() : verb_manual(verb_named(words[1])));
    return exit_code::ok;
  }
  if (words.size() == 2 && words[0] == "completion") {
    write_out(completion_script(words[1]));
    return exit_code::ok;
  }
  throw error(error_kind::usage, "nodewise internal", "invalid arguments",
              "write nodewise internal man [VERB] | man-pages DIRECTORY | completion SHELL");
}

} // namespace nodewise::cli::verbs
