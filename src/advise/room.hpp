// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Whether memories have room for what is placed in them, by what lives at the same time.
#pragma once

#include <cstddef>
#include <vector>

#include "advise/analysis_input.hpp"
#include "advise/candidates.hpp"

namespace nodewise::advise {

class room {
 public:
  explicit room(const analysis_input& of);

  /// Bytes that a memory had for the program; infinite where nobody knows.
  [[nodiscard]] double free_on(std::size_t node) const { return free_[node]; }
  /// By memory, the bytes beyond what it has for the program at the worst time, had each item this
  /// candidate; 0 where all fits, or where no more is there than without any.
  [[nodiscard]] std::vector<double> missing(const std::vector<candidate>& by_item,
                                            const std::vector<std::size_t>& homes) const;

 private:
  /// An item comes or goes.
  struct event {
    double at_s = 0;
    bool comes = false;
    std::size_t item = 0;
  };
  [[nodiscard]] std::vector<double> most_at_once(const std::vector<candidate>& by_item,
                                                 const std::vector<std::size_t>& homes) const;

  const analysis_input& of_;
  std::vector<double> free_;
  std::vector<event> events_; ///< in time
  std::vector<double> now_;   ///< the most at once that was there
};

} // namespace nodewise::advise
