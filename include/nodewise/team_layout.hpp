// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Layouts: where the threads of a team run, computed before any of them starts. The same layout
// pins the library's own teams, sets OpenMP's variables, and lists the owners of blocked memory.
//
//     const auto machine = nodewise::topology::system();
//     const nodewise::team_layout team(machine, nodewise::bind_policy::spread);
//     std::printf("OMP_NUM_THREADS=%s OMP_PROC_BIND=%s OMP_PLACES=%s\n",
//                 team.omp_num_threads().c_str(), team.omp_proc_bind().c_str(),
//                 team.omp_places().c_str());
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/topology.hpp>

namespace nodewise::inline v0 {

/// How threads are assigned to processors. Under `close` and `spread` the threads of a node have
/// consecutive numbers, so threads with adjacent numbers work on adjacent memory.
enum class bind_policy {
  none,   ///< not bound: the scheduler may use all allowed processors
  close,  ///< one node after the other, core by core
  spread, ///< evenly over all nodes, and within each node evenly over its cores
};

/// Returns "close", "spread" or "none".
[[nodiscard]] NODEWISE_API std::string_view to_string(bind_policy policy) noexcept;
/// Reads "close", "spread" or "none"; returns nullopt for anything else.
[[nodiscard]] NODEWISE_API std::optional<bind_policy>
parse_bind_policy(std::string_view text) noexcept;

/// Which hardware threads of a core are used.
enum class smt_use {
  as_needed, ///< a second one of a core only after every core has a thread
  off,       ///< only the first allowed one of each core
  on,        ///< as `as_needed`, but by default as many threads as hardware threads
};

/// Options of a layout.
struct layout_options {
  bind_policy policy = bind_policy::close;
  std::size_t threads = 0; ///< 0: one per core; with `smt_use::on` one per hardware thread
  /// How far a thread may move from its processor: not at all, or within its core, its node or its
  /// package.
  place_kind places = place_kind::threads;
  smt_use smt = smt_use::as_needed;
};

/// Where one thread runs.
struct thread_place {
  cpu_set place;               ///< the processors it may run on
  std::optional<cpu_id> cpu;   ///< the processor, if there is only one
  node_id node = unknown_node; ///< its node, if all of its processors are on one node

  friend bool operator==(const thread_place&, const thread_place&) = default;
};

/// A layout: which thread runs where. An immutable value.
class NODEWISE_API team_layout {
 public:
  /// Assigns `threads` threads to the allowed processors of `where`; 0: one for each core that has
  /// an allowed processor. A core's second hardware thread is used only after every core has a
  /// thread, and a processor gets a second thread only after every processor has one. Throws
  /// `error` (usage) if no processor is allowed, or none of them belongs to a node.
  team_layout(const topology& where, bind_policy policy, std::size_t threads = 0);
  /// The same with all options. `where` must include the cores, and for places of packages also the
  /// packages.
  team_layout(const topology& where, const layout_options& options);
  /// Puts the k-th thread on the k-th processor of a list, and starts again at the front if there
  /// are more threads than entries; 0 threads: one for each entry. A processor may be listed twice.
  /// Throws `error` (usage) for an empty list.
  [[nodiscard]] static team_layout pinned(const topology& where, std::span<const cpu_id> cpus,
                                          std::size_t threads = 0,
                                          place_kind places = place_kind::threads);

  /// Describes threads that are bound already: thread k may run on `places[k]`. Throws `error`
  /// (usage) for an empty list or an empty place.
  [[nodiscard]] static team_layout bound(const topology& where, std::span<const cpu_set> places);

  /// Returns how threads were assigned; `close` for layouts from `pinned` and `bound`.
  [[nodiscard]] bind_policy policy() const noexcept { return policy_; }
  /// Returns the places, by thread.
  [[nodiscard]] std::span<const thread_place> threads() const noexcept { return threads_; }
  /// Returns the number of threads.
  [[nodiscard]] std::size_t size() const noexcept { return threads_.size(); }

  /// Returns the node of each thread in order: the owners of a `blocked` distribution in which each
  /// thread of a static loop works on its own block. Throws `error` (usage) if a thread may run on
  /// several nodes: under `none`, or in places of packages with several nodes.
  [[nodiscard]] std::vector<node_id> owners() const;
  /// Returns every processor that a thread may run on.
  [[nodiscard]] cpu_set cpus() const;
  /// Returns the largest number of threads that share a processor; above 1 they take turns.
  [[nodiscard]] std::size_t threads_per_cpu() const noexcept { return threads_per_cpu_; }

  /// Returns the value of OMP_PLACES: one place per thread, in order, with the operating system's
  /// numbers: "{0},{1}", or "{0:4},{0:4}" for places of four. A processor that several threads
  /// share is listed once for each, because runtimes differ in where they put threads if there are
  /// fewer places than threads. Empty under `none`.
  [[nodiscard]] std::string omp_places() const;
  /// Returns the value of OMP_PROC_BIND: "close", "spread" or "false".
  [[nodiscard]] std::string omp_proc_bind() const;
  /// Returns the value of OMP_NUM_THREADS.
  [[nodiscard]] std::string omp_num_threads() const;

 private:
  team_layout() = default;

  bind_policy policy_ = bind_policy::close;
  std::vector<thread_place> threads_;
  std::size_t threads_per_cpu_ = 1;
};

} // namespace nodewise::inline v0
