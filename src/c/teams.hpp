// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Node teams whose threads belong to a program in C or Fortran.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include <nodewise/node_teams.hpp>
#include <nodewise/sparse.h>

#include "c/handles.hpp"

namespace nodewise::c {

/// A runtime of `basic_node_teams` that runs loops through a function of the program.
class program_runtime {
 public:
  /// Throws `error` (usage) if a thread may run on several nodes.
  program_runtime(const topology& where, const team_layout& layout, nodewise_runner* runner);

  [[nodiscard]] const thread_map& threads() const noexcept { return threads_; }

  /// Calls `f(worker)` once for each worker, on its place. Throws the first exception of `f`, and
  /// `error`: (usage) if the program's function skips or repeats workers, (system) if a thread
  /// cannot be bound.
  template <class F>
  void run(F&& f) {
    using body_type = std::remove_reference_t<F>;
    run_erased([](void* body, const worker& me) { (*static_cast<body_type*>(body))(me); },
               std::addressof(f));
  }

 private:
  using erased = void (*)(void* body, const worker& me);
  void run_erased(erased call, void* body);

  thread_map threads_;
  nodewise_runner* run_;
};

using program_teams = basic_node_teams<program_runtime>;

} // namespace nodewise::c

struct nodewise_teams {
  nodewise::c::program_teams value;
};
