// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/model/answer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "report/style.hpp"

namespace nodewise::cli {

namespace {

using model::input;
using model::machine_costs;
using model::reading;

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

std::optional<double> model_answer::ratio() const noexcept {
  if (alternatives.empty() || !(alternatives.front().seconds > 0)) {
    return std::nullopt;
  }
  return result.seconds / alternatives.front().seconds;
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
  for (std::size_t n = 0; n < on.size(); ++n) {
    const std::string node = fmt::format("node {}", on.nodes[n]);
    if (on.memory[n].value > 0) {
      all.push_back({input::memory, node, on.memory[n]});
      all.push_back({input::shared_efficiency, node, on.shared_efficiency[n]});
    }
    if (on.core[n].value != model::unlimited) {
      all.push_back({input::core, node, on.core[n]});
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
      all.push_back({input::local_latency, fmt::format("node {}", on.nodes[n]), *latency});
    }
  }
  all.push_back({input::lines_in_flight, "a core", on.lines_in_flight});
  return all;
}

} // namespace nodewise::cli
