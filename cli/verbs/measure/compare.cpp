// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/measure/view.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/text.hpp"
#include "report/table.hpp"

namespace nodewise::cli {

namespace {

using measure::estimate;
using measure::measurement;
using measure::record;
using report::cell;
using report::tone;

/// The verdict on a figure that both measurements have.
enum class judgement { other_work, few_visits, disturbed, alike, better, worse, count };

struct words {
  std::string_view in_row;
  tone look;
  std::string_view below; ///< follows their number; empty if the rows say it
};
constexpr std::array<words, static_cast<std::size_t>(judgement::count)> all_words = {{
    {"other buffers or threads", tone::warning, "with other buffers or threads: not comparable"},
    {"too few visits", tone::warning, "with too few visits to compare: --time gives more"},
    {"disturbed", tone::warning,
     "with a difference, but one of the two was disturbed: measure again"},
    {"", tone::warning, "without a change: the intervals overlap"},
    {"better", tone::good, ""},
    {"worse", tone::bad, ""},
}};

judgement judge(const record& then, const record& now, const measure::change& found) {
  if (now.bytes != then.bytes || now.threads != then.threads) {
    return judgement::other_work;
  }
  if (!found.enough) {
    return judgement::few_visits;
  }
  if (!found.apart) {
    return judgement::alike;
  }
  if (then.found.was_disturbed() || now.found.was_disturbed()) {
    return judgement::disturbed;
  }
  const bool is_more = now.found.figure().median > then.found.figure().median;
  return is_more == now.more_is_better() ? judgement::better : judgement::worse;
}

/// The number of figures that are known in `here` but not in `there`.
std::size_t known_only(const measurement& here, const measurement& there) {
  return static_cast<std::size_t>(std::ranges::count_if(here.records, [&](const record& each) {
    const record* const other = there.find(each.of, each.label);
    return each.is_known() && (other == nullptr || !other->is_known());
  }));
}

/// Host names change, and a file may lack one: differences are reported, not refused.
std::string about_hosts(const measurement& before, const measurement& after) {
  if (before.host == after.host && before.instruction_set == after.instruction_set &&
      before.workgroups == after.workgroups) {
    return "";
  }
  const auto described = [](const measurement& each) {
    return fmt::format(
        "{}, by {}{}", each.host.empty() ? "an unknown host" : each.host, each.instruction_set,
        joined(each.workgroups, "", [](const std::string& group) { return ", -w " + group; }));
  };
  return fmt::format("Different things were measured: {}; {}.\n", described(before),
                     described(after));
}

} // namespace

std::string comparison_text(const measurement& before, const measurement& after,
                            const report::style& how) {
  constexpr auto right = report::align::right;
  report::table rows(
      {{""}, {""}, {before.date, right}, {after.date, right}, {"ratio", right}, {""}});
  std::array<std::size_t, all_words.size()> many{};
  for (const record& now : after.records) {
    const record* const then = before.find(now.of, now.label);
    if (then == nullptr || !then->is_known() || !now.is_known()) {
      continue;
    }
    const estimate old = then->found.figure();
    const estimate figure = now.found.figure();
    const measure::change found = compare(old, figure);
    const auto is = static_cast<std::size_t>(judge(*then, now, found));
    ++many[is];
    if (found.apart) {
      rows.add({std::string(to_string(now.of)),
                now.label,
                fmt::format("{} {}", format_figure(old.median), now.unit),
                fmt::format("{} {}", format_figure(figure.median), now.unit),
                old.median > 0 ? format_figure(found.ratio) : std::string(),
                {std::string(all_words[is].in_row), all_words[is].look}});
    }
  }
  std::string text = about_hosts(before, after) + (rows.empty() ? "" : rows.to_string(how));
  for (std::size_t i = 0; i < many.size(); ++i) {
    if (many[i] != 0 && !all_words[i].below.empty()) {
      text += fmt::format("{} {}.\n", counted(many[i], "figure"), all_words[i].below);
    }
  }
  const std::size_t of_one = known_only(before, after) + known_only(after, before);
  if (of_one != 0) {
    text += counted(of_one, "figure") + " in one measurement only.\n";
  }
  return text.empty() ? "The measurements have no figure in common.\n" : text;
}

} // namespace nodewise::cli
