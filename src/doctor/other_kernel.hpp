// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Kernels for another process's view of the system, and for a machine that is known from a file
// only: they answer what can be known, and refuse everything else with ENOSYS.
#pragma once

#include <map>
#include <string>

#include <nodewise/topology.hpp>

#include "sys/kernel.hpp"
#include "sys/process.hpp"

namespace nodewise::doctor {

class reading_kernel : public sys::kernel {
 public:
  sys::answer<void*> map(std::size_t bytes, sys::access how, int extra_flags) override;
  int unmap(void* start, std::size_t bytes) override;
  int madvise(void* start, std::size_t bytes, int advice) override;
  int mbind(void* start, std::size_t bytes, sys::policy mode, const node_set& nodes,
            unsigned flags) override;
  int mincore(void* start, std::size_t bytes, std::span<unsigned char> resident) override;
  int query_pages(std::span<void* const> pages, std::span<int> status) override;
  int move_pages(std::span<void* const> pages, std::span<const int> nodes,
                 std::span<int> status) override;
  sys::answer<node_id> node_of_page(void* page) override;
  int set_mempolicy(sys::policy mode, const node_set& nodes) override;
  sys::answer<sys::policy> get_mempolicy() override;
  sys::answer<cpu_set> get_affinity(int tid) override;
  int set_affinity(int tid, const cpu_set& cpus) override;
  sys::answer<cpu_id> current_cpu() override;
  std::size_t base_page_bytes() override;
  std::size_t thp_bytes() override;
  int write_file(const char* path, std::string_view text) override;
};

/// Reads /proc/self from the other process, and all other files from the system.
class process_kernel : public reading_kernel {
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
class recorded_kernel : public reading_kernel {
 public:
  explicit recorded_kernel(const topology& what);

  sys::answer<std::string> read_file(const char* path) override;

 private:
  std::map<std::string, std::string, std::less<>> files_;
};

} // namespace nodewise::doctor
