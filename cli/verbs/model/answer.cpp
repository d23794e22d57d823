// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/model/answer.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "cli/start/flags.hpp"
#include "report/style.hpp"
#include "spec/spec.hpp"

namespace nodewise::cli {

namespace {

using model::input;
using model::machine_costs;
using model::reading;

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

void warn_of_caches(placed_loop& into, const machine& on) {
  const std::uint64_t caches = outer_cache_bytes(on);
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
  if (asked.given_chunk_start_s) {
    into.what.chunk_start_s = *asked.given_chunk_start_s;
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

/// The time with the same reading on a slightly changed machine.
double seconds_on(const machine_costs& other, const placed_loop& loop, reading by) {
  model::loop what = loop.what;
  const auto& latency = other.local_latency_s[other.cores[what.cores.front()].node];
  if (loop.chunk_starts_with_latency && latency) {
    what.chunk_start_s = latency->value;
  }
  constexpr std::size_t pieces = 10'000; // fewer than for the time itself: there are 14 such runs
  return model::seconds_by(other, what, by, pieces);
}

std::vector<read_seconds> readings_of(const model::loop_prediction& found) {
  std::vector<read_seconds> all = {{reading::mixed, found.mixed_s}};
  if (found.in_step_s) {
    all.push_back({reading::in_step, *found.in_step_s});
  }
  if (found.drifting_s) {
    all.push_back({reading::drifting, *found.drifting_s});
  }
  return all;
}

/// The prediction as reported: shares are clamped to 1, since they are sums of rounded numbers.
/// Throws if neither memories nor cores have a limit, since nothing is predicted then.
model::prediction checked(model::prediction found) {
  if (!(found.seconds > 0) || !std::isfinite(found.seconds)) {
    throw error(error_kind::input, "predicting the time on this machine",
                "neither its memories nor its cores have a known limit",
                "give --limit memory, or for example --set core_bandwidth=10");
  }
  for (model::resource_load& load : found.loads) {
    load.busy = std::min(1.0, load.busy);
    load.bound = std::min(1.0, load.bound);
  }
  return found;
}

std::string between(const machine_costs& on, std::size_t from, std::size_t to) {
  return fmt::format("{}:{}", on.nodes[from], on.nodes[to]);
}

} // namespace

placed_loop place_loop(const loop_description& asked, const topology& where,
                       const model::machine_costs& on) {
  placed_loop made;
  made.what = asked;
  made.what.line_bytes = line_bytes_of(where.machine());
  place_threads(made, asked, where, on);
  set_chunk_start(made, asked, on);
  warn_of_caches(made, where.machine());
  place_arrays(made, asked, where, on);
  return made;
}

model_answer answer_loop(const machine_costs& on, placed_loop loop) {
  model_answer made;
  const model::loop_prediction found = model::predict(on, loop.what);
  made.result = checked(found.result);
  made.by = found.by;
  made.readings = readings_of(found);
  made.useful_bytes = found.useful_bytes;
  made.alternatives = model::alternatives(on, loop.what, found.by);
  made.sensitivities = model::sensitivities(on, made.result.loads, [&](const machine_costs& other) {
    return seconds_on(other, loop, found.by);
  });
  made.remarks = std::move(loop.remarks);
  made.remarks.insert(made.remarks.end(), on.remarks.begin(), on.remarks.end());
  return made;
}

model_answer answer_traffic(const machine_costs& on, const priced_traffic& what, model::work how) {
  model_answer made;
  made.result = checked(model::price(on, what.what, how));
  made.readings = {{reading::mixed, made.result.seconds}};
  made.alternatives = model::alternatives(on, what.what);
  made.sensitivities = model::sensitivities(on, made.result.loads, [&](const machine_costs& other) {
    return model::price(other, what.what, how).seconds;
  });
  if (what.unknown > 0) {
    made.remarks.push_back(
        fmt::format("{} of the lines are left out: their processor or memory is unknown",
                    report::format_percent(what.unknown / (what.unknown + what.lines))));
  }
  if (what.elsewhere) {
    made.remarks.emplace_back("counted on another machine: each processor is treated as a core "
                              "of the node with the same number");
  }
  if (what.dirty > 0) {
    made.remarks.push_back(fmt::format("{} of the lines were still dirty in the caches at the end: "
                                       "they are counted as written",
                                       report::format_percent(what.dirty / what.lines)));
  }
  made.remarks.insert(made.remarks.end(), on.remarks.begin(), on.remarks.end());
  return made;
}

std::vector<used_figure> used_figures(const machine_costs& on) {
  std::vector<used_figure> all;
  const auto node = [&](std::size_t n) { return fmt::format("node {}", on.nodes[n]); };
  for (std::size_t n = 0; n < on.size(); ++n) {
    if (on.memory[n].value > 0) {
      all.push_back({input::memory, node(n), on.memory[n]});
      all.push_back({input::shared_efficiency, node(n), on.shared_efficiency[n]});
    }
    if (on.core[n].value != model::unlimited) {
      all.push_back({input::core, node(n), on.core[n]});
    }
  }
  for (const model::link& each : on.links) {
    all.push_back({input::links, between(on, each.to, each.from), each.bytes_per_s});
  }
  for (std::size_t from = 0; from < on.size(); ++from) {
    for (std::size_t to = 0; to < on.size(); ++to) {
      if (from != to && on.memory[to].value > 0) {
        all.push_back({input::latency, between(on, from, to), on.latency[from * on.size() + to]});
      }
    }
  }
  for (std::size_t n = 0; n < on.size(); ++n) {
    if (const auto& latency = on.local_latency_s[n]) {
      all.push_back({input::local_latency, node(n), *latency});
    }
  }
  all.push_back({input::lines_in_flight, "a core", on.lines_in_flight});
  return all;
}

} // namespace nodewise::cli
