// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/prediction/settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "cli/prediction/counted.hpp"
#include "launch/planning.hpp"
#include "model/price.hpp"
#include "model/resettle.hpp"
#include "placement/resolve.hpp"
#include "spec/spec.hpp"

namespace nodewise::cli {

namespace {

using launch::run_options;
using placements::traits_of;

std::size_t distinct(std::vector<std::size_t> values) {
  std::ranges::sort(values);
  return static_cast<std::size_t>(std::ranges::unique(values).begin() - values.begin());
}

/// Of all levels: what the machine can hold outside of its memories, or a little more.
std::uint64_t cache_bytes(const machine& of) {
  std::uint64_t bytes = 0;
  for (const cache& each : of.caches) {
    bytes += each.kind == cache_kind::instruction ? 0 : each.size_bytes;
  }
  return bytes;
}

/// What the counted run shows.
class starting_point {
 public:
  starting_point(const traffic::counts& of, traffic::phase judged, const topology& on)
      : costs_(model::costs_of(on.machine())),
        all_(price_of_counts(of, {.when = judged}, costs_).what), threads_(model::threads_of(all_)),
        seconds_(model::price(costs_, all_).seconds),
        local_(model::nearest_memory(costs_, on.memory_nodes())) {
    std::ranges::transform(threads_.threads, std::back_inserter(cores_),
                           &model::thread_traffic::core);
    for (const traffic::page_run& run : of.pages) {
      data_bytes_ += run.count * of.page_bytes;
    }
    fits_caches_ = data_bytes_ != 0 && data_bytes_ < 2 * cache_bytes(on.machine());
    if (std::ranges::any_of(of.cells, [](const traffic::cell& cell) {
          return cell.when == traffic::phase::initialisation && cell.lines.moved() > 0;
        })) {
      single_ = model::concentration(
          price_of_counts(of, {.when = traffic::phase::initialisation}, costs_).what,
          threads_.threads.size());
    }
  }

  [[nodiscard]] const model::machine_costs& costs() const noexcept { return costs_; }
  [[nodiscard]] const std::vector<std::size_t>& local() const noexcept { return local_; }
  /// The cores of the threads, in the order of their processors.
  [[nodiscard]] const std::vector<std::size_t>& cores() const noexcept { return cores_; }
  [[nodiscard]] std::uint64_t data_bytes() const noexcept { return data_bytes_; }
  [[nodiscard]] double error() const noexcept {
    return fits_caches_ ? prediction_error_in_caches : prediction_error;
  }
  /// Whether one processor initialised the data: 0 no, 1 yes.
  [[nodiscard]] double single() const noexcept { return single_; }

  /// The traffic if it is divided over threads on these cores; without any, as it was counted.
  [[nodiscard]] model::traffic
  on_cores(const std::optional<std::vector<std::size_t>>& cores) const {
    return cores ? model::divided(threads_, *cores) : all_;
  }
  [[nodiscard]] double share_elsewhere() const {
    return model::share_elsewhere(costs_, all_, local_);
  }
  [[nodiscard]] double ratio(const model::traffic& of) const {
    return model::price(costs_, of).seconds / seconds_;
  }

 private:
  model::machine_costs costs_;
  model::traffic all_;
  model::traffic threads_; ///< the same without processors that are no threads of their own
  double seconds_ = 0;
  std::vector<std::size_t> local_; ///< the nearest memory of each node
  std::vector<std::size_t> cores_;
  std::uint64_t data_bytes_ = 0;
  bool fits_caches_ = false; ///< or nearly
  double single_ = 0.5;
};

/// Predicts one setting.
class setting_predictor {
 public:
  setting_predictor(const starting_point& counted, const run_options& options, const topology& on,
                    environment get)
      : counted_(counted), costs_(counted.costs()), options_(options),
        now_{options_, on, get, planned_} {}

  std::optional<predicted_ratio> predict() {
    launch::plan_processors(now_);
    const auto cores = cores_of_threads();
    const auto homes = homes_of_memory();
    if (!homes) {
      return std::nullopt;
    }
    if (!cores && is_as_counted(*homes)) {
      return predicted_ratio{};
    }
    predicted_ratio made = range(counted_.on_cores(cores), *homes);
    if (cores && cores->size() > counted_.cores().size()) {
      const std::vector fewer(cores->begin(), cores->begin() + std::ssize(counted_.cores()));
      made.high = std::max(made.high, range(counted_.on_cores(fewer), *homes).high);
    }
    if (cores) {
      cover_cores(made, static_cast<double>(distinct(counted_.cores())) /
                            static_cast<double>(distinct(*cores)));
    }
    made.low /= 1 + counted_.error();
    made.high *= 1 + counted_.error();
    return made;
  }

