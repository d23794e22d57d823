// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "traffic/summary.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

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
  all.reserve(by_line.size());
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

/// Sites of one name get the number of their call behind it, in the order of their first objects.
void number_calls(const counts& of, std::vector<named_site>& sites) {
  std::map<site::identity, object_id> first;
  for (const object& each : of.objects) {
    const auto [at, fresh] = first.try_emplace(site_of(each).key(), each.id);
    at->second = std::min(at->second, each.id);
  }
  std::map<std::pair<std::string, object_kind>, std::vector<named_site*>> same;
  for (named_site& each : sites) {
    if (each.what.name.empty() && each.name.line > 0) {
      same[{each.name.label, each.what.kind}].push_back(&each);
    }
  }
  for (auto& [name, calls] : same) {
    if (calls.size() > 1) {
      std::ranges::sort(calls, {}, [&](const named_site* each) { return first[each->what.key()]; });
      for (std::size_t call = 0; call < calls.size(); ++call) {
        calls[call]->name.label += " #" + std::to_string(call + 1);
      }
    }
  }
}

std::vector<named_site> named_sites(const counts& of, namer& names) {
  std::vector<named_site> all;
  std::vector<line_list> lines;
  for (site& each : sites_of(of)) {
    source name = names.object(each);
    lines.push_back(names.object_lines(each));
    all.push_back({std::move(each), std::move(name)});
  }
  const std::vector<line_name> by_lines = names_by_lines(lines);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!by_lines[i].text.empty()) {
      all[i].name.label = by_lines[i].text;
    }
  }
  number_calls(of, all);
  return all;
}

/// The object that covers it, as its site is called, and how many bytes into it.
std::string name_of(const shared_line& line, const counts& of,
                    const std::map<site::identity, std::string>& labels, namer& names) {
  const object* const found = line.object ? of.find_object(line.pid, *line.object) : nullptr;
  if (found == nullptr) {
    return names.data(line.pid, line.address);
  }
  const auto named = labels.find(site_of(*found).key()); // of those with traffic
  const std::string label =
      named != labels.end() ? named->second : names.object(site_of(*found)).label;
  return line.address > found->start ? label + "+" + std::to_string(line.address - found->start)
                                     : label;
}

} // namespace

bool named_site::answers_to(std::string_view asked) const {
  if (asked.empty() || what.kind == object_kind::other) {
    return false;
  }
  if (asked == name.label || name.label.starts_with(std::string(asked) + " (through ")) {
    return true;
  }
  if (name.file.empty()) {
    return false;
  }
  return symbols::path_ends_in(name.file, asked) ||
         symbols::path_ends_in(name.file + ":" + std::to_string(name.line), asked);
}

summary summarise(counts of) {
  summary all;
  all.judged = judged_phase(of);
  namer names(of);
  all.sites = named_sites(of, names);
  all.lines = lines_of(of, names, all.judged);
  std::map<site::identity, std::string> labels;
  for (const named_site& each : all.sites) {
    labels.emplace(each.what.key(), each.name.label);
  }
  for (const shared_line& each : of.shared) {
    all.shared.push_back({each, name_of(each, of, labels, names)});
  }
  all.all = std::move(of);
  return all;
}

} // namespace nodewise::traffic
