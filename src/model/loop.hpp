// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A description of a parallel loop over arrays: what a program would do, without the program.
#pragma once

#include "model/page_map.hpp"
#include "model/traffic.hpp"

namespace nodewise::model {

/// What the loop does with one array in each iteration.
struct array_use {
  bool read = false;
  bool written = false;
  bool streaming = false; ///< its stores bypass the caches: a line is not read before it is written
};

/// A loop that users know by name.
struct kernel {
  std::string_view name;
  std::string_view formula; ///< "a[i] = b[i] + s * c[i]"
  std::vector<array_use> arrays;
};
[[nodiscard]] const std::vector<kernel>& kernels();
/// nullptr if there is no kernel of this name.
[[nodiscard]] const kernel* find_kernel(std::string_view name) noexcept;

enum class schedule_kind {
  fixed,   ///< `static`: one block per thread, or chunks in turn
  dynamic, ///< `dynamic`: the next chunk goes to the next thread that is free
  guided,  ///< `guided`: chunks shrink with the work left, down to the given size
  random,  ///< stolen tasks: any chunk goes to the next thread that is free
  even,    ///< one block per thread, of equal work even if iterations differ
};
struct schedule {
  schedule_kind kind = schedule_kind::fixed;
  std::size_t chunk = 0; ///< iterations; 0: one block per thread if `fixed`, else 1
  /// Whether the threads share a pool of work.
  [[nodiscard]] bool is_pooled() const noexcept {
    return kind == schedule_kind::dynamic || kind == schedule_kind::guided ||
           kind == schedule_kind::random;
  }
};

enum class shape {
  flat,       ///< an iteration has one element
  triangular, ///< iteration r has r + 1 elements: a row of a packed triangle
};

struct loop {
  std::vector<array_use> arrays;
  std::vector<page_map> maps; ///< one per array
  std::size_t elements = 0;   ///< of each array
  std::size_t element_bytes = 8;
  std::size_t page_bytes = 4096;
  std::size_t line_bytes = 64;
  shape form = shape::flat;
  schedule how;
  std::vector<std::size_t> cores; ///< of each thread: position in `machine_costs::cores`
  double chunk_start_s = 0;       ///< time that a thread waits at the beginning of each chunk
  bool random_access = false;     ///< elements in random order, each with lines of its own

  /// Iterations of a chunk; 0 if threads have whole blocks.
  [[nodiscard]] std::size_t chunk() const noexcept;
  [[nodiscard]] std::size_t threads() const noexcept { return cores.size(); }
  /// Iterations of the parallel loop.
  [[nodiscard]] std::size_t iterations() const noexcept;
  /// First element of an iteration; `elements` for the one after the last.
  [[nodiscard]] std::size_t first_element(std::size_t iteration) const noexcept;
  [[nodiscard]] std::size_t page_of(std::size_t element) const noexcept {
    return element * element_bytes / page_bytes;
  }
  /// The first element that begins in this page or after it.
  [[nodiscard]] std::size_t first_element_of_page(std::size_t page) const noexcept {
    return (page * page_bytes + element_bytes - 1) / element_bytes;
  }
  [[nodiscard]] std::size_t pages() const noexcept;
  /// The number of blocks of pages in the array that has the most.
  [[nodiscard]] std::size_t borders() const noexcept;
};

/// Bytes moved between memory and processor for one element of an array.
struct element_cost {
  double read = 0;
  double written = 0;
};
[[nodiscard]] element_cost cost_of(const loop& of, const array_use& use);

/// Bytes of the whole loop by STREAM's convention: what the source names, without lines that are
/// read only to be written.
[[nodiscard]] double useful_bytes(const loop& of);

/// First and last (half-open) iteration of thread `t`'s block, under `fixed` without a chunk and
/// under `even`.
struct iteration_range {
  std::size_t first = 0;
  std::size_t last = 0;
};
[[nodiscard]] iteration_range block_of(const loop& of, std::size_t t);

/// Most windows of a sample.
inline constexpr std::size_t most_windows = 64;
/// A sample of the iterations of a loop with chunks: windows of whole rounds, spread evenly over
/// the loop, with about `pieces` chunks and pages together; or one window, the whole loop. Guided
/// loops have few chunks, so their sample is always the whole loop.
[[nodiscard]] std::vector<iteration_range> sample_of(const loop& of, std::size_t pieces);

/// Throws `error` (usage) for a loop without threads, elements or arrays, with sizes of 0, with
/// cores that do not exist, or with more elements than can be counted in bytes.
void check_loop(const machine_costs& on, const loop& what);

/// What each thread moves in the whole loop; very many chunks are sampled (`sample_of`). Under a
/// pooled schedule all threads have the same mix. Throws as `check_loop`, and if there is not one
/// map per array.
[[nodiscard]] traffic traffic_of(const machine_costs& on, const loop& what);

/// The pages of an array as first touch places them when this loop initialises it. The order of
/// threads in a pooled schedule is not known: pages, or chunks, then get nodes at random, the same
/// ones in every call. Needs no maps. Throws as `check_loop`.
[[nodiscard]] page_map first_touch(const machine_costs& on, const loop& by);

} // namespace nodewise::model
