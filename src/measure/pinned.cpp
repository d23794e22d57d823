// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/pinned.hpp"

#include <atomic>
#include <exception>
#include <latch>
#include <system_error>
#include <thread>

#include <fmt/core.h>

#include <nodewise/affinity.hpp>
#include <nodewise/error.hpp>
#include <nodewise/id_set.hpp>

namespace nodewise::measure {

void run_pinned(std::span<const cpu_id> cpus, const std::function<void(std::size_t)>& body) {
  std::vector<std::exception_ptr> failures(cpus.size());
  std::latch all_bound(static_cast<std::ptrdiff_t>(cpus.size()));
  std::atomic<bool> failed = false;
  const auto guarded = [&](std::size_t k, const auto& act) {
    try {
      act();
    } catch (...) {
      failures[k] = std::current_exception();
    }
  };
  const auto bound_body = [&](std::size_t k) {
    guarded(k, [&] { set_thread_affinity({cpus[k]}); });
    if (failures[k]) {
      failed = true;
    }
    all_bound.arrive_and_wait();
    if (!failed) {
      guarded(k, [&] { body(k); });
    }
  };
  int refused = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(cpus.size());
    try {
      for (std::size_t k = 0; k < cpus.size(); ++k) {
        threads.emplace_back(bound_body, k);
      }
    } catch (const std::system_error& e) {
      refused = e.code().value();
      failed = true;
      all_bound.count_down(static_cast<std::ptrdiff_t>(cpus.size() - threads.size()));
    }
  }
  if (refused != 0) {
    throw error(error_kind::system, fmt::format("cannot start {} threads", cpus.size()), "",
                "raise the limit of processes: ulimit -u", refused);
  }
  for (const std::exception_ptr& each : failures) {
    if (each) {
      std::rethrow_exception(each);
    }
  }
}

} // namespace nodewise::measure
