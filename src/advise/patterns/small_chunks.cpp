// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Static chunks shorter than a page: threads of several nodes share each page.
#include "advise/pattern_tools.hpp"

namespace nodewise::advise {

namespace {

// Least share of writes: threads do not just read all of it.
constexpr double written = 0.01;

/// Whether threads alternate within each page, in the same way everywhere.
bool is_dealt_finely(const item&, const shape& how) {
  return how.using_nodes > 1 && how.exclusive < 0.6 && how.steady && how.sharers > 1.5;
}

std::vector<std::size_t> small_chunks_sites(const analysis& of, const std::vector<char>& free) {
  if (of.swept.empty() || of.input.sampled()) {
    return {};
  }
  std::vector<std::size_t> found = sites_where(of, free, is_dealt_finely);
  const bool some_written = std::ranges::any_of(found, [&](std::size_t s) {
    return std::ranges::any_of(of.input.sites()[s].items, [&](std::size_t i) {
      return of.input.items()[i].write_share > written;
    });
  });
  return some_written ? found : std::vector<std::size_t>();
}

suspicion describe_small_chunks(const analysis& of, const std::vector<std::size_t>& sites) {
  suspicion made{.title = names_of(of.input, sites) +
                          ": chunks shorter than a page, so that threads "
                          "of several nodes share every page",
                 .evidence = usual_evidence(of, sites),
                 .remarks = usual_doubts(of, sites),
                 .after = course{all_local(of.input, flow_under(of.input, {}, {}))}};
  made.evidence.push_back("a page is used by " +
                          number(mean_over(of, sites, [](const shape& s) { return s.sharers; })) +
                          " threads, in the same shares everywhere");
  made.remarks.emplace_back("no placement cures this: pages are shared. The gain is that of chunks "
                            "of whole pages that their users touch first");
  return made;
}

} // namespace

const detector small_chunks{.what = pattern::small_chunks,
                            .needs = needs_uses | needs_objects,
                            .placement_cures = false,
                            .sites = small_chunks_sites,
                            .describe = describe_small_chunks};

} // namespace nodewise::advise
