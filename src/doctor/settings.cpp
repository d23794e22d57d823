// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "doctor/settings.hpp"

#include <charconv>
#include <string_view>

#include "doctor/text.hpp"

namespace nodewise::doctor {

namespace {

std::optional<std::string> read_text(sys::kernel& from, const char* path) {
  auto text = from.read_file(path);
  return text ? std::optional(std::move(text.value)) : std::nullopt;
}

/// "always [madvise] never": the word in brackets.
std::optional<std::string> chosen_word(const std::optional<std::string>& text) {
  if (!text) {
    return std::nullopt;
  }
  const std::size_t open = text->find('[');
  const std::size_t close = text->find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) {
    return std::nullopt;
  }
  return text->substr(open + 1, close - open - 1);
}

/// "SwapTotal:     8388604 kB", in bytes.
std::optional<std::uint64_t> swap_in(std::string_view meminfo) {
  const auto text = field(meminfo, "SwapTotal");
  std::uint64_t kibibytes = 0;
  if (!text ||
      std::from_chars(text->data(), text->data() + text->size(), kibibytes).ec != std::errc{}) {
    return std::nullopt;
  }
  return kibibytes << 10;
}

/// x86 has a processor flag for virtual machines. Other architectures have only the firmware's
/// tables, which do not distinguish vendors of real machines from those of virtual ones.
std::optional<std::string> read_virtualisation(sys::kernel& from) {
  const auto processors = read_text(from, "/proc/cpuinfo");
  if (!processors || processors->find("\nflags") == std::string::npos) {
    return std::nullopt;
  }
  if (processors->find(" hypervisor") == std::string::npos) {
    return "none";
  }
  const auto vendor = read_text(from, "/sys/class/dmi/id/sys_vendor");
  return vendor && !vendor->empty() ? *vendor : "unnamed hypervisor";
}

} // namespace

std::optional<long long> read_number(sys::kernel& from, const std::string& path) {
  const auto text = from.read_file(path.c_str());
  long long value = 0;
  const char* const end = text.value.data() + text.value.size();
  const auto [stop, code] = std::from_chars(text.value.data(), end, value);
  return text && code == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

std::optional<long long> read_number(sys::kernel& from, const std::string& path, long long least,
                                     long long most) {
  const auto value = read_number(from, path);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

settings read_settings(sys::kernel& from) {
  settings found;
  found.kernel_release = read_text(from, "/proc/sys/kernel/osrelease");
  const std::size_t page_bytes = from.base_page_bytes();
  found.page_bytes = page_bytes != 0 ? std::optional(page_bytes) : std::nullopt;
  if (const auto balancing = read_number(from, "/proc/sys/kernel/numa_balancing", 0, 3)) {
    found.numa_balancing = static_cast<int>(*balancing);
  }
  found.thp = chosen_word(read_text(from, "/sys/kernel/mm/transparent_hugepage/enabled"));
  found.thp_defrag = chosen_word(read_text(from, "/sys/kernel/mm/transparent_hugepage/defrag"));
  if (const auto meminfo = read_text(from, "/proc/meminfo")) {
    found.swap_bytes = swap_in(*meminfo);
  }
  found.virtualisation = read_virtualisation(from);
  return found;
}

} // namespace nodewise::doctor
