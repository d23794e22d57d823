// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The rules are those of hwloc-calc (hwloc(7), "Location Specification"), with these differences
// (docs/specs.md): to name an object that does not exist is an error; processors that are not
// allowed are counted but cannot be named; below a node that shares its processors with memory-only
// nodes, cores are found as in releases after 2.9.0.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "spec/hwloc_words.hpp"
#include "spec/parts.hpp"
#include "spec/syntaxes.hpp"

namespace nodewise::spec {

namespace {

struct object {
  cpu_set near; ///< its place in the tree: its processors, or those nearest to a memory
  const memory_node* node = nullptr; ///< if it is a node

  [[nodiscard]] const cpu_set& cpus() const noexcept { return node == nullptr ? near : node->cpus; }
  [[nodiscard]] bool within(const object& other) const noexcept {
    return other.near.includes(near);
  }
};

/// The processors and nodes that a list of locations has named so far.
struct selection {
  cpu_set cpus;
  node_set nodes;
};

template <class Set>
Set combined(const Set& all, const Set& one, combination how) {
  switch (how) {
  case combination::add:
    return all | one;
  case combination::clear:
    return all - one;
  case combination::intersect:
    return all & one;
  case combination::exclusive:
    break;
  }
  return (all - one) | (one - all);
}

class location_evaluator {
 public:
  /// `nodes`: what the nodes are for; nullopt if processors are asked for.
  location_evaluator(const topology& where, const system_files& files,
                     std::optional<node_purpose> nodes, bool caches)
      : where_(where), files_(files), for_processors_(!nodes),
        purpose_(nodes.value_or(node_purpose::processors)), usable_(usable_nodes(where, purpose_)),
        parts_(where, files, caches) {}

  [[nodiscard]] selection run(const std::vector<location>& locations) {
    selection all;
    for (const location& each : locations) {
      // Objects that are only removed or intersected need not be allowed.
      checking_ = each.how == combination::add || each.how == combination::exclusive;
      const selection one = named_by(each);
      all = {combined(all.cpus, one.cpus, each.how), combined(all.nodes, one.nodes, each.how)};
    }
    return all;
  }

 private:
  [[nodiscard]] selection named_by(const location& one) {
    if (one.mask) {
      return of_mask(*one.mask);
    }
    if (one.device) {
      const node_set nodes = nodes_near(*one.device, where_, files_);
      return {cpus_of(nodes, where_), nodes};
    }
    if (one.levels.empty()) {
      return {where_.machine().cpus(), where_.machine().node_ids()};
    }
    candidates_.clear();
    for (const level& each : one.levels) {
      candidates_.push_back(objects_of(each));
    }
    selection found;
    add_below(one, 0, nullptr, true, found);
    return found;
  }

  [[nodiscard]] selection of_mask(const cpu_set& mask) const {
    const cpu_set missing = mask - where_.machine().cpus();
    if (!missing.empty() && checking_) {
      const std::string name = "processor " + missing.to_string();
      refuse(
          name,
          fmt::format("this machine has no {}, only {}", name, where_.machine().cpus().to_string()),
          "use some of " + where_.allowed_cpus().to_string());
    }
    if (const cpu_set beyond = mask - where_.allowed_cpus();
        !beyond.empty() && checking_ && for_processors_) {
      check_allowed("processor " + beyond.to_string(), beyond, where_);
    }
    return {mask, nodes_beside(mask)};
  }

  [[nodiscard]] node_set nodes_beside(const cpu_set& cpus) const {
    node_set nodes;
    for (const node_part& each : parts_.nodes()) {
      if (each.near.intersects(cpus)) {
        nodes.insert(each.is->id);
      }
    }
    return nodes;
  }

  /// The processors of the objects of a level that are not nodes.
  [[nodiscard]] std::vector<cpu_set> sets_of(const level& one) const {
    switch (one.kind) {
    case object_kind::machine:
      return {where_.machine().cpus()};
    case object_kind::package:
      return parts_.packages();
    case object_kind::cache:
      return parts_.caches_of(one.cache_level, one.instruction_cache);
    case object_kind::core:
      return parts_.cores();
    case object_kind::pu:
      return parts_.processors();
    case object_kind::node:
      break;
    }
    return {};
  }

  /// The objects in hwloc's order. Throws if the machine value has none.
  [[nodiscard]] std::vector<object> objects_of(const level& one) const {
    std::vector<object> objects;
    for (const cpu_set& each : sets_of(one)) {
      objects.push_back({each});
    }
    if (one.kind == object_kind::node) {
      for (const node_part& each : parts_.nodes()) {
        objects.push_back({each.near, each.is});
      }
    }
    std::erase_if(objects, [](const object& each) { return each.near.empty(); });
    if (one.memory) {
      if (std::ranges::all_of(objects, [](const object& each) {
            return each.node->kind == memory_kind::unknown;
          })) {
        refuse("nodes by their kind of memory", "the kinds of this machine's memory are unknown",
               "name the nodes by number; `nodewise topo` shows what is known about them");
      }
      std::erase_if(objects, [&](const object& each) { return each.node->kind != *one.memory; });
    }
    if (objects.empty()) {
      refuse(fmt::format("the objects '{}'", one.name), "this machine has none that are known",
             "`nodewise topo` shows what is known");
    }
    return objects;
  }

