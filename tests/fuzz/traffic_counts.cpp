// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the lab's traffic counter wrote, or what is left of it.
#include <nodewise/error.hpp>

#include "fuzz/fuzz.hpp"
#include "traffic/counts.hpp"

using namespace nodewise;

std::vector<std::string> fuzz::seeds() {
  const std::string head =
      "nodewise-counts 1\nselftest 4 17\nline_bytes 64\npage_bytes 4096\ncoherence 1\n"
      "cache 2 unified 1048576 16 core\nprocessor 0 0\nprocessor 1 1\nmemory 0\nmemory 1\n";
  return {
      head + "program 7 7 a%20b\nthread 7 0 7\nthread 7 1 -\nobject 7 1 0x3000 4096 heap a 0x12 -\n"
             "touched 7 1 0 3 0\nusers 7 1 0 2 1 0:64 1:12\nusers 7 - 0x9000 1 -1 1:1\n"
             "codeuse 7 1 0x1010 64\ncodeuse 7 - 0x1010 1\ncomplete\n",
      head + "program 7 7 a%20b\nmapping 7 0x1000 0x2000 0 /bin/a\nended 7\n"
             "object 7 1 0x3000 4096 heap a 0x12 -\nfreed 7 1\ncell 1 0 use 1 2 3 4\n"
             "transfers 1 2 3 4\ntraffic 7 1 use 1 0 1 2 3\npages 7 1 0 1 0 1 2 3 4 -1\n"
             "complete\n",
      head + "traffic 7 - init 1 -1 1 2 3\npages 7 - 0x1000 1 0 1 2 3 4 1\n"
             "code 7 0x1010 use 1 2\nshared 7 0x40 - 1 2 0-1 - 0 5 0x1010\nregion 7 r 0 1 1 2 3\n"
             "uncounted 1 why%20not\naccesses 9\ncomplete\n",
      "nodewise-counts 1\nrefused why\ncomplete\n", ""};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const traffic::counts all = traffic::read_counts(fuzz::text(data, size));
    for (const auto when : {traffic::phase::initialisation, traffic::phase::use}) {
      const double share = traffic::totals(all, when).where.share().value_or(0);
      fuzz::require(share >= 0 && share <= 1);
      fuzz::require(traffic::node_by_node(all, when).total() ==
                    traffic::totals(all, when).where.total());
      fuzz::require(traffic::imbalance(traffic::memory_loads(all, when)).value_or(1) >= 1);
    }
    for (const traffic::user_run& run : all.page_users) {
      fuzz::require(run.count != 0 && !run.by.empty() && run.by.front().lines != 0);
      for (std::size_t i = 1; i < run.by.size(); ++i) {
        fuzz::require(run.by[i - 1].thread < run.by[i].thread && run.by[i].lines != 0);
      }
    }
    for (const traffic::site& site : traffic::sites_of(all)) {
      fuzz::require(site.where(traffic::phase::use).share().value_or(0) <= 1);
    }
  } catch (const error& e) {
    fuzz::require(e.kind() == error_kind::input && !e.answered().empty());
  }
  return 0;
}
