// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/profiles/compared_findings.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/core.h>

#include "advise/advise.hpp"
#include "base/text.hpp"
#include "cli/profiles/gain.hpp"

namespace nodewise::cli {

namespace {

using advise::pattern;
using state = finding_side::state;

/// A problem of one object, or of a whole program.
using problem = std::pair<pattern, named_object>;
using problem_states = std::map<problem, finding_side>;

std::string gain_note(const advise::gain& worth) {
  const bool known = worth.how != advise::gain::kind::unavailable;
  return (known ? "" : "gain ") + gain_words(worth);
}

/// What the advice on a profile says of each object.
class side_reader {
 public:
  using renaming = std::function<named_object(const named_object&)>;
  side_reader(const observed_profile& of, const renaming& name_of)
      : programs_(of.what.programs), name_of_(name_of) {
    const advise::advice found = advise::advise(of.what, of.on);
    for (const advise::finding& each : found.findings) {
      add(each.what, each.objects, {state::found, gain_note(each.worth)});
    }
    for (const advise::dismissal& each : found.not_worth) {
      add(each.what, each.objects, {state::dismissed, each.reason});
    }
    for (const advise::unexamined& each : found.not_asked) {
      unchecked_.try_emplace(each.what, finding_side{state::unchecked, each.missing});
    }
  }

  [[nodiscard]] const problem_states& all() const noexcept { return all_; }

  [[nodiscard]] finding_side of(const problem& what) const {
    if (const auto known = all_.find(what); known != all_.end()) {
      return known->second;
    }
    const auto missing = unchecked_.find(what.first);
    return missing == unchecked_.end() ? finding_side{} : missing->second;
  }

 private:
  void add(pattern what, const std::vector<advise::named_objects>& objects,
           const finding_side& side) {
    if (objects.empty()) {
      all_.try_emplace({what, {}}, side);
    }
    for (const advise::named_objects& each : objects) {
      const profile::program& in = programs_[each.program];
      for (const std::uint64_t id : each.ids) {
        // The first finding of an object has the greatest gain.
        all_.try_emplace({what, name_of_({in.name, names_of(each.program).at(id)})}, side);
      }
    }
  }

  /// By id. Advice names only the first of several objects.
  const std::map<std::uint64_t, std::string>& names_of(std::size_t program) {
    std::map<std::uint64_t, std::string>& names = names_[program];
    if (names.empty()) {
      const std::vector<profile::object>& objects = programs_[program].objects;
      const std::vector<std::string> all = profile::names_of(programs_[program]);
      for (std::size_t i = 0; i < objects.size(); ++i) {
        names[objects[i].id] = all[i];
      }
    }
    return names;
  }

  const std::vector<profile::program>& programs_;
  const renaming& name_of_;
  std::map<std::size_t, std::map<std::uint64_t, std::string>> names_; ///< by program
  problem_states all_;
  std::map<pattern, finding_side> unchecked_;
};

/// Gone first: that is what the reader wants to see.
int rank_of(const compared_finding& what) {
  constexpr std::array<std::string_view, 2> first = {"gone", "new"};
  return static_cast<int>(std::ranges::find(first, what.change()) - first.begin());
}

} // namespace

std::string_view compared_finding::change() const noexcept {
  if (before.is == state::found && after.is == state::found) {
    return "still there";
  }
  if (before.is == state::found) {
    return after.is == state::unchecked ? "found before, not checked after" : "gone";
  }
  return before.is == state::unchecked ? "found after, not checked before" : "new";
}

std::string compared_finding::title() const {
  return arrays.empty() ? pattern : fmt::format("{} of {}", pattern, advise::list_of(arrays));
}

std::vector<compared_finding> compare_findings(const observed_profile& before,
                                               const observed_profile& after,
                                               const side_reader::renaming& before_name) {
  const side_reader::renaming unchanged = [](const named_object& name) { return name; };
  const side_reader was(before, unchanged);
  const side_reader is(after, before_name);
  problem_states either = was.all();
  either.insert(is.all().begin(), is.all().end());
  std::vector<compared_finding> all;
  for (const auto& [what, side] : either) {
    const auto& [program, array] = what.second;
    compared_finding next{advise::name_of(what.first), program, {}, was.of(what), is.of(what)};
    if (next.before.is != state::found && next.after.is != state::found) {
      continue;
    }
    const auto same = std::ranges::find_if(all, [&](const compared_finding& each) {
      return std::tie(each.pattern, each.program, each.before, each.after) ==
             std::tie(next.pattern, next.program, next.before, next.after);
    });
    compared_finding& row = same == all.end() ? all.emplace_back(std::move(next)) : *same;
    if (!array.empty()) {
      row.arrays.push_back(array);
    }
  }
  std::ranges::sort(all, {}, [](const compared_finding& each) {
    return std::tuple(rank_of(each), each.pattern, each.program, each.arrays);
  });
  return all;
}

std::string words_of(const finding_side& what) {
  switch (what.is) {
  case state::found:
    return what.note;
  case state::dismissed:
    return "not worth a change: " + what.note;
  case state::unchecked:
    return "not checked: " + what.note;
  case state::absent:
    break;
  }
  return "not found";
}

std::string summary_of(const std::vector<compared_finding>& all) {
  const auto number = [&](std::string_view change) {
    return std::ranges::count(all, change, &compared_finding::change);
  };
  const auto gone = number("gone");
  const auto added = number("new");
  const auto kept = number("still there");
  const auto rest = static_cast<std::ptrdiff_t>(all.size()) - gone - added - kept;
  return fmt::format("{} gone, {} new, {} still there{}", gone, added, kept,
                     rest > 0 ? fmt::format(", {} checked in one profile only", rest) : "");
}

} // namespace nodewise::cli
