// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the doctor's tests examine.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "doctor/examine.hpp"
#include "unit/fake_kernel.hpp"

namespace nodewise::doctor {

/// A machine on which everything is permitted until a test refuses something.
class fake_system : public test::fake_kernel {
 public:
  fake_system() : fake_kernel({node_id{0}, node_id{2}}, 4096, std::size_t{2} << 20) {}

  int map_errno = 0;
  sys::policy policy = sys::policy::system_default;

  sys::answer<void*> map(std::size_t, sys::access, int) override {
    return {map_errno == 0 ? test::fake_range(1).data() : nullptr, map_errno};
  }
  int set_mempolicy(sys::policy, const node_set&) override { return refused("set_mempolicy"); }
  sys::answer<sys::policy> get_mempolicy() override { return {policy, refused("get_mempolicy")}; }
  sys::answer<cpu_set> get_affinity(int) override {
    return {{cpu_id{0}}, refused("sched_getaffinity")};
  }
  int set_affinity(int, const cpu_set&) override { return refused("sched_setaffinity"); }

  /// Nodes 0 and 2 with two processors and memory each, all of it allowed.
  void two_nodes() {
    files["/sys/devices/system/node/online"] = "0,2";
    files["/sys/devices/system/node/has_memory"] = "0,2";
    files["/sys/devices/system/node/has_cpu"] = "0,2";
    files["/sys/devices/system/cpu/online"] = "0-3";
    allow("0-3", "0,2");
  }
  void allow(const std::string& cpus, const std::string& nodes) {
    files["/proc/self/status"] = "Name:\tx\nCpus_allowed:\tf\nCpus_allowed_list:\t" + cpus +
                                 "\nMems_allowed_list:\t" + nodes + "\n" + more_status;
  }
  std::string more_status; ///< behind what `allow` writes

 private:
  [[nodiscard]] int refused(const char* call) const {
    const auto at = refuse.find(call);
    return at == refuse.end() ? 0 : at->second;
  }
};

inline surroundings around(fake_system& who) {
  surroundings here;
  here.kernel = &who;
  here.open_fault_counter = [] { return 0; };
  here.open_userfaultfd = [] { return 0; };
  here.find_program = [](const std::string& name) { return std::optional("/usr/bin/" + name); };
  return here;
}

inline const finding& named(const std::vector<finding>& all, const std::string& name) {
  for (const finding& f : all) {
    if (f.name == name) {
      return f;
    }
  }
  throw std::out_of_range("no finding " + name);
}

inline finding setting(fake_system& who, const std::string& name) {
  return named(examine_settings(who), name);
}

} // namespace nodewise::doctor
