// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/report/records.hpp"

#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "agent/asked.hpp"
#include "agent/modules.hpp"
#include "agent/page.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

constexpr std::size_t least_bytes = 4096;

constexpr std::size_t unit = 8; ///< of records

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
    const std::uint64_t at = was < sizeof head ? sizeof head : round_up(was, unit);
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
  const std::size_t whole = round_up(bytes, unit);
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

bool is_tracing() noexcept {
  return asked.trace && asked.report != nullptr && reporting.pid != 0 && !reporting.finished;
}

void tell(nodewise_agent_kind kind, nodewise_agent_header& record, std::size_t bytes) noexcept {
  reporting.lost += reporting.file.append(kind, reporting.pid, record, bytes) ? 0 : 1;
}

void copy_name(char (&into)[NODEWISE_AGENT_NAME_BYTES], const char* name) noexcept {
  const std::size_t length = ::strnlen(name, sizeof into - 1);
  std::memcpy(into, name, length);
  std::memset(into + length, 0, sizeof into - length);
}

void name_code(const void* address, char (&module)[NODEWISE_AGENT_NAME_BYTES],
               std::uint64_t& offset) noexcept {
  const module_of found(address);
  if (address != nullptr && found.start != nullptr) {
    offset = static_cast<std::uint64_t>(static_cast<const char*>(address) - found.start);
    copy_name(module, found.name);
  }
}

} // namespace nodewise::agent
