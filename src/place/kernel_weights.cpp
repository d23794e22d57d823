// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "place/kernel_weights.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <numeric>

#include <fmt/core.h>

#include <nodewise/error.hpp>
#include <nodewise/topology.hpp>

#include "base/text.hpp"

namespace nodewise::kernel_weights {

namespace {

constexpr double largest = 255;

/// The largest relative error of the proportions.
double error_of(const std::vector<double>& wanted, const std::vector<std::uint32_t>& given) {
  const double wanted_sum = std::accumulate(wanted.begin(), wanted.end(), 0.0);
  const double given_sum = std::accumulate(given.begin(), given.end(), 0.0);
  double worst = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    worst = std::max(worst, std::abs(given[i] / given_sum / (wanted[i] / wanted_sum) - 1));
  }
  return worst;
}

/// In GB/s; if a figure is given twice, the last one counts, as in the model.
std::optional<double> bandwidth_of(const machine& measured, const memory_node& node) {
  std::optional<double> own;
  std::optional<double> best;
  for (const parameter& each : measured.parameters) {
    if (each.name != "bandwidth" || each.to != node.id || !(each.value > 0)) {
      continue;
    }
    if (each.from == node.id) {
      own = each.value;
    }
    best = std::max(best.value_or(0), each.value);
  }
  return own ? own : best;
}

std::string file_of(node_id node) {
  return fmt::format("{}/node{}", folder, node);
}

std::string weight_hint_for(int failed) {
  switch (failed) {
  case EACCES:
  case EPERM:
    return "do it as root; run --memory weighted:auto needs no permission";
  case EROFS:
    return "do it on the host, outside the container; run --memory weighted:auto needs no "
           "permission";
  case ENOENT:
    return "the kernel's weights need Linux 6.9 and a node with memory; run --memory "
           "weighted:auto does without them";
  default:
    return fmt::format("look at `cat {}/*`; run --memory weighted:auto does without it", folder);
  }
}

/// The old value of a setting, to be restored.
struct setting {
  std::string file;
  std::string text;
};

/// The file that makes the kernel compute the weights itself; nullopt if it does not. On some
/// kernels the file is called __auto_type, because the preprocessor replaced the word auto.
std::optional<setting> automatic(sys::kernel& from) {
  for (const char* const name : {"/auto", "/__auto_type"}) {
    const std::string file = fmt::format("{}{}", folder, name);
    if (const auto text = from.read_file(file.c_str()); text && text.value == "true") {
      return setting{file, text.value};
    }
  }
  return std::nullopt;
}

/// Restores the old values and returns the files that refused them.
std::string put_back(sys::kernel& to, const std::vector<setting>& changed,
                     const std::optional<setting>& was_automatic) {
  std::string left;
  // Without bandwidths from the firmware the kernel does not compute weights again (ENODEV), but
  // the ones that it had computed have just been written back.
  const auto put = [&](const setting& each) {
    const int failed = to.write_file(each.file.c_str(), each.text);
    if (failed != 0 && failed != ENODEV) {
      left += fmt::format("{}{} (was {})", left.empty() ? "" : ", ", each.file, each.text);
    }
  };
  std::ranges::for_each(changed, put);
  if (was_automatic && !changed.empty()) {
    put(*was_automatic);
  }
  return left;
}

} // namespace

std::vector<std::uint32_t> in_proportion(const std::vector<double>& bandwidths) {
  if (bandwidths.empty()) {
    return {};
  }
  constexpr double good_enough = 0.02;
  const double least = std::ranges::min(bandwidths);
  std::vector<std::uint32_t> best;
  for (double scale = 1; best.empty() || scale * std::ranges::max(bandwidths) / least <= largest;
       ++scale) {
    std::vector<std::uint32_t> weights;
    for (const double bandwidth : bandwidths) {
      const double weight = std::min(largest, std::round(bandwidth / least * scale));
      weights.push_back(static_cast<std::uint32_t>(weight));
    }
    if (best.empty() || error_of(bandwidths, weights) < error_of(bandwidths, best)) {
      best = weights;
    }
    if (error_of(bandwidths, best) <= good_enough) {
      break;
    }
  }
  return best;
}

std::vector<weight> by_bandwidth(const machine& measured, const node_set& nodes) {
  std::vector<double> bandwidths;
  for (const node_id node : nodes) {
    const memory_node* const found = measured.find_node(node);
    const auto bandwidth = found != nullptr ? bandwidth_of(measured, *found) : std::nullopt;
    if (!bandwidth) {
      throw error(error_kind::input, fmt::format("weights of nodes {}", nodes.to_string()),
                  fmt::format("no bandwidth of node {} is measured", node),
                  "nodewise measure, with processors of every node allowed; or name other nodes");
    }
    bandwidths.push_back(*bandwidth);
  }
  const std::vector<std::uint32_t> values = in_proportion(bandwidths);
  std::vector<weight> made;
  for (const node_id node : nodes) {
    made.push_back({node, values[made.size()]});
  }
  return made;
}

std::vector<weight> by_bandwidth(const machine& measured) {
  return by_bandwidth(measured, topology(measured).memory_nodes());
}

std::string shell_lines(std::span<const weight> weights) {
  return joined(weights, "", [](const weight& each) {
    return fmt::format("echo {} > {}\n", each.value, file_of(each.node));
  });
}

void apply_weights(sys::kernel& to, std::span<const weight> weights) {
  // Check that all files can be read before the first is changed.
  std::vector<setting> before;
  for (const weight& each : weights) {
    const std::string file = file_of(each.node);
    auto text = to.read_file(file.c_str());
    if (!text) {
      throw error(error_kind::system, fmt::format("the kernel's weight of node {}", each.node),
                  fmt::format("{} cannot be read, nothing is changed", file),
                  weight_hint_for(text.errno_value), text.errno_value);
    }
    before.push_back({file, std::move(text.value)});
  }
  const std::optional<setting> was_automatic = automatic(to);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::string value = fmt::format("{}", weights[i].value);
    int failed = to.write_file(before[i].file.c_str(), value);
    const bool refused = failed != 0;
    if (!refused && to.read_file(before[i].file.c_str()).value != value) {
      failed = EIO; // accepted, but the file holds another value
    }
    if (failed == 0) {
      continue;
    }
    const std::vector<setting> changed(
        before.begin(), before.begin() + static_cast<std::ptrdiff_t>(i + (refused ? 0 : 1)));
    const std::string left = put_back(to, changed, was_automatic);
    throw error(
        error_kind::system,
        fmt::format("weight {} of node {} in {}", value, weights[i].node, before[i].file),
        fmt::format("{}, {}",
                    refused ? "it was refused" : "it was accepted, but has another value now",
                    left.empty() ? "all weights are as before"
                                 : fmt::format("and these could not be put back: {}", left)),
        weight_hint_for(failed), failed);
  }
}

} // namespace nodewise::kernel_weights
