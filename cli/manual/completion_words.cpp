// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/manual/completion_words.hpp"

#include "base/split.hpp"
#include "cli/frame/invocation.hpp"
#include "cli/machine/source.hpp"
#include "cli/start/flags.hpp"
#include "cli/verbs/measure/flags.hpp"
#include "measure/experiment.hpp"
#include "measure/kernels.hpp"
#include "placement/placement.hpp"

namespace nodewise::cli {

namespace {

std::vector<std::string> choices_of(const flag& of) {
  const auto words = split(of.choices, '|');
  return {words.begin(), words.end()};
}

std::vector<std::string> machines() {
  std::vector<std::string> words;
  for (const std::string& name : lab_machine_names(paths::of_this_process())) {
    words.push_back("lab:" + name);
  }
  return words;
}

std::vector<std::string> experiments() {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < measure::experiments; ++at) {
    words.emplace_back(to_string(static_cast<measure::experiment>(at)));
  }
  return words;
}

std::vector<std::string> kernels() {
  std::vector<std::string> words;
  for (const measure::kernel& each : measure::kernels()) {
    words.emplace_back(each.name);
  }
  return words;
}

} // namespace

std::vector<std::string> proposed_words(const flag& of) {
  if (!of.choices.empty()) {
    return choices_of(of);
  }
  if (&of == &flags::on || &of == &flags::input) {
    return machines();
  }
  if (&of == &flags::memory) {
    return placements::command_words();
  }
  if (&of == &flags::only) {
    return experiments();
  }
  if (&of == &flags::measured_kernel) {
    return kernels();
  }
  if (&of == &flags::workgroup) { // LIKWID's domains: node, sockets, memories, last-level caches
    return {"N:", "S0:", "S1:", "M0:", "M1:", "C0:", "C1:"};
  }
  return {};
}

bool takes_a_list(const flag& of) {
  return &of == &flags::only || &of == &flags::measured_kernel;
}

} // namespace nodewise::cli
