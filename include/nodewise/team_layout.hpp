// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where the threads of a team run: a plan, computed before the first of them starts. The same plan
// pins the library's own teams, is told to OpenMP, and lists the owners by which memory is blocked.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/export.hpp>
#include <nodewise/id.hpp>
#include <nodewise/id_set.hpp>
#include <nodewise/topology.hpp>

namespace nodewise::inline v0 {

/// How threads are dealt out. Under `close` and `spread` each node's threads have consecutive
/// numbers, so neighbours in number are neighbours in memory.
enum class bind_policy {
  none,   ///< anywhere in the allowed processors, wherever the scheduler likes
  close,  ///< one node after the other, core by core
  spread, ///< evenly over all nodes, in each evenly over its cores
};

/// "close", "spread" or "none".
[[nodiscard]] NODEWISE_API std::string_view to_string(bind_policy policy) noexcept;
/// "close", "spread" or "none"; nullopt for anything else.
[[nodiscard]] NODEWISE_API std::optional<bind_policy>
parse_bind_policy(std::string_view text) noexcept;

/// Which hardware threads of a core get threads.
enum class smt_use {
  as_needed, ///< a second one of a core only when every core has a thread
  off,       ///< the first allowed one of each core, no other
  on,        ///< as needed, and as many threads as hardware threads unless a number is given
};

/// How a team is laid out.
struct layout_options {
  bind_policy policy = bind_policy::close;
  std::size_t threads = 0; ///< 0: one for each core, with `smt_use::on` for each hardware thread
  /// How far a thread may move from the processor that it was dealt: not at all, within its core,
  /// its node or its package.
  place_kind places = place_kind::threads;
  smt_use smt = smt_use::as_needed;
};

/// Where one thread runs.
struct thread_place {
  cpu_set place;               ///< the processors it may run on
  std::optional<cpu_id> cpu;   ///< the processor, if there is only one
  node_id node = unknown_node; ///< its node, if all of its processors are of one node

  friend bool operator==(const thread_place&, const thread_place&) = default;
};

/// Which thread runs where: an immutable value.
class NODEWISE_API team_layout {
 public:
  /// Lays `threads` threads out over the allowed processors of `where`. 0 threads are one for each
  /// core that has an allowed processor. A second hardware thread of a core is used only when every
  /// core has one, a second thread on a processor only when every processor has one. Throws `error`
  /// (usage) if no processor is allowed, or none that a node claims.
  team_layout(const topology& where, bind_policy policy, std::size_t threads = 0);
  /// The same with more to choose. `where` must know cores, for places of packages also these.
  team_layout(const topology& where, const layout_options& options);
  /// The k-th thread on the k-th processor of a list, and from the start again where there are more
  /// threads than processors; 0 threads are one for each entry. A processor may be listed twice.
  /// Throws `error` (usage) for an empty list.
  [[nodiscard]] static team_layout pinned(const topology& where, std::span<const cpu_id> cpus,
                                          std::size_t threads = 0,
                                          place_kind places = place_kind::threads);

  /// Threads that somebody else has bound: thread k may run on `places[k]`. Throws `error` (usage)
  /// for an empty list or an empty place.
  [[nodiscard]] static team_layout bound(const topology& where, std::span<const cpu_set> places);

  /// How threads were dealt out; `close` where somebody else did.
  [[nodiscard]] bind_policy policy() const noexcept { return policy_; }
  /// The places, by thread.
  [[nodiscard]] std::span<const thread_place> threads() const noexcept { return threads_; }
  /// How many threads it has.
  [[nodiscard]] std::size_t size() const noexcept { return threads_.size(); }

  /// The node of each thread in order: the owners of a `blocked` distribution whose blocks meet the
  /// threads of a static loop. Throws `error` (usage) where a thread may run on several nodes:
  /// under `none`, or in places of packages that hold several.
  [[nodiscard]] std::vector<node_id> owners() const;
  /// Every processor that a thread may run on.
  [[nodiscard]] cpu_set cpus() const;
  /// The largest number of threads that share a processor; above 1 they take turns.
  [[nodiscard]] std::size_t threads_per_cpu() const noexcept { return threads_per_cpu_; }

  /// The layout as OpenMP takes it: one place a thread, in order, by the operating system's
  /// numbers: "{0},{1}", "{0:4},{0:4}" for places of four. A processor that several threads share
  /// is listed once for each: runtimes disagree on whom to put where when there are fewer places
  /// than threads. Empty under `none`.
  [[nodiscard]] std::string omp_places() const;
  /// The value of OMP_PROC_BIND: "close", "spread" or "false".
  [[nodiscard]] std::string omp_proc_bind() const;
  /// The value of OMP_NUM_THREADS.
  [[nodiscard]] std::string omp_num_threads() const;

 private:
  team_layout() = default;

  bind_policy policy_ = bind_policy::close;
  std::vector<thread_place> threads_;
  std::size_t threads_per_cpu_ = 1;
};

} // namespace nodewise::inline v0