 private:
  /// What a placement does with the pages.
  struct page_homes {
    std::vector<double> fixed = {};        ///< the weights of memories, for all threads
    std::vector<std::size_t> nearest = {}; ///< else: the memory for each node's threads
    enum class by { touch, blocks, turns } who = by::touch;
    std::vector<double> turns = {}; ///< of `turns`, the weights of memories
  };

  /// `factor`: the counted cores to those now, which is how much longer computing takes.
  static void cover_cores(predicted_ratio& made, double factor) {
    made.low = factor < 1 ? std::min(made.low, factor) : made.low;
    made.high = factor > 1 ? std::max(made.high, factor) : made.high;
  }

  // Processors.

  /// nullopt: as counted.
  [[nodiscard]] std::optional<std::vector<std::size_t>> cores_of_threads() const {
    if (planned_.layout) {
      return cores_of(*planned_.layout);
    }
    if (!planned_.affinity && !options_.threads) {
      return std::nullopt;
    }
    const cpu_set& allowed = planned_.affinity ? *planned_.affinity : now_.here.allowed_cpus();
    const std::size_t before = counted_.cores().size();
    const std::size_t wanted = options_.threads.value_or(std::min(before, allowed.size()));
    const bool fits = std::ranges::all_of(counted_.cores(), [&](std::size_t core) {
      return std::ranges::any_of(costs_.cores[core].cpus,
                                 [&](cpu_id cpu) { return allowed.contains(cpu); });
    });
    if (fits && wanted == before) {
      return std::nullopt;
    }
    const topology where(now_.here.machine(), allowed, now_.here.allowed_nodes());
    return cores_of(team_layout(where, bind_policy::spread, wanted));
  }

  [[nodiscard]] std::vector<std::size_t> cores_of(const team_layout& layout) const {
    std::vector<std::size_t> threads_on(costs_.cores.size(), 0);
    std::vector<std::size_t> cores;
    for (const thread_place& thread : layout.threads()) {
      std::optional<std::size_t> idlest;
      for (const cpu_id cpu : thread.place) {
        const auto core = costs_.core_of(cpu);
        if (core && (!idlest || threads_on[*core] < threads_on[*idlest])) {
          idlest = core;
        }
      }
      if (!idlest) {
        throw error(error_kind::usage, "predicting the time under a setting",
                    "a thread's processors belong to no node", "choose processors of a node");
      }
      ++threads_on[*idlest];
      cores.push_back(*idlest);
    }
    return cores;
  }

  // Memory.

  [[nodiscard]] node_set memories() const {
    return spec::resolve_nodes("all", now_.here, spec::node_purpose::memory);
  }

  /// In proportion to the bandwidths of the memories.
  [[nodiscard]] std::vector<placements::owner_run> by_bandwidth(const node_set& nodes) const {
    std::vector<placements::owner_run> weights = placements::in_turn(nodes);
    for (placements::owner_run& each : weights) {
      const double bandwidth = costs_.memory[*costs_.position_of(placements::node_of(each))].value;
      each.parts = costs_.absolute && bandwidth < model::unlimited
                       ? static_cast<std::uint64_t>(bandwidth)
                       : 1;
    }
    return weights;
  }

  [[nodiscard]] placements::placement placement() const {
    const placements::surroundings here{
        [&] { return launch::close_layout(now_).owners(); },
        0,
        [&] { return memories(); },
        [&] { return launch::nodes_of_threads(now_); },
        [&](const node_set& nodes) { return by_bandwidth(nodes); },
    };
    const auto read_nodes = [&](std::string_view list) {
      return spec::resolve_nodes(list, now_.here, spec::node_purpose::memory);
    };
    return placements::resolved(
        placements::read(options_.memory.words, placements::grammar::command_line, read_nodes),
        placements::grammar::command_line, here);
  }

  [[nodiscard]] std::vector<double>
  weights_of(const std::vector<placements::owner_run>& runs) const {
    std::vector<double> weights(costs_.size(), 0);
    for (const placements::owner_run& run : runs) {
      weights[*costs_.position_of(placements::node_of(run))] += static_cast<double>(run.parts);
    }
    return weights;
  }

  [[nodiscard]] bool holds_all_data(const node_set& nodes) const {
    std::uint64_t bytes = 0;
    for (const node_id node : nodes) {
      bytes += now_.here.machine().find_node(node)->memory_bytes;
    }
    return bytes == 0 || counted_.data_bytes() <= bytes; // 0: the machine's file gives no size
  }

