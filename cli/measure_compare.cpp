// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/measure_compare.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "base/counted.hpp"
#include "cli/measure_view.hpp"
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
  std::string_view below; ///< follows their number; empty if the rows say it
};
constexpr std::array<words, static_cast<std::size_t>(judgement::count)> all_words = {{
    {"other buffers or threads", "with other buffers or threads: no change of the machine"},
    {"too few visits", "with too few visits to tell: --time gives more"},
    {"disturbed", "apart, but one of both was disturbed: measure again"},
    {"", "did not change: the intervals meet"},
    {"better", ""},
    {"worse", ""},
}};
const words& words_for(judgement of) {
  return all_words[static_cast<std::size_t>(of)];
}
tone tone_of(judgement of) {
  return of == judgement::better ? tone::good : of == judgement::worse ? tone::bad : tone::warning;
}

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
    std::string text = each.host.empty() ? "an unknown host" : each.host;
    text += ", by " + each.instruction_set;
    for (const std::string& group : each.workgroups) {
      text += ", -w " + group;
    }
    return text;
  };
  return "Not the same was measured: " + described(before) + "; " + described(after) + ".\n";
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
    const judgement is = judge(*then, now, found);
    ++many[static_cast<std::size_t>(is)];
    if (found.apart) {
      rows.add({std::string(to_string(now.of)),
                now.label,
                format_figure(old.median) + " " + now.unit,
                format_figure(figure.median) + " " + now.unit,
                old.median > 0 ? format_figure(found.ratio) : std::string(),
                {std::string(words_for(is).in_row), tone_of(is)}});
    }
  }
  std::string text = about_hosts(before, after) + (rows.empty() ? "" : rows.to_string(how));
  for (std::size_t i = 0; i < many.size(); ++i) {
    if (many[i] != 0 && !all_words[i].below.empty()) {
      text += counted(many[i], "figure") + " " + std::string(all_words[i].below) + ".\n";
    }
  }
  const std::size_t of_one = known_only(before, after) + known_only(after, before);
  if (of_one != 0) {
    text += counted(of_one, "figure") + " of one measurement only.\n";
  }
  return text.empty() ? "Nothing was measured in both.\n" : text;
}

} // namespace nodewise::cli
