// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Chooses where the input vector of a product belongs: counts become traffic, and the model prices
// the traffic.
#include <nodewise/sparse_input.hpp>

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "model/costs.hpp"
#include "model/price.hpp"

namespace nodewise::inline v0 {

namespace {

constexpr double noticeable = 1.02; // else blocks, which need no copies
constexpr std::array placements = {input_placement::blocked, input_placement::interleaved,
                                   input_placement::copied};

std::size_t lines_from(const detail::worker_reads& of, input_placement how, std::size_t own,
                       std::size_t team) {
  switch (how) {
  case input_placement::blocked:
    return of.blocked[team];
  case input_placement::interleaved:
    return of.interleaved[team];
  case input_placement::copied:
    break;
  }
  return team == own ? of.lines() : 0;
}

/// Some systems do not report the sizes of memories; teams have memory all the same.
machine with_memory(machine of) {
  const bool unknown =
      std::ranges::none_of(of.nodes, [](const memory_node& node) { return node.memory_bytes > 0; });
  for (memory_node& node : of.nodes) {
    node.memory_bytes = unknown ? 1 : node.memory_bytes;
  }
  return of;
}

std::size_t known(std::optional<std::size_t> position) {
  if (!position) {
    throw error(error_kind::usage, "the choice of a placement for an input vector",
                "a worker is on a node or processor that the machine lacks",
                "lay out the workers on this machine");
  }
  return *position;
}

/// The machine's costs, as the traffic of a product needs them.
class product_costs {
 public:
  explicit product_costs(const thread_map& threads) : threads_(threads) {
    const machine on = with_memory(threads.machine());
    costs_ = model::costs_of(on);
    node_set memories;
    for (const memory_node& node : on.nodes) {
      if (node.memory_bytes > 0) {
        memories.insert(node.id);
      }
    }
    const std::vector<std::size_t> nearest = model::nearest_memory(costs_, memories);
    for (const node_team& team : threads.teams()) {
      memory_of_team_.push_back(nearest[known(costs_.position_of(team.node))]);
    }
    for (const thread_place& each : threads.places()) {
      cores_.push_back(known(costs_.core_of(*each.place.begin())));
    }
    limit_cores();
  }

  [[nodiscard]] const std::vector<std::string>& remarks() const noexcept { return costs_.remarks; }
  [[nodiscard]] model::thread_traffic idle(const worker& me) const {
    return model::idle_thread(cores_[me.number], costs_.size());
  }
  /// The position of the memory that the workers of a team have near.
  [[nodiscard]] std::size_t memory_of(std::size_t team) const { return memory_of_team_[team]; }
  [[nodiscard]] double seconds(const model::traffic& of) const {
    return model::price(costs_, of).seconds;
  }

 private:
  /// If nothing is known of cores, remote lines would cost nothing.
  void limit_cores() {
    bool assumed = false;
    for (std::size_t team = 0; team < memory_of_team_.size(); ++team) {
      std::set<std::size_t> cores; // hardware threads share one
      for (const std::size_t number : threads_.teams()[team].workers) {
        cores.insert(cores_[number]);
      }
      double& core = costs_.core[costs_.cores[*cores.begin()].node].value;
      if (core == model::unlimited) {
        core = costs_.memory[memory_of_team_[team]].value / static_cast<double>(cores.size());
        assumed = true;
      }
    }
    if (assumed) {
      std::erase(costs_.remarks, model::core_is_unknown);
      costs_.remarks.emplace_back("core_bandwidth is unknown: assumed that the workers of a node "
                                  "together just reach the bandwidth of its memory");
    }
  }

