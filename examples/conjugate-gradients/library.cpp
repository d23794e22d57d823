// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Conjugate gradients with the library: the matrix and all vectors follow one cut of the rows. The
// same problem and checksum as kernels/cg, its usual form, and kernels/cg-cured: seven points of a
// cube and their neighbours, and a right-hand side that is made for the solution 1.
//
// Remote share of the use phase: 0, but for the neighbours in the next block, about a percent.
//
// usage: conjugate-gradients-library [points an edge] [iterations]
#include <cmath>
#include <functional>
#include <nodewise/marker.h>
#include <numeric>
#include <span>

#include <nodewise/openmp.hpp>
#include <nodewise/sparse.hpp>

#include "../shared/library.hpp"

namespace {

using vector = nodewise::array<double, nodewise::weighted_blocks>;
using teams_of_cores = nodewise::openmp_teams;

// The neighbours of a point in a cube, in three axes.
class cube {
 public:
  explicit cube(std::size_t edge) : edge_(edge) {}

  std::size_t points() const { return edge_ * edge_ * edge_; }

  template <class F>
  void for_neighbours(std::size_t point, F f) const {
    for (const std::size_t stride : {std::size_t{1}, edge_, edge_ * edge_}) {
      const std::size_t at = point / stride % edge_;
      if (at > 0) {
        f(point - stride);
      }
      if (at + 1 < edge_) {
        f(point + stride);
      }
    }
  }
  std::size_t neighbours(std::size_t point) const {
    std::size_t count = 0;
    for_neighbours(point, [&](std::size_t) { ++count; });
    return count;
  }

 private:
  std::size_t edge_;
};

nodewise::sparse_matrix<double> laplacian(teams_of_cores& teams, const cube& points) {
  const auto length = [&](std::size_t row) { return points.neighbours(row) + 1; };
  const auto fill = [&](std::size_t row, std::span<int> columns, std::span<double> values) {
    std::size_t k = 0;
    const auto put = [&](std::size_t column, double value) {
      columns[k] = static_cast<int>(column);
      values[k++] = value;
    };
    put(row, 7.0);
    points.for_neighbours(row, [&](std::size_t column) { put(column, -1.0); });
  };
  return nodewise::sparse_matrix<double>::from_rows(teams, points.points(), points.points(), length,
                                                    fill);
}

double dot(teams_of_cores& teams, const vector& a, const vector& b) {
  return teams.reduce_owned(
      nodewise::over(a, b), 0.0,
      [](std::span<const double> x, std::span<const double> y) {
        return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
      },
      std::plus<>());
}

// to = to * of_to + factor * from
void add(teams_of_cores& teams, vector& to, double of_to, double factor, const vector& from) {
  teams.for_each_owned(nodewise::over(to, from),
                       [=](std::span<double> x, std::span<const double> y) {
                         for (std::size_t i = 0; i < x.size(); ++i) {
                           x[i] = x[i] * of_to + factor * y[i];
                         }
                       });
}

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"conjugate-gradients-library", "[points an edge] [iterations]", argc,
                             argv};
  const cube points(static_cast<std::size_t>(number_at(&line, 1, 56, 600)));
  const int iterations = static_cast<int>(number_at(&line, 2, 15, 1000));
  end_at(&line, 2);
  say_what_fails();

  nodewise::openmp_teams teams;
  const auto bound = teams.runtime().keep_bound();
  const auto a = laplacian(teams, points);
  vector x = a.output_vector(), r = a.output_vector(), p = a.output_vector(), q = a.output_vector();
  teams.fill(x, 0.0);
  teams.fill(q, 0.0);
  teams.for_each_owned(nodewise::over(r, p), [&](std::size_t first, std::span<double> residual,
                                                 std::span<double> direction) {
    for (std::size_t k = 0; k < residual.size(); ++k) {
      residual[k] = 7.0 - static_cast<double>(points.neighbours(first + k));
      direction[k] = residual[k];
    }
  });

  NODEWISE_MARKER_USE();
  const double start = seconds();
  const double first = dot(teams, r, r);
  double square = first;
  for (int i = 0; i < iterations; ++i) {
    nodewise::multiply(teams, a, p, q);
    const double length = square / dot(teams, p, q);
    add(teams, x, 1.0, length, p);
    add(teams, r, 1.0, -length, q);
    const double before = square;
    square = dot(teams, r, r);
    add(teams, p, square / before, 1.0, r);
  }
  const double elapsed = seconds() - start;
  const double sum = teams.reduce_owned(
      x, 0.0, [](std::span<double> part) { return std::accumulate(part.begin(), part.end(), 0.0); },
      std::plus<>());
  print_result(line, sum, teams, iterations, elapsed);
  // As in kernels/cg: an iteration makes the residual 0.57 times as large, within sqrt(13).
  const double most = 2 * std::sqrt(13.0) * std::pow(0.57, iterations) + 1e-12;
  if (!(std::sqrt(square / first) <= most)) {
    std::fprintf(stderr, "%s: wrong: the residual over the first one is %g, at most %g is right\n",
                 line.program, std::sqrt(square / first), most);
    return 1;
  }
}
