// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// One process touches more memory on one node than that node has.
#include "advise/patterns.hpp"

namespace nodewise::advise {

namespace {

// The kernel and other programs also use the node.
constexpr double over_full = 0.9;

positions larger_than_node_sites(const analysis& of, const std::vector<char>& free) {
  const overflow found = overflow_of(of, free);
  const bool too_large =
      found.state != nullptr &&
      found.wanted_bytes > over_full * static_cast<double>(found.state->total_bytes);
  return too_large ? found.sites : positions();
}

suspicion describe_larger_than_node(const analysis& of, const positions& sites) {
  const overflow found = overflow_of(of);
  const node_id node = of.number_of(found.memory);
  suspicion made{
      .title = fmt::format(
          "the process needs more memory than node {} has: pages of {} went to other nodes", node,
          names_of(of, sites)),
      .evidence = {fmt::format("{} were touched from node {}, which has {}",
                               bytes_text(found.wanted_bytes), node,
                               bytes_text(static_cast<double>(found.state->total_bytes))),
                   fmt::format("{} of it are on other nodes", bytes_text(found.missed_bytes))},
      .remarks = usual_doubts(of, sites),
      .after = course{all_local(of, flow_under(of, {}, {}))}};
  made.remarks.emplace_back("the gain is for data that is local to all its users, as with a "
                            "process for each node");
  return made;
}

} // namespace

const detector larger_than_node(
    pattern::larger_than_node, needs_faults | needs_objects | needs_memory, larger_than_node_sites,
    describe_larger_than_node, command,
    {"run a process for each node, each bound to its node",
     "mpirun --map-by numa --bind-to numa nodewise run --memory local -- PROGRAM\n"});

} // namespace nodewise::advise
