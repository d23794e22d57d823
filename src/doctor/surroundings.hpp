// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <nodewise/machine.hpp>

#include "bind/conflicts.hpp"
#include "sys/kernel.hpp"

namespace nodewise::doctor {

/// Why the machine value lacks costs that were measured, or should have been; empty if there are
/// none, or they are used.
struct unused_costs {
  std::string why;
  std::string cure;
};

/// What is examined, besides the kernel that all folders share; a test replaces it.
struct surroundings {
  sys::kernel* kernel = nullptr;
  /// Opens and closes a counter of page faults in user space: 0 or errno.
  std::function<int()> open_fault_counter;
  /// Opens and closes a descriptor of user-space fault handling: 0 or errno.
  std::function<int()> open_userfaultfd;
  /// The path of a program, searched as a shell does.
  std::function<std::optional<std::string>(const std::string& name)> find_program;
  /// The variables that `read_variables` reads.
  bind::settings variables;
  /// The machine, with measured costs if there are any; nullopt: could not be read.
  std::optional<machine> here;
  unused_costs unused;

  /// Those of this system, without a machine: the caller reads it.
  [[nodiscard]] static surroundings of_this_system();
};

} // namespace nodewise::doctor
