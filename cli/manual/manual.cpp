// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/manual/manual.hpp"

#include <cctype>
#include <utility>

#include <nodewise/version.hpp>

#include "base/text.hpp"
#include "cli/frame/help.hpp"

namespace nodewise::cli {

namespace {

/// Escapes text so that roff prints it literally: no line is taken for a request, a dash stays one
/// that can be copied into a shell, and text between backticks is bold.
std::string roff(std::string_view text) {
  constexpr std::string_view special = "\\-'\"";
  constexpr std::array<std::string_view, special.size()> escapes = {"\\e", "\\-", "\\(aq", "\\(dq"};
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  bool bold = false;
  for (const char c : text) {
    if (c == '`') {
      bold = !bold;
      out += bold ? "\\fB" : "\\fR";
    } else if (const std::size_t at = special.find(c); at != std::string_view::npos) {
      out += escapes.at(at);
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper(std::string_view text) {
  return joined(text, "",
                [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
}

std::string bold(std::string_view text) {
  return fmt::format("\\fB{}\\fR", roff(text));
}

std::string italic(std::string_view text) {
  return fmt::format("\\fI{}\\fR", roff(text));
}

class manual {
 public:
  manual(std::string_view page, std::string_view summary) {
    // No date: the same source gives the same page.
    line(fmt::format(".TH {} 1 \"\" \"nodewise {}\" \"Nodewise\"", upper(page), NODEWISE_VERSION));
    section("NAME");
    line(fmt::format("{} \\- {}", roff(page), roff(summary)));
  }

  void section(std::string_view name) { line(".SH " + upper(name)); }
  void subsection(std::string_view name) { line(fmt::format(".SS {}", name)); }
  void paragraph(std::string_view text) { line(".PP\n" + roff(text)); }
  void line(std::string_view formatted) { text_.append(formatted) += '\n'; }
  void entry(std::string_view formatted_term, std::string_view meaning) {
    line(fmt::format(".TP\n{}\n{}", formatted_term, roff(meaning)));
  }
  void exit_status(const verb* of) {
    section("EXIT STATUS");
    for (const exit_code_row& row : exit_codes_of(of)) {
      entry(bold(row.shown), row.meaning);
    }
  }
  void flag_entry(const flag& of, const verb* in) {
    std::string term = of.letter != '\0' ? bold(fmt::format("-{}", of.letter)) + ", " : "";
    term += bold(fmt::format("--{}", of.name));
    if (of.kind == flag_kind::optional_value) {
      term += "[=" + italic(of.value) + "]";
    } else if (!of.value.empty()) {
      term += " " + italic(of.value);
    }
    entry(term, flag_text(of, in));
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

} // namespace

std::string command_manual() {
  manual page("nodewise", command_summary);
  page.section("SYNOPSIS");
  page.line("\\fBnodewise\\fR \\fIVERB\\fR [\\fIoptions\\fR] ...");
  page.section("VERBS");
  for (const verb& v : shown_verbs()) {
    page.entry(fmt::format("{} {}", bold(v.name), roff(v.usage)), v.summary);
  }
  page.section("OPTIONS");
  for (const flag* const f : command_flags()) {
    page.flag_entry(*f, nullptr);
  }
  page.exit_status(nullptr);
  page.section("ENVIRONMENT");
  page.entry(bold("NO_COLOR"), "If set, the output has no colours.");
  page.entry(bold("CLICOLOR_FORCE"), "If set and not 0, output to a pipe has colours, too.");
  page.entry(bold("COLUMNS"), "The width of the output (default: that of the terminal, or 80).");
  page.section("SEE ALSO");
  for (const verb& v : shown_verbs()) {
    page.line(fmt::format(".BR nodewise\\-{} (1),", roff(v.name)));
  }
  page.line(".BR numactl (8),\n.BR lstopo (1),\n.BR numa (7)");
  return page.take();
}

std::string verb_manual(const verb& of) {
  manual page(fmt::format("nodewise-{}", of.name), of.summary);
  page.section("SYNOPSIS");
  page.line(fmt::format("{} {}", bold(fmt::format("nodewise {}", of.name)), roff(of.usage)));
  for (const std::string_view alias : of.aliases) {
    page.line(fmt::format(".br\n{} {}", bold(fmt::format("nodewise {}", alias)), roff(of.usage)));
  }
  page.section("DESCRIPTION");
  page.paragraph(of.description);
  if (!of.actions.empty()) {
    page.section("ACTIONS");
    for (const action& a : of.actions) {
      page.entry(fmt::format("{} {}", bold(a.name), italic(a.operands)), a.summary);
    }
  }
  page.section("OPTIONS");
  for (const flag_group& g : groups_of(of)) {
    page.subsection(g.name);
    for (const flag* const f : g.members) {
      page.flag_entry(*f, &of);
    }
  }
  page.section("EXAMPLES");
  for (const example& each : of.examples) {
    page.entry(bold(each.command), each.meaning);
  }
  page.exit_status(&of);
  page.section("SEE ALSO");
  page.line(".BR nodewise (1)");
  return page.take();
}

} // namespace nodewise::cli
