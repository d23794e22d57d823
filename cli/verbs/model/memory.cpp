// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Implements --memory: which memory each page of a described loop's arrays is in.
#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include <nodewise/arithmetic.hpp>

#include "cli/start/flags.hpp"
#include "cli/verbs/model/answer.hpp"
#include "cli/verbs/model/flags.hpp"
#include "place/kernel_weights.hpp"
#include "placement/resolve.hpp"
#include "report/style.hpp"
#include "spec/spec.hpp"

namespace nodewise::cli {

namespace {

using model::page_map;
using positions = std::vector<std::size_t>; ///< of nodes, in `machine_costs::nodes`

constexpr std::size_t plenty = std::size_t{1} << 60; // pages

class arranger {
 public:
  arranger(placed_loop& into, const loop_description& asked, const topology& where,
           const model::machine_costs& on)
      : into_(into), asked_(asked), where_(where), on_(on), nearest_(nearest_nodes()) {}

  void place() {
    const std::vector<std::size_t> free = free_pages();
    const page_map one = wanted_map();
    std::vector<page_map>& maps = into_.what.maps;
    for (std::size_t a = 0; a < into_.what.arrays.size(); ++a) {
      maps.push_back(asked_.stagger ? one.staggered(a) : one);
    }
    if (!fits(maps, free)) {
      overflow(maps, free);
    }
  }

