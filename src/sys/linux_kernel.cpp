// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/kernel.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <fmt/core.h>

#include "base/numbers.hpp"
#include "sys/descriptor.hpp"

namespace nodewise::sys {

namespace {

/// Entries of /proc/self/pagemap from the page of `start` on; fewer if not all can be read.
std::vector<std::uint64_t> own_pagemap(const void* start, std::size_t pages,
                                       std::size_t page_bytes) {
  std::vector<std::uint64_t> entries(pages);
  const long got = raw::read_pagemap(start, page_bytes, entries.data(), pages);
  entries.resize(static_cast<std::size_t>(std::max(got, 0L)));
  return entries;
}

/// Linux 6.1 to 6.5: move_pages reports a page that NUMA balancing has unmapped to sample its use
/// as absent. pagemap shows that it is present. Its node is unknown without using it: EBUSY.
void find_unmapped(std::span<void* const> pages, std::span<int> status, std::size_t page_bytes) {
  for (std::size_t first = 0; first < pages.size();) {
    if (status[first] != -ENOENT) {
      ++first;
      continue;
    }
    const auto* const start = static_cast<const std::byte*>(pages[first]);
    std::size_t last = first + 1;
    while (last < pages.size() && pages[last] == start + (last - first) * page_bytes) {
      ++last;
    }
    const auto entries = own_pagemap(start, last - first, page_bytes);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (status[first + i] == -ENOENT && raw::is_present(entries[i])) {
        status[first + i] = -EBUSY;
      }
    }
    first = last;
  }
}

/// The numbers in a mask of the kernel. Visits only set bits: this is fast, since loops read the
/// mask before they bind.
template <class Id>
id_set<Id> set_of(std::span<const unsigned long> mask) {
  id_set<Id> ids;
  for (std::size_t word = 0; word < mask.size(); ++word) {
    for (unsigned long rest = mask[word]; rest != 0; rest &= rest - 1) {
      ids.insert(Id{static_cast<int>(word * id_set<Id>::word_bits) + std::countr_zero(rest)});
    }
  }
  return ids;
}

/// "Node 0 MemFree:  1234 kB", in bytes.
std::optional<std::uint64_t> meminfo_field(std::string_view text, std::string_view name) {
  const std::string label = fmt::format("{}:", name);
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  text.remove_prefix(std::min(text.find_first_not_of(' ', at + label.size()), text.size()));
  const auto kibibytes = take_number<std::uint64_t>(text);
  return kibibytes ? std::optional(*kibibytes * 1024) : std::nullopt;
}

/// `whose`: MPOL_MF_MOVE or MPOL_MF_MOVE_ALL.
int request_move(std::span<void* const> pages, std::span<const int> nodes, std::span<int> status,
                 int whose) {
  return to_errno(
      raw::move_pages(0, pages.size(), pages.data(), nodes.data(), status.data(), whose));
}

class linux_kernel final : public kernel {
 public:
  answer<void*> map(std::size_t bytes, access how, int extra_flags) override {
    void* const start =
        ::mmap(nullptr, bytes, how == access::none ? PROT_NONE : PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | extra_flags, -1, 0);
    return start == MAP_FAILED ? answer<void*>{nullptr, errno} : answer<void*>{start, 0};
  }

  int unmap(void* start, std::size_t bytes) override {
    return ::munmap(start, bytes) == 0 ? 0 : errno;
  }

  int madvise(void* start, std::size_t bytes, int advice) override {
    return to_errno(raw::madvise(start, bytes, advice));
  }

  int mbind(void* start, std::size_t bytes, policy mode, const node_set& nodes,
            unsigned flags) override {
    const auto mask = nodes.words();
    return to_errno(raw::mbind(start, bytes, mode, mask.data(), mask.size(), flags));
  }

  int mincore(void* start, std::size_t bytes, std::span<unsigned char> resident) override {
    const std::size_t pages = bytes / base_page_bytes();
    if (resident.size() < pages) {
      return EINVAL;
    }
    if (::mincore(start, bytes, resident.data()) != 0) {
      return errno;
    }
    const auto entries = own_pagemap(start, pages, base_page_bytes());
    for (std::size_t i = 0; i < pages; ++i) {
      const bool shared = i < entries.size() && raw::is_shared_page(entries[i]);
      resident[i] = static_cast<unsigned char>((resident[i] & 1U) | (shared ? 2U : 0U));
    }
    return 0;
  }

  int query_pages(std::span<void* const> pages, std::span<int> status) override {
    const int refused =
        to_errno(raw::move_pages(0, pages.size(), pages.data(), nullptr, status.data(), 0));
    if (refused == 0) {
      find_unmapped(pages, status.first(pages.size()), base_page_bytes());
    }
    return refused;
  }

  int move_pages(std::span<void* const> pages, std::span<const int> nodes,
                 std::span<int> status) override {
    return request_move(pages, nodes, status, move_own_pages);
  }

  int move_shared_pages(std::span<void* const> pages, std::span<const int> nodes,
                        std::span<int> status) override {
    return request_move(pages, nodes, status, move_shared_too);
  }

  answer<node_id> node_of_page(void* page) override {
    int node = -1;
    const long result = raw::get_mempolicy(&node, nullptr, 0, page, get_node | get_by_address);
    return {result < 0 ? unknown_node : node_id{node}, to_errno(result)};
  }

