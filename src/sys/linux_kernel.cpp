// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/kernel.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>

#include "base/parse_number.hpp"
#include "sys/descriptor.hpp"
#include "sys/set_of.hpp"

namespace nodewise::sys {

namespace {

/// Linux 6.1 to 6.5: move_pages reports a page that NUMA balancing has unmapped to sample its use
/// as absent. pagemap shows that it is present. Its node is unknown without using it: EBUSY.
void find_unmapped(std::span<void* const> pages, std::span<int> status, std::size_t page_bytes) {
  std::vector<std::uint64_t> entries;
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
    entries.resize(last - first);
    const long got = raw::read_pagemap(start, page_bytes, entries.data(), entries.size());
    for (std::size_t i = 0; static_cast<long>(i) < got && i < entries.size(); ++i) {
      if (status[first + i] == -ENOENT && raw::is_present(entries[i])) {
        status[first + i] = -EBUSY;
      }
    }
    first = last;
  }
}

int to_errno(long raw_result) noexcept {
  return raw_result < 0 ? static_cast<int>(-raw_result) : 0;
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
    if (resident.size() < bytes / base_page_bytes()) {
      return EINVAL;
    }
    if (::mincore(start, bytes, resident.data()) != 0) {
      return errno;
    }
    const std::size_t page = base_page_bytes();
    std::vector<std::uint64_t> entries(bytes / page);
    const long got = raw::read_pagemap(start, page, entries.data(), entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const bool shared =
          got > 0 && i < static_cast<std::size_t>(got) && raw::is_shared_page(entries[i]);
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
    return to_errno(raw::move_pages(0, pages.size(), pages.data(), nodes.data(), status.data(),
                                    move_own_pages));
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

  answer<cpu_id> current_cpu() override {
    unsigned cpu = 0;
    const long result = raw::getcpu(&cpu, nullptr);
    return {cpu_id{static_cast<int>(cpu)}, to_errno(result)};
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

} // namespace nodewise::sys
