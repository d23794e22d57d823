// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// One thread fills arrays that all threads work on.
#include "advise/patterns.hpp"

namespace nodewise::advise {

namespace {

positions serial_initialisation_sites(const analysis& of, const std::vector<char>& free) {
  return sites_where(of, free, is_serial);
}

suspicion describe_serial_initialisation(const analysis& of, const positions& sites) {
  return usual(of, sites,
               fmt::format("one thread touched all pages first, {} use them",
                           counted(greatest(of, sites).using_nodes, "node")));
}

} // namespace

const detector serial_initialisation(pattern::serial_initialisation, needs_faults | needs_objects,
                                     serial_initialisation_sites, describe_serial_initialisation,
                                     touch_in_parallel);

} // namespace nodewise::advise
