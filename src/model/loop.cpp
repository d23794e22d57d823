// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/loop.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include <nodewise/error.hpp>

namespace nodewise::model {

namespace {

[[noreturn]] void refuse(const std::string& problem, const char* hint) {
  throw error(error_kind::usage, "predicting the time of the loop", problem, hint);
}

/// Arrays with the same map of pages, added up.
struct array_group {
  const page_map* map = nullptr;
  element_cost cost;
};
std::vector<array_group> groups_of(const loop& of) {
  std::vector<array_group> all;
  for (std::size_t a = 0; a < of.arrays.size(); ++a) {
    const element_cost cost = cost_of(of, of.arrays[a]);
    const auto same = std::ranges::find_if(
        all, [&](const array_group& other) { return *other.map == of.maps[a]; });
    if (same == all.end()) {
      all.push_back({&of.maps[a], cost});
    } else {
      same->cost.read += cost.read;
      same->cost.written += cost.written;
    }
  }
  return all;
}

/// Little's law: a core has a number of lines in flight, each for a latency. Writes cause no wait.
double most_in_flight(const machine_costs& on, const loop& of, const thread_traffic& thread) {
  const std::size_t node = on.cores[thread.core].node;
  thread_traffic reads = thread;
  std::ranges::fill(reads.written, 0);
  const std::optional<figure>& latency = on.local_latency_s[node];
  if (!latency || total_bytes(reads) <= 0) {
    return unlimited;
  }
  const auto siblings = std::ranges::count(of.cores, thread.core);
  const double read_rate = on.lines_in_flight.value * static_cast<double>(of.line_bytes) /
                           (latency->value * core_use(on, node, reads)) /
                           static_cast<double>(siblings);
  return read_rate * total_bytes(thread) / total_bytes(reads);
}

/// Adds up what threads move of a loop.
class mover {
 public:
  static constexpr std::size_t most_chunks = 100'000;

  mover(const machine_costs& on, const loop& of)
      : on_(on), loop_(of), groups_(groups_of(of)), pages_(on.size()),
        windows_(sample_of(of, most_chunks)) {}

  thread_traffic traffic_of(std::size_t t) {
    thread_traffic thread = idle_thread(loop_.cores[t], on_.size());
    const schedule& how = loop_.how;
    if (how.is_pooled() || loop_.random_access) {
      add(0, static_cast<double>(loop_.elements), thread);
      for (std::size_t n = 0; n < on_.size(); ++n) {
        thread.read[n] /= static_cast<double>(loop_.threads());
        thread.written[n] /= static_cast<double>(loop_.threads());
      }
    } else if (loop_.chunk() > 0) {
      const std::size_t chunk = loop_.chunk();
      for (const iteration_range& window : windows_) {
        for (std::size_t i = window.first + t * chunk; i < window.last;
             i += chunk * loop_.threads()) {
          add_iterations(i, std::min(window.last, i + chunk), thread);
        }
      }
    } else {
      const iteration_range block = block_of(loop_, t);
      add_iterations(block.first, block.last, thread);
    }
    if (loop_.random_access) {
      thread.most = most_in_flight(on_, loop_, thread);
    }
    return thread;
  }

 private:
  /// Adds elements first..last of all arrays.
  void add(double first, double last, thread_traffic& to) {
    const double page = static_cast<double>(loop_.page_bytes) /
                        static_cast<double>(loop_.element_bytes); // in elements
    for (const array_group& each : groups_) {
      std::ranges::fill(pages_, 0);
      each.map->add_pages(first / page, last / page, page, pages_);
      for (std::size_t n = 0; n < pages_.size(); ++n) {
        to.read[n] += pages_[n] * each.cost.read;
        to.written[n] += pages_[n] * each.cost.written;
      }
    }
  }
  void add_iterations(std::size_t first, std::size_t last, thread_traffic& to) {
    add(static_cast<double>(loop_.first_element(first)),
        static_cast<double>(loop_.first_element(last)), to);
  }

