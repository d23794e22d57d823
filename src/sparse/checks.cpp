// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the arrays of a matrix must meet: the errors of those that do not.
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <limits>

#include <fmt/core.h>

#include <nodewise/detail/sparse/placed_elements.hpp>
#include <nodewise/detail/sparse/row_starts.hpp>
#include <nodewise/error.hpp>
#include <nodewise/sparse_multiply.hpp>

namespace nodewise::inline v0::detail {

namespace {

/// The bytes of memory of this machine; the largest number if the system does not know.
std::size_t machine_memory_bytes() noexcept {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0
             ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes)
             : std::numeric_limits<std::size_t>::max();
}

} // namespace

void require_matrix_size(std::size_t rows, std::size_t columns, std::uint64_t most,
                         std::size_t row_bytes) {
  const std::string asked = fmt::format("a matrix of {} rows and {} columns", rows, columns);
  if (rows == 0 || columns == 0) {
    throw error(error_kind::usage, asked, "a matrix needs at least one row and one column",
                "give the size of the matrix");
  }
  if (columns - 1 > most) {
    throw error(error_kind::usage, asked,
                fmt::format("the type of the column indices ends at {}", most),
                "use a wider type for the column indices: sparse_matrix<T, std::int64_t>");
  }
  // The kernel may promise more memory than there is, and end the program when it is used. The
  // limit also keeps sums of costs far from the largest number.
  const std::size_t memory = machine_memory_bytes();
  if (row_bytes != 0 && rows > memory / row_bytes) {
    throw error(
        error_kind::usage, asked,
        fmt::format("a row takes at least {} bytes on average, and this machine has {} bytes of "
                    "memory",
                    row_bytes, memory),
        "check the number of rows");
  }
}

void refuse_starts(std::size_t starts, std::int64_t first, std::int64_t last, std::size_t indices,
                   std::size_t values) {
  throw error(error_kind::usage,
              fmt::format("a sparse matrix from {} row starts, {} column indices and {} values",
                          starts, indices, values),
              starts == 0 ? "there is no row start"
                          : fmt::format("the row starts go from {} to {}", first, last),
              "give one row start more than rows, from 0 to the number of entries, and a column "
              "index and a value for each entry");
}

void refuse_row(std::size_t row, std::int64_t begins, std::int64_t ends) {
  throw error(error_kind::usage, fmt::format("row {} of a sparse matrix", row),
              fmt::format("it begins at entry {} and ends at entry {}", begins, ends),
              "give row starts that ascend from 0 to the number of entries");
}

void refuse_entries(std::size_t row, std::uint64_t most) {
  throw error(
      error_kind::usage, fmt::format("the entries of row {} of a sparse matrix", row),
      fmt::format("a row has fewer than 0 entries, or the rows so far have more than {}", most),
      "check the lengths, or use a wider type for the row starts: "
      "sparse_matrix<T, Index, std::int64_t>");
}

void refuse_column(std::size_t row, std::int64_t column, std::size_t columns) {
  throw error(error_kind::usage,
              fmt::format("an entry in row {}, column {} of a sparse matrix", row, column),
              fmt::format("the matrix has {} columns", columns),
              "count columns from 0, and give the number of columns of the matrix");
}

void refuse_triplet(std::size_t at, std::int64_t row, std::int64_t column, std::size_t rows,
                    std::size_t columns) {
  throw error(error_kind::usage, fmt::format("triplet {}, at row {}, column {}", at, row, column),
              fmt::format("the matrix has {} rows and {} columns", rows, columns),
              "count rows and columns from 0, and give the size of the matrix");
}

void require_same_teams(const row_partition& partition, const thread_map& threads) {
  const std::vector<node_id> owners = threads.owners();
  if (!std::ranges::equal(owners, partition.owners())) {
    throw error(
        error_kind::usage, fmt::format("a product by teams of {} workers", owners.size()),
        fmt::format("the matrix is cut for {} workers{}", partition.workers(),
                    owners.size() == partition.workers() ? " on other nodes" : ""),
        "multiply with the teams that built the matrix, or build it again with these teams");
  }
}

