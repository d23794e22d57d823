// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "doctor/examine.hpp"

#include <algorithm>
#include <string_view>

#include "doctor/environment.hpp"

namespace nodewise::doctor {

namespace {

std::vector<finding> examine_lab(const surroundings& around) {
  std::vector<finding> found;
  const auto look_for = [&](const std::string& program, const std::string& package) {
    const auto path = around.find_program(program);
    found.push_back(path ? fine(program, *path)
                         : doubtful(program, "not found: --on lab:MACHINE will not work",
                                    "install it: apt install " + package));
  };
  look_for("qemu-system-x86_64", "qemu-system-x86");
  look_for("python3", "python3");
  return found;
}

std::optional<int> errno_of(const std::vector<finding>& calls, std::string_view name) {
  const auto at = std::ranges::find(calls, name, &finding::name);
  return at == calls.end() || at->verdict == verdict::unavailable ? std::nullopt
                                                                  : std::optional(at->errno_value);
}

} // namespace

examination examine(const surroundings& around) {
  sys::kernel& kernel = *around.kernel;
  examination found;
  found.calls = try_calls(around);
  found.settings = examine_settings(kernel, errno_of(found.calls, "perf_event_open"));
  found.state = examine_state(kernel, around.here ? &*around.here : nullptr, around.unused);
  found.environment = examine_environment(kernel, around.variables);
  found.lab = examine_lab(around);
  return found;
}

} // namespace nodewise::doctor