  const machine_costs& on_;
  const loop& loop_;
  std::vector<array_group> groups_;
  std::vector<double> pages_; ///< of each node, while adding
  std::vector<iteration_range> windows_;
};

} // namespace

const std::vector<kernel>& kernels() {
  constexpr array_use r{.read = true};
  constexpr array_use w{.written = true};
  constexpr array_use rw{.read = true, .written = true};
  static const std::vector<kernel> all = {
      {"load", "s += a[i]", {r}},
      {"store", "a[i] = s", {w}},
      {"update", "a[i] = s * a[i]", {rw}},
      {"copy", "a[i] = b[i]", {w, r}},
      {"scale", "a[i] = s * b[i]", {w, r}},
      {"add", "a[i] = b[i] + c[i]", {w, r, r}},
      {"triad", "a[i] = b[i] + s * c[i]", {w, r, r}},
      {"daxpy", "a[i] += s * b[i]", {rw, r}},
      {"multiply-add", "a[i] += b[i] * c[i]", {rw, r, r}},
      {"schoenauer", "a[i] = b[i] + c[i] * d[i]", {w, r, r, r}},
  };
  return all;
}

const kernel* find_kernel(std::string_view name) noexcept {
  const auto found = std::ranges::find(kernels(), name, &kernel::name);
  return found == kernels().end() ? nullptr : &*found;
}

std::size_t loop::chunk() const noexcept {
  if (how.kind == schedule_kind::even || (how.kind == schedule_kind::fixed && how.chunk == 0)) {
    return 0;
  }
  return std::clamp<std::size_t>(how.chunk, 1, iterations());
}

std::size_t loop::iterations() const noexcept {
  if (form == shape::flat) {
    return elements;
  }
  // The rows of the largest triangle with at most `elements` elements; the last row gets the rest.
  const double rows = (std::sqrt(8.0 * static_cast<double>(elements) + 1) - 1) / 2;
  return std::max<std::size_t>(1, static_cast<std::size_t>(rows));
}

std::size_t loop::first_element(std::size_t iteration) const noexcept {
  if (form == shape::flat || iteration == 0) {
    return iteration;
  }
  return iteration >= iterations() ? elements : iteration * (iteration + 1) / 2;
}

std::size_t loop::pages() const noexcept {
  return (elements * element_bytes + page_bytes - 1) / page_bytes;
}

std::size_t loop::borders() const noexcept {
  std::size_t most = 0;
  for (const page_map& map : maps) {
    most = std::max(most, map.blocks_of(pages()));
  }
  return most;
}

element_cost cost_of(const loop& of, const array_use& use) {
  const std::size_t lines = (of.element_bytes + of.line_bytes - 1) / of.line_bytes;
  const auto bytes =
      static_cast<double>(of.random_access ? lines * of.line_bytes : of.element_bytes);
  return {use.read || (use.written && !use.streaming) ? bytes : 0, use.written ? bytes : 0};
}

double useful_bytes(const loop& of) {
  double uses = 0;
  for (const array_use& use : of.arrays) {
    uses += (use.read ? 1 : 0) + (use.written ? 1 : 0);
  }
  return uses * static_cast<double>(of.elements) * static_cast<double>(of.element_bytes);
}

iteration_range block_of(const loop& of, std::size_t t) {
  const std::size_t n = of.iterations();
  const auto border = [&](std::size_t k) {
    if (of.how.kind == schedule_kind::even && of.form == shape::triangular) {
      const double part = static_cast<double>(k) / static_cast<double>(of.threads());
      return static_cast<std::size_t>(std::llround(std::sqrt(part) * static_cast<double>(n)));
    }
    // As libgomp and libomp split: if there is a remainder, the first threads get one more each.
    return k * (n / of.threads()) + std::min(k, n % of.threads());
  };
  return {border(t), border(t + 1)};
}

std::vector<iteration_range> sample_of(const loop& of, std::size_t pieces) {
  std::vector<iteration_range> whole = {{0, of.iterations()}};
  const std::size_t chunk = of.chunk();
  if (chunk == 0 || of.how.kind == schedule_kind::guided ||
      chunk >= of.iterations() / of.threads()) {
    return whole;
  }
  const std::size_t round = chunk * of.threads();
  const std::size_t rounds = (of.iterations() + round - 1) / round;
  // For a triangle this is the mean round.
  const std::size_t borders_a_round = of.borders() / rounds;
  const std::size_t affordable =
      std::max<std::size_t>(1, pieces / std::max(of.threads(), borders_a_round));
  if (affordable >= rounds) {
    return whole;
  }
  const std::size_t windows = std::min(most_windows, affordable);
  const std::size_t length = affordable / windows;
  std::vector<iteration_range> all;
  for (std::size_t w = 0; w < windows; ++w) {
    const std::size_t first = rounds * w / windows;
    all.push_back({first * round, std::min(of.iterations(), (first + length) * round)});
  }
  return all;
}

void check_loop(const machine_costs& on, const loop& what) {
  constexpr std::size_t most_bytes = std::size_t{1} << 53U; // exact as a double
  if (what.cores.empty() || what.elements == 0 || what.arrays.empty()) {
    refuse("it has no threads, elements or arrays", "give at least one of each");
  }
  if (what.element_bytes == 0 || what.page_bytes == 0 || what.line_bytes == 0) {
    refuse("elements, pages or cache lines have a size of 0", "give sizes of at least one byte");
  }
  if (what.element_bytes > most_bytes || what.elements > most_bytes / what.element_bytes) {
    refuse(fmt::format("{} elements of {} bytes are too many", what.elements, what.element_bytes),
           "give fewer: an array has at most 8 PiB");
  }
  if (std::ranges::any_of(what.cores, [&](std::size_t core) { return core >= on.cores.size(); })) {
    refuse("a thread is on a core that does not exist", "name cores of the machine");
  }
}

traffic traffic_of(const machine_costs& on, const loop& what) {
  check_loop(on, what);
  if (what.maps.size() != what.arrays.size()) {
    refuse(fmt::format("there are {} maps for {} arrays", what.maps.size(), what.arrays.size()),
           "give each array a map");
  }
  traffic all;
  mover moves(on, what);
  const bool all_alike = what.how.is_pooled() && !what.random_access;
  for (std::size_t t = 0; t < what.threads(); ++t) {
    if (all_alike && t > 0) {
      all.threads.push_back(all.threads.front());
      all.threads.back().core = what.cores[t];
    } else {
      all.threads.push_back(moves.traffic_of(t));
    }
  }
  // Scale the sample to the whole loop.
  double bytes = 0;
  for (const array_use& use : what.arrays) {
    bytes +=
        (cost_of(what, use).read + cost_of(what, use).written) * static_cast<double>(what.elements);
  }
  const double factor = bytes / total_bytes(all);
  for (thread_traffic& thread : all.threads) {
    for (std::size_t n = 0; n < on.size(); ++n) {
      thread.read[n] *= factor;
      thread.written[n] *= factor;
    }
  }
  return all;
}

} // namespace nodewise::model