  const thread_map& threads_;
  model::machine_costs costs_;
  std::vector<std::size_t> cores_; ///< by worker
  std::vector<std::size_t> memory_of_team_;
};

/// Stores go through the caches: a line is read before it is written.
void store(model::thread_traffic& by, std::size_t memory, double bytes) {
  by.read[memory] += bytes;
  by.written[memory] += bytes;
}

model::traffic product(const product_costs& on, const thread_map& threads,
                       std::span<const detail::worker_reads> reads, input_placement how) {
  model::traffic all;
  for (const worker& me : threads.workers()) {
    const detail::worker_reads& mine = reads[me.number];
    model::thread_traffic& thread = all.threads.emplace_back(on.idle(me));
    thread.read[on.memory_of(me.team)] += static_cast<double>(mine.matrix_bytes);
    store(thread, on.memory_of(me.team), static_cast<double>(mine.result_bytes));
    for (std::size_t team = 0; team < threads.teams().size(); ++team) {
      thread.read[on.memory_of(team)] +=
          static_cast<double>(lines_from(mine, how, me.team, team) * detail::line_bytes);
    }
  }
  return all;
}

/// Each worker writes its block of the vector.
model::traffic own_blocks(const product_costs& on, const thread_map& threads,
                          std::span<const detail::worker_reads> reads, input_placement how) {
  model::traffic all;
  const std::size_t teams = threads.teams().size();
  for (const worker& me : threads.workers()) {
    const auto bytes = static_cast<double>(reads[me.number].update_bytes);
    model::thread_traffic& thread = all.threads.emplace_back(on.idle(me));
    if (how != input_placement::interleaved) {
      store(thread, on.memory_of(me.team), bytes);
      continue;
    }
    for (std::size_t team = 0; team < teams; ++team) {
      store(thread, on.memory_of(team), bytes / static_cast<double>(teams));
    }
  }
  return all;
}

/// The workers of each node copy what workers of other nodes wrote.
model::traffic exchange(const product_costs& on, const thread_map& threads,
                        std::span<const detail::worker_reads> reads) {
  model::traffic all;
  for (const worker& me : threads.workers()) {
    model::thread_traffic& thread = all.threads.emplace_back(on.idle(me));
    const auto together = static_cast<double>(threads.teams()[me.team].workers.size());
    for (const worker& other : threads.workers()) {
      if (other.team != me.team) {
        const double bytes = static_cast<double>(reads[other.number].update_bytes) / together;
        thread.read[on.memory_of(other.team)] += bytes;
        store(thread, on.memory_of(me.team), bytes);
      }
    }
  }
  return all;
}

double seconds_of_update(const product_costs& on, const thread_map& threads,
                         std::span<const detail::worker_reads> reads, input_placement how) {
  return on.seconds(own_blocks(on, threads, reads, how)) +
         (how == input_placement::copied ? on.seconds(exchange(on, threads, reads)) : 0.0);
}

/// Everything but the time.
input_cost counted(const thread_map& threads, std::span<const detail::worker_reads> reads,
                   input_placement how) {
  input_cost cost;
  cost.placement = how;
  const std::size_t teams = std::max<std::size_t>(threads.teams().size(), 1);
  for (const node_team& team : threads.teams()) {
    cost.reads.push_back({team.node, 0, 0});
  }
  std::size_t vector_bytes = 0;
  for (const worker& me : threads.workers()) {
    const detail::worker_reads& mine = reads[me.number];
    vector_bytes += mine.update_bytes;
    for (std::size_t team = 0; team < teams; ++team) {
      input_reads& by = cost.reads[me.team];
      (team == me.team ? by.own_bytes : by.other_bytes) +=
          lines_from(mine, how, me.team, team) * detail::line_bytes;
    }
  }
  if (how == input_placement::copied) {
    cost.update_bytes = (teams - 1) * vector_bytes;
  } else if (how == input_placement::interleaved) {
    cost.update_bytes = vector_bytes - vector_bytes / teams;
  }
  cost.memory_bytes = how == input_placement::copied ? teams * vector_bytes : vector_bytes;
  return cost;
}

std::string reason_for(const input_choice& made, bool copies_are_too_large) {
  const input_cost& blocks = made.of(input_placement::blocked);
  const double remote = 100 * blocks.remote_share();
  switch (made.best) {
  case input_placement::interleaved:
    return fmt::format("the elements that most rows read are on few nodes: pages in turn are "
                       "{:.2f} times as fast as blocks (predicted)",
                       1 / made.of(made.best).time);
  case input_placement::copied:
    return fmt::format("{:.0f} % of the bytes that blocks serve are remote: copies are {:.2f} "
                       "times as fast (predicted)",
                       remote, 1 / made.of(made.best).time);
  case input_placement::blocked:
    break;
  }
  if (blocks.reads.size() == 1) {
    return "all workers are on one node";
  }
  return fmt::format("{:.0f} % of the bytes that blocks serve are remote, and {}", remote,
                     copies_are_too_large ? "copies would take more memory than the matrix"
                                          : "no other placement is noticeably faster (predicted)");
}

} // namespace

std::string_view to_string(input_placement how) noexcept {
  switch (how) {
  case input_placement::interleaved:
    return "interleaved";
  case input_placement::copied:
    return "copied";
  case input_placement::blocked:
    break;
  }
  return "blocked";
}

double input_cost::remote_share() const noexcept {
  std::size_t own = 0;
  std::size_t other = 0;
  for (const input_reads& each : reads) {
    own += each.own_bytes;
    other += each.other_bytes;
  }
  return other == 0 ? 0.0 : static_cast<double>(other) / static_cast<double>(own + other);
}

} // namespace nodewise::inline v0

