// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/manual.hpp"

#include <algorithm>
#include <cctype>

#include <nodewise/version.hpp>

#include "cli/exit_codes.hpp"
#include "cli/help.hpp"

namespace nodewise::cli {

namespace {

/// Escapes text so that roff prints it literally: no line is taken for a request, a dash stays one
/// that can be copied into a shell, and text between backticks is bold.
std::string roff(std::string_view text) {
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  bool bold = false;
  for (const char c : text) {
    switch (c) {
    case '\\':
      out += "\\e";
      break;
    case '-':
      out += "\\-";
      break;
    case '\'':
      out += "\\(aq";
      break;
    case '"':
      out += "\\(dq";
      break;
    case '`':
      out += bold ? "\\fR" : "\\fB";
      bold = !bold;
      break;
    default:
      out += c;
    }
  }
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

class manual {
 public:
  manual(std::string_view page, std::string_view summary) {
    // No date: the same source gives the same page.
    text_ = ".TH " + upper(page) + " 1 \"\" \"nodewise " NODEWISE_VERSION "\" \"Nodewise\"\n";
    section("NAME");
    text_ += std::string(roff(page)) + " \\- " + roff(summary) + "\n";
  }

  void section(std::string_view name) { text_ += ".SH " + upper(name) + "\n"; }
  void subsection(std::string_view name) { text_ += ".SS " + std::string(name) + "\n"; }
  void paragraph(std::string_view text) { text_ += ".PP\n" + roff(text) + "\n"; }
  void line(const std::string& formatted) { text_ += formatted + "\n"; }
  void entry(const std::string& formatted_term, std::string_view meaning) {
    text_ += ".TP\n" + formatted_term + "\n" + roff(meaning) + "\n";
  }
  void examples(std::span<const example> all) {
    section("EXAMPLES");
    for (const example& e : all) {
      entry("\\fB" + roff(e.command) + "\\fR", e.meaning);
    }
  }
  void exit_status(const verb* of) {
    section("EXIT STATUS");
    for (const exit_code_row& row : exit_codes) {
      const bool always = row.code == exit_code::ok || row.code == exit_code::usage;
      if (of == nullptr || always ||
          std::ranges::find(of->exit_codes, row.code) != of->exit_codes.end()) {
        entry("\\fB" + roff(row.shown) + "\\fR", row.meaning);
      }
    }
  }
  void flag_entry(const flag& of) {
    std::string term;
    if (of.letter != '\0') {
      term = "\\fB\\-" + std::string(1, of.letter) + "\\fR, ";
    }
    term += "\\fB\\-\\-" + roff(of.name) + "\\fR";
    if (of.kind == flag_kind::optional_value) {
      term += "[=\\fI" + roff(of.value) + "\\fR]";
    } else if (!of.value.empty()) {
      term += " \\fI" + roff(of.value) + "\\fR";
    }
    entry(term, flag_text(of));
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

} // namespace

std::string command_manual() {
  manual page("nodewise", "put data next to the work on machines whose memory is not uniform");
  page.section("SYNOPSIS");
  page.line("\\fBnodewise\\fR \\fIVERB\\fR [\\fIoptions\\fR] ...");
  page.section("VERBS");
  for (const verb& v : all_verbs()) {
    if (!v.hidden) {
      page.entry("\\fB" + roff(v.name) + "\\fR " + roff(v.usage), v.summary);
    }
  }
  page.section("OPTIONS");
  for (const flag* const f : command_flags()) {
    page.flag_entry(*f);
  }
  page.exit_status(nullptr);
  page.section("ENVIRONMENT");
  page.entry("\\fBNO_COLOR\\fR", "If set to anything, there are no colours.");
  page.entry("\\fBCLICOLOR_FORCE\\fR", "If set and not 0, there are colours in a pipe, too.");
  page.entry("\\fBCOLUMNS\\fR", "The width of the output; otherwise that of the terminal, or 80.");
  page.section("SEE ALSO");
  for (const verb& v : all_verbs()) {
    if (!v.hidden) {
      page.line(".BR nodewise\\-" + roff(v.name) + " (1),");
    }
  }
  page.line(".BR numactl (8),\n.BR lstopo (1),\n.BR numa (7)");
  return page.take();
}

std::string verb_manual(const verb& of) {
  manual page("nodewise-" + std::string(of.name), of.summary);
  page.section("SYNOPSIS");
  page.line("\\fBnodewise " + roff(of.name) + "\\fR " + roff(of.usage));
  page.section("DESCRIPTION");
  page.paragraph(of.description);
  if (!of.actions.empty()) {
    page.section("ACTIONS");
    for (const action& a : of.actions) {
      page.entry("\\fB" + roff(a.name) + "\\fR \\fI" + roff(a.operands) + "\\fR", a.summary);
    }
  }
  page.section("OPTIONS");
  for (const flag_group& g : groups_of(of)) {
    page.subsection(g.name);
    for (const flag* const f : g.members) {
      page.flag_entry(*f);
    }
  }
  page.examples(of.examples);
  page.exit_status(&of);
  page.section("SEE ALSO");
  page.line(".BR nodewise (1)");
  return page.take();
}

} // namespace nodewise::cli
