// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the model itself takes for a machine of 64 nodes with 64 processors each. Prints one line a
// question: name, then the milliseconds of each turn.
#include <chrono>
#include <cstdio>
#include <functional>

#include "model/predict.hpp"
#include "unit/model_machines.hpp"

namespace {

using namespace nodewise;
using model::schedule_kind;

constexpr int turns = 11;

void time(const char* name, const std::function<double()>& question) {
  std::printf("%s", name);
  for (int turn = 0; turn < turns; ++turn) {
    const auto begin = std::chrono::steady_clock::now();
    const double seconds = question();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    std::printf("\t%.4f", seconds > 0 ? took.count() : -1.0);
  }
  std::printf("\n");
}

/// As counted: most at home, the rest everywhere, no two threads quite alike.
model::traffic counted(const model::machine_costs& on) {
  model::random_numbers random(1);
  model::traffic all;
  for (std::size_t core = 0; core < on.cores.size(); ++core) {
    model::thread_traffic thread{.core = core, .read = {}, .written = {}};
    for (std::size_t n = 0; n < on.size(); ++n) {
      const double bytes = (n == on.cores[core].node ? 5e9 : 1e8) * (1 + 1e-3 * random.uniform());
      thread.read.push_back(bytes);
      thread.written.push_back(bytes / 2);
    }
    all.threads.push_back(std::move(thread));
  }
  return all;
}

} // namespace

int main() {
  machine big = test::equal_nodes(64, 64, 100, 3);
  for (int from = 0; from < 64; ++from) { // so that each of the 4032 ways is a limit, too
    for (int to = 0; to < 64; ++to) {
      if (from != to) {
        test::set(big, "bandwidth", from, to, 30, "GB/s");
      }
    }
  }
  const model::machine_costs on = model::costs_of(big);
  model::loop loop = test::local_loop(on, "triad", 1'000'000'000);
  const auto predicted = [&] { return model::predict(on, loop).result.seconds; };
  time("read the machine", [&] { return model::costs_of(big).memory.front().value; });
  time("triad, first touch", predicted);
  loop.maps.assign(3, test::in_turn_over(64));
  time("triad, pages in turn", predicted);
  loop.how = {schedule_kind::dynamic, 4096};
  time("triad, pages in turn, dynamic", predicted);
  loop.how = {};
  loop.maps.assign(3, test::on_node(0));
  time("triad, all on one node", predicted);
  const model::traffic matrix = counted(on);
  time("4096 different threads", [&] { return price(on, matrix).seconds; });
  const model::traffic mixed = [&] {
    model::random_numbers random(2);
    return test::random_traffic(random, on, 1e9);
  }();
  time("4096 threads at random", [&] { return price(on, mixed).seconds; });
}
