// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/trace/announce.hpp"

#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <nodewise/marker.h>

#include "agent/asked.hpp"
#include "agent/modules.hpp"
#include "agent/own_descriptors.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// Text without encoding.
struct plain {
  const char* start;
  std::size_t length;
};
/// A name whose special bytes are encoded as %XX; "-" for an empty one.
struct name {
  const char* start;
  std::size_t length;

  name(const char* from, std::size_t bytes) noexcept : start(from), length(bytes) {}
  explicit name(const char* text) noexcept : name(text, std::strlen(text)) {}
};

// The code below needs no tables, so that a thread that begins brings few lines of the agent, which
// are on another node, into its caches. Hence also -fno-jump-tables for this file.

[[gnu::noinline]] void send(char byte) noexcept {
  nodewise_marker_byte(static_cast<unsigned char>(byte));
}

char digit(std::uint64_t value, char ten) noexcept {
  return static_cast<char>(value < 10 ? '0' + value : static_cast<unsigned char>(ten) + value - 10);
}

bool is_plain(char byte) noexcept {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '-' && byte <= '9') || byte == '_'; // '-', '.' and '/' are in front of '0'
}

/// One message, sent byte by byte while it is composed.
class message {
 public:
  explicit message(char what) noexcept {
    NODEWISE_MARKER_SAY(NODEWISE_MARKER_BEGIN);
    send(what);
  }
  ~message() { NODEWISE_MARKER_SAY(NODEWISE_MARKER_END); }
  message(const message&) = delete;
  message& operator=(const message&) = delete;

  message& operator<<(plain text) noexcept {
    for (std::size_t i = 0; i < text.length; ++i) {
      send(text.start[i]);
    }
    return *this;
  }
  template <std::size_t size>
  message& operator<<(const char (&literal)[size]) noexcept {
    return *this << plain{literal, size - 1};
  }
  message& operator<<(int decimal) noexcept {
    return number(static_cast<std::uint64_t>(decimal), 10);
  }
  message& operator<<(std::uint64_t hexadecimal) noexcept { return number(hexadecimal, 16); }
  message& operator<<(name text) noexcept {
    if (text.length == 0) {
      return *this << "-";
    }
    for (std::size_t i = 0; i < text.length; ++i) {
      const char byte = text.start[i];
      if (is_plain(byte)) {
        send(byte);
      } else {
        send('%');
        send(digit(static_cast<unsigned char>(byte) >> 4U, 'A'));
        send(digit(static_cast<unsigned char>(byte) & 15U, 'A'));
      }
    }
    return *this;
  }

 private:
  message& number(std::uint64_t value, unsigned base) noexcept {
    char digits[20];
    std::size_t first = sizeof digits;
    do {
      digits[--first] = digit(value % base, 'a');
      value /= base;
    } while (value != 0);
    return *this << plain{digits + first, sizeof digits - first};
  }
};

/// Unique among the objects of a process and of its ancestors by fork.
std::uint64_t number_of(const object& what) noexcept {
  return (static_cast<std::uint64_t>(what.pid) << 32U) | what.sequence;
}

std::uint64_t address_of(const void* start) noexcept {
  return reinterpret_cast<std::uintptr_t>(start);
}

const char* kind_name(std::uint32_t kind) noexcept {
  switch (kind) {
  case NODEWISE_AGENT_MAP:
    return "map";
  case NODEWISE_AGENT_STATIC:
    return "static";
  case NODEWISE_AGENT_GROUP:
    return "group";
  case NODEWISE_AGENT_REGION:
    return "region";
  default:
    return "heap";
  }
}

/// A line of /proc/self/maps: "start-end rights offset device inode   path".
class mapping_line {
 public:
  mapping_line(const char* line, const char* end) noexcept
      : end_(end), start_(line), dash_(find(line, '-')), rights_(find(dash_, ' ')),
        offset_(rights_ == nullptr ? nullptr : find(rights_ + 1, ' ')),
        device_(offset_ == nullptr ? nullptr : find(offset_ + 1, ' ')) {
    const char* const path = find(device_, '/');
    name_ = path != nullptr ? path : find(device_, '[');
  }

  [[nodiscard]] bool is_whole() const noexcept { return device_ != nullptr; }
  [[nodiscard]] bool has_name() const noexcept { return name_ != nullptr; }
  [[nodiscard]] bool is_of_file() const noexcept { return name_ != nullptr && *name_ == '/'; }
  /// Without a name, and at the end of the other one: a module's data with no bytes in its file.
  [[nodiscard]] bool is_zeroed_data_behind(const mapping_line& other) const noexcept {
    return !has_name() && other.is_of_file() &&
           length(other.dash_ + 1, other.rights_) == length(start_, dash_) &&
           std::memcmp(other.dash_ + 1, start_, length(start_, dash_)) == 0;
  }

  /// Announces start, end, offset and name.
  void announce() const noexcept {
    message made('m');
    begin(made) << name(name_, has_name() ? length(name_, end_) : 0);
  }
  void announce_as_data_of(const mapping_line& module) const noexcept {
    const char* last = module.name_;
    for (const char* at = module.name_; at != module.end_; ++at) {
      last = *at == '/' ? at + 1 : last;
    }
    message made('m');
    begin(made) << name("[static data of ") << name(last, length(last, module.end_)) << name("]");
  }