  int set_mempolicy(policy mode, const node_set& nodes) override {
    const auto mask = nodes.words();
    return to_errno(raw::set_mempolicy(mode, mask.data(), mask.size()));
  }

  answer<policy> get_mempolicy() override {
    int mode = 0;
    const long result = raw::get_mempolicy(&mode, nullptr, 0, nullptr, 0);
    return {static_cast<policy>(mode), to_errno(result)};
  }

  answer<cpu_set> get_affinity(int tid) override {
    // The kernel returns EINVAL for a buffer smaller than its own mask, whose size it does not
    // report.
    for (std::size_t words = 16; words <= static_cast<std::size_t>(max_id) / 8; words *= 2) {
      std::vector<unsigned long> mask(words);
      const long result = raw::sched_getaffinity(tid, words * sizeof(unsigned long), mask.data());
      if (result >= 0) {
        return {
            set_of<cpu_id>(std::span(mask).first(static_cast<std::size_t>(result) / sizeof(long))),
            0};
      }
      if (result != -EINVAL) {
        return {{}, to_errno(result)};
      }
    }
    return {{}, EINVAL};
  }

  int set_affinity(int tid, const cpu_set& cpus) override {
    const auto mask = cpus.words();
    return to_errno(raw::sched_setaffinity(tid, mask.size_bytes(), mask.data()));
  }

  int disable_huge_pages(bool disabled) override {
    return to_errno(
        raw::call(SYS_prctl, PR_SET_THP_DISABLE, static_cast<long>(disabled), 0L, 0L, 0L));
  }

  answer<cpu_id> current_cpu() override {
    const int cpu = ::sched_getcpu(); // mostly without a system call
    return {cpu_id{cpu}, cpu < 0 ? errno : 0};
  }

  std::size_t base_page_bytes() override {
    static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
  }

  std::size_t thp_bytes() override {
    const auto text = read_file("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    return parse_number<std::size_t>(text.value).value_or(0);
  }

  answer<std::string> read_file(const char* path) override {
    const descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
    if (!file) {
      return {{}, errno};
    }
    std::string text(std::size_t{16} << 10, '\0');
    std::size_t filled = 0;
    ssize_t got = 0;
    while ((got = ::read(file.number(), text.data() + filled, text.size() - filled)) > 0) {
      filled += static_cast<std::size_t>(got);
      if (filled == text.size()) {
        text.resize(text.size() * 2);
      }
    }
    if (got < 0) {
      return {{}, errno};
    }
    text.resize(filled);
    if (text.ends_with('\n')) {
      text.pop_back();
    }
    return {std::move(text), 0};
  }

  int write_file(const char* path, std::string_view text) override {
    const descriptor file(::open(path, O_WRONLY | O_CLOEXEC));
    const ssize_t written = file ? ::write(file.number(), text.data(), text.size()) : -1;
    return written < 0 ? errno : static_cast<std::size_t>(written) == text.size() ? 0 : EIO;
  }
};

} // namespace

kernel& real_kernel() {
  static linux_kernel the_kernel;
  return the_kernel;
}

huge_page_mode read_huge_page_mode(kernel& from) {
  const std::string folder = "/sys/kernel/mm/transparent_hugepage/";
  const auto is = [&](const std::string& file, std::string_view word) {
    return from.read_file((folder + file).c_str()).value.find(word) != std::string::npos;
  };
  // Since Linux 6.8 each size has a mode of its own, usually "inherit".
  const std::string own = fmt::format("hugepages-{}kB/enabled", from.thp_bytes() >> 10);
  for (const std::string& file : {own, std::string("enabled")}) {
    if (is(file, "[never]")) {
      return huge_page_mode::never;
    }
    if (is(file, "[madvise]")) {
      return huge_page_mode::madvise;
    }
    if (is(file, "[always]")) {
      return huge_page_mode::always;
    }
  }
  return huge_page_mode::unavailable;
}

answer<task_policy> read_task_policy() {
  constexpr std::size_t most_nodes = 1024; // Linux supports no more
  std::array<unsigned long, most_nodes / node_set::word_bits> mask{};
  int mode = 0;
  const long refused = raw::get_mempolicy(&mode, mask.data(), mask.size(), nullptr, 0);
  if (refused < 0) {
    return {{}, to_errno(refused)};
  }
  task_policy found{static_cast<policy>(mode), set_of<node_id>(mask), node_id{}};
  int next = 0;
  if (raw::get_mempolicy(&next, nullptr, 0, nullptr, get_node) == 0) {
    found.next_node = node_id{next};
  }
  return {found, 0};
}

std::optional<std::uint64_t> read_meminfo(kernel& from, std::string_view name) {
  return meminfo_field(from.read_file("/proc/meminfo").value, name);
}

std::optional<node_memory> read_node_memory(kernel& from, node_id node) {
  const std::string file = fmt::format("/sys/devices/system/node/node{}/meminfo", node);
  const auto text = from.read_file(file.c_str());
  const auto total = meminfo_field(text.value, " MemTotal");
  const auto free = meminfo_field(text.value, " MemFree");
  const auto cache = meminfo_field(text.value, " FilePages");
  if (!total || !free || !cache) {
    return std::nullopt;
  }
  const auto active = meminfo_field(text.value, " Active(file)");
  const auto inactive = meminfo_field(text.value, " Inactive(file)");
  return node_memory{*total, *free, *cache,
                     active && inactive ? std::optional(*active + *inactive) : std::nullopt};
}

} // namespace nodewise::sys
