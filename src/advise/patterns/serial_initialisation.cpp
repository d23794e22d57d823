// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// One thread fills arrays that all threads work on.
#include "advise/pattern_tools.hpp"

namespace nodewise::advise {

namespace {

std::vector<std::size_t> serial_initialisation_sites(const analysis& of,
                                                     const std::vector<char>& free) {
  return sites_where(of, free, is_serial);
}

suspicion describe_serial_initialisation(const analysis& of,
                                         const std::vector<std::size_t>& sites) {
  return {.title = names_of(of.input, sites) + ": one thread touched all pages first, " +
                   count_of(greatest(of, sites).using_nodes, "node") + " use them",
          .evidence = usual_evidence(of, sites),
          .remarks = usual_doubts(of, sites)};
}

} // namespace

const detector serial_initialisation{.what = pattern::serial_initialisation,
                                     .needs = needs_faults | needs_objects,
                                     .sites = serial_initialisation_sites,
                                     .describe = describe_serial_initialisation};

} // namespace nodewise::advise
