// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/remarks.hpp"

#include <algorithm>
#include <string>

#include "advise/price.hpp"
#include "advise/words.hpp"

namespace nodewise::advise {

void add_remarks(const analysis_input& of, advice& into) {
  const auto add = [&](const std::string& text) {
    if (std::ranges::find(into.remarks, text) == into.remarks.end()) {
      into.remarks.push_back(text);
    }
  };
  for (const std::string& each : of.costs().remarks) {
    add(each);
  }
  if (!of.costs().absolute) {
    add("the machine's bandwidths are not known: gains are ratios for memories that are all alike");
  }
  if (std::ranges::any_of(of.workers(), [&](const worker& each) {
        return of.program(each.program).threads[each.thread].instructions > 0;
      })) {
    add(of.costs().absolute
            ? "a core is assumed to do at most 4 billion of the counted instructions a second, and "
              "to wait for memory meanwhile: the longer of both decides. A slower program gains "
              "less"
            : "how much waiting the counted instructions hide is not known without bandwidths: "
              "nothing is assumed");
  }
  double lost = 0;
  double all = 0;
  for (const matrix& piece : flow_under(of, {}, {})) {
    for (std::size_t w = 0; w < of.workers().size(); ++w) {
      for (std::size_t n = 0; n < piece.columns; ++n) {
        const double bytes =
            piece.read[w * piece.columns + n] + piece.written[w * piece.columns + n];
        all += bytes;
        lost += n == of.nodes() || of.workers()[w].home == nowhere ? bytes : 0;
      }
    }
  }
  constexpr double some = 0.01;
  if (lost > some * all) {
    add(percent(lost / all) + " of the traffic is not in the prediction: the node of its thread or "
                              "of its page is not known");
  }
}

} // namespace nodewise::advise
