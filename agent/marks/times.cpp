// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A separate library: it measures the time between a program's own marks (nodewise/marker.h). It is
// preloaded, and the environment variable NODEWISE_MARK_TIMES names its file, which all processes
// of a run share. src/tune/phase.cpp reads it. The file has records of 128 bytes:
//
//     nodewise mark times 1 complete
//     4711    - 3 1.500000000 sweep
//
// The first is the head; it says "lost" if a mark found no room. Each other record is one region of
// one process: process, + if the region is open, visits, seconds, name. The rest of a record is NUL
// bytes, as is an unused record.
//
// The file is written through a mapping. So a mark needs no system call, nothing is lost when a
// program ends by _exit, exec or a signal, and the library keeps no descriptor.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

constexpr std::size_t record_bytes = 128;
constexpr std::size_t records = 4096;
constexpr std::size_t file_bytes = record_bytes * records;
constexpr std::size_t regions_most = 256; ///< of a process
constexpr std::size_t name_most = 63;     ///< bytes; the lab cuts names there, too

constexpr char head[] = "nodewise mark times 1 complete\n";
constexpr char head_lost[] = "nodewise mark times 1 lost    \n";

struct region {
  char name[name_most + 1];
  char* record;
  unsigned open;
  std::uint64_t visits;
  std::uint64_t opened_ns;
  std::uint64_t total_ns;
};

char* file = nullptr; ///< the mapping; null: no times are taken
region regions[regions_most];
std::size_t regions_used = 0;
std::atomic<const char*> lock_owner{nullptr};
thread_local char self [[gnu::tls_model("initial-exec")]] = 0; ///< its address names the thread

std::uint64_t now_ns() noexcept {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void lose() noexcept {
  std::memcpy(file, head_lost, sizeof head_lost - 1);
}

/// False if a signal handler interrupted a mark of its own thread: waiting would never end.
bool lock() noexcept {
  const char* owner = nullptr;
  while (!lock_owner.compare_exchange_weak(owner, &self, std::memory_order_acquire)) {
    if (owner == &self) {
      return false;
    }
    owner = nullptr;
    (void)::sched_yield();
  }
  return true;
}

void unlock() noexcept {
  lock_owner.store(nullptr, std::memory_order_release);
}

/// Without control characters: a newline ends a record.
void copy_name(char (&into)[name_most + 1], const char* name) noexcept {
  std::size_t length = 0;
  for (; length < name_most && name[length] != '\0'; ++length) {
    const auto byte = static_cast<unsigned char>(name[length]);
    into[length] = byte < ' ' || byte == 0x7f ? '?' : name[length];
  }
  into[length] = '\0';
}

/// Takes a free record of the file, which other processes do as well. nullptr: there is none.
char* take_record() noexcept {
  char process[sizeof(std::uint64_t) + 1];
  (void)std::snprintf(process, sizeof process, "%-8d", static_cast<int>(::getpid()));
  std::uint64_t mine = 0;
  std::memcpy(&mine, process, sizeof mine);
  for (char* at = file + record_bytes; at < file + file_bytes; at += record_bytes) {
    std::uint64_t is_free = 0;
    auto* const first = reinterpret_cast<std::uint64_t*>(at);
    if (__atomic_compare_exchange_n(first, &is_free, mine, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
      return at;
    }
  }
  return nullptr;
}

void write_record(const region& of) noexcept {
  // The figures have fixed widths, so a record that is read while it changes is never cut off.
  char text[record_bytes - sizeof(std::uint64_t)];
  const int length =
      std::snprintf(text, sizeof text, "%c %012llu %09llu.%09llu %s\n", of.open > 0 ? '+' : '-',
                    static_cast<unsigned long long>(of.visits),
                    static_cast<unsigned long long>(of.total_ns / 1'000'000'000U),
                    static_cast<unsigned long long>(of.total_ns % 1'000'000'000U), of.name);
  std::memcpy(of.record + sizeof(std::uint64_t), text, static_cast<std::size_t>(length));
}

region* find(const char* name) noexcept {
  for (std::size_t i = 0; i < regions_used; ++i) {
    if (std::strcmp(regions[i].name, name) == 0) {
      return &regions[i];
    }
  }
  return nullptr;
}

region* make(const char* name) noexcept {
  char* const record = regions_used < regions_most ? take_record() : nullptr;
  if (record == nullptr) {
    lose();
    return nullptr;
  }
  region* const made = &regions[regions_used++];
  *made = {};
  std::memcpy(made->name, name, std::strlen(name) + 1);
  made->record = record;
  return made;
}

void open_region(const char* name) noexcept {
  region* at = find(name);
  at = at == nullptr ? make(name) : at;
  if (at == nullptr || at->open++ > 0) {
    return;
  }
  ++at->visits;
  write_record(*at);
  at->opened_ns = now_ns(); // last: our own work is not the region's
}

void close_region(const char* name, std::uint64_t now) noexcept {
  region* const at = find(name);
  if (at == nullptr || at->open == 0 || --at->open > 0) {
    return;
  }
  at->total_ns += now - at->opened_ns;
  write_record(*at);
}

/// A forked child has records of its own.
void begin_child() noexcept {
  regions_used = 0;
  unlock();
}

/// Without blocks of its own the file could end the program by SIGBUS on a full disk, and a file
/// above the program's limit would end it by SIGXFSZ.
bool has_room(int descriptor) noexcept {
  struct stat is{};
  if (::fstat(descriptor, &is) != 0 || !S_ISREG(is.st_mode)) {
    return false;
  }
  if (static_cast<std::size_t>(is.st_size) >= file_bytes) {
    return true;
  }
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= file_bytes &&
         ::posix_fallocate(descriptor, 0, file_bytes) == 0;
}

[[gnu::constructor]] void begin() noexcept {
  const char* const path = ::secure_getenv("NODEWISE_MARK_TIMES");
  const int descriptor =
      path == nullptr || *path == '\0' ? -1 : ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return;
  }
  if (has_room(descriptor)) {
    void* const mapped =
        ::mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    file = mapped == MAP_FAILED ? nullptr : static_cast<char*>(mapped);
  }
  (void)::close(descriptor);
  if (file != nullptr) {
    if (*file == '\0') {
      std::memcpy(file, head, sizeof head - 1);
    }
    (void)::pthread_atfork(nullptr, nullptr, begin_child);
  }
}

/// Regions that are still open end with the process.
[[gnu::destructor]] void end() noexcept {
  const std::uint64_t now = now_ns();
  if (file == nullptr || !lock()) {
    return;
  }
  for (std::size_t i = 0; i < regions_used; ++i) {
    if (regions[i].open > 0) {
      regions[i].open = 1;
      close_region(regions[i].name, now);
    }
  }
  unlock();
}

} // namespace

extern "C" __attribute__((visibility("default"))) void nodewise_marker_time(const char* name,
                                                                            char what);

void nodewise_marker_time(const char* name, char what) {
  const std::uint64_t now = now_ns();
  if (file == nullptr) {
    return;
  }
  if (!lock()) {
    lose();
    return;
  }
  char known[name_most + 1];
  copy_name(known, name);
  if (what == '[') {
    open_region(known);
  } else if (what == ']') {
    close_region(known, now);
  }
  unlock();
}
