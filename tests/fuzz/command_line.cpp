// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Command lines, an argument a line.
#include <algorithm>

#include <nodewise/error.hpp>

#include "cli/frame/invocation.hpp"
#include "fuzz/fuzz.hpp"

using namespace nodewise;

std::vector<std::string> fuzz::seeds() {
  return {"run\n-N\n0\n-m\n1\n--\n./a\n-x",
          "run\n--memory\nblocked\n--bind=close\n--threads\n8\n--verify\n./a",
          "run\n-C+0-3\n-i\nall\na",
          "topo\n--json\n-o\nfile",
          "topo\n-i\n4x2x2",
          "doctor\n--quiet",
          "lab\ndescribe\nopteron-4x2",
          "lab\nlist",
          "help\nrun",
          "--version",
          "--help",
          "run\n--help",
          "--color=never\ntopo"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string lines(fuzz::text(data, size));
  std::replace(lines.begin(), lines.end(), '\n', '\0'); // no argument has a zero in it
  std::vector<const char*> arguments;
  for (std::size_t at = 0; at < lines.size(); at = lines.find('\0', at) + 1) {
    arguments.push_back(lines.c_str() + at);
    if (lines.find('\0', at) == std::string::npos) {
      break;
    }
  }
  try {
    const cli::invocation given = cli::parse(arguments);
    fuzz::require(given.verb != nullptr || !given.options.empty());
    for (const auto& option : given.options) {
      fuzz::require(option.what != nullptr);
    }
  } catch (const error& e) {
    fuzz::require(e.kind() == error_kind::usage && !e.hint().empty());
  }
  return 0;
}