  /// Adds the objects of level `depth` that are in `within`, or anywhere. A missing object is
  /// refused if `within` was `chosen` by its number, and skipped if by "all" and its like.
  void add_below(const location& one, std::size_t depth, const object* within, bool chosen,
                 selection& found) {
    const level& here = one.levels[depth];
    std::vector<const object*> inside;
    for (const object& each : candidates_[depth]) {
      if (within == nullptr || each.within(*within)) {
        inside.push_back(&each);
      }
    }
    const index_range& which = here.which;
    const int width = static_cast<int>(inside.size());
    int amount = which.open()  ? (width - which.first + which.step - 1) / which.step
                 : which.wraps ? std::min(which.amount, width)
                               : which.amount;
    if (amount <= 0 && chosen) {
      refuse_number(one, here, which.first, width);
    }
    for (int at = which.first; amount > 0; at += which.step, --amount) {
      at = which.wraps && at >= width ? 0 : at;
      if (at < width) {
        add_object(one, depth, *inside[static_cast<std::size_t>(at)], at, chosen, found);
      } else if (chosen) {
        refuse_number(one, here, at, width);
      } else {
        return;
      }
    }
  }

  void add_object(const location& one, std::size_t depth, const object& named, int at, bool chosen,
                  selection& found) {
    const level& here = one.levels[depth];
    chosen = chosen && !here.which.open();
    if (depth + 1 == one.levels.size()) {
      add(named, fmt::format("{}:{}", here.name, at), chosen, found);
    } else if (!named.cpus().empty()) {
      add_below(one, depth + 1, &named, chosen, found);
    } else if (chosen) { // a memory's name does not name the processors near it
      check_node(named.node->id, where_, node_purpose::processors, usable_);
    }
  }

  [[noreturn]] static void refuse_number(const location& one, const level& here, int at,
                                         int width) {
    refuse(fmt::format("the location '{}'", one.text),
           fmt::format("there is no {}:{} there: {}", here.name, at,
                       width == 0
                           ? "none at all"
                           : fmt::format("{} in all, counted from 0 to {}", width, width - 1)),
           "hwloc counts within the object before the dot; `nodewise topo` draws the machine");
  }

  void add(const object& named, const std::string& name, bool chosen, selection& found) {
    const node_set nodes =
        named.node != nullptr ? node_set{named.node->id} : nodes_beside(named.near);
    if (checking_ && chosen) {
      check(named, nodes, name);
    }
    found.cpus = std::move(found.cpus) | named.cpus();
    found.nodes = std::move(found.nodes) | nodes;
  }

  /// Throws if an object that was named by its number cannot be used.
  void check(const object& named, const node_set& nodes, const std::string& name) const {
    if (for_processors_ && !named.cpus().empty()) {
      check_allowed(fmt::format("{} (processors {})", name, named.cpus().to_string()), named.cpus(),
                    where_);
    } else if (!nodes.intersects(usable_) && !nodes.empty()) {
      check_node(nodes.first(), where_, purpose_, usable_);
    }
  }

  const topology& where_;
  const system_files& files_;
  bool for_processors_;
  node_purpose purpose_;
  node_set usable_;
  parts parts_;
  bool checking_ = true;
  std::vector<std::vector<object>> candidates_; ///< by level of the current location
};

selection select(std::string_view text, const topology& where, const system_files& files,
                 std::optional<node_purpose> nodes) {
  const std::vector<location> locations = read_locations(text);
  const bool caches = std::ranges::any_of(locations, [](const location& each) {
    return std::ranges::count(each.levels, object_kind::cache, &level::kind) != 0;
  });
  return location_evaluator(where, files, nodes, caches).run(locations);
}

template <class Set>
Set not_empty(Set set, std::string_view text, const Set& usable) {
  if (set.empty()) {
    refuse(fmt::format("the locations '{}'", text), "they select nothing",
           "this process may use " + usable.to_string());
  }
  return set;
}

} // namespace

bool is_hwloc_text(std::string_view text) noexcept {
  if (text.find(' ') != std::string_view::npos || text.starts_with('~') || text.starts_with('^') ||
      text == "machine" || text == "root") {
    return true;
  }
  for (const std::string_view rest : {text, text.substr(text.starts_with('x') ? 1 : 0)}) {
    if (rest.starts_with("0x") || rest.starts_with("0X")) {
      return true;
    }
    const std::size_t end = rest.find_first_of(":=[.");
    if (end != std::string_view::npos && is_hwloc_word(rest.substr(0, end))) {
      return true;
    }
  }
  return false;
}

cpu_set hwloc_cpus(std::string_view text, const topology& where, const system_files& files) {
  return not_empty(select(text, where, files, std::nullopt).cpus & where.allowed_cpus(), text,
                   where.allowed_cpus());
}

node_set hwloc_nodes(std::string_view text, const topology& where, node_purpose purpose,
                     const system_files& files) {
  const node_set usable = usable_nodes(where, purpose);
  return not_empty(select(text, where, files, purpose).nodes & usable, text, usable);
}

} // namespace nodewise::spec
