// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <set>

#include "base/text.hpp"
#include "cli/profiles/gain.hpp"
#include "cli/verbs/profile/flags.hpp"
#include "cli/verbs/profile/result.hpp"
#include "report/table.hpp"
#include "symbols/names.hpp"

namespace nodewise::cli {

namespace {

constexpr std::size_t most_findings = 2;
constexpr std::size_t most_names = 3;

/// A name from a program as code: whatever it holds, it is neither markup nor a link nor the name
/// of a person. The fence is longer than any row of backticks in the name.
std::string code_span(std::string_view name) {
  const std::string text = printable(name);
  std::size_t longest = 0;
  std::size_t row = 0;
  for (const char letter : text) {
    row = letter == '`' ? row + 1 : 0;
    longest = std::max(longest, row);
  }
  const std::string fence(longest + 1, '`');
  const bool needs_blanks = text.empty() || text.starts_with('`') || text.ends_with('`');
  const char* const blank = needs_blanks ? " " : "";
  return fence + blank + text + blank + fence;
}

/// Whether Markdown, HTML or a forge gives the character a meaning between these two.
bool is_markup(char letter, char before, char after) {
  constexpr std::string_view always = "\\`*_{}[]<>+!|~&$";
  return always.find(letter) != std::string_view::npos ||
         (letter == ':' && after != ' ' && after != '\0') || // http://, :smile:
         (letter == '.' && before == 'w');                   // www.
}

/// A sentence of ours that may hold a name: all markup in it is escaped. Forges link @name and #1
/// even if they are escaped, but not in code.
std::string markdown_text(std::string_view sentence) {
  const std::string plain = printable(sentence);
  const auto is_link = [](char letter) { return letter == '@' || letter == '#'; };
  std::string text;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const char before = i > 0 ? plain[i - 1] : '\0';
    const char after = i + 1 < plain.size() ? plain[i + 1] : '\0';
    if (is_link(plain[i])) {
      text +=
          fmt::format("{}{}{}", is_link(before) ? "" : "`", plain[i], is_link(after) ? "" : "`");
    } else {
      text += fmt::format("{}{}", is_markup(plain[i], before, after) ? "\\" : "", plain[i]);
    }
  }
  return text;
}

template <class Value, class Text>
std::string first_few(const std::vector<Value>& values, Text text) {
  const std::size_t shown = std::min(values.size(), most_names);
  const std::string more =
      values.size() > shown ? fmt::format(" and {} more", values.size() - shown) : "";
  return joined(std::span(values).first(shown), ", ", text) + more;
}

std::string array_words(const advise::named_objects& what) {
  const std::string size = report::format_bytes(what.bytes);
  return what.share > 0
             ? fmt::format("{} ({}, {} of the traffic, {} of it remote)",
                           code_span(symbols::abbreviated(what.name)), size,
                           report::format_percent(what.share), report::format_percent(what.remote))
             : fmt::format("{} ({})", code_span(symbols::abbreviated(what.name)), size);
}

std::string places_words(const std::vector<advise::code_share>& places) {
  return first_few(places, [](const advise::code_share& each) {
    return fmt::format("{} ({})", code_span(symbols::abbreviated(profile::label_of(each.where))),
                       report::format_percent(each.share));
  });
}

/// " by 4 threads on nodes 0, 1"; empty if no use was observed.
std::string users_words(const profile::profile& of, const advise::finding& what) {
  std::set<std::pair<std::size_t, profile::thread_index>> threads;
  std::set<node_id> nodes;
  for (const advise::named_objects& each : what.objects) {
    const profile::program& in = of.programs[each.program];
    for (const profile::object& object : in.objects) {
      if (!std::ranges::binary_search(each.ids, object.id)) {
        continue;
      }
      for (const profile::use_run& run : object.uses) {
        for (const profile::use& use : run.by) {
          threads.emplace(each.program, use.by);
          nodes.insert(in.threads[use.by].home());
        }
      }
    }
  }
  nodes.erase(unknown_node);
  const std::string where =
      nodes.empty()
          ? ""
          : fmt::format(" on node{} {}", nodes.size() == 1 ? "" : "s", joined(nodes, ", "));
  return threads.empty() ? "" : fmt::format(" by {}{}", counted(threads.size(), "thread"), where);
}

std::string finding_words(const profile::profile& of, const advise::finding& what,
                          std::size_t number) {
  std::string text =
      fmt::format("{}. **{}**, predicted gain: {}\n", number, advise::name_of(what.what),
                  markdown_text(gain_with_range(what.worth)));
  if (!what.objects.empty()) {
    text += fmt::format("   - arrays: {}\n", first_few(what.objects, array_words));
  }
  if (!what.first_touched.empty()) {
    text += fmt::format("   - first touched at {}\n", places_words(what.first_touched));
  }
  const std::string used_at = what.used.empty() ? "" : " at " + places_words(what.used);
  const std::string users = users_words(of, what);
  if (!used_at.empty() || !users.empty()) {
    text += fmt::format("   - used{}{}\n", used_at, users);
  }
  if (!what.cures.empty()) {
    const advise::cure& first = what.cures.front();
    text +=
        fmt::format("   - fix ({}): {}\n", markdown_text(first.with), markdown_text(first.what));
  }
  return text;
}

/// Two commands, as a block of code: a line is indented by four blanks, and no name can end it.
std::string commands_words(const profile::profile& of) {
  constexpr const char* file = "plan.json";
  const std::string command = of.command.empty() ? "PROGRAM" : joined(of.command, " ", shell_word);
  return "\nThe plan applies the fix without a change of the program:\n\n" +
         joined(std::array{fmt::format("nodewise profile --write-plan {} -- {}", file, command),
                           fmt::format("nodewise run --plan {} --verify -- {}", file, command)},
                "", [](const std::string& line) { return "    " + printable(line) + "\n"; });
}

std::string evidence_words(const profile::evidence& of) {
  std::vector<std::string> all;
  if (of.counts) {
    all.emplace_back("memory traffic counted in a virtual machine");
  }
  if (of.faults) {
    all.push_back(fmt::format("{} page faults sampled", of.fault_samples));
  }
  if (of.hinting) {
    all.push_back(fmt::format("{} accesses sampled", of.hinting_samples));
  }
  if (of.agent) {
    all.emplace_back("allocations recorded");
  }
  const std::string seen = all.empty() ? "none" : joined(all, ", ");
  const std::string missing =
      of.missing.empty() ? ""
                         : fmt::format(". Not seen: {}", joined(of.missing, "; ", markdown_text));
  return fmt::format("Evidence: {}{}", seen, missing);
}

/// What was counted with the fix, if it was.
std::string proof_words(const std::optional<proof>& proven) {
  if (!proven || !proven->best) {
    return "";
  }
  const proof::candidate& best = proven->tried[*proven->best];
  const std::optional<double> before = best.remote_before;
  const std::optional<double> now =
      best.result.counted ? best.result.counted->remote : std::nullopt;
  return before && now ? fmt::format("Counted again with the {}: {} remote, before {}.\n\n",
                                     markdown_text(best.name), report::format_percent(*now),
                                     report::format_percent(*before))
                       : "";
}

std::string verdict_words(const reported_advice& reported) {
  const advise::advice& found = reported.found;
  const auto largest = largest_position(reported.profiled.what);
  const std::string program =
      largest ? code_span(reported.profiled.what.programs[*largest].name) : "the program";
  if (found.findings.empty()) {
    return fmt::format("**Nodewise: no finding in {}**\n\n", program);
  }
  const advise::gain& worth =
      found.plans.empty() ? found.findings.front().worth : found.plans.front().worth;
  return fmt::format("**Nodewise: {} in {}**\n\nPredicted gain of the fix, by a model (nothing was "
                     "timed): {}.\n\n",
                     counted(found.findings.size(), "finding"), program,
                     markdown_text(gain_with_range(worth)));
}

} // namespace

std::string advice_markdown(const reported_advice& reported) {
  const profile::profile& what = reported.profiled.what;
  const std::vector<advise::finding>& findings = reported.found.findings;
  std::string text = verdict_words(reported) + proof_words(reported.proven);
  for (std::size_t i = 0; i < std::min(findings.size(), most_findings); ++i) {
    text += finding_words(what, findings[i], i + 1);
  }
  if (findings.size() > most_findings) {
    text += fmt::format("\n{} not shown.\n",
                        counted(findings.size() - most_findings, "smaller finding"));
  }
  if (!reported.found.plans.empty()) {
    text += commands_words(what);
  }
  const machine& on = reported.profiled.on.machine();
  return text + fmt::format("{}Machine: {}, {}. {}\n", findings.empty() ? "" : "\n",
                            code_span(on.name), counted(on.nodes.size(), "node"),
                            evidence_words(what.seen));
}

} // namespace nodewise::cli
