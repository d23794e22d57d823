// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/process.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/numbers.hpp"
#include "sys/descriptor.hpp"

namespace nodewise::sys {

namespace {

// linux/fs.h has these from Linux 6.7 on, and the headers of Debian 12 are older.
struct scan_region {
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t categories;
};
struct scan_request {
  std::uint64_t size;
  std::uint64_t flags;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t walk_end;
  std::uint64_t regions;
  std::uint64_t region_count;
  std::uint64_t max_pages;
  std::uint64_t category_inverted;
  std::uint64_t category_mask;
  std::uint64_t category_any;
  std::uint64_t return_mask;
};
constexpr unsigned long pagemap_scan = _IOWR('f', 16, scan_request);
constexpr std::uint64_t scan_present = 1U << 3;
constexpr std::uint64_t scan_huge = 1U << 6;

answer<std::size_t> read_entries(int fd, std::uint64_t first, std::span<std::uint64_t> entries) {
  const ssize_t got = ::pread(fd, entries.data(), entries.size_bytes(),
                              static_cast<off_t>(first * sizeof(std::uint64_t)));
  return {static_cast<std::size_t>(std::max<ssize_t>(got, 0)) / sizeof(std::uint64_t),
          got < 0 ? errno : 0};
}

class linux_process final : public process {
 public:
  explicit linux_process(int pid)
      : pid_(pid), folder_(fmt::format("/proc/{}/", pid)),
        pagemap_(::open((folder_ + "pagemap").c_str(), O_RDONLY | O_CLOEXEC)),
        pagemap_errno_(pagemap_ ? 0 : errno),
        frame_flags_(::open("/proc/kpageflags", O_RDONLY | O_CLOEXEC)) {}

  [[nodiscard]] int pid() const override { return pid_; }

  int query_pages(std::span<const std::uint64_t> addresses, std::span<int> status) override {
    // Addresses in the other process, which are never dereferenced here.
    static_assert(sizeof(void*) == sizeof(std::uint64_t));
    const auto* const pages = reinterpret_cast<void* const*>(addresses.data());
    return to_errno(raw::move_pages(pid_, addresses.size(), pages, nullptr, status.data(), 0));
  }

  answer<std::size_t> read_pagemap(std::uint64_t first_page,
                                   std::span<std::uint64_t> entries) override {
    return pagemap_errno_ != 0 ? answer<std::size_t>{0, pagemap_errno_}
                               : read_entries(pagemap_.number(), first_page, entries);
  }

  answer<std::vector<address_range>> scan(page_property what, address_range where) override {
    if (pagemap_errno_ != 0) {
      return {{}, pagemap_errno_};
    }
    const std::uint64_t wanted = what == page_property::huge ? scan_huge : scan_present;
    std::vector<address_range> found;
    std::array<scan_region, 512> regions{};
    while (where.first < where.last) {
      scan_request request{};
      request.size = sizeof request;
      request.start = where.first;
      request.end = where.last;
      request.regions = reinterpret_cast<std::uintptr_t>(regions.data());
      request.region_count = regions.size();
      request.category_mask = wanted;
      request.return_mask = wanted;
      const int count = ::ioctl(pagemap_.number(), pagemap_scan, &request);
      if (count < 0) {
        return {{}, errno};
      }
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        if (!found.empty() && found.back().last == regions[i].start) {
          found.back().last = regions[i].end;
        } else {
          found.push_back({regions[i].start, regions[i].end});
        }
      }
      if (request.walk_end <= where.first) {
        break;
      }
      where.first = request.walk_end;
    }
    return {std::move(found), 0};
  }

  answer<std::size_t> read_frame_flags(std::uint64_t first_frame,
                                       std::span<std::uint64_t> flags) override {
    return read_entries(frame_flags_.number(), first_frame, flags);
  }

  int read_memory(std::uint64_t address, std::span<std::byte> into) override {
    const iovec here{into.data(), into.size()};
    // An address in the other process, which is never dereferenced here.
    const iovec there{std::bit_cast<void*>(address), into.size()};
    const ssize_t got = ::process_vm_readv(pid_, &here, 1, &there, 1, 0);
    return got < 0 ? errno : static_cast<std::size_t>(got) == into.size() ? 0 : EFAULT;
  }

  answer<long> migrate(const node_set& from, const node_set& to) override {
    const std::size_t words = std::max(from.words().size(), to.words().size());
    std::vector<unsigned long> from_mask(words);
    std::vector<unsigned long> to_mask(words);
    std::ranges::copy(from.words(), from_mask.begin());
    std::ranges::copy(to.words(), to_mask.begin());
    const long result = raw::migrate_pages(pid_, from_mask.data(), to_mask.data(), words);
    return {std::max(result, 0L), to_errno(result)};
  }

  answer<std::string> read_file(const std::string& name) override {
    return real_kernel().read_file((folder_ + name).c_str());
  }

  answer<std::vector<int>> threads() override {
    DIR* const folder = ::opendir((folder_ + "task").c_str());
    if (folder == nullptr) {
      return {{}, errno};
    }
    std::vector<int> ids;
    while (const dirent* const entry = ::readdir(folder)) {
      if (const auto id = parse_number<int>(static_cast<const char*>(entry->d_name))) {
        ids.push_back(*id);
      }
    }
    ::closedir(folder);
    std::ranges::sort(ids);
    return {std::move(ids), 0};
  }

  answer<unsigned> user() override {
    struct stat facts{};
    const bool known = ::stat(folder_.c_str(), &facts) == 0;
    return {facts.st_uid, known ? 0 : errno};
  }

 private:
  int pid_;
  std::string folder_;
  descriptor pagemap_;
  int pagemap_errno_;
  descriptor frame_flags_;
};

} // namespace

std::unique_ptr<process> real_process(int pid) {
  return std::make_unique<linux_process>(pid);
}

} // namespace nodewise::sys
