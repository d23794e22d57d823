// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Static chunks shorter than a page: threads of several nodes share each page.
#include "advise/patterns.hpp"

namespace nodewise::advise {

namespace {

// Least share of writes: threads do not just read all of it.
constexpr double written = 0.01;

/// Whether threads alternate within each page, in the same way everywhere.
bool is_dealt_finely(const item&, const shape& how) {
  return how.using_nodes > 1 && how.exclusive < 0.6 && how.steady && how.sharers > 1.5;
}

positions small_chunks_sites(const analysis& of, const std::vector<char>& free) {
  if (of.swept.empty() || of.sampled) {
    return {};
  }
  const positions found = sites_where(of, free, is_dealt_finely);
  const bool some_written = std::ranges::any_of(
      of.items_of(found), [&](std::size_t i) { return of.items[i].write_share > written; });
  return some_written ? found : positions();
}

suspicion describe_small_chunks(const analysis& of, const positions& sites) {
  suspicion made = usual(of, sites,
                         "chunks shorter than a page, so that threads of several nodes "
                         "share every page");
  made.after = course{all_local(of, flow_under(of, {}, {}))};
  made.evidence.push_back(fmt::format("a page is used by {} threads, in the same shares everywhere",
                                      number(mean_over(of, sites, &shape::sharers))));
  made.remarks.emplace_back("no placement fixes this, because pages are shared: the gain is for "
                            "chunks of whole pages that their users touch first");
  return made;
}

} // namespace

const detector small_chunks(pattern::small_chunks, needs_uses | needs_objects, small_chunks_sites,
                            describe_small_chunks, first_touch_loops,
                            {"one block per thread, or chunks of several pages (static,512 is a "
                             "page of doubles), and the same schedule for the first touch"},
                            scope::objects);

} // namespace nodewise::advise
