// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "placement/placement.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <nodewise/arithmetic.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace nodewise::placements {

std::vector<owner_run> in_turn(const node_set& nodes) {
  std::vector<owner_run> runs;
  for (const node_id node : nodes) {
    runs.push_back({1, static_cast<std::size_t>(to_int(node))});
  }
  return runs;
}

std::vector<owner_run> runs_of(const std::vector<node_id>& owners) {
  std::vector<owner_run> runs;
  for (const node_id node : owners) {
    const auto owner = static_cast<std::size_t>(to_int(node));
    if (!runs.empty() && runs.back().owner == owner) {
      ++runs.back().parts;
    } else {
      runs.push_back({1, owner});
    }
  }
  return runs;
}

node_set nodes_of(const std::vector<owner_run>& runs) {
  node_set nodes;
  for (const owner_run& run : runs) {
    nodes.insert(node_of(run));
  }
  return nodes;
}

std::vector<node_id> owners_of(const std::vector<owner_run>& runs) {
  std::vector<node_id> nodes;
  for (const owner_run& run : runs) {
    nodes.insert(nodes.end(), run.parts, node_of(run));
  }
  return nodes;
}

bool is_by_measurement(const placement& what) noexcept {
  return what.how == kind::weighted &&
         std::ranges::all_of(what.owners, [](const owner_run& run) { return run.parts == 0; });
}

namespace {

bool takes_size(rest what) noexcept {
  return what == rest::row || what == rest::granule || what == rest::perhaps_granule;
}

/// The word that is written for it. A kind may have one without a size and one with it.
const char* written_word(const placement& what) {
  for (const word& each : all_words) {
    if (each.how == what.how && what.granule_bytes != 0 && takes_size(each.in_command)) {
      return each.name;
    }
  }
  return word_of(what.how);
}

} // namespace

std::string text_of(const placement& what) {
  const char* const name = written_word(what);
  if (what.granule_bytes != 0) {
    return fmt::format("{}:{}", name, exact_size_text(what.granule_bytes));
  }
  const traits& is = traits_of(what.how);
  if (what.owners.empty() || is.granule == granule_field::always || what.how == kind::map) {
    return name;
  }
  const bool weights = is.owners == owned_by::nodes && is.divided == division::rounds;
  const auto weight_text = [](const owner_run& run) {
    return fmt::format("{}={}", run.owner, run.parts);
  };
  return fmt::format("{}:{}", name,
                     weights ? joined(what.owners, ",", weight_text)
                             : nodes_of(what.owners).to_string());
}

namespace {

/// "0*128", an owner and its parts; "0" for one part.
std::string run_text(const owner_run& run) {
  return run.parts == 1 ? std::to_string(run.owner) : fmt::format("{}*{}", run.owner, run.parts);
}

std::uint64_t sum_of(const std::vector<owner_run>& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const owner_run& run) { return sum + run.parts; });
}

/// Reduces the map to at most `most` parts: rounds every edge down.
std::vector<owner_run> coarser(const std::vector<owner_run>& parts, std::uint64_t most) {
  const std::uint64_t whole = sum_of(parts);
  std::vector<owner_run> made;
  std::uint64_t edge = 0;
  std::uint64_t before = 0;
  for (const owner_run& run : parts) {
    edge += run.parts;
    const std::uint64_t after = arithmetic::multiply_divide(edge, most, whole);
    if (after > before) {
      made.push_back({after - before, run.owner});
    }
    before = after;
  }
  return made;
}

void join(std::vector<owner_run>& parts) {
  std::vector<owner_run> made;
  for (const owner_run& run : parts) {
    if (!made.empty() && made.back().owner == run.owner) {
      made.back().parts += run.parts;
    } else {
      made.push_back(run);
    }
  }
  parts = std::move(made);
}

/// Reduces to the fewest runs and parts that express the same map.
void reduce(std::vector<owner_run>& parts) {
  join(parts);
  std::uint64_t common = 0;
  for (const owner_run& run : parts) {
    common = std::gcd(common, run.parts);
  }
  for (owner_run& run : parts) {
    run.parts /= common;
  }
}

} // namespace

std::string map_text(const std::vector<owner_run>& parts) {
  return joined(parts, " ", run_text);
}

std::string wire_text(const std::vector<owner_run>& runs) {
  return joined(runs, ",", run_text);
}

std::string wire_text(const placement& what) {
  const traits& form = traits_of(traits_of(what.how).sent_as);
  std::string text = form.word;
  if (form.granule == granule_field::always || what.granule_bytes != 0) {
    text += fmt::format("@{}", what.granule_bytes);
  }
  return form.lists_owners() ? fmt::format("{}@{}", text, wire_text(what.owners)) : text;
}

std::size_t scaled_thread(std::size_t thread, std::size_t from, std::size_t to) {
  return std::min(thread * to / from, to - 1);
}

std::vector<owner_run> scaled_parts(const std::vector<owner_run>& parts, std::size_t from,
                                    std::size_t to) {
  std::vector<owner_run> made;
  for (const owner_run& run : parts) {
    // On a common scale an old thread has length `to` and a new one length `from`.
    const std::size_t begin = run.owner * to;
    const std::size_t end = begin + to;
    for (std::size_t thread = begin / from; thread * from < end; ++thread) {
      const std::size_t overlap =
          std::min(end, (thread + 1) * from) - std::max(begin, thread * from);
      made.push_back({run.parts * overlap, thread});
    }
  }
  return made;
}

std::vector<owner_run> simplified(std::vector<owner_run> parts, std::uint64_t most) {
  reduce(parts);
  if (sum_of(parts) > most) {
    parts = coarser(parts, most);
    reduce(parts);
  }
  return parts;
}

} // namespace nodewise::placements
