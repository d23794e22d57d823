// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How many bytes each thread moves between each memory and its processor, without their order.
#pragma once

#include <cstddef>
#include <vector>

#include "model/costs.hpp"

namespace nodewise::model {

/// What one thread moves. Its mix is assumed to be the same from its beginning to its end.
struct thread_traffic {
  std::size_t core = 0;        ///< position in `machine_costs::cores`
  std::vector<double> read;    ///< bytes from each memory, by position
  std::vector<double> written; ///< bytes to each memory
  double most = unlimited;     ///< bytes/s that it would move if memory cost nothing
};

struct traffic {
  std::vector<thread_traffic> threads;
};

/// A thread that has moved nothing, on a machine with this number of nodes.
[[nodiscard]] thread_traffic idle_thread(std::size_t core, std::size_t nodes);
[[nodiscard]] double total_bytes(const thread_traffic& of) noexcept;
[[nodiscard]] double total_bytes(const traffic& of) noexcept;

} // namespace nodewise::model