 private:
  [[nodiscard]] const char* find(const char* from, char wanted) const noexcept {
    const void* const found =
        from == nullptr ? nullptr : std::memchr(from, wanted, length(from, end_));
    return static_cast<const char*>(found);
  }
  static std::size_t length(const char* from, const char* to) noexcept {
    return static_cast<std::size_t>(to - from);
  }
  /// Start, end and offset.
  message& begin(message& of) const noexcept {
    return of << "0x" << plain{start_, length(start_, dash_)} << " 0x"
              << plain{dash_ + 1, length(dash_ + 1, rights_)} << " 0x"
              << plain{offset_ + 1, length(offset_ + 1, device_)} << " ";
  }

  const char* end_;
  const char* start_;
  const char* dash_;
  const char* rights_;
  const char* offset_;
  const char* device_;
  const char* name_ = nullptr;
};

/// Announces the complete lines of `text`, and names the zeroed data that follows a module.
void announce_lines(const char* text, std::size_t bytes) noexcept {
  mapping_line before(text, text);
  std::size_t done = 0;
  while (const void* const found = std::memchr(text + done, '\n', bytes - done)) {
    const char* const end = static_cast<const char*>(found);
    const mapping_line line(text + done, end);
    if (line.is_whole() && line.is_zeroed_data_behind(before)) {
      line.announce_as_data_of(before);
    } else if (line.is_whole()) {
      line.announce();
    }
    before = line;
    done = static_cast<std::size_t>(end - text) + 1;
  }
}

/// The part of /proc/self/maps that fits into the given room.
class mappings_text {
 public:
  explicit mappings_text(std::size_t room) noexcept
      : room_(room), text_(static_cast<char*>(sys::raw::map(room, PROT_READ | PROT_WRITE, 0))) {
    auto work = [this] { read(); };
    if (text_ != nullptr) {
      with_own_descriptors(work);
    }
  }
  ~mappings_text() {
    if (text_ != nullptr) {
      sys::raw::unmap(text_, room_);
    }
  }
  mappings_text(const mappings_text&) = delete;
  mappings_text& operator=(const mappings_text&) = delete;

  [[nodiscard]] const char* text() const noexcept { return text_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool is_cut() const noexcept { return text_ != nullptr && bytes_ == room_; }

 private:
  void read() noexcept {
    const long file =
        sys::raw::call(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (file < 0) {
      return;
    }
    long got = 0;
    while ((got = sys::raw::call(SYS_read, file, text_ + bytes_, room_ - bytes_)) > 0) {
      bytes_ += static_cast<std::size_t>(got);
    }
    sys::raw::call(SYS_close, file);
  }

  std::size_t room_;
  char* text_;
  std::size_t bytes_ = 0;
};

/// The counter identifies the task that sends, so the calling task sends what another one has read.
void announce_mappings() noexcept {
  for (std::size_t room = std::size_t{64} << 10;; room *= 4) {
    const mappings_text all(room);
    if (!all.is_cut()) {
      if (all.bytes() != 0) {
        message('M');
        announce_lines(all.text(), all.bytes());
      }
      return;
    }
  }
}

} // namespace

void announce_program(int pid) noexcept {
  if (asked.announce) {
    message('x') << pid << " " << name(last_part(program_invocation_name));
    announce_mappings();
  }
}

void announce_fork(int pid, int parent) noexcept {
  if (asked.announce) {
    message('f') << pid << " " << parent;
  }
}

void announce_thread(int pid) noexcept {
  if (asked.announce) {
    message('t') << pid << " " << static_cast<int>(sys::raw::call(SYS_gettid));
  }
}

void announce_stack(const void* start, const void* end) noexcept {
  if (asked.announce && start != end) {
    message('s') << "0x" << address_of(start) << " 0x" << address_of(end)
                 << " 0x0 %5Bstack%20and%20thread-local%20data%5D";
  }
}

void announce_helper() noexcept {
  if (asked.announce) {
    NODEWISE_MARKER_SAY(NODEWISE_MARKER_EXCLUDE);
  }
}

void announce_object(const object& what) noexcept {
  if (!asked.announce) {
    return;
  }
  const module_of caller(what.caller);
  const std::uint64_t offset =
      caller.start == nullptr
          ? 0
          : static_cast<std::uint64_t>(static_cast<const char*>(what.caller) - caller.start);
  message('o') << number_of(what) << " " << address_of(what.start) << " " << what.bytes << " "
               << name(kind_name(what.kind)) << " " << name(caller.name) << " 0x" << offset << " "
               << name(what.name == nullptr ? "" : what.name);
}

void announce_freed(const object& what) noexcept {
  if (asked.announce) {
    message('d') << number_of(what);
  }
}

void announce_end() noexcept {
  if (asked.announce) {
    announce_mappings();
    message('e');
  }
}

} // namespace nodewise::agent
