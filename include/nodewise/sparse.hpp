// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices whose arrays are on the nodes of the workers that multiply the rows: includes
// everything about them.
//
//     #include <nodewise/openmp.hpp>
//
//     nodewise::openmp_teams teams;
//     const std::vector<nodewise::triplet<double>> entries{{0, 0, 4.0}, {1, 1, 4.0}, {1, 0, -1.0}};
//     const auto a = nodewise::sparse_matrix<double>::from_triplets(teams, 2, 2, entries);
//     auto x = a.input_vector();
//     auto y = a.output_vector();
//     teams.fill(x, 1.0);
//     nodewise::multiply(teams, a, x, y);
//     std::printf("%g %g\n%s\n", y[0], y[1], a.strip().c_str());
//
// One cut decides everything (`row_partition`): each worker owns a contiguous block of rows, and
// all workers move equally many bytes. Row starts, column indices, values and both vectors are
// placed by that cut; the owners build their parts in parallel; `multiply` runs each row on its
// owner. Data that crosses nodes is only what a row reads of other nodes' input elements.
#pragma once

#include <nodewise/matrix_market.hpp>     // reads files
#include <nodewise/row_partition.hpp>     // which worker owns which rows
#include <nodewise/sell_matrix.hpp>       // SELL-C-sigma
#include <nodewise/sparse_input.hpp>      // where the input vector is
#include <nodewise/sparse_matrix.hpp>     // compressed rows
#include <nodewise/sparse_multiply.hpp>   // products
#include <nodewise/sparse_scattered.hpp>  // transposed and symmetric products
#include <nodewise/triangular_matrix.hpp> // dense triangles
