// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the options of `nodewise model` take, an argument a line.
#include <algorithm>

#include <nodewise/error.hpp>

#include "cli/verbs/model/flags.hpp"
#include "cli/verbs/model/options.hpp"
#include "fuzz/fuzz.hpp"
#include "unit/grid_machine.hpp"

using namespace nodewise;

std::vector<std::string> fuzz::seeds() {
  return {"--kernel=triad\n--elements=2^20\n--schedule=static,64\n--memory=local",
          "--kernel=rw,n,r\n--elements=1e6\n--sweep=threads=1,2,4",
          "--kernel=load\n--sweep=memory=serial,bind:0,1,weighted:0=3,1=1",
          "--kernel=load\n--sweep=chunk=1,16\n--schedule=dynamic\n--chunk-start=1.5",
          "--kernel=copy\n--set=bandwidth=10\n--set=latency:0:1=120\n--free=0=1G,1=512M",
          "--kernel=copy\n--set=shared_efficiency:1=0.9\n--page-size=2MiB\n--element-bytes=4"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string lines = "model\n" + std::string(fuzz::text(data, size));
  std::replace(lines.begin(), lines.end(), '\n', '\0'); // no argument has a zero in it
  std::vector<const char*> arguments;
  for (std::size_t at = 0; at < lines.size(); at += std::string(lines.c_str() + at).size() + 1) {
    arguments.push_back(lines.c_str() + at);
  }
  try {
    const cli::invocation given = cli::parse(arguments);
    if (!given.has(cli::flags::kernel)) {
      return 0;
    }
    machine two = test::grid(2, 1);
    cli::set_parameters(two, given);
    for (const parameter& each : two.parameters) {
      fuzz::require(each.value > 0 && two.find_node(each.from) != nullptr);
    }
    const cli::loop_description loop = cli::read_loop(given);
    fuzz::require(loop.elements > 0 && !loop.arrays.empty());
    for (const model::array_use& each : loop.arrays) {
      fuzz::require(each.read || each.written);
    }
    if (const auto sweep = cli::read_sweep(loop, given)) {
      fuzz::require(!sweep->points.empty());
    }
  } catch (const error& e) {
    fuzz::require(e.kind() == error_kind::usage && !e.hint().empty());
  }
  return 0;
}
