// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "spec/numactl_list.hpp"

#include <string>
#include <utility>

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
  if (rest.starts_with('!')) {
    result.inverted = true;
    rest.remove_prefix(1);
  }
  if (rest.starts_with('+')) {
    result.relative = true;
    rest.remove_prefix(1);
  }
  if (rest.empty()) {
    refuse("the list '" + std::string(text) + "'", "it names nothing",
           "write numbers and ranges such as 0-3,8, or all");
  }
  if (rest == "all") {
    result.all = true;
  } else if (rest.find_first_not_of("0123456789,-") != std::string_view::npos) {
    refuse("the list '" + std::string(text) + "'",
           "it is none of numactl's, hwloc's or LIKWID's way to name processors or nodes",
           "write 0-3,8 or +0 or !0 or all; package:0.core:0-3; S0:0-3; near:netdev=eth0");
  } else {
    result.numbers = id_set<Id>::parse(rest);
  }
  return result;
}

/// The members of `usable` at these positions.
template <class Id>
id_set<Id> count_within(const id_set<Id>& positions, const id_set<Id>& usable, const char* noun) {
  if (positions.highest() >= static_cast<int>(usable.size())) {
    refuse(std::string(noun) + " +" + positions.to_string(),
           "this process may use " + usable.to_string() +
               " only: " + std::to_string(usable.size()) + " in all",
           "count from +0 to +" + std::to_string(static_cast<int>(usable.size()) - 1));
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
  id_set<Id> named = list.numbers;
  if (list.all) {
    named = usable;
  } else if (list.relative) {
    named = count_within(list.numbers, usable, noun);
  }
  for (const Id id : named) {
    if (!existing.contains(id)) {
      const std::string name = std::string(noun) + " " + std::to_string(to_int(id));
      refuse(name, "this machine has no " + name + ", only " + existing.to_string(),
             "use one of " + usable.to_string() + "; `nodewise topo` draws them");
    }
    if (!list.inverted) {
      check(id);
    }
  }
  id_set<Id> result = list.inverted ? usable - named : std::move(named);
  if (result.empty()) {
    refuse("the list '" + std::string(text) + "'", "nothing is left of it",
           "this process may use " + usable.to_string());
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
    check_allowed("processor " + std::to_string(to_int(cpu)), {cpu}, where);
  });
}

} // namespace nodewise::spec
