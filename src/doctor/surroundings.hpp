// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <nodewise/machine.hpp>

#include "bind/conflicts.hpp"
#include "sys/kernel.hpp"

namespace nodewise::doctor {

/// Why costs that were measured, or should have been, are not those of the machine; empty where
/// there are none, or they are used.
struct unused_costs {
  std::string why;
  std::string cure;
};

/// What is examined, besides the kernel that all rooms share; a test puts its own in place.
struct surroundings {
  sys::kernel* kernel = nullptr;
  /// Opens and closes a counter of page faults in user space: 0 or errno.
  std::function<int()> open_fault_counter;
  /// Opens and closes a descriptor of user-space fault handling: 0 or errno.
  std::function<int()> open_userfaultfd;
  /// The path of a program, searched as a shell does.
  std::function<std::optional<std::string>(const std::string& name)> find_program;
  /// Those that `read_variables` asks for.
  bind::settings variables;
  /// The machine, with measured costs if there are any; nothing: it could not be found out.
  std::optional<machine> here;
  unused_costs unused;

  /// This one, without a machine: whoever asks knows how to find it out.
  [[nodiscard]] static surroundings of_this_system();
};

} // namespace nodewise::doctor
