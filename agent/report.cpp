// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/report.hpp"

#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/modules.hpp"
#include "agent/next.hpp"
#include "agent/placement.hpp"
#include "agent/residency.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// The record of an object with all the shares it can have, and the answers it is made of.
struct object_record {
  nodewise_agent_object fixed;
  nodewise_agent_share share[NODEWISE_AGENT_MAX_NODES];
  residency found;
};

/// Past the limit of file sizes (ulimit -f) the kernel would answer with a signal, to the program.
bool may_grow(int file, std::size_t bytes) noexcept {
  struct rlimit limit{};
  struct stat facts{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && ::fstat(file, &facts) == 0 &&
         static_cast<rlim_t>(facts.st_size) + bytes <= limit.rlim_cur;
}

/// Cut to what fits.
void copy_name(char (&into)[NODEWISE_AGENT_NAME_BYTES], const char* name) noexcept {
  const std::size_t length = ::strnlen(name, sizeof into - 1);
  std::memcpy(into, name, length);
  std::memset(into + length, 0, sizeof into - length);
}

void name_caller(nodewise_agent_object& record, const void* caller) noexcept {
  const module_of module(caller);
  if (caller != nullptr && module.start != nullptr) {
    record.caller_offset =
        static_cast<std::uint64_t>(static_cast<const char*>(caller) - module.start);
    copy_name(record.caller_module, module.name);
  }
}

void fill(object_record& record, const object& what) noexcept {
  nodewise_agent_object& fixed = record.fixed;
  fixed.sequence = what.sequence;
  fixed.bytes = what.bytes;
  fixed.granule_bytes = what.granule_bytes;
  fixed.pages = record.found.pages;
  fixed.resident = record.found.resident;
  fixed.on_owner = record.found.on_owner;
  fixed.unknown = record.found.unknown;
  fixed.refused_errno = static_cast<std::uint32_t>(what.refused_errno);
  fixed.flags = what.flags;
  if (record.found.reduced) {
    fixed.flags |= NODEWISE_AGENT_REDUCED;
  }
  fixed.extents = what.extents;
  fixed.cells = record.found.cells;
  std::memcpy(fixed.strip, record.found.strip, sizeof fixed.strip);
  fixed.object_kind = what.kind;
  fixed.blocks = what.blocks;
  fixed.rule = what.rule;
  copy_name(fixed.name, what.name == nullptr ? "" : what.name);
  name_caller(fixed, what.caller);
  for (int node = 0; node < NODEWISE_AGENT_MAX_NODES; ++node) {
    if (record.found.on_node[node] != 0) {
      record.share[fixed.shares++] = {record.found.on_node[node], node, 0};
    }
  }
}

/// The library that small blocks come from, unless it is the C library.
void name_allocator(nodewise_agent_start& record) noexcept {
  const module_of module(reinterpret_cast<const void*>(next.free));
  if (!module.is("libc") && !module.is("libnodewise")) {
    copy_name(record.allocator, module.name);
  }
}

} // namespace

// The file is opened anew each time: a program may close descriptors that it did not open.
bool append(const settings& asked, nodewise_agent_kind kind, int pid, nodewise_agent_header& record,
            std::size_t bytes) noexcept {
  record.magic = NODEWISE_AGENT_MAGIC;
  record.version = NODEWISE_AGENT_RECORDS;
  record.kind = static_cast<std::uint16_t>(kind);
  record.bytes = static_cast<std::uint32_t>(bytes);
  record.pid = pid;
  record.tid = static_cast<std::int32_t>(sys::raw::call(SYS_gettid));
  record.checksum = nodewise_agent_checksum(&record, bytes);
  const int kept = errno;
  // Not the C library's open, write and close: these are cancellation points, free() is none.
  const int file = static_cast<int>(
      sys::raw::call(SYS_openat, AT_FDCWD, asked.report, O_WRONLY | O_APPEND | O_CLOEXEC, 0));
  // The last record fits where others did not, so that the reader learns of these.
  const std::size_t spare = kind == NODEWISE_AGENT_END ? 0 : sizeof(nodewise_agent_end);
  const bool written = file >= 0 && may_grow(file, bytes + spare) &&
                       sys::raw::call(SYS_write, file, &record, bytes) == static_cast<long>(bytes);
  if (file >= 0) {
    sys::raw::call(SYS_close, file);
  }
  errno = kept;
  return written;
}

bool write_start(const settings& asked, bool foreign_malloc, int pid) noexcept {
  nodewise_agent_start record = {};
  record.page_bytes = page_bytes();
  record.foreign_malloc = foreign_malloc ? 1 : 0;
  copy_name(record.program, last_part(program_invocation_name));
  name_allocator(record);
  return append(asked, NODEWISE_AGENT_START, pid, record.header, sizeof record);
}

bool write_made(const settings& asked, int pid) noexcept {
  nodewise_agent_header record = {};
  return append(asked, NODEWISE_AGENT_MADE, pid, record, sizeof record);
}

bool write_object(const settings& asked, const object& what, int pid) noexcept {
  void* const memory = sys::raw::map(sizeof(object_record), PROT_READ | PROT_WRITE, 0);
  if (memory == nullptr) {
    return false;
  }
  auto& record = *static_cast<object_record*>(memory);
  bool written = query(what, record.found);
  if (written) {
    fill(record, what);
    written = append(asked, NODEWISE_AGENT_OBJECT, pid, record.fixed.header,
                     sizeof record.fixed + record.fixed.shares * sizeof record.share[0]);
  }
  sys::raw::unmap(memory, sizeof(object_record));
  return written;
}

bool write_end(const settings& asked, nodewise_agent_end& totals, int pid) noexcept {
  return append(asked, NODEWISE_AGENT_END, pid, totals.header, sizeof totals);
}

} // namespace nodewise::agent
