// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "traffic/summary.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.hpp"
#include "symbols/names.hpp"

namespace nodewise::traffic {

namespace {

bool is_file(const std::string& name) {
  return name.starts_with('/');
}

std::vector<source_line> lines_of(const counts& of, namer& names, phase judged) {
  std::map<std::tuple<std::string, int, std::string>, source_line> by_line;
  for (const code_traffic& c : of.code) {
    source name = names.code(c.pid, c.pc);
    const std::string otherwise = name.file.empty() ? name.label : "";
    source_line& to = by_line[{name.file, name.file.empty() ? 0 : name.line, otherwise}];
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

std::uint64_t namer::start_of(process_key pid, const std::string& path) const {
  std::optional<std::uint64_t> lowest;
  for (const mapping& m : of_.mappings) {
    if (m.pid == pid && m.name == path) {
      lowest = std::min(lowest.value_or(m.start), m.start);
    }
  }
  return lowest.value_or(0);
}

/// .bss is in nameless mappings after the file's own.
namer::loaded namer::module_below(process_key pid, std::uint64_t address) const {
  const mapping* nearest = nullptr;
  for (const mapping& m : of_.mappings) {
    if (m.pid == pid && is_file(m.name) && m.start <= address &&
        (nearest == nullptr || nearest->start < m.start)) {
      nearest = &m;
    }
  }
  return nearest == nullptr ? loaded() : loaded{nearest->name, start_of(pid, nearest->name)};
}

const namer::opened* namer::open(const std::string& path) {
  const auto [at, is_new] = opened_.try_emplace(path);
  if (auto module = is_new ? symbols::module::open(path) : std::nullopt) {
    at->second.data = module->data_objects(1);
    at->second.module = std::make_unique<symbols::module>(std::move(*module));
  }
  return at->second.module ? &at->second : nullptr;
}

source namer::located(const std::string& path, std::uint64_t offset, const std::string& otherwise) {
  const opened* const file = open(path);
  const auto place = file != nullptr ? file->module->locate(offset) : std::nullopt;
  if (!place) {
    return {otherwise};
  }
  const std::string label = symbols::short_name(*place);
  return {label.empty() ? otherwise : label, place->file, place->line, place->function};
}

source namer::code(process_key pid, std::uint64_t pc) {
  const mapping* const where = of_.find_mapping(pid, pc);
  if (where == nullptr || !is_file(where->name)) {
    return {where != nullptr && !where->name.empty() ? where->name : hexadecimal(pc)};
  }
  const std::uint64_t offset = pc - start_of(pid, where->name);
  return located(where->name, offset, symbols::module_and_offset(where->name, offset));
}

source namer::object(const site& which) {
  if (which.kind == object_kind::other) {
    return {"memory outside known arrays"};
  }
  if (!which.name.empty()) {
    return {which.kind == object_kind::file ? which.name : symbols::demangle(which.name.c_str())};
  }
  if (which.module.empty()) {
    return {"unknown caller"};
  }
  const std::string otherwise = symbols::module_and_offset(which.module, which.offset);
  for (const mapping& m : of_.mappings) {
    if (m.pid == which.pid && is_file(m.name) && last_part(m.name) == which.module &&
        which.offset != 0) {
      return located(m.name, which.offset - 1, otherwise); // the call is before its return
    }
  }
  return {otherwise};
}

/// The name is empty if the module has none there; nullopt if no module covers the address.
std::optional<namer::variable> namer::variable_in(const loaded& below, std::uint64_t address) {
  const opened* const file = below.path.empty() ? nullptr : open(below.path);
  const std::uint64_t offset = address - below.start;
  if (file == nullptr || offset >= file->module->mapped_bytes()) {
    return std::nullopt;
  }
  // Of several variables in the line, take the one that has most of it.
  const symbols::data_object* most = nullptr;
  std::uint64_t had = 0;
  for (const symbols::data_object& o : file->data) {
    const std::uint64_t first = std::max<std::uint64_t>(o.offset, offset);
    const std::uint64_t last = std::min<std::uint64_t>(o.offset + o.bytes, offset + of_.line_bytes);
    if (first < last && last - first > had) {
      most = &o;
      had = last - first;
    }
  }
  return most == nullptr ? variable()
                         : variable{most->name, below.start + most->offset, most->bytes};
}

std::optional<namer::variable> namer::variable_at(process_key pid, std::uint64_t address) {
  const mapping* const where = of_.find_mapping(pid, address);
  if (where != nullptr && !where->name.empty() && !is_file(where->name)) {
    return std::nullopt;
  }
  std::optional<variable> found = variable_in(module_below(pid, address), address);
  return found && found->name.empty() ? std::nullopt : found;
}

std::string namer::data(process_key pid, std::uint64_t address) {
  const mapping* const where = of_.find_mapping(pid, address);
  if (where != nullptr && !where->name.empty() && !is_file(where->name)) {
    return where->name;
  }
  const loaded below = module_below(pid, address);
  if (const std::optional<variable> in = variable_in(below, address)) {
    if (in->name.empty()) {
      return symbols::module_and_offset(below.path, address - below.start);
    }
    return address <= in->start ? in->name : fmt::format("{}+{}", in->name, address - in->start);
  }
  return where == nullptr || where->name.empty()
             ? hexadecimal(address)
             : symbols::module_and_offset(where->name, address - start_of(pid, where->name));
}

bool named_site::answers_to(std::string_view asked) const {
  if (asked.empty() || what.kind == object_kind::other) {
    return false;
  }
  const auto in_file = [&](std::string_view file) { return symbols::path_ends_in(file, asked); };
  return asked == name.label || asked == symbols::abbreviated(name.label) ||
         (!name.file.empty() &&
          (in_file(name.file) || in_file(fmt::format("{}:{}", name.file, name.line))));
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
