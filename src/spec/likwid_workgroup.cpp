// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "spec/spec.hpp"

namespace nodewise::spec {

namespace {

constexpr const char* shape = "write DOMAIN:SIZE[:THREADS[:CHUNK:STRIDE]][-ARRAY:DOMAIN,...], for "
                              "example S0:1GB:2:1:2-0:S1,1:S1";
/// No kernel has more arrays.
constexpr std::size_t most_arrays = 4;

std::optional<std::uint64_t> likwid_size(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 7> units = {{
      {"KiB", std::uint64_t{1} << 10},
      {"MiB", std::uint64_t{1} << 20},
      {"GiB", std::uint64_t{1} << 30},
      {"kB", 1'000},
      {"MB", 1'000'000},
      {"GB", 1'000'000'000},
      {"B", 1},
  }};
  constexpr std::uint64_t most = std::uint64_t{1} << 50;
  const auto* const unit =
      std::ranges::find_if(units, [&](const auto& each) { return text.ends_with(each.first); });
  if (unit == units.end()) {
    return std::nullopt;
  }
  const auto many = parse_number<std::uint64_t>(text.substr(0, text.size() - unit->first.size()));
  return many && *many > 0 && *many <= most / unit->second ? std::optional(*many * unit->second)
                                                           : std::nullopt;
}

[[noreturn]] void refuse_part(std::string_view whole, std::string_view part,
                              std::string_view what) {
  refuse(fmt::format("the workgroup '{}'", whole), fmt::format("'{}': {}", part, what), shape);
}

std::vector<cpu_id> threads_of(std::string_view whole, const std::vector<std::string_view>& fields,
                               const topology& where, std::string_view root) {
  std::string expression = fmt::format("E:{}", fields[0]);
  for (std::size_t i = 2; i < fields.size(); ++i) {
    if (parse_number<std::uint64_t>(fields[i]).value_or(0) == 0) {
      refuse_part(whole, fields[i], "expected a number of threads, or a chunk and a stride");
    }
    expression += fmt::format(":{}", fields[i]);
  }
  return resolve_cpus(fields.size() > 2 ? expression : std::string(fields[0]), where, root)
      .in_order;
}

void place_array(std::string_view whole, std::string_view part, const topology& where,
                 std::string_view root, std::vector<node_id>& arrays) {
  const auto fields = split(part, ':');
  const auto array = parse_number<std::uint64_t>(fields[0]);
  if (!array || *array >= most_arrays || fields.size() != 2) {
    refuse_part(whole, part, "expected an array's number, 0 to 3, and a domain");
  }
  const node_set nodes = resolve_nodes(fields[1], where, node_purpose::memory, root);
  if (nodes.size() != 1) {
    refuse_part(whole, part, fmt::format("has {} memories: name one, such as M0", nodes.size()));
  }
  arrays.resize(std::max<std::size_t>(arrays.size(), *array + 1), unknown_node);
  arrays[*array] = *nodes.begin();
}

} // namespace

workgroup parse_workgroup(std::string_view text, const topology& where, std::string_view root) {
  const std::size_t dash = text.find('-');
  const auto fields = split(text.substr(0, dash), ':');
  if (fields.size() < 2 || fields.size() > 5 || fields.size() == 4) {
    refuse_part(text, text.substr(0, dash), "expected a domain and a size, optionally threads");
  }
  workgroup made;
  const auto bytes = likwid_size(fields[1]);
  if (!bytes) {
    refuse_part(text, fields[1], "expected a size, such as 64kB, 100MB or 1GB");
  }
  made.bytes = *bytes;
  made.cpus = threads_of(text, fields, where, root);
  if (dash != std::string_view::npos) {
    for (const std::string_view part : split(text.substr(dash + 1), ',')) {
      place_array(text, part, where, root, made.arrays);
    }
  }
  return made;
}

} // namespace nodewise::spec
