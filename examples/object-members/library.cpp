// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// object-members with the library, by oneTBB: each station is made by a worker of the node that
// owns it, and what it owns comes from that node's memory resource. However it grows later, and
// whichever thread makes it grow, its memory stays on the node.
//
// Remote share of the use phase: 0, but for a few pages where blocks of stations meet.
//
// usage: object-members-library [MiB] [sweeps]
#include <functional>
#include <memory_resource>
#include <nodewise/marker.h>
#include <span>
#include <vector>

#include <nodewise/nodewise.hpp>
#include <nodewise/tbb.hpp>

#include "../shared/library.hpp"

namespace {

struct station {
  static constexpr std::size_t readings = 240; // 1920 bytes: two stations to a page

  station(std::size_t number, std::pmr::memory_resource* from) : history(readings, from) {
    for (std::size_t i = 0; i < readings; ++i) {
      history[i] = static_cast<double>((number + i) % 4);
    }
  }

  double add_one() {
    double sum = 0;
    for (double& each : history) {
      each += calibration;
      sum += each;
    }
    return sum;
  }

  double calibration = 1.0;
  std::pmr::vector<double> history;
};

} // namespace

int main(int argc, char** argv) {
  const command_line line = {"object-members-library", "[MiB] [sweeps]", argc, argv};
  const std::size_t n = bytes_at(&line, 1, 16) / (station::readings * sizeof(double));
  const int sweeps = sweeps_at(&line, 2);
  end_at(&line, 2);
  say_what_fails();

  nodewise::tbb_teams teams;
  nodewise::objects<station> stations(
      teams, n, teams.blocked(),
      [](std::size_t k, std::pmr::memory_resource* from) { return station(k, from); });

  NODEWISE_MARKER_USE();
  double sum = 0;
  const double start = seconds();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    sum += teams.reduce_owned(
        stations, 0.0,
        [](std::span<station> part) {
          double mine = 0;
          for (station& each : part) {
            mine += each.add_one();
          }
          return mine;
        },
        std::plus<>());
  }
  print_result(line, sum, teams, sweeps, seconds() - start);
}
