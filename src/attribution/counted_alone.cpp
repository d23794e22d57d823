// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Builds a profile from a count alone.
#include <array>
#include <utility>

#include "attribution/counted.hpp"

namespace nodewise::attribution {

namespace {

profile::object_kind profile_kind(traffic::object_kind what) {
  using enum profile::object_kind;
  constexpr std::array kinds = {heap, map, static_array, group, region, other};
  return kinds[static_cast<std::size_t>(what)];
}

/// Leaves out what only the agent's report has.
profile::object object_of(const traffic::object& what, std::uint64_t page_bytes) {
  profile::object made;
  made.id = what.id & 0xffffffffU; // the upper half is the process
  made.kind = profile_kind(what.kind);
  made.name = what.name;
  made.start = what.start;
  made.bytes = what.bytes;
  made.pages = what.bytes == 0
                   ? 0
                   : (what.start + what.bytes - 1) / page_bytes - what.start / page_bytes + 1;
  made.live_at_end = !what.freed;
  return made;
}

} // namespace

profile::profile profile_of(const traffic::counts& counted, const profile::program& like,
                            std::vector<std::string> command) {
  profile::profile made;
  made.command = std::move(command);
  made.page_bytes = counted.page_bytes;
  for (const traffic::program& each : counted.programs) {
    if (each.pid == 0 || each.name != like.name) {
      continue;
    }
    profile::program one;
    one.pid = static_cast<int>(traffic::pid_of(each.pid));
    one.name = like.name;
    one.openmp = like.openmp;
    one.tbb = like.tbb;
    for (const traffic::object& object : counted.objects) {
      if (object.pid == each.pid) {
        one.objects.push_back(object_of(object, counted.page_bytes));
      }
    }
    made.programs.push_back(std::move(one));
  }
  add_counts(made, counted);
  return made;
}

} // namespace nodewise::attribution
