// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where the input vector of a sparse product is: in blocks, interleaved or copied to each node,
// chosen by the model of memory costs from the columns that the rows of each worker read, or given.
//
//     #include <nodewise/openmp.hpp>
//
//     nodewise::openmp_teams teams;
//     const std::vector<nodewise::triplet<double>> entries{{0, 0, 2.0}, {0, 1, 1.0}, {1, 1, 3.0}};
//     const auto a = nodewise::sparse_matrix<double>::from_triplets(teams, 2, 2, entries);
//     const auto choice = nodewise::choose_input(teams, a);
//     std::printf("%s\n", choice.reason.c_str());
//     nodewise::placed_input<double> x(teams, a, choice.best);
//     x.update(teams, [](std::size_t, std::span<double> part) { std::ranges::fill(part, 1.0); });
//     auto y = a.output_vector();
//     nodewise::multiply(teams, a, x, y);
//     std::printf("%g %g\n", y[0], y[1]); // 3 3
//
// Matrix and result are always where the rows are multiplied; the input vector is what nodes share.
// Source of the question: Hager and Wellein, section 8.2. The costs are those of docs/model.md.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nodewise/cache_aligned.hpp>
#include <nodewise/detail/sparse/input_reads.hpp>
#include <nodewise/replicated.hpp>
#include <nodewise/sparse_multiply.hpp>

namespace nodewise::inline v0 {

/// Where an input vector is.
enum class input_placement {
  blocked,     ///< a block for each worker, as `sparse_matrix::input_vector`
  interleaved, ///< pages in turn over the nodes that have workers
  copied,      ///< a copy on each node that has workers
};
/// Returns "blocked", "interleaved" or "copied".
[[nodiscard]] NODEWISE_API std::string_view to_string(input_placement how) noexcept;

/// What the workers of a node read of the input vector in one product.
struct input_reads {
  node_id node = unknown_node;
  std::size_t own_bytes = 0;   ///< from their node
  std::size_t other_bytes = 0; ///< from other nodes
};

/// What a placement of the input vector costs. Bytes are counted in cache lines of 64 bytes.
struct input_cost {
  input_placement placement = input_placement::blocked;
  std::vector<input_reads> reads; ///< by node, ascending
  std::size_t update_bytes = 0;   ///< that cross nodes when the whole vector changes
  std::size_t memory_bytes = 0;   ///< of the vector, or of all copies
  double time = 1; ///< predicted, of a product and its part of an update, relative to blocks

  /// Returns the share of the bytes read that come from other nodes, 0..1; 0 if nothing is read.
  [[nodiscard]] NODEWISE_API double remote_share() const noexcept;
};

/// A placement, the reason, and what each placement costs.
struct input_choice {
  input_placement best = input_placement::blocked;
  std::array<input_cost, 3> costs;  ///< in the order of `input_placement`
  std::string reason;               ///< a sentence
  std::vector<std::string> unknown; ///< values that the machine lacks, and what was assumed

  /// Returns what a placement costs.
  [[nodiscard]] const input_cost& of(input_placement how) const noexcept {
    return costs[static_cast<std::size_t>(how)];
  }
};

namespace detail {

[[nodiscard]] NODEWISE_API input_choice choose_input(const thread_map& threads,
                                                     std::span<const worker_reads> reads,
                                                     double products_per_update);

} // namespace detail

/// Returns the best placement of the input vector. `products_per_update` is the number of products
/// between two changes of the whole vector: 1 in most iterative methods.
///
/// Method: each worker counts the cache lines that its rows read from memory, and the node that has
/// each, for every placement. The model of memory costs (docs/model.md) then predicts the time of a
/// product, with the matrix and the result, and of an update: remote lines take longer by the
/// latencies or distances of the machine, and a memory that serves more bytes is slower. It uses
/// the machine's parameters `bandwidth`, `core_bandwidth`, `latency` and the like. Without a
/// `core_bandwidth` it assumes that the workers of a node together just reach the bandwidth of
/// their memory. Blocks are chosen unless another placement is at least 2 % faster; copies only if
/// the additional ones take no more memory than the matrix.
///
/// Limits: the count assumes that a worker has an equal part of the largest cache, or 1 MiB if the
/// machine does not describe its caches, all of it for the input vector, and empty before each
/// product. Where an input vector stays in the caches from one product to the next, little is read
/// at all. Pages at the edges of blocks are ignored.
///
/// Reads all column indices once. Throws `error` (usage) for teams that did not build the matrix,
/// and unless `products_per_update` is above 0.
template <class Teams, class T, class Index, class Offset>
[[nodiscard]] input_choice choose_input(Teams& teams, const sparse_matrix<T, Index, Offset>& a,
                                        double products_per_update = 1) {
  const row_partition& partition = a.partition();
  detail::require_same_teams(partition, teams.threads());
  const detail::input_lines lines(partition, teams.threads(), a.columns(), sizeof(T));
  std::vector<detail::worker_reads> reads(partition.workers());
  teams.on_each_worker([&](const worker& me) {
    const index_range rows = partition.rows_of(me.number);
    const std::size_t cached = detail::cache_bytes_of(teams.threads(), me);
    detail::worker_reads mine =
        detail::reads_of_rows(a, rows, lines, cached != 0 ? cached : detail::assumed_cache_bytes);
    const auto entries =
        static_cast<std::size_t>(a.row_starts()[rows.last] - a.row_starts()[rows.first]);
    mine.matrix_bytes = entries * (sizeof(T) + sizeof(Index)) + rows.size() * sizeof(Offset);
    mine.result_bytes = rows.size() * sizeof(T);
    mine.update_bytes = partition.columns_of(me.number, a.columns()).size() * sizeof(T);
    reads[me.number] = std::move(mine);
  });
  return detail::choose_input(teams.threads(), reads, products_per_update);
}

/// An input vector with a given placement. Movable.
template <class T>
class placed_input {
 public:
  /// Makes a vector of zeros with an element for each column of `a`. Throws `error`: (usage) for
  /// teams that did not build the matrix, (system) if memory runs out.
  template <class Teams, row_matrix M>
  placed_input(Teams& teams, const M& a, input_placement how)
      : partition_(a.partition()), columns_(a.columns()), placement_(how),
        memory_(make(teams.threads(), a.partition(), a.columns(), how)) {}

