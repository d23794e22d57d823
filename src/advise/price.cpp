// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/price.hpp"

#include <fmt/core.h>

namespace nodewise::advise {

namespace {

constexpr double some_nearer = 0.05; // of the traffic: enough to report without a gain

/// For each worker, the bytes per second that its instructions leave time for. A core is assumed to
/// do both at once: the longer of the two decides, as in the roofline model. Unlimited if the
/// machine figures are only ratios between memories.
std::vector<double> limits_by_work(const analysis_input& of, const flow_of_time& what,
                                   double instructions_per_s) {
  std::vector<double> limits(of.workers.size(), model::unlimited);
  for (std::size_t w = 0; w < limits.size(); ++w) {
    const auto instructions = static_cast<double>(of.thread(of.workers[w]).instructions);
    const double bytes =
        sum_over(what, [&](const matrix& piece) { return piece.moved_by(w, of.nodes()); });
    if (instructions > 0 && of.costs.absolute && bytes > 0) {
      limits[w] = bytes / (instructions / instructions_per_s);
    }
  }
  return limits;
}

/// Assigns threads that move bytes to the cores of their nodes in turn.
model::traffic traffic_of(const analysis_input& of, const matrix& what, const positions& homes,
                          const std::vector<double>& limits) {
  model::traffic all;
  std::vector<positions> cores(of.nodes());
  for (std::size_t core = 0; core < of.costs.cores.size(); ++core) {
    cores[of.costs.cores[core].node].push_back(core);
  }
  positions next(of.nodes(), 0);
  for (std::size_t w = 0; w < of.workers.size(); ++w) {
    const auto row = static_cast<std::ptrdiff_t>(w * what.columns);
    const auto nodes = static_cast<std::ptrdiff_t>(of.nodes());
    model::thread_traffic thread;
    thread.read.assign(what.read.begin() + row, what.read.begin() + row + nodes);
    thread.written.assign(what.written.begin() + row, what.written.begin() + row + nodes);
    thread.most = limits[w];
    if (!(model::total_bytes(thread) > 0)) {
      continue;
    }
    const bool has_home = !homes.empty() && homes[w] != nowhere;
    for (const worker::part& part :
         has_home ? std::vector<worker::part>{{homes[w], 1}} : of.workers[w].parts) {
      model::thread_traffic there = thread;
      const positions& here = cores[part.node]; // there must be some
      there.core = here[next[part.node]++ % here.size()];
      for (std::size_t n = 0; n < of.nodes(); ++n) {
        there.read[n] *= part.share;
        there.written[n] *= part.share;
      }
      all.threads.push_back(std::move(there));
    }
  }
  return all;
}

double far_bytes(const model::machine_costs& on, const model::traffic& of) {
  double sum = 0;
  for (const model::thread_traffic& thread : of.threads) {
    for (std::size_t n = 0; n < on.size(); ++n) {
      sum += on.is_near(on.cores[thread.core].node, n) ? 0 : thread.read[n] + thread.written[n];
    }
  }
  return sum;
}

/// Widens the range to include the ratio under another assumption.
void widen(gain& of, double ratio) {
  if (std::isfinite(ratio) && ratio > 0) {
    of.low = std::min(of.low, ratio);
    of.high = std::max(of.high, ratio);
  }
}

} // namespace

prediction predict(const analysis_input& of, const model::machine_costs& on, const course& what,
                   double instructions_per_s) {
  prediction all;
  const std::vector<double> limits = limits_by_work(of, what.traffic, instructions_per_s);
  double remote = 0;
  double longest = -1;
  for (const matrix& piece : what.traffic) {
    const model::traffic traffic = traffic_of(of, piece, what.homes, limits);
    model::prediction one = model::price(on, traffic);
    remote += far_bytes(on, traffic);
    all.bytes += one.bytes;
    all.seconds += one.seconds;
    if (one.seconds > longest) {
      longest = one.seconds;
      all.loads = std::move(one.loads);
    }
  }
  all.remote = all.bytes > 0 ? remote / all.bytes : 0;
  return all;
}

std::string binds_in(const analysis_input& of, const prediction& what) {
  if (what.loads.empty() || !(what.loads.front().bound > 0)) {
    return "";
  }
  const model::resource_load& most = what.loads.front();
  switch (most.kind) {
  case model::resource_kind::memory:
    return fmt::format("memory of node {}", of.number_of(most.at));
  case model::resource_kind::link:
    return fmt::format("link {}:{}", of.number_of(of.costs.links[most.at].from),
                       of.number_of(of.costs.links[most.at].to));
  case model::resource_kind::core:
    return fmt::format("cores of node {}", of.number_of(most.at));
  case model::resource_kind::thread:
    break;
  }
  return own_work;
}

double least_ratio(const analysis_input& of, const course& before, const course& after) {
  double least = model::unlimited;
  for (const model::machine_costs* const on : {&of.costs, &of.other_costs}) {
    const double then = predict(of, *on, after).seconds;
    const double now = predict(of, *on, before).seconds;
    least = now > 0 && then > 0 ? std::min(least, now / then) : least;
  }
  return std::isfinite(least) ? least : 1;
}

double samples_of(const analysis_input& of, const positions& sites) {
  return !of.sampled
             ? 0
             : sum_over(of.items_of(sites), [&](std::size_t i) { return of.items[i].units; });
}

gain worth_of(const analysis_input& of, const course& before, const course& after, double samples) {
  gain made;
  const prediction now = predict(of, before);
  const prediction then = predict(of, after);
  made.binds_before = binds_in(of, now);
  made.binds_after = binds_in(of, then);
  if (!(now.seconds > 0) || !(then.seconds > 0)) {
    made.how = gain::kind::unavailable;
    made.note = "no traffic to a known memory was observed";
    return made;
  }
  made.ratio = made.low = made.high = now.seconds / then.seconds;
  if (of.absolute) {
    made.before_s = now.seconds;
    made.after_s = then.seconds;
  }
  const auto ratio = [&](const model::machine_costs& on) {
    return predict(of, on, before).seconds / predict(of, on, after).seconds;
  };
  for (const model::sensitivity& each : model::sensitivities(of.costs, now.loads, ratio)) {
    widen(made, made.ratio * (1 + each.less));
    widen(made, made.ratio * (1 + each.more));
  }
  widen(made, ratio(of.other_costs));
  if (samples > 0) {
    const double doubt = 1 / std::sqrt(samples);
    made.low /= 1 + doubt;
    made.high *= 1 + doubt;
  }
  if (of.assumed) {
    made.how = gain::kind::at_most;
    made.note = "if all threads use, in equal blocks, what the main thread touched first, and wait "
                "only for memory: this was not observed";
  }
  return made;
}

gain worth_of_placing(const analysis_input& of, const course& before, const course& after,
                      double samples) {
  gain made = worth_of(of, before, after, samples);
  const double nearer = predict(of, before).remote - predict(of, after).remote;
  if (of.costs.links.empty() && made.how == gain::kind::predicted && made.ratio < least_gain &&
      made.binds_before != own_work && nearer >= some_nearer) {
    made.how = gain::kind::unavailable;
    made.note =
        fmt::format("{} of the traffic would be local instead of remote; the gain is unknown, "
                    "because the bandwidth of the machine's links is unknown",
                    percent(nearer));
  }
  return made;
}

} // namespace nodewise::advise
