// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/remarks.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "advise/flow.hpp"
#include "advise/words.hpp"

namespace nodewise::advise {

void add_remarks(const analysis_input& of, std::vector<std::string>& into) {
  const auto add = [&](const std::string& text) {
    if (std::ranges::find(into, text) == into.end()) {
      into.push_back(text);
    }
  };
  for (const std::string& each : of.costs().remarks) {
    add(each);
  }
  if (!of.costs().absolute) {
    add("the machine's bandwidths are unknown: gains are ratios for memories that are all alike");
  }
  if (std::ranges::any_of(of.workers(),
                          [&](const worker& each) { return of.thread(each).instructions > 0; })) {
    add(of.costs().absolute
            ? "a core is assumed to execute at most 4 billion instructions per second, and to "
              "access "
              "memory at the same time: the longer of the two times counts. A program that "
              "computes "
              "more slowly gains less"
            : "without bandwidths it is unknown how much waiting the counted instructions hide: "
              "none is assumed");
  }
  double lost = 0;
  double all = 0;
  for (const matrix& piece : flow_under(of, {}, {})) {
    for (std::size_t w = 0; w < of.workers().size(); ++w) {
      for (std::size_t n = 0; n < piece.columns; ++n) {
        all += piece.at(w, n);
        lost += n == of.nodes() || of.workers()[w].home == nowhere ? piece.at(w, n) : 0;
      }
    }
  }
  constexpr double some = 0.01;
  if (lost > some * all) {
    add(fmt::format("the prediction leaves out {} of the traffic: the node of its thread or of its "
                    "page is unknown",
                    percent(lost / all)));
  }
}

} // namespace nodewise::advise
