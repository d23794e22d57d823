// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/help.hpp"

#include <fmt/core.h>

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
  void add_example(const example& of) {
    line("  " + paint(how_, tone::accent, of.command));
    paragraph(of.meaning, 6);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  report::style how_;
  std::string text_;
};

void write_verbs(page& to) {
  to.title("Verbs");
  for (const verb& v : shown_verbs()) {
    to.entry(v.name, v.summary, 10);
  }
}

void write_exit_codes(page& to, const verb* of) {
  to.title("Exit codes");
  for (const exit_code_row& row : exit_codes_of(of)) {
    to.entry(row.shown, row.meaning, 5);
  }
}

verb_flag_text text_in(const flag& of, const verb& in) {
  const auto own = std::ranges::find(in.flag_texts, &of, &verb_flag_text::of);
  return own == in.flag_texts.end() ? verb_flag_text{&of, of.help} : *own;
}

} // namespace

std::string flag_heading(const flag& of) {
  const std::string letter = of.letter != '\0' ? fmt::format("-{}, ", of.letter) : "    ";
  if (of.kind == flag_kind::optional_value) {
    return fmt::format("{}--{}[={}]", letter, of.name, of.value);
  }
  return fmt::format("{}--{}{}{}", letter, of.name, of.value.empty() ? "" : " ", of.value);
}

std::string flag_text(const flag& of, const verb* in) {
  const verb_flag_text text = in == nullptr ? verb_flag_text{&of, of.help} : text_in(of, *in);
  return text.standard.empty() ? std::string(text.help)
                               : fmt::format("{} (default: {})", text.help, text.standard);
}

std::vector<exit_code_row> exit_codes_of(const verb* of) {
  if (of == nullptr) {
    return {exit_codes.begin(), exit_codes.end()};
  }
  std::vector<exit_code_row> rows;
  for (exit_code_row row : exit_codes) {
    const auto named = std::ranges::find(of->exit_codes, row.code, &verb_exit::code);
    const bool is_named = named != of->exit_codes.end();
    if (is_named && !named->meaning.empty()) {
      row.meaning = named->meaning;
    }
    if (is_named || row.code == exit_code::ok || row.code == exit_code::usage) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<flag_group> groups_of(const verb& of) {
  std::vector<flag_group> groups;
  for (const flag* const f : of.flags) {
    const std::string_view heading = text_in(*f, of).group;
    auto at = std::ranges::find(groups, heading, &flag_group::name);
    if (at == groups.end()) {
      groups.push_back({heading, {}});
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
  to.line(fmt::format("{} - {}", paint(how, tone::strong, "nodewise"), command_summary));
  to.line();
  to.line("usage: nodewise VERB [options] ...");
  write_verbs(to);
  to.title("Options");
  for (const flag* const f : command_flags()) {
    to.entry(flag_heading(*f), flag_text(*f, nullptr), widest_heading);
  }
  to.title("Examples");
  for (const char* const name : {"topo", "run", "profile"}) {
    to.add_example(find_verb(name)->examples.front());
  }
  write_exit_codes(to, nullptr);
  to.line();
  to.line("`nodewise VERB --help` describes a verb.");
  to.line("In `run` and `lab check`, -i, -p and -w are options of numactl.");
  to.line("In other verbs, -i is --input, -p is --process and -w is --workgroup.");
  return to.take();
}

std::string verb_help(const verb& of, const report::style& how) {
  page to(how);
  to.paragraph(fmt::format("{} - {}", paint(how, tone::strong, fmt::format("nodewise {}", of.name)),
                           of.summary),
               0);
  to.line();
  to.line(fmt::format("usage: nodewise {} {}", of.name, of.usage));
  for (const std::string_view alias : of.aliases) {
    to.line(fmt::format("alias: nodewise {}", alias));
  }
  to.line();
  to.paragraph(of.description, 0);
  if (!of.actions.empty()) {
    to.title("Actions");
    for (const action& a : of.actions) {
      to.entry(fmt::format("{}{}{}", a.name, a.operands.empty() ? "" : " ", a.operands), a.summary,
               17);
    }
  }
  for (const flag_group& g : groups_of(of)) {
    to.title(g.name);
    for (const flag* const f : g.members) {
      to.entry(flag_heading(*f), flag_text(*f, &of), widest_heading);
    }
  }
  to.title("Examples");
  for (const example& each : of.examples) {
    to.add_example(each);
  }
  write_exit_codes(to, &of);
  return to.take();
}

std::string short_help(const report::style& how) {
  page to(how);
  to.line("usage: nodewise VERB [options] ...");
  write_verbs(to);
  to.line();
  to.line("`nodewise --help` prints more, `nodewise VERB --help` describes a verb.");
  return to.take();
}

} // namespace nodewise::cli
