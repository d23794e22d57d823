// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/announce.hpp"

#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <nodewise/marker.h>

#include "agent/large.hpp"
#include "agent/modules.hpp"
#include "agent/own_descriptors.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// One message, said byte by byte while it is put together.
class message {
 public:
  explicit message(char what) noexcept {
    NODEWISE_MARKER_SAY(NODEWISE_MARKER_BEGIN);
    nodewise_marker_byte(what);
  }
  ~message() { NODEWISE_MARKER_SAY(NODEWISE_MARKER_END); }
  message(const message&) = delete;
  message& operator=(const message&) = delete;

  /// As it is.
  message& plain(const char* text, std::size_t length) noexcept {
    for (std::size_t i = 0; i < length; ++i) {
      nodewise_marker_byte(text[i]);
    }
    return *this;
  }
  message& plain(const char* text) noexcept { return plain(text, std::strlen(text)); }

  message& number(std::uint64_t value, unsigned base) noexcept {
    char digits[20];
    std::size_t first = sizeof digits;
    do {
      digits[--first] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    return plain(digits + first, sizeof digits - first);
  }
  message& decimal(int value) noexcept { return number(static_cast<std::uint64_t>(value), 10); }
  message& hexadecimal(std::uint64_t value) noexcept { return number(value, 16); }

  /// A name in which nothing is taken for a blank or an end; "-" for none.
  message& name(const char* text, std::size_t length) noexcept {
    if (length == 0) {
      return plain("-");
    }
    for (std::size_t i = 0; i < length; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      const bool safe = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                        (byte >= '0' && byte <= '9') || std::strchr("_-./", text[i]) != nullptr;
      if (safe) {
        nodewise_marker_byte(text[i]);
      } else {
        plain("%")
            .plain(&"0123456789ABCDEF"[byte >> 4U], 1)
            .plain(&"0123456789ABCDEF"[byte & 15U], 1);
      }
    }
    return *this;
  }
  message& name(const char* text) noexcept { return name(text, std::strlen(text)); }
};

/// No two objects of a process or of those it came from by fork have the same one.
std::uint64_t number_of(const object& what) noexcept {
  return (static_cast<std::uint64_t>(what.pid) << 32U) | what.sequence;
}

const char* kind_name(std::uint32_t kind) noexcept {
  switch (kind) {
  case NODEWISE_AGENT_MAP:
    return "map";
  case NODEWISE_AGENT_STATIC:
    return "static";
  case NODEWISE_AGENT_GROUP:
    return "group";
  default:
    return "heap";
  }
}

/// "start-end rights offset device inode   path": told are start, end, offset and path, of mappings
/// that have one.
void announce_mapping(const char* line, const char* end) noexcept {
  const auto find = [end](const char* from, char wanted) {
    const void* const found =
        from == nullptr ? nullptr : std::memchr(from, wanted, static_cast<std::size_t>(end - from));
    return static_cast<const char*>(found);
  };
  const char* const dash = find(line, '-');
  const char* const rights = find(dash, ' ');
  const char* const offset = rights == nullptr ? nullptr : find(rights + 1, ' ');
  const char* const device = offset == nullptr ? nullptr : find(offset + 1, ' ');
  const char* const path = find(device, '/');
  const char* const special = find(device, '[');
  const char* const name = path != nullptr ? path : special;
  if (name == nullptr) {
    return;
  }
  const auto length = [](const char* from, const char* to) {
    return static_cast<std::size_t>(to - from);
  };
  message('m')
      .plain("0x")
      .plain(line, length(line, dash))
      .plain(" 0x")
      .plain(dash + 1, length(dash + 1, rights))
      .plain(" 0x")
      .plain(offset + 1, length(offset + 1, device))
      .plain(" ")
      .name(name, length(name, end));
}

/// Tells the whole lines of `text`.
void announce_lines(const char* text, std::size_t bytes) noexcept {
  std::size_t done = 0;
  while (const void* const found = std::memchr(text + done, '\n', bytes - done)) {
    const char* const end = static_cast<const char*>(found);
    announce_mapping(text + done, end);
    done = static_cast<std::size_t>(end - text) + 1;
  }
}

/// /proc/self/maps, as much of it as there is room for.
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

/// The counter knows the task that says something, so the calling one says what another one read.
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
    message('x').decimal(pid).plain(" ").name(last_part(program_invocation_name));
    announce_mappings();
  }
}

void announce_fork(int pid, int parent) noexcept {
  if (asked.announce) {
    message('f').decimal(pid).plain(" ").decimal(parent);
  }
}

void announce_thread(int pid) noexcept {
  if (asked.announce) {
    message('t').decimal(pid).plain(" ").decimal(static_cast<int>(sys::raw::call(SYS_gettid)));
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
  message('o')
      .hexadecimal(number_of(what))
      .plain(" ")
      .hexadecimal(reinterpret_cast<std::uintptr_t>(what.start))
      .plain(" ")
      .hexadecimal(what.bytes)
      .plain(" ")
      .plain(kind_name(what.kind))
      .plain(" ")
      .name(caller.name)
      .plain(" 0x")
      .hexadecimal(offset)
      .plain(" ")
      .name(what.name == nullptr ? "" : what.name);
}

void announce_freed(const object& what) noexcept {
  if (asked.announce) {
    message('d').hexadecimal(number_of(what));
  }
}

void announce_end() noexcept {
  if (asked.announce) {
    announce_mappings();
    message('e');
  }
}

} // namespace nodewise::agent
