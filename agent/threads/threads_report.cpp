// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The records of threads. Uses only system calls, no lock and no allocation: the process may be
// ending in a signal handler.
#include <cstdio>
#include <cstring>
#include <ctime>

#include <sys/prctl.h>

#include "agent/clock.hpp"
#include "agent/own_descriptors.hpp"
#include "agent/report/records.hpp"
#include "agent/threads/thread_facts.hpp"
#include "agent/threads/thread_table.hpp"
#include "agent/threads/threads.hpp"
#include "agent/trace/numa_pin.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// The number at the beginning of `text`; 0 if there is none.
long long number_at(const char* text) noexcept {
  long long value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    value = value * 10 + (*text - '0');
  }
  return value;
}

/// The threads of this process, at most as many as the table has room for.
class live_threads {
 public:
  explicit live_threads(int pid) noexcept {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/task", pid); // another process opens it: not self
    folder_ = sys::raw::call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  }
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
      const int tid = static_cast<int>(number_at(name)); // 0: "." and ".."
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

  long folder_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  alignas(8) char bytes_[2048];
};

/// A file of a thread, cut off at the size of `into`; returns its length, 0 if it cannot be read.
std::size_t read_file(int pid, int tid, const char* name, char* into, std::size_t size) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/task/%d/%s", pid, tid, name);
  const long file = sys::raw::call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) {
    return 0;
  }
  const long got = sys::raw::call(SYS_read, file, into, size);
  sys::raw::call(SYS_close, file);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

void read_name(int pid, int tid, char (&into)[16]) noexcept {
  char line[sizeof into + 1] = {};
  if (read_file(pid, tid, "comm", line, sizeof into) != 0) {
    const std::size_t length = std::strcspn(line, "\n");
    std::memcpy(into, line, length < sizeof into ? length : sizeof into - 1);
  }
}

/// Moves behind the next blanks; `text` ends with 0.
const char* skip_fields(const char* text, int count) noexcept {
  for (; count > 0 && *text != '\0'; ++text) {
    count -= *text == ' ' ? 1 : 0;
  }
  return text;
}

/// From /proc/PID/task/TID/stat (proc(5)): its fields are counted from behind the name, which may
/// hold anything. Times are in hundredths of a second on every Linux (USER_HZ).
void read_use(int pid, int tid, nodewise_agent_thread& into) noexcept {
  constexpr int milliseconds_a_tick = 10;
  constexpr int state_to_user_time = 11;
  constexpr int user_time_to_processor = 25;
  into.last_cpu = -1;
  into.busy_ms = -1;
  char text[512];
  const std::size_t length = read_file(pid, tid, "stat", text, sizeof text - 1);
  text[length] = '\0';
  const char* const name_end = std::strrchr(text, ')');
  if (name_end == nullptr || name_end[1] != ' ') {
    return;
  }
  const char* const user = skip_fields(name_end + 2, state_to_user_time);
  const char* const processor = skip_fields(user, user_time_to_processor);
  if (*processor >= '0' && *processor <= '9') {
    into.busy_ms = (number_at(user) + number_at(skip_fields(user, 1))) * milliseconds_a_tick;
    into.last_cpu = static_cast<std::int32_t>(number_at(processor));
  }
}

void read_cpus(int tid, char (&into)[NODEWISE_AGENT_NAME_BYTES]) noexcept {
  cpu_mask mask{};
  const long bytes = sys::raw::sched_getaffinity(tid, sizeof mask.words, mask.words);
  mask.bytes = bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
  write_mask(mask, into);
}

/// Used if there is no other thread. Most programs that a script starts have none, and reading
/// /proc takes longer than the rest of their end.
void write_main(int pid) noexcept {
  nodewise_agent_thread record = {};
  record.tid = pid;
  record.ordinal = -1;
  record.flags = facts.main_flags;
  record.last_cpu = -1;
  unsigned cpu = 0;
  if (sys::raw::call(SYS_getcpu, &cpu, nullptr, nullptr) == 0) {
    record.last_cpu = static_cast<std::int32_t>(cpu);
  }
  record.busy_ms = static_cast<std::int64_t>(now_ns(CLOCK_THREAD_CPUTIME_ID) / 1'000'000);
  sys::raw::call(SYS_prctl, PR_GET_NAME, record.name);
  read_cpus(pid, record.cpus);
  tell(NODEWISE_AGENT_THREAD, record.header, sizeof record);
}

/// False if the thread has ended.
bool describe_live(int tid, int pid, nodewise_agent_thread& into) noexcept {
  into.tid = tid;
  into.ordinal = -1;
  read_cpus(tid, into.cpus);
  if (into.cpus[0] == '\0') {
    return false;
  }
  known_thread* const entry = find_by_tid(tid);
  if (tid == pid) {
    into.flags = facts.main_flags;
  } else if (entry == nullptr ? has_ended(tid) : !claim_record(*entry)) {
    return false;
  } else if (entry != nullptr) {
    describe(*entry, into);
  }
  read_name(pid, tid, into.name);
  read_use(pid, tid, into);
  return true;
}

void write_live(int pid) noexcept {
  live_threads all(pid);
  int tid = all.next();
  for (std::size_t count = 0; tid != 0 && count < max_known_threads; ++count, tid = all.next()) {
    nodewise_agent_thread record = {};
    if (tid != numa_pinner_tid() && describe_live(tid, pid, record)) {
      tell(NODEWISE_AGENT_THREAD, record.header, sizeof record);
    }
  }
}

} // namespace

void write_threads(const settings& asked, int pid) noexcept {
  if (is_single_threaded()) {
    write_main(pid);
  } else {
    auto live = [pid] { write_live(pid); };
    with_own_descriptors(live);
  }
  for (std::size_t at = 0; at < max_known_threads; ++at) {
    nodewise_agent_thread record = {};
    if (copy_ended(at, record) && ((record.flags & NODEWISE_AGENT_PINNED) != 0 || asked.trace)) {
      if ((record.flags & NODEWISE_AGENT_PINNED) != 0) {
        facts.places.text(facts.place_of(static_cast<std::uint64_t>(record.ordinal)), record.cpus);
      }
      tell(NODEWISE_AGENT_THREAD, record.header, sizeof record);
    }
  }
}

} // namespace nodewise::agent
