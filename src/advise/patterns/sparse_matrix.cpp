// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Values, columns and row pointers of a sparse matrix, all on one node.
#include "advise/pattern_tools.hpp"
#include <cmath>
#include <iterator>
#include <optional>

namespace nodewise::advise {

namespace {

constexpr double same = 0.02; // of a size
// The arrays of a matrix are allocated one after the other, perhaps with others between.
constexpr std::size_t in_a_row = 8;

std::uint64_t bytes_of(const analysis& of, std::size_t site) {
  return of.input.items()[of.input.sites()[site].items.front()].what->bytes;
}

bool is_ratio(double a, double b, double ratio) {
  return std::abs(a - ratio * b) <= same * a;
}

/// Whether two arrays have the same number of nonzeros, for values of 4, 8 or 16 bytes and indices
/// of 4 or 8 bytes.
bool are_values_and_columns(double values, double columns) {
  return is_ratio(values, columns, 1) || is_ratio(values, columns, 2) ||
         is_ratio(values, columns, 4);
}

struct matrix_sites {
  std::size_t values = 0;
  std::size_t columns = 0;
  std::size_t rows = 0;
};

/// Finds two long arrays and a short one that were allocated close together and are used in blocks.
std::optional<matrix_sites> find_matrix(const analysis& of, std::vector<std::size_t> blocked) {
  std::ranges::sort(blocked, {}, [&](std::size_t s) {
    return of.input.items()[of.input.sites()[s].items.front()].what->id;
  });
  for (std::size_t a = 0; a < blocked.size(); ++a) {
    const std::size_t end = std::min(blocked.size(), a + in_a_row);
    for (std::size_t b = a; b < end; ++b) {
      for (std::size_t r = a; r < end; ++r) {
        for (std::size_t v = a; v < end; ++v) {
          const auto values = static_cast<double>(bytes_of(of, blocked[v]));
          const auto columns = static_cast<double>(bytes_of(of, blocked[b]));
          const auto rows = static_cast<double>(bytes_of(of, blocked[r]));
          if (v != b && b != r && v != r && are_values_and_columns(values, columns) &&
              rows * 2 <= columns) {
            return matrix_sites{blocked[v], blocked[b], blocked[r]};
          }
        }
      }
    }
  }
  return std::nullopt;
}

std::vector<std::size_t> sparse_matrix_sites(const analysis& of, const std::vector<char>& free) {
  if (of.input.assumed()) {
    return {};
  }
  const std::vector<std::size_t> blocked =
      sites_where(of, free, [](const item& what, const shape& how) {
        return is_serial(what, how) && !how.anyones();
      });
  const std::vector<std::size_t> gathered =
      sites_where(of, free, [](const item& what, const shape& how) {
        return how.anyones() && what.write_share < 0.5;
      });
  const std::optional<matrix_sites> found = find_matrix(of, blocked);
  const bool has_vector = found && std::ranges::any_of(gathered, [&](std::size_t s) {
                            return static_cast<double>(bytes_of(of, s)) <=
                                   static_cast<double>(bytes_of(of, found->values));
                          });
  if (!has_vector) {
    return {};
  }
  std::vector<std::size_t> all = blocked;
  std::ranges::copy_if(gathered, std::back_inserter(all), [&](std::size_t s) {
    return mean_over(of, {s}, [](const shape& how) { return how.on_memory; }) >= 0.8;
  });
  std::ranges::sort(all);
  return all;
}

suspicion describe_sparse_matrix(const analysis& of, const std::vector<std::size_t>& sites) {
  suspicion made{.title = "a sparse matrix and its vectors (" + names_of(of.input, sites) +
                          ") are on one node",
                 .evidence = usual_evidence(of, sites),
                 .remarks = usual_doubts(of, sites)};
  std::vector<std::size_t> blocked;
  std::ranges::copy_if(sites, std::back_inserter(blocked), [&](std::size_t s) {
    return !of.shapes[of.input.sites()[s].items.front()].anyones();
  });
  if (const auto found = find_matrix(of, blocked)) {
    const auto name = [&](std::size_t s) { return of.input.sites()[s].name; };
    made.evidence.insert(made.evidence.begin(),
                         name(found->values) + " and " + name(found->columns) +
                             " have as many elements as one another, " + name(found->rows) +
                             " is short: values, columns and rows by their sizes");
  }
  made.remarks.emplace_back(
      "what all rows gather from is used by all nodes: it can only be spread, "
      "unless nonzeros cluster at the diagonal");
  return made;
}

} // namespace

const detector sparse_matrix{.what = pattern::sparse_matrix,
                             .needs = needs_faults | needs_uses | needs_objects,
                             .sites = sparse_matrix_sites,
                             .describe = describe_sparse_matrix};

} // namespace nodewise::advise
