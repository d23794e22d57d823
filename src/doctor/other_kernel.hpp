// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Kernels for another process's view of the system, and for a machine that is known from a file
// only: they answer what can be known, and refuse everything else.
#pragma once

#include <map>
#include <string>

#include <nodewise/topology.hpp>

#include "sys/kernel.hpp"
#include "sys/process.hpp"

namespace nodewise::doctor {

/// Reads /proc/self from the other process, and all other files from the system.
class process_kernel : public sys::kernel {
 public:
  process_kernel(sys::kernel& system, sys::process& of) : system_(system), process_(of) {}

  sys::answer<std::string> read_file(const char* path) override;
  /// The policy of its first thread: /proc/PID/numa_maps shows it for the stack, as for every
  /// mapping without a policy of its own.
  sys::answer<sys::policy> get_mempolicy() override;
  std::size_t base_page_bytes() override { return system_.base_page_bytes(); }
  std::size_t thp_bytes() override { return system_.thp_bytes(); }

 private:
  sys::kernel& system_;
  sys::process& process_;
};

/// Answers with the recorded nodes and processors, and with those that are allowed.
class recorded_kernel : public sys::kernel {
 public:
  explicit recorded_kernel(const topology& what);

  sys::answer<std::string> read_file(const char* path) override;

 private:
  std::map<std::string, std::string, std::less<>> files_;
};

} // namespace nodewise::doctor