  /// Returns the placement.
  [[nodiscard]] input_placement placement() const noexcept { return placement_; }
  /// Returns the number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return columns_; }

  /// Changes the vector: each worker calls `change(first, span)` with its block, elements `first`
  /// on. Which worker has which elements does not depend on the placement. Copies are equal
  /// afterwards. Throws what `change` throws, and `error` (usage) for other teams.
  template <class Teams, class F>
  void update(Teams& teams, F&& change) {
    detail::require_same_teams(partition_, teams.threads());
    const auto part_of = [this](const worker& me) {
      return partition_.columns_of(me.number, columns_);
    };
    if (auto* const copies = std::get_if<replicated<T>>(&memory_)) {
      copies->update_parts(teams, part_of, change);
      return;
    }
    T* const elements = std::visit([](auto& one) { return first_of(one); }, memory_);
    teams.on_each_worker([&](const worker& me) {
      const index_range mine = part_of(me);
      change(mine.first, std::span<T>(elements + mine.first, mine.size()));
    });
  }

  /// Calls `f` with the memory: an `array`, or a `replicated` of copies.
  template <class F>
  void visit(F&& f) const {
    std::visit(std::forward<F>(f), memory_);
  }
  /// Returns a picture of the vector, or of each copy, one per line; see `strip`.
  [[nodiscard]] std::string strip(std::size_t columns = default_strip_columns) const {
    return std::visit([=](const auto& of) { return of.strip(columns); }, memory_);
  }

 private:
  using memory = std::variant<array<T, weighted_blocks>, array<T, block_cyclic>, replicated<T>>;

  static memory make(const thread_map& threads, const row_partition& partition, std::size_t columns,
                     input_placement how) {
    detail::require_same_teams(partition, threads);
    if (how == input_placement::copied) {
      return replicated<T>(threads, columns);
    }
    if (how == input_placement::blocked) {
      return array<T, weighted_blocks>(columns, partition.by_columns(columns));
    }
    std::vector<node_id> nodes;
    for (const node_team& team : threads.teams()) {
      nodes.push_back(team.node);
    }
    return array<T, block_cyclic>(columns, block_cyclic(std::move(nodes), 1));
  }

  template <distribution D>
  static T* first_of(array<T, D>& one) noexcept {
    return one.data();
  }
  static T* first_of(replicated<T>&) noexcept { return nullptr; } // it has several

  row_partition partition_;
  std::size_t columns_;
  input_placement placement_;
  memory memory_;
};

/// Computes y = A x with a placed input vector. Throws as `multiply` with other vectors.
template <class Teams, row_matrix M>
void multiply(Teams& teams, const M& a, const placed_input<typename M::value_type>& x,
              detail::output_of<M> y) {
  x.visit([&](const auto& memory) { detail::multiply_rows(teams, a, memory, y, {}); });
}
/// Computes y = y + factor A x with a placed input vector.
template <class Teams, row_matrix M>
void multiply_add(Teams& teams, typename M::value_type factor, const M& a,
                  const placed_input<typename M::value_type>& x, detail::output_of<M> y) {
  x.visit([&](const auto& memory) { detail::multiply_rows(teams, a, memory, y, {factor, true}); });
}

} // namespace nodewise::inline v0