 private:
  /// Nodes in the order of the kernel's zone lists: by distance; at equal distance, the nodes after
  /// this one come first.
  [[nodiscard]] std::vector<positions> nearest_nodes() const {
    const machine& of = where_.machine();
    std::vector<positions> all;
    for (std::size_t from = 0; from < on_.size(); ++from) {
      positions order(on_.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::ranges::sort(order, {}, [&](std::size_t to) {
        const int distance = of.distance(on_.nodes[from], on_.nodes[to]).value_or(0);
        return std::tuple(from != to, distance, to < from, to);
      });
      all.push_back(std::move(order));
    }
    return all;
  }

  [[nodiscard]] node_set resolved(std::string_view list) const {
    return spec::resolve_nodes(list, where_, spec::node_purpose::memory);
  }
  template <class Nodes>
  [[nodiscard]] positions positions_of(const Nodes& nodes) const {
    positions all;
    for (const node_id node : nodes) {
      all.push_back(on_.position_of(node).value_or(0)); // every node of the machine has one
    }
    return all;
  }
  /// The threads' nodes that have memory; if there are none, all nodes that have.
  [[nodiscard]] node_set nodes_of_threads() const {
    const node_set both = into_.nodes & where_.memory_nodes();
    return both.empty() ? where_.memory_nodes() : both;
  }
  [[nodiscard]] std::vector<node_id> nodes_by_thread() const {
    std::vector<node_id> nodes;
    for (std::size_t t = 0; t < into_.what.threads(); ++t) {
      nodes.push_back(on_.nodes[node_of_thread(t)]);
    }
    return nodes;
  }
  [[nodiscard]] std::size_t node_of_thread(std::size_t t) const {
    return on_.cores[into_.what.cores[t]].node;
  }

  [[nodiscard]] std::vector<std::size_t> free_pages() const {
    std::vector<std::size_t> pages;
    for (const memory_node& node : where_.machine().nodes) {
      const bool allowed = where_.allowed_nodes().contains(node.id);
      pages.push_back(allowed ? node.memory_bytes / asked_.page_bytes : 0);
    }
    for (const auto& [list, bytes] : asked_.free) {
      for (const std::size_t node :
           positions_of(for_option(flags::free_memory, [&] { return resolved(list); }))) {
        pages[node] = bytes / asked_.page_bytes;
      }
    }
    return pages;
  }

  [[nodiscard]] page_map wanted_map() {
    if (asked_.memory == "serial") {
      return page_map::of_blocks({{into_.what.pages(), node_of_thread(0)}});
    }
    const placements::placement what = placements::resolved(
        parsed(), placements::grammar::command_line,
        {[&] { return nodes_by_thread(); }, 0, [&] { return where_.memory_nodes(); },
         [&] { return nodes_of_threads(); },
         [&](const node_set& nodes) { return measured_weights(nodes); }});
    switch (placements::traits_of(what.how).divided) {
    case placements::division::none:
      return under_policy(what);
    case placements::division::rounds:
      return page_map::in_turn(positions_of(placements::owners_of(what.owners)),
                               std::max<std::size_t>(1, what.granule_bytes / asked_.page_bytes));
    case placements::division::parts:
      return in_parts(what);
    }
    return touched();
  }
  [[nodiscard]] page_map under_policy(const placements::placement& what) {
    using placements::kernel_policy;
    const positions nodes = positions_of(placements::owners_of(what.owners));
    switch (placements::traits_of(what.how).policy) {
    case kernel_policy::none:
    case kernel_policy::local:
      break;
    case kernel_policy::bind:
      return only_on(nodes, true);
    case kernel_policy::prefer:
      return only_on(nodes, false);
    case kernel_policy::interleave:
      return page_map::in_turn(nodes);
    }
    return touched();
  }

  /// "--memory cyclic:64K", as in the command line.
  [[nodiscard]] std::string memory_text() const {
    return fmt::format("{} {}", option_name(flags::memory), asked_.memory);
  }
  /// Reads the placements of `run`; errors also name `serial`.
  [[nodiscard]] placements::placement parsed() const {
    try {
      return placements::read(asked_.memory, placements::grammar::command_line,
                              [&](std::string_view list) { return resolved(list); });
    } catch (const error& e) {
      throw error(e.kind(), memory_text(), e.answered(),
                  e.hint() + "; or serial: one thread touches all pages first");
    }
  }

  /// First touch among these nodes: if the thread's own node is not one of them, on the nearest.
  [[nodiscard]] page_map only_on(const positions& nodes, bool strictly) {
    if (strictly) {
      others_closed_.assign(on_.size(), 1);
      for (const std::size_t node : nodes) {
        others_closed_[node] = 0;
      }
    }
    if (nodes.size() == 1) {
      return page_map::of_blocks({{into_.what.pages(), nodes.front()}});
    }
    std::vector<std::size_t> room(on_.size(), 0);
    for (const std::size_t node : nodes) {
      room[node] = plenty;
    }
    return model::free_memory(std::move(room), nearest_).place(touched(), into_.what.pages());
  }
  /// Weights from the bandwidths that the model uses, including assumed ones.
  [[nodiscard]] std::vector<placements::owner_run> measured_weights(const node_set& nodes) const {
    std::vector<double> bandwidths;
    for (const std::size_t node : positions_of(nodes)) {
      bandwidths.push_back(on_.memory[node].value);
    }
    if (!on_.absolute ||
        !std::ranges::all_of(bandwidths, [](double b) { return b > 0 && b < model::unlimited; })) {
      throw error(error_kind::usage, memory_text(),
                  "the machine's file has no bandwidths of its memories",
                  "give the weights: weighted:0=3,1=1, or the bandwidths: --set bandwidth=...");
    }
    std::vector<placements::owner_run> weights = placements::in_turn(nodes);
    const auto found = kernel_weights::in_proportion(bandwidths);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i].parts = found[i];
    }
    return weights;
  }
  /// The page behind a part: even parts, or whole rows.
  [[nodiscard]] std::size_t end_of_part(std::size_t part, std::size_t parts,
                                        std::size_t row_bytes) const {
    const std::size_t pages = into_.what.pages();
    if (row_bytes == 0 || part + 1 == parts) {
      return arithmetic::blocked(part, pages, parts).last;
    }
    const std::size_t edge =
        arithmetic::first_byte_of_rows(part + 1, pages * asked_.page_bytes, row_bytes, parts);
    return arithmetic::nearest(edge, 1, asked_.page_bytes);
  }
  /// Blocks of the threads in order, or parts of an owner each.
  [[nodiscard]] page_map in_parts(const placements::placement& what) const {
    const bool by_thread = placements::traits_of(what.how).has_blocks();
    const positions owners = by_thread ? positions_of(nodes_by_thread())
                                       : positions_of(placements::owners_of(what.owners));
    std::vector<model::page_block> blocks;
    for (std::size_t k = 0; k < owners.size(); ++k) {
      const std::size_t end = end_of_part(k, owners.size(), what.granule_bytes);
      if (end > (blocks.empty() ? 0 : blocks.back().last)) {
        blocks.push_back({end, owners[k]});
      }
    }
    return page_map::of_blocks(std::move(blocks));
  }

