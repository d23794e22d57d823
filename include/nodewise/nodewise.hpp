// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Includes everything except the threads, which are in <nodewise/openmp.hpp> and
// <nodewise/tbb.hpp>. Each header can also be included alone.
//
//     const auto machine = nodewise::topology::system();
//     const nodewise::team_layout team(machine, nodewise::bind_policy::close);
//     nodewise::array<double> a(1 << 20, nodewise::blocked(team.owners()));
//     std::ranges::fill(a, 1.0); // each page is allocated on its owner, whichever thread writes
//     std::printf("%zu nodes, %s\n", machine.domains().size(), a.strip().c_str());
#pragma once

#include <nodewise/advice.hpp>        // interleave or block, weights, chunks
#include <nodewise/affinity.hpp>      // the processors that this thread may run on
#include <nodewise/allocator.hpp>     // placed memory for std::vector
#include <nodewise/arithmetic.hpp>    // which owner has which page, by numbers only
#include <nodewise/array.hpp>         // an array with a distribution
#include <nodewise/cache_aligned.hpp> // values of threads on separate cache lines
#include <nodewise/distribution.hpp>  // bound, blocked, block_cyclic, weighted_blocks, explicit_map
#include <nodewise/error.hpp>         // what was attempted, the reason, what to do
#include <nodewise/id.hpp>            // node_id, cpu_id
#include <nodewise/id_set.hpp>        // node_set, cpu_set
#include <nodewise/machine.hpp>       // the machine, as a value
#include <nodewise/matrix_market.hpp> // reads sparse matrices from files
#include <nodewise/memory_resource.hpp>   // placed memory for std::pmr
#include <nodewise/node_teams.hpp>        // loops that run where the data lives
#include <nodewise/objects.hpp>           // objects that their owners construct
#include <nodewise/owned_loop.hpp>        // loops over several arrays together
#include <nodewise/owned_span.hpp>        // loops over existing memory
#include <nodewise/per_node.hpp>          // a value for each node
#include <nodewise/per_thread.hpp>        // a value for each worker
#include <nodewise/place_objects.hpp>     // new T[n] in placed memory
#include <nodewise/placement.hpp>         // place, migrate, query where pages are
#include <nodewise/read_into.hpp>         // reads a file into placed memory
#include <nodewise/region.hpp>            // memory with a distribution
#include <nodewise/replicated.hpp>        // a table with a copy on each node
#include <nodewise/row_partition.hpp>     // which worker owns which rows of a matrix
#include <nodewise/schedule.hpp>          // which worker works on which pages
#include <nodewise/sell_matrix.hpp>       // a matrix in SELL-C-sigma: chunks of rows
#include <nodewise/sparse.hpp>            // sparse matrices: all of the next
#include <nodewise/sparse_input.hpp>      // where the input vector of a product is
#include <nodewise/sparse_matrix.hpp>     // a matrix in compressed rows, placed by rows
#include <nodewise/sparse_multiply.hpp>   // products that run on the owners of the rows
#include <nodewise/sparse_scattered.hpp>  // transposed and symmetric products
#include <nodewise/strip.hpp>             // a picture of memory
#include <nodewise/task_group.hpp>        // tasks that run on the node of their data
#include <nodewise/task_statistics.hpp>   // tasks and steals by distance
#include <nodewise/tasks.hpp>             // runs trees of tasks on node teams
#include <nodewise/team_layout.hpp>       // which thread runs where
#include <nodewise/thread_map.hpp>        // which thread works on which node
#include <nodewise/topology.hpp>          // the machine, and what this process may use of it
#include <nodewise/triangular_matrix.hpp> // a dense triangular matrix, placed by rows
#include <nodewise/version.hpp>
