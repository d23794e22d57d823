// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Answers texts from its standard input, a line each, "cpus TEXT" or "memory TEXT" or "nodes TEXT":
// what the text names on the running machine by the small reader, or "refused: ...".
#include <cstdio>
#include <string>
#include <string_view>

#include <nodewise/error.hpp>

#include "spec/spec.hpp"

namespace {

using namespace nodewise;

std::string answer(std::string_view question, std::string_view text) {
  try {
    const topology here = topology::from_sysfs("/", spec::detail_for(text));
    if (question != "cpus") {
      return spec::resolve_nodes(text, here,
                                 question == "memory" ? spec::node_purpose::memory
                                                      : spec::node_purpose::processors)
          .to_string();
    }
    std::string list;
    for (const cpu_id cpu : spec::resolve_cpus(text, here).in_order) {
      list += (list.empty() ? "" : ",") + std::to_string(to_int(cpu));
    }
    return list;
  } catch (const error& e) {
    return std::string("refused: ") + e.what();
  }
}

} // namespace

int main() {
  char line[4096];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    std::string_view question(line);
    question = question.substr(0, question.find('\n'));
    const std::size_t blank = question.find(' ');
    if (blank != std::string_view::npos) {
      std::puts(answer(question.substr(0, blank), question.substr(blank + 1)).c_str());
    }
  }
  return 0;
}
