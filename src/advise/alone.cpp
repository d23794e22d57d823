// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Finds what the main thread does alone between the loops that all threads share: it builds a
// matrix, reads a file, prints. Counts have threads but no times, so the objects must show it.
#include <algorithm>
#include <vector>

#include "advise/analysis_input.hpp"

namespace nodewise::advise {

namespace {

constexpr double nearly_all = 0.95;
// Times what any other thread uses alone: with less, each thread has an object of its own.
constexpr double much_more = 2;
// Of the others' mean: a main thread that does less in their loops may do its own work at the same
// time.
constexpr double takes_part = 0.5;

/// The worker that makes nearly all use of the item; `nowhere` if several do.
std::size_t only_user(const analysis_input& in, const item& of) {
  std::vector<double> by(in.workers().size(), 0);
  for (const profile::use_run& run : of.uses) {
    for_each_use(in, of, run, [&](std::size_t w, double amount) { by[w] += amount; });
  }
  const double all = sum_of(by);
  const std::size_t most = by.empty() ? nowhere : greatest_at(by);
  return all > 0 && by[most] >= nearly_all * all ? most : nowhere;
}

} // namespace

/// Marks objects that only the main thread uses, if it also takes part in the loops of all threads,
/// or waits for threads that the program itself starts.
/// These objects keep one memory busy while the others idle, whatever happens in the loops: dealing
/// them out would only make them far.
void analysis_input::mark_alone() {
  if (assumed_ || sampled_) {
    return; // a few samples of one thread do not prove that others use none of it
  }
  for (const std::size_t program : programs_) {
    std::vector<double> own(workers_.size(), 0);
    positions users;
    for (const item& each : items_) {
      users.push_back(each.program == program ? only_user(*this, each) : nowhere);
      if (users.back() != nowhere) {
        own[users.back()] += each.bytes();
      }
    }
    std::size_t main = nowhere;
    double greatest = 0; // of what one other thread uses alone
    double shared = 0;   // by the other threads
    double others = 0;
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      if (workers_[w].program == program && workers_[w].ordinal == 0) {
        main = w;
      } else if (workers_[w].program == program && workers_[w].bytes > 0) {
        greatest = std::max(greatest, own[w]);
        shared += workers_[w].bytes - own[w];
        ++others;
      }
    }
    if (main == nowhere) {
      continue;
    }
    const bool takes_turns = shared > 0 && own[main] >= much_more * greatest &&
                             workers_[main].bytes - own[main] >= takes_part * shared / others;
    if (main_works(program) && !takes_turns) {
      continue;
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
      items_[i].alone = items_[i].alone || users[i] == main;
    }
  }
}

} // namespace nodewise::advise
