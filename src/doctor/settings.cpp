// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "doctor/settings.hpp"

#include "base/parse_number.hpp"
#include "sys/node_memory.hpp"

namespace nodewise::doctor {

namespace {

/// "always [madvise] never": the word in brackets.
std::optional<std::string> chosen_word(const std::string& text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open);
  return close == std::string::npos ? std::nullopt
                                    : std::optional(text.substr(open + 1, close - open - 1));
}

/// x86 has a processor flag for virtual machines. Other architectures have only the firmware's
/// tables, which do not distinguish vendors of real machines from those of virtual ones.
std::optional<std::string> read_virtualisation(sys::kernel& from) {
  const std::string processors = from.read_file("/proc/cpuinfo").value;
  if (processors.find("\nflags") == std::string::npos) {
    return std::nullopt;
  }
  if (processors.find(" hypervisor") == std::string::npos) {
    return "none";
  }
  const std::string vendor = from.read_file("/sys/class/dmi/id/sys_vendor").value;
  return vendor.empty() ? "unnamed hypervisor" : vendor;
}

} // namespace

std::optional<long long> read_number(sys::kernel& from, const std::string& path, long long least,
                                     long long most) {
  const auto value = parse_number<long long>(from.read_file(path.c_str()).value);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

settings read_settings(sys::kernel& from) {
  settings found;
  if (auto release = from.read_file("/proc/sys/kernel/osrelease")) {
    found.kernel_release = std::move(release.value);
  }
  const std::size_t page_bytes = from.base_page_bytes();
  found.page_bytes = page_bytes != 0 ? std::optional(page_bytes) : std::nullopt;
  if (const auto balancing = read_number(from, "/proc/sys/kernel/numa_balancing", 0, 3)) {
    found.numa_balancing = static_cast<int>(*balancing);
  }
  found.thp = chosen_word(from.read_file("/sys/kernel/mm/transparent_hugepage/enabled").value);
  found.thp_defrag =
      chosen_word(from.read_file("/sys/kernel/mm/transparent_hugepage/defrag").value);
  found.swap_bytes = sys::read_total_swap(from);
  found.virtualisation = read_virtualisation(from);
  return found;
}

} // namespace nodewise::doctor
