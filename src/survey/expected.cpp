// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "survey/expected.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <nodewise/error.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace nodewise::survey {

namespace {

struct expected_count {
  std::string_view name;
  std::optional<std::size_t> expected_shape::* field;
};
constexpr std::array expectable = {
    expected_count{"hosts", &expected_shape::hosts},
    expected_count{"ranks", &expected_shape::ranks},
    expected_count{"ranks-per-host", &expected_shape::ranks_per_host},
    expected_count{"threads", &expected_shape::threads}};

[[noreturn]] void refuse(std::string_view part, const std::string& why) {
  throw error(error_kind::usage, fmt::format("the expected shape {}", in_quotes(part)), why,
              "write for example hosts=2,ranks=8,ranks-per-host=4,threads=2; each may be left out");
}

/// Findings by their evidence: hosts or ranks with the same difference are one.
using differences = std::map<std::string, finding>;

finding& difference(differences& all, const std::string& evidence) {
  finding& into = all[evidence];
  into.what = fault::other_shape;
  into.evidence = evidence;
  return into;
}

void add_hosts_and_ranks(differences& into, const surveyed_host& host,
                         const expected_shape& expected) {
  if (expected.ranks_per_host && host.ranks.size() != *expected.ranks_per_host) {
    difference(into, fmt::format("{} on a host, {} expected", counted(host.ranks.size(), "rank"),
                                 *expected.ranks_per_host))
        .hosts.push_back(host.name);
  }
  for (const rank_record* const rank : host.ranks) {
    if (expected.threads && rank->workers.size() != *expected.threads) {
      finding& found =
          difference(into, fmt::format("{} in a rank, {} expected",
                                       counted(rank->workers.size(), "thread"), *expected.threads));
      found.ranks.push_back(rank->rank);
      if (found.hosts.empty() || found.hosts.back() != host.name) {
        found.hosts.push_back(host.name);
      }
    }
  }
}

} // namespace

expected_shape parse_expected_shape(std::string_view text) {
  expected_shape made;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = std::min(part.find('='), part.size());
    const auto known = std::ranges::find(expectable, part.substr(0, equals), &expected_count::name);
    if (known == expectable.end()) {
      refuse(part, "it is not hosts=N, ranks=N, ranks-per-host=N or threads=N");
    }
    const auto number =
        equals == part.size() ? std::nullopt : parse_number<std::size_t>(part.substr(equals + 1));
    if (!number || *number == 0) {
      refuse(part, "it has no whole number above 0 behind =");
    }
    if (made.*known->field) {
      refuse(part, "it is there twice");
    }
    made.*known->field = number;
  }
  return made;
}

std::vector<finding> judge_shape(const job& of, const expected_shape& expected) {
  std::vector<finding> all;
  std::vector<std::string> names;
  std::ranges::transform(of.hosts, std::back_inserter(names), &surveyed_host::name);
  if (expected.hosts && names.size() != *expected.hosts) {
    all.push_back({fault::other_shape,
                   fmt::format("{}, {} expected", counted(names.size(), "host"), *expected.hosts),
                   {},
                   names});
  }
  const std::size_t ranks = of.surveyed() + of.missing.size();
  if (expected.ranks && ranks != *expected.ranks) {
    all.push_back({fault::other_shape,
                   fmt::format("{}, {} expected", counted(ranks, "rank"), *expected.ranks),
                   {},
                   names});
  }
  differences found;
  for (const surveyed_host& host : of.hosts) {
    add_hosts_and_ranks(found, host, expected);
  }
  for (auto& [evidence, each] : found) {
    std::ranges::sort(each.ranks);
    all.push_back(std::move(each));
  }
  return all;
}

} // namespace nodewise::survey
