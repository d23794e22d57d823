// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "spec/numactl_list.hpp"

#include <string>

#include <fmt/core.h>

#include "spec/refusals.hpp"

namespace nodewise::spec {

namespace {

/// A parsed list: [!][+]numbers, or all.
template <class Id>
struct list_spec {
  bool all = false;
  bool inverted = false;
  bool relative = false;
  id_set<Id> numbers;
};

template <class Id>
list_spec<Id> read(std::string_view text) {
  list_spec<Id> result;
  std::string_view rest = text;
  result.inverted = rest.starts_with('!');
  rest.remove_prefix(result.inverted ? 1 : 0);
  result.relative = rest.starts_with('+');
  rest.remove_prefix(result.relative ? 1 : 0);
  if (rest.empty()) {
    refuse_list(text, "it names nothing", "write numbers and ranges such as 0-3,8, or all");
  }
  result.all = rest == "all";
  if (!result.all && rest.find_first_not_of("0123456789,-") != std::string_view::npos) {
    refuse_list(text, "not a list of processors or nodes in the syntax of numactl, hwloc or LIKWID",
                "write 0-3,8 or +0 or !0 or all; package:0.core:0-3; S0:0-3; near:netdev=eth0");
  }
  result.numbers = result.all ? id_set<Id>{} : id_set<Id>::parse(rest);
  return result;
}

/// The members of `usable` at these positions.
template <class Id>
id_set<Id> count_within(const id_set<Id>& positions, const id_set<Id>& usable, const char* noun) {
  if (positions.highest() >= static_cast<int>(usable.size())) {
    refuse(
        fmt::format("{} +{}", noun, positions.to_string()),
        fmt::format("this process may use only {}: {} in all", usable.to_string(), usable.size()),
        fmt::format("count from +0 to +{}", static_cast<int>(usable.size()) - 1));
  }
  id_set<Id> found;
  int position = 0;
  for (const Id id : usable) {
    if (positions.contains(Id{position++})) {
      found.insert(id);
    }
  }
  return found;
}

/// `check` throws for a named number that cannot be used.
template <class Id, class Check>
id_set<Id> resolve(std::string_view text, const id_set<Id>& usable, const id_set<Id>& existing,
                   const char* noun, Check check) {
  const list_spec<Id> list = read<Id>(text);
  const id_set<Id> named = list.all        ? usable
                           : list.relative ? count_within(list.numbers, usable, noun)
                                           : list.numbers;
  for (const Id id : named) {
    if (!existing.contains(id)) {
      const std::string name = fmt::format("{} {}", noun, id);
      refuse(name, fmt::format("this machine has no {}, only {}", name, existing.to_string()),
             fmt::format("use one of {}; `nodewise topo` draws them", usable.to_string()));
    }
    if (!list.inverted) {
      check(id);
    }
  }
  id_set<Id> result = list.inverted ? usable - named : named;
  if (result.empty()) {
    refuse_list(text, "it selects nothing", "this process may use " + usable.to_string());
  }
  return result;
}

} // namespace

node_set numactl_nodes(std::string_view text, const topology& where, node_purpose purpose) {
  const node_set usable = usable_nodes(where, purpose);
  return resolve(text, usable, where.machine().node_ids(), "node",
                 [&](node_id node) { check_node(node, where, purpose, usable); });
}

cpu_set numactl_cpus(std::string_view text, const topology& where) {
  return resolve(text, where.allowed_cpus(), where.machine().cpus(), "processor", [&](cpu_id cpu) {
    check_allowed(fmt::format("processor {}", cpu), {cpu}, where);
  });
}

} // namespace nodewise::spec