  /// First touch by this loop itself.
  [[nodiscard]] page_map touched() {
    const model::loop& loop = into_.what;
    if (loop.how.is_pooled()) {
      const std::string schedule = asked_.schedule_text();
      into_.remarks.push_back(
          fmt::format("under a {} schedule, chance decides which thread touches "
                      "a page first: every run places pages differently",
                      schedule.substr(0, schedule.find(','))));
      return model::first_touch(on_, loop);
    }
    constexpr std::size_t most_chunks = std::size_t{1} << 29;
    if (loop.how.chunk > 0 && loop.iterations() / loop.how.chunk > most_chunks) {
      throw error(error_kind::usage,
                  fmt::format("{} {}", option_name(flags::schedule), asked_.schedule_text()),
                  "there are too many chunks to find the first touch of each",
                  "give a larger chunk, fewer elements, or another --memory");
    }
    return model::first_touch(on_, loop);
  }

  /// The number of pages to place on each node.
  [[nodiscard]] std::vector<double> demand_of(const std::vector<page_map>& maps) const {
    std::vector<double> pages(on_.size(), 0);
    for (const page_map& map : maps) {
      map.add_pages(0, static_cast<double>(into_.what.pages()), 1, pages);
    }
    return pages;
  }
  [[nodiscard]] bool fits(const std::vector<page_map>& maps,
                          const std::vector<std::size_t>& free) const {
    const std::vector<double> pages = demand_of(maps);
    return std::ranges::equal(pages, free, [](double wanted, std::size_t there) {
      return wanted <= static_cast<double>(there);
    });
  }

  void overflow(std::vector<page_map>& maps, std::vector<std::size_t> free) {
    constexpr std::size_t most_pages = std::size_t{1} << 25; // each may become a separate block
    const std::size_t pages = into_.what.pages();
    for (std::size_t n = 0; n < others_closed_.size(); ++n) {
      free[n] = others_closed_[n] != 0 ? 0 : free[n];
    }
    if (const auto room = std::accumulate(free.begin(), free.end(), std::size_t{0});
        pages * maps.size() > room) {
      throw error(error_kind::input,
                  fmt::format("placing arrays of {} under {}",
                              report::format_bytes(pages * maps.size() * asked_.page_bytes),
                              memory_text()),
                  "the nodes have room for " + report::format_bytes(room * asked_.page_bytes),
                  "give fewer elements, or the free memory of the nodes with --free");
    }
    if (pages * maps.size() > most_pages) {
      throw error(error_kind::usage,
                  fmt::format("placing arrays of {} pages that do not fit on their nodes", pages),
                  "there are too many pages to place each",
                  "give --page-size 2MiB, or fewer elements");
    }
    const std::vector<double> before = demand_of(maps);
    model::free_memory room(std::move(free), nearest_);
    for (page_map& map : maps) {
      map = room.place(map, pages);
    }
    add_remarks(before, demand_of(maps));
  }
  /// Reports the bytes that are not on the node that they were meant for.
  void add_remarks(const std::vector<double>& before, const std::vector<double>& after) {
    for (std::size_t n = 0; n < on_.size(); ++n) {
      if (after[n] < before[n]) {
        const double bytes = (before[n] - after[n]) * static_cast<double>(asked_.page_bytes);
        into_.remarks.push_back(fmt::format(
            "{} for node {} are on the nearest nodes with room: {}",
            report::format_bytes(static_cast<unsigned long long>(bytes)), on_.nodes[n],
            where_.machine().nodes[n].memory_bytes == 0 ? "it has no memory" : "it is full"));
      }
    }
  }

  placed_loop& into_;
  const loop_description& asked_;
  const topology& where_;
  const model::machine_costs& on_;
  std::vector<positions> nearest_;
  std::vector<char> others_closed_; ///< by node, if only some may have pages; else empty
};

} // namespace

void place_arrays(placed_loop& into, const loop_description& asked, const topology& where,
                  const model::machine_costs& on) {
  arranger(into, asked, where, on).place();
}

} // namespace nodewise::cli
