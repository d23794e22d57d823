// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/experiment.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace nodewise::measure {

namespace {

struct about {
  experiment of;
  std::string_view name;
  std::string_view explains;
};
constexpr std::array<about, experiments> all_about = {{
    {experiment::bandwidth, "bandwidth", "all cores of a node load from a memory"},
    {experiment::latency, "latency", "one core, one load after the other"},
    {experiment::contention, "contention", "all cores of the machine load from one memory"},
    {experiment::kernels, "kernels", "all cores, each on its own node's memory"},
    {experiment::interleave, "interleave",
     "all cores load from memory that is local, in turn, by weight"},
    {experiment::scaling, "scaling", "more threads in a node, then more nodes"},
    {experiment::mixes, "mixes", "loads and stores in several proportions, one node"},
    {experiment::loaded_latency, "loaded-latency", "latency while the node's other cores load"},
    {experiment::transfer, "transfer", "a cache line from core to core"},
    {experiment::touch, "touch", "fresh memory touched for the first time"},
    {experiment::migration, "migration", "pages moved from node to node"},
}};

} // namespace

std::string_view to_string(experiment of) noexcept {
  return all_about[static_cast<std::size_t>(of)].name;
}

std::optional<experiment> parse_experiment(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(all_about, name, &about::name);
  return found == all_about.end() ? std::nullopt : std::optional(found->of);
}

std::string_view explain(experiment of) noexcept {
  return all_about[static_cast<std::size_t>(of)].explains;
}

std::vector<experiment> quick_set() {
  return {experiment::bandwidth, experiment::latency, experiment::contention, experiment::kernels,
          experiment::touch};
}

std::vector<experiment> full_set() {
  std::vector<experiment> all;
  std::ranges::transform(all_about, std::back_inserter(all), &about::of);
  return all;
}

} // namespace nodewise::measure
