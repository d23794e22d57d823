// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/profile/compare.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "advise/advise.hpp"
#include "base/printable.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/prediction/words.hpp"
#include "cli/verbs/profile/sites.hpp"
#include "report/envelope.hpp"
#include "report/table.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using side = profile_site;
using json = nlohmann::ordered_json;

/// The objects with one name in one program.
struct compared_site {
  std::string program;
  std::string name; ///< "solver.c:41", a symbol
  std::optional<side> before;
  std::optional<side> after;
};

std::string remote_text(const std::optional<side>& of) {
  return report::format_percent(of ? of->remote : std::nullopt, "-");
}

json side_json(const std::optional<side>& of) {
  return of ? site_json(*of) : json("absent");
}

/// The model's outcome for a profile's largest program as a whole.
std::optional<advise::outcome> outcome_of(const profile_result& of) {
  const auto largest = largest_position(of.what);
  return largest ? std::optional(advise::make_plan(of.what, of.on, *largest).before) : std::nullopt;
}

std::string total_text(const std::optional<advise::outcome>& of) {
  if (!of || !of->remote) {
    return "unknown";
  }
  return fmt::format("{} remote{}", report::format_percent(*of->remote),
                     of->seconds ? ", " + format_seconds(*of->seconds) : "");
}

/// The reasons why the two profiles are not directly comparable.
std::vector<std::string> doubts(const profile_result& before, const profile_result& after) {
  std::vector<std::string> all;
  const auto source = [](const profile_result& of) {
    return of.what.programs.empty() ? profile::use_source::none : of.what.programs.front().use_from;
  };
  if (source(before) != source(after)) {
    all.push_back(fmt::format("uses come from different sources: {}, then {}",
                              profile::to_string(source(before)),
                              profile::to_string(source(after))));
  }
  if (source(before) == profile::use_source::none) {
    all.emplace_back("uses were not observed: only the locations of pages are compared");
  } else if (source(before) == profile::use_source::hinting_faults) {
    all.emplace_back("uses are samples: differences of a few percent may be chance");
  }
  if (before.on.machine().name != after.on.machine().name) {
    all.push_back(fmt::format("taken on different machines: {}, then {}", before.on.machine().name,
                              after.on.machine().name));
  }
  if (before.what.command != after.what.command) {
    all.emplace_back("the commands differ");
  }
  return all;
}

/// Largest first; the objects of a program are matched by allocation site or symbol.
std::vector<compared_site> compare_sites(const profile::profile& before,
                                         const profile::profile& after) {
  std::map<site_key, side> first = sites_of(before);
  std::map<site_key, side> second = sites_of(after);
  std::vector<compared_site> all;
  for (auto& [key, each] : first) {
    compared_site made{key.first, key.second, std::move(each), {}};
    if (const auto found = second.find(key); found != second.end()) {
      made.after = std::move(found->second);
      second.erase(found);
    }
    all.push_back(std::move(made));
  }
  for (auto& [key, each] : second) {
    all.push_back({key.first, key.second, {}, std::move(each)});
  }
  const auto bytes = [](const compared_site& of) {
    return std::max(of.before ? of.before->bytes : 0, of.after ? of.after->bytes : 0);
  };
  std::ranges::sort(all, [&](const compared_site& a, const compared_site& b) {
    return std::tuple(bytes(b), a.program, a.name) < std::tuple(bytes(a), b.program, b.name);
  });
  return all;
}

} // namespace

void compare_profiles(const profile_result& before, const profile_result& after,
                      const invocation& given) {
  const std::vector<compared_site> sites = compare_sites(before.what, after.what);
  const auto was = outcome_of(before);
  const auto is = outcome_of(after);
  const std::vector<std::string> doubt = doubts(before, after);
  if (given.has(flags::json)) {
    auto made =
        report::envelope("comparison", 1, machine_json(before.on.machine()), *before.settings);
    made["sites"] = report::json_list(sites, [](const compared_site& each) -> json {
      return {{"program", each.program},
              {"name", each.name},
              {"before", side_json(each.before)},
              {"after", side_json(each.after)}};
    });
    const auto total = [](const std::optional<advise::outcome>& of) -> json {
      return {{"remote", of ? report::or_unavailable(of->remote) : "unavailable"},
              {"predicted_s", of ? report::or_unavailable(of->seconds) : "unavailable"}};
    };
    made["before"] = total(was);
    made["after"] = total(is);
    made["doubts"] = doubt;
    write_out(report::json_text(made));
    return;
  }
  const report::style how = style_of(STDOUT_FILENO, given);
  using report::right, report::breaking;
  report::table rows({breaking("array"), right("size"), right("remote"), right("then"),
                      breaking("pages on"), breaking("then")});
  for (const compared_site& each : sites) {
    const side& any = each.before ? *each.before : *each.after;
    rows.add({printable(each.name), report::format_bytes(any.bytes), remote_text(each.before),
              remote_text(each.after), each.before ? nodes_text(*each.before) : "absent",
              each.after ? nodes_text(*each.after) : "absent"});
  }
  const bool timed = was && is && was->seconds && is->seconds && *is->seconds > 0;
  const std::string gain =
      timed ? fmt::format(": {}x as fast (predicted)", short_number(*was->seconds / *is->seconds))
            : "";
  std::string text = fmt::format("{}\nIn total {}, then {}{}\n", rows.to_string(how),
                                 total_text(was), total_text(is), gain);
  for (const std::string& each : doubt) {
    text += fmt::format("  {}\n", printable(each));
  }
  write_out(text);
}

} // namespace nodewise::cli
