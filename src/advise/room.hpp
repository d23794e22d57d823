// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Whether memories have room for what is placed in them, given what lives at the same time.
#pragma once

#include <cstddef>
#include <vector>

#include "advise/analysis_input.hpp"
#include "advise/candidates.hpp"

namespace nodewise::advise {

class room {
 public:
  explicit room(const analysis_input& of);

  /// Bytes of a memory available to the program; infinite if unknown.
  [[nodiscard]] double free_on(std::size_t node) const { return free_[node]; }
  /// By memory, the bytes that are missing at the worst time if each item had this candidate. 0 if
  /// all fits, or if it holds no more than without any candidate.
  [[nodiscard]] std::vector<double> missing(const std::vector<candidate>& by_item,
                                            const positions& homes) const;

 private:
  /// An item is allocated or freed.
  struct event {
    double at_s = 0;
    bool comes = false;
    std::size_t item = 0;
  };
  [[nodiscard]] std::vector<double> most_at_once(const std::vector<candidate>& by_item,
                                                 const positions& homes) const;

  const analysis_input& of_;
  std::vector<double> free_;
  std::vector<event> events_; ///< in order of time
  std::vector<double> now_;   ///< the most bytes at once in the observed run
};

} // namespace nodewise::advise
