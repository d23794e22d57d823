// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// nodewise profile --compare A B
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/prediction/predicted.hpp"
#include "cli/profiles/comparison.hpp"
#include "cli/verbs/profile/result.hpp"
#include "profile/first_rows.hpp"
#include "report/envelope.hpp"
#include "report/table.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

profile_result read_to_compare(const std::string& file) {
  profile_result made = read_profile(file);
  for (profile::program& each : made.what.programs) {
    profile::join_first_rows(each, made.what.page_bytes);
  }
  return made;
}

std::string remote_text(const std::optional<profile_site>& of) {
  return report::format_percent(of ? of->remote : std::nullopt, "-");
}

std::string pages_cell(const std::optional<profile_site>& of) {
  return of ? nodes_text(*of) : "absent";
}

std::string total_text(const compared_total& of) {
  if (!of.remote) {
    return "unknown";
  }
  return fmt::format("{} remote{}", report::format_percent(*of.remote),
                     of.seconds ? ", " + format_seconds(*of.seconds) : "");
}

std::string totals_text(const compared_profiles& of) {
  const bool timed = of.before.seconds && of.after.seconds && *of.after.seconds > 0;
  const std::string gain = timed ? fmt::format(": {}x faster (predicted)",
                                               short_number(*of.before.seconds / *of.after.seconds))
                                 : "";
  return fmt::format("In total {}, then {}{}\n", total_text(of.before), total_text(of.after), gain);
}

std::string findings_text(const std::vector<compared_finding>& all, const report::style& how) {
  if (all.empty()) {
    return {};
  }
  std::string text = fmt::format("Findings: {}\n", summary_of(all));
  for (const compared_finding& each : all) {
    const std::string line = fmt::format("{}: {}; before: {}; after: {}", each.change(),
                                         each.title(), words_of(each.before), words_of(each.after));
    text += fmt::format("  {}\n", report::wrap_on_terminal(printable(line), how, 2));
  }
  return text;
}

std::string comparison_text(const compared_profiles& of, const report::style& how) {
  using report::right, report::breaking;
  report::table rows({breaking("array"), right("size"), right("remote"), right("then"),
                      breaking("pages on"), breaking("then")});
  for (const compared_site& each : of.sites) {
    const profile_site& any = each.before ? *each.before : *each.after;
    rows.add({printable(each.name()), report::format_bytes(any.bytes), remote_text(each.before),
              remote_text(each.after), pages_cell(each.before), pages_cell(each.after)});
  }
  std::string text = fmt::format("{}\n{}{}", rows.to_string(how), totals_text(of),
                                 findings_text(of.findings, how));
  for (const std::string& each : of.doubts) {
    text += fmt::format("  {}\n", report::wrap_on_terminal(printable(each), how, 2));
  }
  return text;
}

} // namespace

void print_comparison(const invocation& given) {
  check_output(given);
  const profile_result before = read_to_compare(given.operands[0]);
  const profile_result after = read_to_compare(given.operands[1]);
  const compared_profiles found = compare({before.what, before.on}, {after.what, after.on});
  const json_maker as_json = [&] {
    auto made =
        report::envelope("comparison", 1, machine_json(before.on.machine()), *before.settings);
    append(made, found);
    return made;
  };
  show_result<json_maker>(given, json_only, as_json,
                          [&](const report::style& how) { return comparison_text(found, how); });
}

} // namespace nodewise::cli
