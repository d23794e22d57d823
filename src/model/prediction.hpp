// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the model says of traffic: its time, and which parts of the machine it waits for.
#pragma once

#include <cstddef>
#include <vector>

namespace nodewise::model {

enum class resource_kind {
  memory, ///< of a node
  link,
  core,   ///< the lines that a node's cores can have in flight
  thread, ///< a thread's own limit if memory cost nothing
};

/// A part of the machine in a prediction.
struct resource_load {
  resource_kind kind = resource_kind::memory;
  std::size_t at = 0;     ///< position of the node, or of the link
  double bytes_per_s = 0; ///< its capacity
  double busy = 0;        ///< 0..1, over the whole time
  double bound = 0;       ///< 0..1: share of the threads' time spent waiting for it
};

struct prediction {
  double seconds = 0;
  double bytes = 0;
  std::vector<resource_load> loads; ///< of all that is used; the one that binds most first

  [[nodiscard]] double bytes_per_s() const noexcept { return seconds > 0 ? bytes / seconds : 0; }
};

} // namespace nodewise::model
