// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/help.hpp"

#include <algorithm>

#include "cli/exit_codes.hpp"
#include "report/wrap.hpp"

namespace nodewise::cli {

namespace {

using report::paint;
using report::tone;

constexpr std::size_t widest_text = 100;
constexpr std::size_t widest_heading = 24;

class page {
 public:
  explicit page(const report::style& how) : how_(how) {
    how_.width = std::min(how.width, widest_text);
  }

  void line(const std::string& text = {}) { text_ += text + "\n"; }
  void title(std::string_view text) {
    line();
    line(paint(how_, tone::strong, text));
  }
  void paragraph(std::string_view text, std::size_t indent) {
    line(std::string(indent, ' ') + report::wrap_indented(text, how_.width, indent));
  }
  /// A term and its meaning in two columns, or one below the other if the term is long.
  void entry(std::string_view term, std::string_view meaning, std::size_t term_width) {
    const std::size_t indent = 2 + term_width + 2;
    std::string head = "  " + paint(how_, tone::accent, term);
    if (report::display_width(term) > term_width) {
      line(head);
      head = std::string(indent, ' ');
    } else {
      head = report::pad_right(head, indent);
    }
    line(head + report::wrap_indented(meaning, how_.width, indent));
  }
  void examples(std::span<const example> all) {
    title("Examples");
    for (const example& e : all) {
      line("  " + paint(how_, tone::accent, e.command));
      paragraph(e.meaning, 6);
    }
  }
  [[nodiscard]] const report::style& how() const { return how_; }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  report::style how_;
  std::string text_;
};

void write_verbs(page& to) {
  to.title("Verbs");
  for (const verb& v : all_verbs()) {
    if (!v.hidden) {
      to.entry(v.name, v.summary, 8);
    }
  }
}

void write_exit_codes(page& to, const verb* of) {
  to.title("Exit codes");
  for (const exit_code_row& row : exit_codes) {
    const bool always = row.code == exit_code::ok || row.code == exit_code::usage;
    if (of == nullptr || always ||
        std::ranges::find(of->exit_codes, row.code) != of->exit_codes.end()) {
      to.entry(row.shown, row.meaning, 5);
    }
  }
}

} // namespace

std::string flag_heading(const flag& of) {
  std::string text = of.letter != '\0' ? "-" + std::string(1, of.letter) + ", " : "    ";
  text += "--" + std::string(of.name);
  if (of.kind == flag_kind::optional_value) {
    return text + "[=" + std::string(of.value) + "]";
  }
  return of.value.empty() ? text : text + " " + std::string(of.value);
}

std::string flag_text(const flag& of) {
  return std::string(of.help) +
         (of.standard.empty() ? "" : " (default: " + std::string(of.standard) + ")");
}

std::vector<flag_group> groups_of(const verb& of) {
  std::vector<flag_group> groups;
  for (const flag* const f : of.flags) {
    auto at = std::ranges::find(groups, f->group, &flag_group::name);
    if (at == groups.end()) {
      groups.push_back({f->group, {}});
      at = groups.end() - 1;
    }
    at->members.push_back(f);
  }
  // The options that every verb has come last.
  const auto common = std::ranges::find(groups, group::common, &flag_group::name);
  if (common != groups.end()) {
    std::rotate(common, common + 1, groups.end());
  }
  return groups;
}

std::string command_help(const report::style& how) {
  page to(how);
  to.line(paint(how, tone::strong, "nodewise") +
          " - put data next to the work on machines whose memory is not uniform");
  to.line();
  to.line("usage: nodewise VERB [options] ...");
  write_verbs(to);
  to.title("Options");
  for (const flag* const f : command_flags()) {
    to.entry(flag_heading(*f), flag_text(*f), widest_heading);
  }
  to.title("Examples");
  for (const char* const name : {"topo", "run", "doctor"}) {
    const example& first = find_verb(name)->examples.front();
    to.line("  " + paint(how, tone::accent, first.command));
    to.paragraph(first.meaning, 6);
  }
  write_exit_codes(to, nullptr);
  to.line();
  to.line("`nodewise VERB --help` explains a verb.");
  return to.take();
}

std::string verb_help(const verb& of, const report::style& how) {
  page to(how);
  to.paragraph(paint(how, tone::strong, "nodewise " + std::string(of.name)) + " - " +
                   std::string(of.summary),
               0);
  to.line();
  to.line("usage: nodewise " + std::string(of.name) + " " + std::string(of.usage));
  to.line();
  to.paragraph(of.description, 0);
  if (!of.actions.empty()) {
    to.title("Actions");
    for (const action& a : of.actions) {
      to.entry(std::string(a.name) + (a.operands.empty() ? "" : " " + std::string(a.operands)),
               a.summary, 17);
    }
  }
  for (const flag_group& g : groups_of(of)) {
    to.title(g.name);
    for (const flag* const f : g.members) {
      to.entry(flag_heading(*f), flag_text(*f), widest_heading);
    }
  }
  to.examples(of.examples);
  write_exit_codes(to, &of);
  return to.take();
}

std::string short_help(const report::style& how) {
  page to(how);
  to.line("usage: nodewise VERB [options] ...");
  write_verbs(to);
  to.line();
  to.line("`nodewise --help` says more, `nodewise VERB --help` explains a verb.");
  return to.take();
}

} // namespace nodewise::cli
