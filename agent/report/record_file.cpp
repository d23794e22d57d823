// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/report/record_file.hpp"

#include <atomic>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

constexpr std::size_t least_bytes = 4096;

constexpr std::size_t rounded(std::size_t bytes) noexcept {
  constexpr std::size_t unit = 8;
  return (bytes + unit - 1) / unit * unit;
}

/// The last eighth is reserved for the records of processes: starts, ends and the agent's own
/// helpers. So a file full of objects still lists each process with its totals, and the agent's
/// processes can be separated from the program's.
constexpr std::size_t end_for(nodewise_agent_kind kind, std::size_t bytes) noexcept {
  const bool last =
      kind == NODEWISE_AGENT_START || kind == NODEWISE_AGENT_END || kind == NODEWISE_AGENT_HELPER;
  return last ? bytes : bytes - bytes / 8;
}

} // namespace

bool record_file::map(const char* path) noexcept {
  // A FIFO without a reader must not stop the program: O_NONBLOCK.
  const long file =
      sys::raw::call(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
  if (file < 0) {
    return false;
  }
  struct stat facts{};
  if (::fstat(static_cast<int>(file), &facts) == 0 && S_ISREG(facts.st_mode)) {
    // If address space is short, map only the first part.
    for (auto bytes = static_cast<std::size_t>(facts.st_size);
         bytes >= least_bytes && start_ == nullptr; bytes /= 2) {
      const long answer =
          sys::raw::call(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0L);
      if (answer > 0) {
        start_ = reinterpret_cast<char*>(answer);
        bytes_ = bytes;
      }
    }
  }
  sys::raw::call(SYS_close, file);
  return start_ != nullptr;
}

/// Reserves `bytes` bytes that end before `end`; nullptr if there is no room.
char* record_file::reserve(std::size_t bytes, std::size_t end) noexcept {
  auto& head = *reinterpret_cast<nodewise_agent_head*>(start_);
  const std::atomic_ref<std::uint64_t> used(head.used);
  std::uint64_t was = used.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t at = was < sizeof head ? sizeof head : rounded(was);
    if (was > end || at > end || bytes > end - at) {
      std::atomic_ref<std::uint64_t>(head.lost).fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
    if (used.compare_exchange_weak(was, at + bytes, std::memory_order_relaxed)) {
      return start_ + at;
    }
  }
}

bool record_file::append(nodewise_agent_kind kind, int pid, nodewise_agent_header& record,
                         std::size_t bytes) noexcept {
  if (start_ == nullptr) {
    return false;
  }
  const std::size_t whole = rounded(bytes);
  char* const place = reserve(whole, end_for(kind, bytes_));
  if (place == nullptr) {
    return false;
  }
  record.magic = 0; // stored last
  record.version = NODEWISE_AGENT_RECORDS;
  record.kind = static_cast<std::uint16_t>(kind);
  record.bytes = static_cast<std::uint32_t>(whole);
  record.pid = pid;
  record.tid = static_cast<std::int32_t>(sys::raw::call(SYS_gettid));
  std::memcpy(place, &record, bytes);
  auto& written = *reinterpret_cast<nodewise_agent_header*>(place);
  written.checksum = nodewise_agent_checksum(place, whole);
  std::atomic_ref<std::uint32_t>(written.magic)
      .store(NODEWISE_AGENT_MAGIC, std::memory_order_release);
  return true;
}

} // namespace nodewise::agent
