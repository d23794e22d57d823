// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/profiles/comparison.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <ranges>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "advise/advise.hpp"
#include "base/text.hpp"
#include "cli/prediction/predicted.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

namespace {

using site_map = std::map<site_key, profile_site>;

compared_total total_of(const observed_profile& of) {
  const profile::program* const largest = profile::largest_program(of.what);
  if (largest == nullptr) {
    return {};
  }
  const auto position = static_cast<std::size_t>(largest - of.what.programs.data());
  const advise::outcome found = advise::make_plan(of.what, of.on, position).before;
  return {found.remote, found.seconds};
}

std::set<std::string> programs_in(const site_map& all) {
  std::set<std::string> names;
  for (const auto& [key, site] : all) {
    names.insert(key.first);
  }
  return names;
}

/// The name that each program of `after` has before: its own, or, if each profile has one program
/// that the other has not, that program's.
std::map<std::string, std::string> names_before(const site_map& before, const site_map& after) {
  const std::set<std::string> was = programs_in(before);
  const std::set<std::string> is = programs_in(after);
  std::map<std::string, std::string> names;
  for (const std::string& each : is) {
    names[each] = each;
  }
  std::vector<std::string> gone;
  std::vector<std::string> added;
  std::ranges::set_difference(was, is, std::back_inserter(gone));
  std::ranges::set_difference(is, was, std::back_inserter(added));
  if (gone.size() == 1 && added.size() == 1) {
    names[added.front()] = gone.front();
  }
  return names;
}

/// "solver.c:9" comes before "solver.c:41".
std::tuple<std::string_view, std::uint64_t, std::string_view>
in_order_of_lines(std::string_view name) {
  const std::size_t colon = name.find(':');
  std::uint64_t line = 0;
  if (colon != std::string_view::npos) {
    std::from_chars(name.data() + colon + 1, name.data() + name.size(), line);
  }
  return {name.substr(0, colon), line, name};
}

class site_matcher {
 public:
  site_matcher(const site_map& before, const site_map& after)
      : names_(names_before(before, after)) {
    for (const auto& [key, site] : before) {
      all_[key] = {key, {}, site, {}};
    }
    for (const auto& [key, site] : after) {
      const site_key was(names_.at(key.first), key.second);
      if (const auto same = all_.find(was); same != all_.end()) {
        pair(same->second, key, site);
      } else {
        added_[was] = {key, site};
      }
    }
    match_by_size();
    for (const auto& [was, is] : added_) {
      all_[was] = {is.first, {}, {}, is.second};
    }
  }

  [[nodiscard]] const std::map<site_key, compared_site>& all() const noexcept { return all_; }
  [[nodiscard]] const std::vector<std::string>& renamed() const noexcept { return renamed_; }

 private:
  using named_site = std::pair<site_key, profile_site>;
  using size_key = std::tuple<std::string, std::size_t, std::uint64_t>;

  static void pair(compared_site& with, const site_key& key, const profile_site& site) {
    with.after = site;
    if (key != with.key) {
      with.after_key = key;
    }
  }

  /// Lines change when a source file is edited: the same arrays then have other names.
  void match_by_size() {
    std::map<size_key, std::vector<site_key>> gone;
    std::map<size_key, std::vector<site_key>> added;
    for (const auto& [key, each] : all_) {
      if (!each.after) {
        gone[{key.first, each.before->objects, each.before->bytes}].push_back(key);
      }
    }
    for (const auto& [key, each] : added_) {
      added[{key.first, each.second.objects, each.second.bytes}].push_back(key);
    }
    for (auto& [size, was] : gone) {
      const auto is = added.find(size);
      if (is != added.end() && is->second.size() == was.size()) {
        match_in_order(was, is->second);
      }
    }
  }

