// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// An object that owns memory. It gets it when it is loaded, not when it is made.
#ifndef NODEWISE_EXAMPLES_STATION_HPP
#define NODEWISE_EXAMPLES_STATION_HPP

#include <cstddef>
#include <memory>

class station {
 public:
  static constexpr std::size_t readings = 240; // 1920 bytes: two stations to a page

  void load(std::size_t number) {
    history_.reset(new double[readings]); // made
    for (std::size_t i = 0; i < readings; ++i) {
      history_[i] = static_cast<double>((number + i) % 4); // touch
    }
  }

  double add_one() {
    double sum = 0;
    for (std::size_t i = 0; i < readings; ++i) {
      history_[i] += calibration_; // use
      sum += history_[i];
    }
    return sum;
  }

 private:
  double calibration_ = 1.0;
  std::unique_ptr<double[]> history_;
};

#endif
