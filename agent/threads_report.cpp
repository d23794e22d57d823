// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The records of threads. Only system calls, no lock and no allocation: the process may be ending
// in a signal handler.
#include <cstring>

#include <fcntl.h>
#include <sys/syscall.h>

#include "agent/hold.hpp"
#include "agent/pin.hpp"
#include "agent/report.hpp"
#include "agent/thread_facts.hpp"
#include "agent/thread_table.hpp"
#include "agent/threads.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// The threads of this process, as many as the table can know.
class live_threads {
 public:
  live_threads() noexcept
      : folder_(sys::raw::call(SYS_openat, AT_FDCWD, "/proc/self/task",
                               O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)) {}
  ~live_threads() {
    if (folder_ >= 0) {
      sys::raw::call(SYS_close, folder_);
    }
  }
  live_threads(const live_threads&) = delete;
  live_threads& operator=(const live_threads&) = delete;

  /// The next thread's number, or 0.
  [[nodiscard]] int next() noexcept {
    while (at_ < end_ || fill()) {
      entry found;
      std::memcpy(&found, bytes_ + at_, sizeof found);
      const char* const name = bytes_ + at_ + name_offset;
      at_ += found.length;
      const int tid = number(name);
      if (tid > 0) {
        return tid;
      }
    }
    return 0;
  }

 private:
  /// struct linux_dirent64, up to its name.
  struct entry {
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t length;
    std::uint8_t type;
  };
  static constexpr std::size_t name_offset = 19;

  bool fill() noexcept {
    const long got =
        folder_ < 0 ? 0 : sys::raw::call(SYS_getdents64, folder_, bytes_, sizeof bytes_);
    at_ = 0;
    end_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    return end_ != 0;
  }

  static int number(const char* text) noexcept {
    int value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
      value = value * 10 + (*text - '0');
    }
    return *text == '\0' ? value : 0;
  }

  long folder_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  alignas(8) char bytes_[2048];
};

/// "/proc/self/task/TID/comm"
void read_name(int tid, char (&into)[16]) noexcept {
  char path[64] = "/proc/self/task/";
  char digits[16];
  std::size_t count = 0;
  for (int rest = tid; rest > 0; rest /= 10) {
    digits[count++] = static_cast<char>('0' + rest % 10);
  }
  char* at = path + std::strlen(path);
  while (count > 0) {
    *at++ = digits[--count];
  }
  std::memcpy(at, "/comm", sizeof "/comm");
  const long file = sys::raw::call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) {
    return;
  }
  char line[sizeof into + 1] = {};
  const long got = sys::raw::call(SYS_read, file, line, sizeof into);
  sys::raw::call(SYS_close, file);
  const std::size_t length = got > 0 ? std::strcspn(line, "\n") : 0;
  std::memcpy(into, line, length < sizeof into ? length : sizeof into - 1);
}

void read_cpus(int tid, char (&into)[NODEWISE_AGENT_NAME_BYTES]) noexcept {
  cpu_mask mask{};
  const long bytes = sys::raw::sched_getaffinity(tid, sizeof mask.words, mask.words);
  mask.bytes = bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
  write_mask(mask, into);
}

/// False if it has ended meanwhile.
bool describe_live(int tid, int pid, nodewise_agent_thread& into) noexcept {
  into.tid = tid;
  into.ordinal = -1;
  const known_thread* const entry = find_by_tid(tid);
  if (tid == pid) {
    into.flags = main_thread_flags();
  } else if (entry != nullptr) {
    into.flags = entry->flags;
    into.ordinal = entry->ordinal;
    std::memcpy(into.start, entry->start_module, sizeof into.start);
  }
  read_name(tid, into.name);
  read_cpus(tid, into.cpus);
  return into.cpus[0] != '\0';
}

bool write(const settings& asked, int pid, nodewise_agent_thread& record) noexcept {
  return append(asked, NODEWISE_AGENT_THREAD, pid, record.header, sizeof record);
}

} // namespace

std::size_t write_threads(const settings& asked, int pid) noexcept {
  std::size_t lost = 0;
  live_threads all;
  int tid = all.next();
  for (std::size_t count = 0; tid != 0 && count < max_known_threads; ++count, tid = all.next()) {
    if (tid == holder().tid) {
      continue;
    }
    nodewise_agent_thread record = {};
    lost += !describe_live(tid, pid, record) || write(asked, pid, record) ? 0U : 1U;
  }
  for (std::size_t at = 0; at < max_known_threads; ++at) {
    nodewise_agent_thread record = {};
    if (copy_ended(at, record) && ((record.flags & NODEWISE_AGENT_PINNED) != 0 || asked.witness)) {
      place_text(record, record.cpus);
      lost += write(asked, pid, record) ? 0U : 1U;
    }
  }
  return lost;
}

} // namespace nodewise::agent
