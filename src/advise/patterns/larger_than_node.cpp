// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// One process touches more memory on one node than that node has.
#include "advise/pattern_tools.hpp"
#include "advise/patterns/overflow.hpp"

namespace nodewise::advise {

namespace {

// The kernel and other programs also use the node.
constexpr double over_full = 0.9;

std::vector<std::size_t> larger_than_node_sites(const analysis& of, const std::vector<char>& free) {
  const overflow found = overflow_of(of, free);
  const bool too_large =
      found.state != nullptr &&
      found.wanted_bytes > over_full * static_cast<double>(found.state->total_bytes);
  return too_large ? found.sites : std::vector<std::size_t>();
}

suspicion describe_larger_than_node(const analysis& of, const std::vector<std::size_t>& sites) {
  const overflow found = overflow_of(of, std::vector<char>(of.input.sites().size(), 1));
  const std::string node = "node " + std::to_string(of.input.number_of(found.memory));
  suspicion made{.title = "the process needs more memory than " + node + " has: pages of " +
                          names_of(of.input, sites) + " went to other nodes",
                 .evidence = {bytes_text(found.wanted_bytes) + " were touched from " + node +
                                  ", which has " +
                                  bytes_text(static_cast<double>(found.state->total_bytes)),
                              bytes_text(found.missed_bytes) + " of it are elsewhere"},
                 .remarks = usual_doubts(of, sites),
                 .after = course{all_local(of.input, flow_under(of.input, {}, {}))}};
  made.remarks.emplace_back("the gain is that of data near to all its users, as with a process for "
                            "each node");
  return made;
}

} // namespace

const detector larger_than_node{.what = pattern::larger_than_node,
                                .needs = needs_faults | needs_objects | needs_memory,
                                .sites = larger_than_node_sites,
                                .describe = describe_larger_than_node};

} // namespace nodewise::advise