sell_options resolved(sell_options options, std::size_t value_bytes, std::size_t rows,
                      std::uint64_t most_rows) {
  constexpr std::size_t two_vectors = 128; // whose sums do not wait for each other
  if (options.chunk_rows == 0) {
    options.chunk_rows = std::max<std::size_t>(two_vectors / value_bytes, 1);
  }
  const std::string asked = fmt::format("a matrix in SELL-C-sigma with chunks of {} rows, {} rows",
                                        options.chunk_rows, rows);
  if (options.chunk_rows > most_chunk_rows) {
    throw error(error_kind::usage, asked,
                fmt::format("chunks have at most {} rows", most_chunk_rows),
                "give .chunk_rows a few times the values in a vector of the processor, or 0");
  }
  if (rows > most_rows) {
    throw error(error_kind::usage, asked,
                fmt::format("the type of the indices ends at {}", most_rows),
                "use a wider type for the indices: sell_matrix<T, std::int64_t>");
  }
  if (options.sorted_rows > 1) {
    const std::size_t chunks =
        arithmetic::pages_for(std::min(options.sorted_rows, rows), options.chunk_rows);
    options.sorted_rows = chunks * options.chunk_rows;
  }
  return options;
}

void require_vectors(std::size_t rows, std::size_t columns, std::size_t rows_of_y,
                     std::size_t columns_of_x) {
  if (rows_of_y != rows || columns_of_x != columns) {
    throw error(error_kind::usage,
                fmt::format("a product with an input vector of {} elements and a result of {}",
                            columns_of_x, rows_of_y),
                fmt::format("the matrix has {} columns and {} rows", columns, rows),
                "give an input element for each column and a result for each row");
  }
}

void require_many_vectors(std::size_t rows, std::size_t columns, std::size_t count,
                          std::size_t elements_of_y, std::size_t elements_of_x) {
  const bool fits = count != 0 && elements_of_y % count == 0 && elements_of_x % count == 0;
  if (!fits || elements_of_y / count != rows || elements_of_x / count != columns) {
    throw error(
        error_kind::usage,
        fmt::format("a product of {} vectors, with {} elements of input and {} of results", count,
                    elements_of_x, elements_of_y),
        fmt::format("the matrix has {} columns and {} rows", columns, rows),
        "give an input element for each column and vector, and a result for each row and vector");
  }
}

void require_square(std::size_t rows, std::size_t columns) {
  if (rows != columns) {
    throw error(error_kind::usage, "a product with a symmetric matrix",
                fmt::format("the matrix has {} rows and {} columns", rows, columns),
                "give a matrix with as many columns as rows");
  }
}

void refuse_lower_half(std::size_t row, std::size_t column) {
  throw error(
      error_kind::usage, "a product with a symmetric matrix, from its upper half",
      fmt::format("there is an entry in row {}, column {}, left of the diagonal", row, column),
      "store the diagonal and what is right of it only");
}

void require_apart(std::span<const std::byte> x, std::span<const std::byte> y) {
  const std::less<const std::byte*> before;
  if (before(x.data(), y.data() + y.size()) && before(y.data(), x.data() + x.size())) {
    throw error(error_kind::usage, "a product into a vector that overlaps the input vector",
                "results would replace elements that other rows still read",
                "give a result vector of its own");
  }
}

void add(residency& sum, const residency& more) {
  sum.pages += more.pages;
  sum.resident += more.resident;
  sum.on_owner += more.on_owner;
  sum.unknown += more.unknown;
  sum.exactness = std::max(sum.exactness, more.exactness); // from exact to unknown
  for (const residency::share& each : more.per_node) {
    const auto at = std::ranges::lower_bound(sum.per_node, each.node, {}, &residency::share::node);
    if (at != sum.per_node.end() && at->node == each.node) {
      at->pages += each.pages;
    } else {
      sum.per_node.insert(at, each);
    }
  }
}

} // namespace nodewise::inline v0::detail
