// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A parallel loop over arrays, described: what a program would do, without the program.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "model/costs.hpp"
#include "model/page_map.hpp"
#include "model/traffic.hpp"

namespace nodewise::model {

/// What the loop does with one array in each iteration.
struct array_use {
  bool read = false;
  bool written = false;
  bool streaming = false; ///< its stores go past the caches: a line is not read to be written
};

/// A loop that users know by name.
struct kernel {
  std::string_view name;
  std::string_view formula; ///< "a[i] = b[i] + s * c[i]"
  std::vector<array_use> arrays;
};
[[nodiscard]] const std::vector<kernel>& kernels();
/// nullptr if there is none of this name.
[[nodiscard]] const kernel* find_kernel(std::string_view name) noexcept;

enum class schedule_kind {
  fixed,   ///< `static`: one block a thread, or chunks in turn
  dynamic, ///< `dynamic`: the next chunk to whoever is done
  guided,  ///< `guided`: chunks that shrink with what is left, down to the given one
  random,  ///< stolen tasks: any chunk to whoever is done
  even,    ///< one block a thread, of equal work where iterations differ
};
struct schedule {
  schedule_kind kind = schedule_kind::fixed;
  std::size_t chunk = 0; ///< iterations; 0: of `fixed` one block a thread, of the others 1
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
  std::vector<page_map> maps; ///< one an array
  std::size_t elements = 0;   ///< of each array
  std::size_t element_bytes = 8;
  std::size_t page_bytes = 4096;
  std::size_t line_bytes = 64;
  shape form = shape::flat;
  schedule how;
  std::vector<std::size_t> cores; ///< of each thread: position in `machine_costs::cores`
  double chunk_start_s = 0;       ///< a thread waits so long at the beginning of each chunk
  bool random_access = false;     ///< elements of the arrays in no order, a line each

  /// Iterations of a chunk; 0 where threads have whole blocks.
  [[nodiscard]] std::size_t chunk() const noexcept;
  [[nodiscard]] std::size_t threads() const noexcept { return cores.size(); }
  /// Of the parallel loop.
  [[nodiscard]] std::size_t iterations() const noexcept;
  /// First element of an iteration; of the one behind the last, `elements`.
  [[nodiscard]] std::size_t first_element(std::size_t iteration) const noexcept;
  [[nodiscard]] std::size_t page_of(std::size_t element) const noexcept {
    return element * element_bytes / page_bytes;
  }
  /// Of those that begin in this page or behind it.
  [[nodiscard]] std::size_t first_element_of_page(std::size_t page) const noexcept {
    return (page * page_bytes + element_bytes - 1) / element_bytes;
  }
  [[nodiscard]] std::size_t pages() const noexcept;
};

/// Bytes between memory and processor for one element of an array.
struct element_cost {
  double read = 0;
  double written = 0;
};
[[nodiscard]] element_cost cost_of(const loop& of, const array_use& use);

/// Bytes of the whole loop by STREAM's convention: what the source names, and no line that is read
/// only to be written.
[[nodiscard]] double useful_bytes(const loop& of);

/// First and last (half-open) iteration of thread `t`'s block under `fixed` without chunk and
/// `even`.
struct iteration_range {
  std::size_t first = 0;
  std::size_t last = 0;
};
[[nodiscard]] iteration_range block_of(const loop& of, std::size_t t);

/// Throws `error` (usage) for a loop without threads, elements or arrays, with sizes of 0, with
/// cores that are not there, or with more elements than can be counted in bytes.
void check_loop(const machine_costs& on, const loop& what);

/// What each thread moves in the whole loop; of very many chunks a `sample` is taken. Under a
/// pooled schedule all have the same mix. Throws as `check_loop`, and for maps that are not one an
/// array.
[[nodiscard]] traffic traffic_of(const machine_costs& on, const loop& what);

/// The pages of an array as first touch leaves them when this loop initialises it. Of a pooled
/// schedule nobody knows who comes when: pages, or chunks, then have nodes at random, always the
/// same. It needs no maps. Throws as `check_loop`.
[[nodiscard]] page_map first_touch(const machine_costs& on, const loop& by);

} // namespace nodewise::model