namespace nodewise::inline v0::detail {

std::size_t cache_bytes_of(const thread_map& threads, const worker& me) noexcept {
  const auto shares = [&](const cache& each, std::size_t number) {
    return each.cpus.contains(*threads.places()[number].place.begin());
  };
  std::size_t most = 0;
  for (const cache& each : threads.machine().caches) {
    if (each.kind == cache_kind::instruction || !shares(each, me.number)) {
      continue;
    }
    std::size_t workers = 0;
    for (const worker& other : threads.workers()) {
      workers += shares(each, other.number) ? 1U : 0U;
    }
    most = std::max<std::size_t>(most, each.size_bytes / workers);
  }
  return most;
}

input_lines::input_lines(const row_partition& partition, const thread_map& threads,
                         std::size_t columns, std::size_t element_bytes)
    : teams_(threads.teams().size()), element_bytes_(element_bytes) {
  (void)bytes_for(columns, element_bytes, 0); // throws if no memory can hold the vector
  for (const worker& me : threads.workers()) {
    const index_range mine = partition.columns_of(me.number, columns);
    ends_.push_back(arithmetic::pages_for(mine.last * element_bytes, line_bytes));
    team_of_.push_back(me.team);
  }
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  page_lines_ = static_cast<std::size_t>(std::max(page_bytes, 4096L)) / line_bytes;
}

std::size_t input_lines::blocked(std::size_t line) const noexcept {
  const auto at = std::ranges::upper_bound(ends_, line);
  return team_of_[static_cast<std::size_t>(at - ends_.begin())];
}

std::size_t input_lines::interleaved(std::size_t line) const noexcept {
  return line / page_lines_ % teams_;
}

input_choice choose_input(const thread_map& threads, std::span<const worker_reads> reads,
                          double products_per_update) {
  if (!(products_per_update > 0)) {
    throw error(error_kind::usage, "the choice of a placement for an input vector",
                fmt::format("{} products between two updates", products_per_update),
                "give a number above 0; 1 if the vector changes after each product");
  }
  const product_costs on(threads);
  input_choice made;
  made.unknown = on.remarks();
  if (std::ranges::any_of(threads.workers(),
                          [&](const worker& each) { return cache_bytes_of(threads, each) == 0; })) {
    made.unknown.emplace_back("the sizes of caches are unknown: assumed 1 MiB for each worker");
  }
  std::size_t matrix_bytes = 0;
  for (const worker_reads& each : reads) {
    matrix_bytes += each.matrix_bytes;
  }
  for (const input_placement how : placements) {
    input_cost& cost = made.costs[static_cast<std::size_t>(how)];
    cost = counted(threads, reads, how);
    cost.time = on.seconds(product(on, threads, reads, how)) +
                seconds_of_update(on, threads, reads, how) / products_per_update;
  }
  const input_cost& blocks = made.of(input_placement::blocked);
  const double in_blocks = blocks.time;
  for (input_cost& cost : made.costs) {
    cost.time /= in_blocks;
  }
  const bool copies_are_too_large =
      made.of(input_placement::copied).memory_bytes - blocks.memory_bytes > matrix_bytes;
  for (const input_placement how : placements) {
    const bool allowed = how != input_placement::copied || !copies_are_too_large;
    if (allowed && made.of(how).time * noticeable < 1 &&
        made.of(how).time < made.of(made.best).time) {
      made.best = how;
    }
  }
  const bool would_copy = made.of(input_placement::copied).time * noticeable < 1;
  made.reason = reason_for(made, copies_are_too_large && would_copy);
  return made;
}

} // namespace nodewise::inline v0::detail