  void match_in_order(std::vector<site_key>& was, std::vector<site_key>& is) {
    const auto order = [](const site_key& each) { return in_order_of_lines(each.second); };
    std::ranges::sort(was, {}, order);
    std::ranges::sort(is, {}, order);
    for (std::size_t i = 0; i < was.size(); ++i) {
      const auto [key, site] = added_.at(is[i]);
      pair(all_.at(was[i]), key, site);
      added_.erase(is[i]);
      renamed_.push_back(fmt::format("{} is {}", was[i].second, key.second));
    }
  }

  std::map<std::string, std::string> names_; ///< of programs: before, by after
  std::map<site_key, compared_site> all_;
  std::map<site_key, named_site> added_; ///< by the name that it would have before
  std::vector<std::string> renamed_;
};

profile::use_source source_of(const observed_profile& of) {
  return of.what.programs.empty() ? profile::use_source::none : of.what.programs.front().use_from;
}

std::vector<std::string> doubts_of(const observed_profile& before, const observed_profile& after,
                                   const std::vector<std::string>& renamed) {
  std::vector<std::string> all;
  const profile::use_source was = source_of(before);
  if (was != source_of(after)) {
    all.push_back(fmt::format("uses come from different sources: {}, then {}",
                              profile::to_string(was), profile::to_string(source_of(after))));
  }
  if (was == profile::use_source::none) {
    all.emplace_back("uses were not observed: only the locations of pages are compared");
  } else if (was == profile::use_source::hinting_faults) {
    all.emplace_back("uses are samples: differences of a few percent may be chance");
  }
  if (before.on.machine().name != after.on.machine().name) {
    all.push_back(fmt::format("taken on different machines: {}, then {}", before.on.machine().name,
                              after.on.machine().name));
  }
  if (before.what.command != after.what.command) {
    all.emplace_back("the commands differ");
  }
  if (!renamed.empty()) {
    all.push_back(fmt::format("{} matched by size and order, since names differ: {}",
                              counted(renamed.size(), "array"), advise::list_of(renamed)));
  }
  return all;
}

double used_by(const std::optional<profile_site>& of) {
  return of ? of->used : 0;
}

} // namespace

std::uint64_t compared_site::bytes() const {
  return std::max(before ? before->bytes : 0, after ? after->bytes : 0);
}

std::string compared_site::name() const {
  return after_key && after_key->second != key.second
             ? fmt::format("{}, then {}", key.second, after_key->second)
             : key.second;
}

double compared_profiles::used(std::optional<profile_site> compared_site::* side) const {
  double sum = 0;
  for (const compared_site& each : sites) {
    sum += used_by(each.*side);
  }
  return sum;
}

compared_profiles compare(const observed_profile& before, const observed_profile& after) {
  const site_matcher matched(sites_of(before.what), sites_of(after.what));
  std::map<site_key, site_key> before_names;
  compared_profiles made;
  for (const compared_site& each : matched.all() | std::views::values) {
    before_names[each.after_key.value_or(each.key)] = each.key;
    made.sites.push_back(each);
  }
  std::ranges::sort(made.sites, [](const compared_site& a, const compared_site& b) {
    return std::pair(b.bytes(), a.key) < std::pair(a.bytes(), b.key);
  });
  made.findings = compare_findings(before, after, [&](const site_key& name) {
    const auto found = before_names.find(name);
    return found == before_names.end() ? name : found->second;
  });
  made.before = total_of(before);
  made.after = total_of(after);
  made.doubts = doubts_of(before, after, matched.renamed());
  return made;
}

std::string sentence_of(const compared_profiles& what) {
  std::string made = "How much memory traffic was remote is not known for both profiles";
  if (what.before.remote && what.after.remote) {
    made = fmt::format("{} of the memory traffic was remote before, {} after",
                       report::format_percent(*what.before.remote),
                       report::format_percent(*what.after.remote));
  }
  if (what.before.seconds && what.after.seconds) {
    made += fmt::format("; the predicted time of the memory traffic was {}, then {}",
                        format_seconds(*what.before.seconds), format_seconds(*what.after.seconds));
  }
  return made + ".";
}

} // namespace nodewise::cli
