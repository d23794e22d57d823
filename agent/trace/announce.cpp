// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/trace/announce.hpp"

#include <cstring>

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
struct name : plain {
  name(const char* from, std::size_t bytes) noexcept : plain{from, bytes} {}
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

/// The text from the first `mark` on; no text without one.
plain behind(plain text, char mark) noexcept {
  const void* const found = text.length == 0 ? nullptr : std::memchr(text.start, mark, text.length);
  const char* const at = static_cast<const char*>(found);
  return at == nullptr ? plain{nullptr, 0}
                       : plain{at, static_cast<std::size_t>(text.start + text.length - at)};
}
/// Removes the text before the first `mark`, and the mark, from the front of `rest`. Without a mark
/// nothing is left.
plain take(plain& rest, char mark) noexcept {
  const plain from = behind(rest, mark);
  const plain taken{rest.start, rest.length - from.length};
  rest = from.length == 0 ? from : plain{from.start + 1, from.length - 1};
  return taken;
}

/// A line of /proc/self/maps: "start-end rights offset device inode   path".
struct mapping_line {
  plain start;
  plain end;
  plain offset;
  bool is_whole;
  plain path; ///< or "[heap]"; empty if it has none

  explicit mapping_line(plain line) noexcept : start(take(line, '-')), end(take(line, ' ')) {
    (void)take(line, ' '); // the rights
    offset = take(line, ' ');
    is_whole = line.start != nullptr;
    path = behind(line, '/');
    path = path.length != 0 ? path : behind(line, '[');
  }

  /// Without a name, and at the end of the other one: a module's data with no bytes in its file.
  [[nodiscard]] bool is_zeroed_data_behind(const mapping_line& other) const noexcept {
    return path.length == 0 && other.path.length != 0 && *other.path.start == '/' &&
           other.end.length == start.length &&
           std::memcmp(other.end.start, start.start, start.length) == 0;
  }

  /// Announces start, end, offset and name.
  void announce() const noexcept {
    message made('m');
    begin(made) << name(path.start, path.length);
  }
  void announce_as_data_of(const mapping_line& module) const noexcept {
    plain file = module.path;
    while (behind(file, '/').length != 0) {
      (void)take(file, '/');
    }
    message made('m');
    begin(made) << name("[static data of ") << name(file.start, file.length) << name("]");
  }

 private:
  message& begin(message& of) const noexcept {
    return of << "0x" << start << " 0x" << end << " 0x" << offset << " ";
  }
};

/// Announces the complete lines of `text`, and names the zeroed data that follows a module.
void announce_lines(const char* text, std::size_t bytes) noexcept {
  mapping_line before({text, 0});
  plain rest{text, bytes};
  while (behind(rest, '\n').length != 0) {
    const mapping_line line(take(rest, '\n'));
    if (line.is_whole && line.is_zeroed_data_behind(before)) {
      line.announce_as_data_of(before);
    } else if (line.is_whole) {
      line.announce();
    }
    before = line;
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

  /// False if the text may be cut off.
  [[nodiscard]] bool announce() const noexcept {
    if (bytes_ != 0 && bytes_ != room_) {
      message('M');
      announce_lines(text_, bytes_);
    }
    return bytes_ != room_;
  }

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
  std::size_t room = std::size_t{64} << 10;
  while (!mappings_text(room).announce()) {
    room *= 4;
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
  static constexpr const char* kinds[] = {"heap", "map", "static", "group", "region", "file"};
  const module_of caller(what.caller);
  const std::uint64_t offset =
      caller.start == nullptr ? 0 : address_of(what.caller) - address_of(caller.start);
  message('o') << number_of(what) << " " << address_of(what.start) << " " << what.bytes << " "
               << name(kinds[what.kind]) << " " << name(caller.name) << " 0x" << offset << " "
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
