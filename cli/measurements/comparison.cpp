// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/measurements/comparison.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/text.hpp"

namespace nodewise::cli {

namespace {

using measure::measurement;
using measure::record;

struct judgement_words {
  std::string_view in_row;
  std::string_view below; ///< follows their number; empty if the rows say it
};
constexpr std::array<judgement_words, judgements> all_words = {{
    {"other buffers or threads", "with other buffers or threads: not comparable"},
    {"too few visits", "with too few visits to compare: --time gives more"},
    {"disturbed", "with a difference, but one of the two was disturbed: measure again"},
    {"", "without a change: the intervals overlap"},
    {"better", ""},
    {"worse", ""},
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
  return fmt::format("Different things were measured: {}; {}.", described(before),
                     described(after));
}

} // namespace

std::string_view judgement_text(judgement what) noexcept {
  return all_words[static_cast<std::size_t>(what)].in_row;
}

std::size_t compared_measurements::number_of(judgement what) const {
  return static_cast<std::size_t>(std::ranges::count(figures, what, &compared_figure::is));
}

compared_measurements compare(const measurement& before, const measurement& after) {
  compared_measurements made;
  made.other_things = about_hosts(before, after);
  for (const record& now : after.records) {
    const record* const then = before.find(now.of, now.label);
    if (then != nullptr && then->is_known() && now.is_known()) {
      const measure::change found = compare(then->found.figure(), now.found.figure());
      made.figures.push_back({*then, now, found, judge(*then, now, found)});
    }
  }
  for (std::size_t i = 0; i < judgements; ++i) {
    const std::size_t many = made.number_of(static_cast<judgement>(i));
    if (many != 0 && !all_words[i].below.empty()) {
      made.counts.push_back(fmt::format("{} {}.", counted(many, "figure"), all_words[i].below));
    }
  }
  const std::size_t of_one = known_only(before, after) + known_only(after, before);
  if (of_one != 0) {
    made.counts.push_back(counted(of_one, "figure") + " in one measurement only.");
  }
  return made;
}

} // namespace nodewise::cli
