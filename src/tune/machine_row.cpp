// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "tune/machine_row.hpp"

#include <utility>

#include <fmt/core.h>

namespace nodewise::tune {

std::vector<std::string> options_of(const machine_row& of) {
  std::vector<std::string> all;
  const auto add = [&](const char* name, std::string value) {
    all.emplace_back(name);
    all.push_back(std::move(value));
  };
  if (!of.nodes.empty()) {
    add("-N", of.nodes.to_string());
  }
  if (of.threads != 0) {
    add("--threads", fmt::format("{}", of.threads));
  }
  if (of.bind != bind_policy::none) {
    add("--bind", std::string(to_string(of.bind)));
  }
  if (of.places == place_kind::nodes) {
    add("--places", "nodes");
  }
  if (of.smt != smt_use::as_needed) {
    add("--smt", of.smt == smt_use::on ? "on" : "off");
  }
  if (!of.memory.empty()) {
    add("--memory", of.memory);
  }
  if (of.balancing != balancing_use::as_it_is) {
    add("--numa-balancing", of.balancing == balancing_use::on ? "on" : "off");
  }
  if (!of.huge_pages.empty()) {
    add("--huge-pages", std::string(of.huge_pages));
  }
  return all;
}

} // namespace nodewise::tune
