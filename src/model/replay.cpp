// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "model/chunks.hpp"
#include "model/predict.hpp"

namespace nodewise::model {

namespace {

// A piece has ended when no more than this part of it is left: sums are not exact.
constexpr double piece_done = 1e-9;

// A drifting thread has at least this many pieces.
constexpr std::size_t least_pieces = 64;

enum class thread_state { waiting, moving, done };

/// A thread and its current piece: elements that are on one page in every array.
struct replayed_thread {
  thread_state is = thread_state::done;
  std::size_t element = 0;   ///< first of the piece
  std::size_t piece_end = 0; ///< element after its last
  std::size_t chunk_end = 0;
  double left = 0;  ///< bytes to move, or seconds to wait
  double whole = 0; ///< the initial value of `left`
};

class fluid_replay {
 public:
  fluid_replay(const machine_costs& on, const loop& what, pace how, std::size_t pieces,
               std::uint64_t seed)
      : on_(on), loop_(what), pace_(how), dealer_(what, pieces, seed), seed_(seed),
        threads_(what.threads()), flows_(what.threads()), share_(capacities()),
        book_(on, share_, core_nodes_) {}

  /// `bytes`: of the whole loop.
  prediction play(double bytes) {
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      take_chunk(t);
    }
    // Threads that never had work do not count as having run out of it.
    const std::size_t end = pace_ == pace::drifting ? done_ + 1 : threads_.size();
    while (done_ < end) {
      share_.solve(flows_);
      double step = unlimited; // until the next event
      for (std::size_t t = 0; t < threads_.size(); ++t) {
        if (threads_[t].is != thread_state::done) {
          step = std::min(step, threads_[t].left / speed(t));
        }
      }
      book_.pass(flows_, step);
      for (std::size_t t = 0; t < threads_.size(); ++t) {
        const double went = step * speed(t);
        threads_[t].left -= went;
        moved_ += threads_[t].is == thread_state::moving ? went : 0;
      }
      for (std::size_t t = 0; t < threads_.size(); ++t) {
        if (threads_[t].left <= piece_done * threads_[t].whole) {
          go_on(t);
        }
      }
    }
    return {book_.seconds() * bytes / moved_, bytes, book_.loads()};
  }

 private:
  /// The capacities of memories and links, and of the cores that have a limit.
  std::vector<double> capacities() {
    std::vector<double> all = capacities_of(on_);
    for (const std::size_t core : loop_.cores) {
      const std::size_t node = on_.cores[core].node;
      if (on_.core[node].value != unlimited &&
          core_resource_.try_emplace(core, all.size()).second) {
        all.push_back(on_.core[node].value);
        core_nodes_.push_back(node);
      }
    }
    return all;
  }

  /// The rate at which `left` decreases.
  [[nodiscard]] double speed(std::size_t t) const {
    if (threads_[t].is == thread_state::moving) {
      return share_.rates()[t];
    }
    return threads_[t].is == thread_state::waiting ? 1 : 0;
  }
  void go_on(std::size_t t) {
    replayed_thread& p = threads_[t];
    p.element = p.piece_end;
    if (p.element == p.chunk_end) {
      take_chunk(t);
    } else {
      begin_piece(t);
    }
  }

  void take_chunk(std::size_t t) {
    replayed_thread& p = threads_[t];
    const auto chunk = dealer_.next(t);
    flows_[t].active = false;
    if (!chunk) {
      p.is = thread_state::done;
      p.left = p.whole = 1; // never due again
      ++done_;
      return;
    }
    p.element = p.piece_end = loop_.first_element(chunk->first);
    p.chunk_end = loop_.first_element(chunk->last);
    if (loop_.chunk_start_s > 0) {
      p.is = thread_state::waiting;
      p.left = p.whole = loop_.chunk_start_s;
    } else {
      begin_piece(t);
    }
  }

  void begin_piece(std::size_t t) {
    replayed_thread& p = threads_[t];
    const std::size_t page = loop_.page_of(p.element);
    std::size_t last_page = loop_.page_of(p.chunk_end - 1) + 1;
    for (const page_map& map : loop_.maps) {
      last_page = std::min(last_page, map.end_of_block(page));
    }
    p.piece_end = std::clamp(loop_.first_element_of_page(last_page), p.element + 1, p.chunk_end);
    double lasting = 1;
    if (pace_ == pace::drifting) {
      const std::size_t longest = loop_.elements / (loop_.threads() * least_pieces);
      p.piece_end = std::min(p.piece_end, p.element + std::max<std::size_t>(1, longest));
      // Depends on the piece, not on its thread or time, so two machines get the same numbers.
      lasting = random_numbers(seed_ + p.element).exponential();
    }
    thread_traffic mix = idle_thread(loop_.cores[t], on_.size());
    for (std::size_t a = 0; a < loop_.arrays.size(); ++a) {
      const element_cost cost = cost_of(loop_, loop_.arrays[a]);
      const auto elements = static_cast<double>(p.piece_end - p.element);
      mix.read[loop_.maps[a].node_of(page)] += elements * cost.read;
      mix.written[loop_.maps[a].node_of(page)] += elements * cost.written;
    }
    p.is = thread_state::moving;
    p.left = p.whole = total_bytes(mix) * lasting;
    const auto core = core_resource_.find(mix.core);
    flows_[t].active = true;
    flows_[t].uses = uses_of(on_, on_.cores[mix.core].node, mix,
                             core == core_resource_.end() ? own_limit : core->second);
  }

  const machine_costs& on_;
  const loop& loop_;
  pace pace_;
  chunk_dealer dealer_;
  std::uint64_t seed_;
  std::vector<replayed_thread> threads_;
  std::vector<flow> flows_;
  std::map<std::size_t, std::size_t> core_resource_;
  std::vector<std::size_t> core_nodes_;
  fair_share share_;
  ledger book_;
  double moved_ = 0; ///< bytes, each piece scaled by how long it took relative to the mean
  std::size_t done_ = 0;
};

} // namespace

bool drifts(const loop& what) noexcept {
  // Guided chunks are few, and their sizes matter more than their random times.
  constexpr std::size_t least_chunks = 16;
  return what.elements / what.threads() >= least_pieces && what.how.kind != schedule_kind::guided &&
         (what.chunk() == 0 || what.iterations() / what.chunk() / what.threads() >= least_chunks);
}

prediction replay(const machine_costs& on, const loop& what, pace how, std::size_t pieces,
                  std::uint64_t seed) {
  const traffic all = traffic_of(on, what);
  check_memories(on, all);
  return fluid_replay(on, what, how, pieces, seed).play(total_bytes(all));
}

} // namespace nodewise::model
