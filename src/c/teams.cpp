// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "c/teams.hpp"

#include <atomic>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include <nodewise/affinity.hpp>

#include "base/text.hpp"

namespace nodewise::c {

namespace {

/// One loop: what each call of a part needs.
struct program_loop {
  void (*call)(void* body, const worker& me);
  void* body;
  const thread_map& threads;
  std::vector<std::atomic<int>> calls; ///< of each worker's part
  std::atomic<bool> unknown = false;   ///< a call for a worker that does not exist
  detail::first_exception failed;
};

/// Runs a worker's part on its place, and restores the thread's processors. A thread that is there
/// already stays there.
void run_on_its_place(program_loop& loop, std::size_t k) {
  const cpu_set& place = loop.threads.places()[k].place;
  std::optional<affinity_guard> before;
  if (!place.includes(thread_affinity())) {
    before.emplace();
    set_thread_affinity(place);
  }
  loop.call(loop.body, loop.threads.workers()[k]);
}

void run_part(void* work, std::size_t k) {
  auto& loop = *static_cast<program_loop*>(work);
  if (k >= loop.calls.size()) {
    loop.unknown = true;
    return;
  }
  // A second call of a part would disturb the first.
  if (loop.calls[k].fetch_add(1) == 0) {
    loop.failed.guard([&] { run_on_its_place(loop, k); });
  }
}

void require_all_parts(const program_loop& loop) {
  const auto workers = loop.calls.size();
  std::string wrong = loop.unknown ? "it called a part that does not exist" : "";
  for (std::size_t k = 0; wrong.empty() && k < workers; ++k) {
    if (const int calls = loop.calls[k]; calls != 1) {
      wrong =
          fmt::format("it called part {} {}", k, counted(static_cast<std::size_t>(calls), "time"));
    }
  }
  if (!wrong.empty()) {
    throw error(
        error_kind::usage,
        fmt::format("the program's function that runs work on {}", counted(workers, "worker")),
        wrong, fmt::format("call each part from 0 to {} once", workers - 1));
  }
}

} // namespace

program_runtime::program_runtime(const topology& where, const team_layout& layout,
                                 nodewise_runner* runner)
    : threads_(where, layout), run_(runner) {}

void program_runtime::run_erased(erased call, void* body) {
  const std::size_t workers = threads_.workers().size();
  program_loop loop{.call = call,
                    .body = body,
                    .threads = threads_,
                    .calls = std::vector<std::atomic<int>>(workers),
                    .unknown = false,
                    .failed = {}};
  run_(workers, run_part, &loop);
  loop.failed.rethrow();
  require_all_parts(loop);
}

} // namespace nodewise::c

using nodewise::c::guarded;

int nodewise_teams_make(nodewise_teams** made, const nodewise_layout* layout,
                        nodewise_runner* run) {
  return guarded([&] {
    nodewise::c::require(made, "teams");
    nodewise::c::require(layout, "layout");
    nodewise::c::require(reinterpret_cast<const void*>(run), "function that runs work on threads");
    *made = new nodewise_teams{nodewise::c::program_teams(
        std::in_place, nodewise::topology::from_sysfs(), layout->value, run)};
  });
}

void nodewise_teams_free(nodewise_teams* teams) {
  delete teams;
}
