// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "traffic/summary.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "symbols/names.hpp"

namespace nodewise::traffic {

namespace {

std::vector<source_line> lines_of(const counts& of, namer& names, phase judged) {
  using key = std::tuple<std::string, int, std::string>;
  std::map<key, source_line> by_line;
  for (const code_traffic& c : of.code) {
    source name = names.code(c.pid, c.pc);
    const key where = name.file.empty() ? key{{}, 0, name.label} : key{name.file, name.line, {}};
    source_line& to = by_line[where];
    to.fills[index_of(c.when)] += locality{c.local, c.remote, 0};
    to.name = std::move(name);
  }
  std::vector<source_line> all;
  for (auto& [where, line] : by_line) {
    all.push_back(std::move(line));
  }
  std::ranges::sort(all, [&](const source_line& a, const source_line& b) {
    const locality& of_a = a.fills[index_of(judged)];
    const locality& of_b = b.fills[index_of(judged)];
    return is_worse(of_a, of_b) || (!is_worse(of_b, of_a) && a.name.label < b.name.label);
  });
  return all;
}

/// The site's name of the object that covers it, and the offset in bytes.
std::string name_of(const shared_line& line, const counts& of, namer& names) {
  const object* const found = line.object ? of.find_object(line.pid, *line.object) : nullptr;
  if (found == nullptr) {
    return names.data(line.pid, line.address);
  }
  const std::string label = names.object(site_of(*found)).label;
  return line.address > found->start ? fmt::format("{}+{}", label, line.address - found->start)
                                     : label;
}

} // namespace

bool named_site::answers_to(std::string_view asked) const {
  if (asked.empty() || what.kind == object_kind::other) {
    return false;
  }
  return asked == name.label ||
         (!name.file.empty() &&
          (symbols::path_ends_in(name.file, asked) ||
           symbols::path_ends_in(fmt::format("{}:{}", name.file, name.line), asked)));
}

summary summarise(counts of) {
  summary all;
  all.judged = judged_phase(of);
  namer names(of);
  for (site& each : sites_of(of)) {
    source name = names.object(each);
    all.sites.push_back({std::move(each), std::move(name)});
  }
  all.lines = lines_of(of, names, all.judged);
  for (const shared_line& each : of.shared) {
    all.shared.push_back({each, name_of(each, of, names)});
  }
  all.all = std::move(of);
  return all;
}

} // namespace nodewise::traffic
