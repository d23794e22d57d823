// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/detail/slots.hpp>

#include "sys/kernel.hpp"

namespace nodewise::inline v0::detail {

namespace {

std::size_t round_up(std::size_t bytes, std::size_t unit) noexcept {
  return (bytes + unit - 1) / unit * unit;
}

void begin_team(slot_plan& plan, const node_team& team, std::size_t bytes) {
  const std::size_t page = sys::real_kernel().base_page_bytes();
  const std::size_t pages = (bytes + page - 1) / page;
  const std::size_t first = plan.bytes / page;
  plan.extents.push_back({first, first + pages, team.node});
  plan.bytes += pages * page;
}

} // namespace

slot_plan slots_of_workers(const thread_map& threads, std::size_t value_bytes) {
  const std::size_t stride = round_up(value_bytes, cache_aligned_bytes);
  slot_plan plan;
  plan.offsets.resize(threads.workers().size());
  for (const node_team& team : threads.teams()) {
    for (std::size_t k = 0; k < team.workers.size(); ++k) {
      plan.offsets[team.workers[k]] = plan.bytes + k * stride;
    }
    begin_team(plan, team, team.workers.size() * stride);
  }
  return plan;
}

slot_plan slots_of_teams(const thread_map& threads, std::size_t value_bytes) {
  slot_plan plan;
  for (const node_team& team : threads.teams()) {
    plan.offsets.push_back(plan.bytes);
    begin_team(plan, team, value_bytes);
  }
  return plan;
}

} // namespace nodewise::inline v0::detail