  /// nullopt if the data does not fit.
  [[nodiscard]] std::optional<page_homes> homes_of_memory() const {
    using placements::division;
    using placements::kernel_policy;
    const auto& traits = traits_of(options_.memory.how);
    if (traits.has_blocks()) {
      return page_homes{.nearest = counted_.local(), .who = page_homes::by::blocks};
    }
    if (traits.policy == kernel_policy::local ||
        (traits.policy == kernel_policy::none && traits.divided == division::none)) {
      return page_homes{.nearest = counted_.local()};
    }
    const placements::placement what = placement();
    const node_set nodes = placements::nodes_of(what.owners);
    if (traits.policy == kernel_policy::bind || traits.policy == kernel_policy::prefer) {
      return holds_all_data(nodes)
                 ? std::optional(page_homes{.nearest = model::nearest_memory(costs_, nodes)})
                 : std::nullopt;
    }
    if (traits.by_thread) {
      return page_homes{.nearest = model::nearest_memory(costs_, nodes),
                        .who = page_homes::by::turns,
                        .turns = weights_of(what.owners)};
    }
    return page_homes{.fixed = weights_of(what.owners)};
  }

  /// The counted share of remote traffic, spread over the nodes of the threads.
  [[nodiscard]] model::traffic as_remote_as_counted(const model::traffic& threads,
                                                    const model::traffic& local,
                                                    const std::vector<std::size_t>& nearest) const {
    std::vector<double> used(costs_.size(), 0);
    for (const model::thread_traffic& thread : threads.threads) {
      used[nearest[costs_.cores[thread.core].node]] = 1;
    }
    const double nodes = model::sum_of(used);
    if (nodes < 2) {
      return local;
    }
    const double part = counted_.share_elsewhere() * nodes / (nodes - 1);
    return model::mixed(local,
                        model::placed(costs_, threads, model::shares_by(costs_, std::move(used))),
                        std::min(1.0, part));
  }

  [[nodiscard]] predicted_ratio range(const model::traffic& threads,
                                      const page_homes& homes) const {
    if (!homes.fixed.empty()) {
      const double ratio =
          counted_.ratio(model::placed(costs_, threads, model::shares_by(costs_, homes.fixed)));
      return {ratio, ratio, ratio};
    }
    const model::traffic local = model::placed(costs_, threads, model::shares_on(homes.nearest));
    const model::traffic sharing = as_remote_as_counted(threads, local, homes.nearest);
    switch (homes.who) {
    case page_homes::by::blocks:
      return extremes(local, model::mixed(local, sharing, 0.5), sharing);
    case page_homes::by::turns: {
      const auto evenly = model::placed(costs_, threads, model::shares_by(costs_, homes.turns));
      return extremes(local, evenly, evenly);
    }
    case page_homes::by::touch:
      break;
    }
    const std::size_t first = homes.nearest[costs_.cores[threads.threads.front().core].node];
    const model::traffic on_first = model::placed(
        costs_, threads, model::shares_on(std::vector<std::size_t>(costs_.size(), first)));
    // What one processor initialises stays together. Some percent of others may be what matters.
    constexpr double nearly_all = 0.98;
    const bool is_serial = counted_.single() >= nearly_all;
    return extremes(is_serial ? model::mixed(local, on_first, counted_.single()) : local,
                    model::mixed(sharing, on_first, counted_.single()),
                    model::moved(threads, homes.nearest));
  }

  /// First touch among all nodes.
  [[nodiscard]] bool is_as_counted(const page_homes& homes) const {
    return homes.fixed.empty() && homes.who == page_homes::by::touch &&
           homes.nearest == counted_.local();
  }

  /// The fastest and the slowest may be any of the three.
  [[nodiscard]] predicted_ratio extremes(const model::traffic& best, const model::traffic& likely,
                                         const model::traffic& worst) const {
    const double middle = counted_.ratio(likely);
    const auto [low, high] = std::minmax({counted_.ratio(best), middle, counted_.ratio(worst)});
    return {low, middle, high};
  }

  const starting_point& counted_;
  const model::machine_costs& costs_;
  const run_options& options_;
  launch::plan planned_;
  launch::planning now_;
};

bool can_be_judged(const run_options& options) {
  return !options.plan && options.rules.empty() && !options.ranks_per && !options.balancing &&
         options.memory.variant != launch::policy_variant::by_kernel_weights;
}

} // namespace

std::vector<std::optional<predicted_ratio>>
predict_settings(const traffic::counts& as_it_is, traffic::phase judged, const topology& on,
                 std::span<const run_options> settings, environment get) {
  const environment process = [](const char* name) -> const char* { return std::getenv(name); };
  const starting_point counted(as_it_is, judged, on);
  std::vector<std::optional<predicted_ratio>> all;
  for (const run_options& each : settings) {
    auto& made = all.emplace_back();
    if (!can_be_judged(each)) {
      continue;
    }
    try {
      made = setting_predictor(counted, each, on, get == nullptr ? process : get).predict();
    } catch (const error&) { // `run` reports it
    }
  }
  return all;
}

} // namespace nodewise::cli
