// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Values, columns and row pointers of a sparse matrix, all on one node.
#include "advise/patterns.hpp"
#include <iterator>

namespace nodewise::advise {

namespace {

constexpr double same = 0.02; // of a size
// The arrays of a matrix are allocated one after the other, perhaps with others between.
constexpr std::size_t in_a_row = 8;

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
std::optional<matrix_sites> find_matrix(const analysis& of, positions blocked) {
  std::ranges::sort(blocked, {}, [&](std::size_t s) { return of.first_object(s).id; });
  const auto bytes = [&](std::size_t at) {
    return static_cast<double>(of.first_object(blocked[at]).bytes);
  };
  for (std::size_t a = 0; a < blocked.size(); ++a) {
    const std::size_t end = std::min(blocked.size(), a + in_a_row);
    for (std::size_t b = a; b < end; ++b) {
      for (std::size_t r = a; r < end; ++r) {
        for (std::size_t v = a; v < end; ++v) {
          if (v != b && b != r && v != r && are_values_and_columns(bytes(v), bytes(b)) &&
              bytes(r) * 2 <= bytes(b)) {
            return matrix_sites{blocked[v], blocked[b], blocked[r]};
          }
        }
      }
    }
  }
  return std::nullopt;
}

positions sparse_matrix_sites(const analysis& of, const std::vector<char>& free) {
  if (of.assumed) {
    return {};
  }
  positions all = sites_where(of, free, [](const item& what, const shape& how) {
    return is_serial(what, how) && !how.anyones();
  });
  const positions gathered = sites_where(of, free, [](const item& what, const shape& how) {
    return how.anyones() && what.write_share < 0.5;
  });
  const std::optional<matrix_sites> found = find_matrix(of, all);
  const bool has_vector = found && std::ranges::any_of(gathered, [&](std::size_t s) {
                            return of.first_object(s).bytes <= of.first_object(found->values).bytes;
                          });
  if (!has_vector) {
    return {};
  }
  std::ranges::copy_if(gathered, std::back_inserter(all),
                       [&](std::size_t s) { return mean_over(of, {s}, &shape::on_memory) >= 0.8; });
  std::ranges::sort(all);
  return all;
}

suspicion describe_sparse_matrix(const analysis& of, const positions& sites) {
  suspicion made{.title = fmt::format("a sparse matrix and its vectors ({}) are on one node",
                                      names_of(of, sites)),
                 .evidence = usual_evidence(of, sites),
                 .remarks = usual_doubts(of, sites)};
  positions blocked = sites;
  std::erase_if(blocked,
                [&](std::size_t s) { return of.shapes[of.sites[s].items.front()].anyones(); });
  if (const auto found = find_matrix(of, blocked)) {
    const auto name = [&](std::size_t s) { return of.sites[s].name; };
    made.evidence.insert(made.evidence.begin(),
                         fmt::format("{} and {} have the same number of elements, {} is short: "
                                     "values, columns and rows by their sizes",
                                     name(found->values), name(found->columns), name(found->rows)));
  }
  made.remarks.emplace_back(
      "all nodes use the vector that rows gather from: it can only be spread, "
      "unless nonzeros cluster at the diagonal");
  return made;
}

cure library_matrix(const subject& of) {
  const char* const runtime = of.tbb && !of.openmp ? "tbb" : "openmp";
  return {"Nodewise",
          "let nodewise::sparse_matrix adopt the arrays: it gives each thread rows of equally many "
          "bytes and moves their pages to its node, with both vectors",
          fmt::format("{}// include <nodewise/sparse.hpp> and <nodewise/{}.hpp>\n"
                      "nodewise::{}_teams teams;\n"
                      "const auto a = nodewise::sparse_matrix<T, Index, Offset>::adopt(\n"
                      "    teams, columns, {{row_ptr, rows + 1}}, {{col_idx, entries}}, "
                      "{{val, entries}});\n"
                      "auto x = a.input_vector();\n"
                      "auto y = a.output_vector();\n"
                      "nodewise::multiply(teams, a, x, y); // y = A x\n",
                      of.made, runtime, runtime)};
}

std::vector<cure> sparse_matrix_cures(const subject& of, const remedy& with) {
  std::vector<cure> all = first_touch_loops(of, with);
  if (of.takes_cpp()) {
    all.push_back(library_matrix(of));
  }
  return all;
}

} // namespace

const detector sparse_matrix(pattern::sparse_matrix, needs_faults | needs_uses | needs_objects,
                             sparse_matrix_sites, describe_sparse_matrix, sparse_matrix_cures,
                             {"touch val, col_idx and the result by rows, with the schedule of "
                              "the product, before filling them"});

} // namespace nodewise::advise
