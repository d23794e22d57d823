// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/model/loop.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "cli/start/flags.hpp"
#include "report/style.hpp"
#include "spec/spec.hpp"

namespace nodewise::cli {

namespace {

/// The machine restricted by -N or -C.
topology chosen(const loop_description& asked, const topology& where) {
  cpu_set cpus = where.allowed_cpus();
  if (asked.cpus) {
    cpus = for_option(flags::physcpubind,
                      [&] { return spec::resolve_cpus(*asked.cpus, where).cpus(); });
  } else if (asked.cpu_nodes) {
    const node_set nodes = for_option(flags::cpunodebind, [&] {
      return spec::resolve_nodes(*asked.cpu_nodes, where, spec::node_purpose::processors);
    });
    cpu_set wanted;
    for (const node_id node : nodes) {
      wanted = std::move(wanted) | where.machine().find_node(node)->cpus;
    }
    cpus = std::move(wanted) & cpus;
  }
  return {where.machine(), std::move(cpus), where.allowed_nodes()};
}

void place_threads(placed_loop& into, const loop_description& asked, const topology& where,
                   const model::machine_costs& on) {
  const team_layout layout(chosen(asked, where),
                           {.policy = asked.bind, .threads = asked.threads, .smt = asked.smt});
  for (const thread_place& thread : layout.threads()) {
    // Every allowed processor has a core.
    const std::size_t core = on.core_of(thread.cpu.value_or(thread.place.first())).value_or(0);
    into.what.cores.push_back(core);
    into.nodes.insert(on.nodes[on.cores[core].node]);
  }
  if (layout.threads_per_cpu() > 1) {
    into.remarks.push_back(
        fmt::format("{} threads on {} processors: some take turns, which is not modelled",
                    layout.size(), layout.cpus().size()));
  }
}

std::size_t line_bytes_of(const machine& of) {
  const auto known =
      std::ranges::find_if(of.caches, [](const cache& each) { return each.line_bytes != 0; });
  constexpr std::size_t usual = 64;
  return known == of.caches.end() ? usual : known->line_bytes;
}

/// The total size of the outermost caches that the machine's file describes.
std::uint64_t outer_cache_bytes(const machine& of) {
  std::uint64_t bytes = 0;
  int level = 0;
  for (const cache& each : of.caches) {
    if (each.kind != cache_kind::instruction && each.level >= level) {
      bytes = each.level > level ? each.size_bytes : bytes + each.size_bytes;
      level = each.level;
    }
  }
  return bytes;
}

void warn_of_caches(placed_loop& into, const topology& where) {
  const std::uint64_t caches = outer_cache_bytes(where.machine());
  const std::uint64_t arrays =
      into.what.elements * into.what.element_bytes * into.what.arrays.size();
  if (arrays <= caches) {
    into.remarks.push_back(fmt::format("the arrays ({}) fit into the machine's caches ({}): only "
                                       "the first sweep waits for memory",
                                       report::format_bytes(arrays), report::format_bytes(caches)));
  }
}

void set_chunk_start(placed_loop& into, const loop_description& asked,
                     const model::machine_costs& on) {
  const bool has_chunks = into.what.how.chunk > 0 || into.what.how.is_pooled();
  if (asked.chunk_start_s) {
    into.what.chunk_start_s = *asked.chunk_start_s;
  } else if (const auto latency = on.local_latency_s[on.cores[into.what.cores.front()].node];
             has_chunks && latency) {
    into.what.chunk_start_s = latency->value;
    into.chunk_starts_with_latency = true;
    into.remarks.emplace_back("a thread is assumed to wait for one local latency at the beginning "
                              "of each chunk (--chunk-start)");
  } else if (has_chunks) {
    into.remarks.emplace_back("the machine's latency is unknown: the beginning of a chunk is "
                              "assumed to cost nothing (--chunk-start)");
  }
}

} // namespace

placed_loop place_loop(const loop_description& asked, const topology& where,
                       const model::machine_costs& on) {
  placed_loop made;
  model::loop& loop = made.what;
  loop.arrays = asked.arrays;
  loop.elements = asked.elements;
  loop.element_bytes = asked.element_bytes;
  loop.page_bytes = asked.page_bytes;
  loop.line_bytes = line_bytes_of(where.machine());
  loop.form = asked.form;
  loop.how = asked.how;
  loop.random_access = asked.random_access;
  place_threads(made, asked, where, on);
  set_chunk_start(made, asked, on);
  warn_of_caches(made, where);
  place_arrays(made, asked, where, on);
  return made;
}

} // namespace nodewise::cli
