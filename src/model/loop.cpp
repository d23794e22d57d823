// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/loop.hpp"

#include <algorithm>
#include <cmath>

namespace nodewise::model {

namespace {

constexpr array_use r{.read = true};
constexpr array_use w{.written = true};
constexpr array_use rw{.read = true, .written = true};

/// Arrays whose pages lie alike, as one.
struct pile {
  const page_map* map = nullptr;
  element_cost cost;
};
std::vector<pile> piles_of(const loop& of) {
  std::vector<pile> all;
  for (std::size_t a = 0; a < of.arrays.size(); ++a) {
    const element_cost cost = cost_of(of, of.arrays[a]);
    const auto same =
        std::ranges::find_if(all, [&](const pile& other) { return *other.map == of.maps[a]; });
    if (same == all.end()) {
      all.push_back({&of.maps[a], cost});
    } else {
      same->cost.read += cost.read;
      same->cost.written += cost.written;
    }
  }
  return all;
}

/// Adds up what threads move of a loop.
class mover {
 public:
  mover(const machine_costs& on, const loop& of)
      : on_(on), loop_(of), piles_(piles_of(of)), pages_(on.size()) {}

  thread_traffic traffic_of(std::size_t t);

 private:
  /// Elements first..last of all arrays.
  void add(double first, double last, thread_traffic& to) {
    const auto page = static_cast<double>(loop_.elements_of_a_page());
    for (const pile& each : piles_) {
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
  std::vector<pile> piles_;
  std::vector<double> pages_; ///< of each node, while adding
};

/// Little's law: a core has so many lines in flight, each for a latency.
double most_in_flight(const machine_costs& on, const loop& of, const thread_traffic& thread) {
  if (!on.local_latency_s) {
    return unlimited;
  }
  const std::size_t node = on.cores[thread.core].node;
  double ratio = 0;
  for (std::size_t n = 0; n < on.size(); ++n) {
    ratio += (thread.read[n] + thread.written[n]) * on.latency_ratio(node, n);
  }
  const auto siblings = std::ranges::count(of.cores, thread.core);
  return on.lines_in_flight.value * static_cast<double>(of.line_bytes) /
         (on.local_latency_s->value * ratio / total_bytes(thread)) / static_cast<double>(siblings);
}

thread_traffic mover::traffic_of(std::size_t t) {
  thread_traffic thread{.core = loop_.cores[t],
                        .read = std::vector<double>(on_.size(), 0),
                        .written = std::vector<double>(on_.size(), 0)};
  const schedule& how = loop_.how;
  if (how.is_pooled() || loop_.random_access) {
    add(0, static_cast<double>(loop_.elements), thread);
    for (std::size_t n = 0; n < on_.size(); ++n) {
      thread.read[n] /= static_cast<double>(loop_.threads());
      thread.written[n] /= static_cast<double>(loop_.threads());
    }
  } else if (how.kind == schedule_kind::fixed && how.chunk > 0) {
    const std::size_t round = how.chunk * loop_.threads();
    for (std::size_t i = t * how.chunk; i < loop_.iterations(); i += round) {
      add_iterations(i, std::min(loop_.iterations(), i + how.chunk), thread);
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

} // namespace

const std::vector<kernel>& kernels() {
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

std::size_t loop::iterations() const noexcept {
  if (form == shape::flat) {
    return elements;
  }
  // The rows whose triangle has at most as many elements; what is left over joins the last row.
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
  return (elements + elements_of_a_page() - 1) / elements_of_a_page();
}

element_cost cost_of(const loop& of, const array_use& use) {
  const auto bytes = static_cast<double>(of.random_access ? of.line_bytes : of.element_bytes);
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
  const auto border = [&](std::size_t k) {
    const double part = static_cast<double>(k) / static_cast<double>(of.threads());
    const double at =
        of.how.kind == schedule_kind::even && of.form == shape::triangular ? std::sqrt(part) : part;
    return static_cast<std::size_t>(std::llround(at * static_cast<double>(of.iterations())));
  };
  return {border(t), border(t + 1)};
}

loop shrunk(const loop& what, std::size_t pieces) {
  const auto all = static_cast<double>(what.elements);
  const std::size_t chunk = std::max<std::size_t>(1, what.how.chunk);
  double piece = what.how.chunk > 0 || what.how.is_pooled() ? static_cast<double>(chunk) : all;
  for (const page_map& map : what.maps) {
    if (map.is_in_turn()) {
      piece = std::min(piece, static_cast<double>(what.elements_of_a_page()));
    }
  }
  const double wanted = static_cast<double>(pieces) * piece;
  if (wanted >= all) {
    return what;
  }
  const std::size_t round = chunk * what.threads();
  loop part = what;
  part.elements = std::min(
      what.elements, std::max<std::size_t>(1, static_cast<std::size_t>(wanted) / round) * round);
  for (page_map& map : part.maps) {
    map = map.shrunk(static_cast<double>(part.elements) / all);
  }
  return part;
}

traffic traffic_of(const machine_costs& on, const loop& what) {
  constexpr std::size_t pieces_looked_at = 100'000;
  const bool by_chunks = what.how.kind == schedule_kind::fixed && what.how.chunk > 0;
  const loop part = by_chunks ? shrunk(what, pieces_looked_at) : what;
  const double factor = static_cast<double>(what.elements) / static_cast<double>(part.elements);
  traffic all;
  all.threads.reserve(what.threads());
  mover moves(on, part);
  const bool all_alike = what.how.is_pooled() && !what.random_access;
  for (std::size_t t = 0; t < what.threads(); ++t) {
    if (all_alike && t > 0) {
      all.threads.push_back(all.threads.front());
      all.threads.back().core = what.cores[t];
      continue;
    }
    all.threads.push_back(moves.traffic_of(t));
    for (std::size_t n = 0; n < on.size(); ++n) {
      all.threads.back().read[n] *= factor;
      all.threads.back().written[n] *= factor;
    }
  }
  return all;
}

} // namespace nodewise::model
