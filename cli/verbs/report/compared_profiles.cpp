// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/verbs/report/arrays.hpp"
#include "cli/verbs/report/arrays_picture.hpp"
#include "cli/verbs/report/comparison.hpp"
#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/profile.hpp"
#include "report/style.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

/// The arrays of one profile by the names that comparisons have for them.
class side_arrays {
 public:
  side_arrays(const profile::profile& of, std::string when) : of_(of), when_(std::move(when)) {
    for (shown_array& each : shown_arrays(of)) {
      by_key_.try_emplace({of.programs[each.program].name, each.name}, std::move(each));
    }
  }

  /// Where the pages of the most used object are and who uses it.
  void add_strips(const site_key& name, std::vector<drawing::strips>& to) const {
    const auto found = by_key_.find(name);
    if (found == by_key_.end()) {
      return;
    }
    const profile::object& object = most_used(found->second, of_);
    drawing::strips what = strips_of(object, of_.programs[found->second.program]);
    what.bands.front().title = when_ + ": pages on";
    what.bands.back().title = when_ + (object.uses.empty() ? ": touched on" : ": used on");
    to.push_back(std::move(what));
  }

 private:
  const profile::profile& of_;
  std::string when_;
  std::map<site_key, shown_array> by_key_;
};

double share_of_traffic(const std::optional<profile_site>& side, double all) {
  return side && all > 0 ? side->used / all : 0;
}

/// Those with much of the traffic before or after, most first.
std::vector<const compared_site*> sites_to_draw(const compared_profiles& of) {
  const double before = of.used(&compared_site::before);
  const double after = of.used(&compared_site::after);
  const auto share = [&](const compared_site* each) {
    return std::max(share_of_traffic(each->before, before), share_of_traffic(each->after, after));
  };
  std::vector<const compared_site*> all;
  for (const compared_site& each : of.sites) {
    all.push_back(&each);
  }
  std::ranges::sort(all, {}, [&](const compared_site* each) {
    return std::tuple(-share(each), ~each->bytes(), each->key);
  });
  if (before > 0 || after > 0) {
    std::erase_if(all, [&](const compared_site* each) { return share(each) < least_share_drawn; });
  }
  all.resize(std::min(all.size(), most_arrays_drawn));
  return all;
}

std::string remote_words(const std::optional<profile_site>& side) {
  return side ? report::format_percent(side->remote, "unknown") + " remote" : "absent";
}

drawing::picture compared_strips(const compared_profiles& of, const profile::profile& before,
                                 const profile::profile& after) {
  const side_arrays was(before, "before");
  const side_arrays is(after, "after");
  std::vector<drawn_array> rows;
  for (const compared_site* const each : sites_to_draw(of)) {
    drawn_array& row = rows.emplace_back(
        drawn_array{fmt::format("{}: {} before, {} after", each->name(), remote_words(each->before),
                                remote_words(each->after)),
                    {}});
    if (each->before) {
      was.add_strips(each->key, row.parts);
    }
    if (each->after) {
      is.add_strips(each->after_key.value_or(each->key), row.parts);
    }
  }
  return picture_of_arrays("Where the pages of arrays were and who used them, before and after",
                           fmt::format("Strips for each of {}, coloured by node; the table below "
                                       "has the numbers.",
                                       counted(rows.size(), "array")),
                           rows);
}

/// The rank of each program; empty if one has none.
std::set<int> ranks_in(const profile::profile& of) {
  std::set<int> ranks;
  for (const profile::program& each : of.programs) {
    if (!each.rank) {
      return {};
    }
    ranks.insert(*each.rank);
  }
  return ranks;
}

/// Files of different ranks of a job are not before and after.
bool are_ranks_of_a_job(const profile::profile& a, const profile::profile& b) {
  const std::set<int> of_a = ranks_in(a);
  const std::set<int> of_b = ranks_in(b);
  return !of_a.empty() && !of_b.empty() &&
         std::ranges::none_of(of_a, [&](int rank) { return of_b.contains(rank); });
}

std::string run_words(const result_file& file, const profile::profile& what) {
  return fmt::format("{}: {}", file.name, joined(what.command, " ", shell_word));
}

} // namespace

void compare_profiles(const result_file& before, const result_file& after, report_page& into) {
  const profile::profile was = profile_in(before.root);
  const profile::profile is = profile_in(after.root);
  if (are_ranks_of_a_job(was, is)) {
    return;
  }
  const topology on_before(machine_from_json(before.root.at("machine")));
  const topology on_after(machine_from_json(after.root.at("machine")));
  const compared_profiles found = compare({was, on_before}, {is, on_after});
  into.set_verdict(sentence_of(found), {{"before", run_words(before, was)},
                                        {"after", run_words(after, is)},
                                        {"findings", summary_of(found.findings)}});
  add_compared_arrays(found, compared_strips(found, was, is),
                      "Each array has strips from its first page to its last, before and below it "
                      "after: the node that holds a page, and the nodes whose threads use it. "
                      "Where both have the same colour, memory is local. Empty: nothing was "
                      "observed.",
                      into);
  add_compared_findings(found, into);
  add_compared_remote(found, into);
  add_comparison_doubts(found, into);
}

} // namespace nodewise::cli
