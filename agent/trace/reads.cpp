// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A separate library, preloaded behind the agent in trace mode. It wraps the functions of the C
// library by which the kernel writes into a program's memory. Each calls the real function, and
// then reports to the agent what was written. madvise() reports before pages are given back.
//
// They are cancellation points: a thread may end inside the next function. So they hold no lock
// while it runs, and none of them is noexcept.
#undef _FORTIFY_SOURCE // its replacements of these functions are defined here as well
#include <cstdio>

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/interposed.hpp"
#include "agent/trace/numa_pin.hpp"
#include "agent/trace/writes.hpp"

namespace {

void heard(void* into, auto bytes, const void* caller) noexcept {
  if (bytes > 0) {
    nodewise_agent_wrote(into, static_cast<std::size_t>(bytes), caller);
  }
}

void heard_parts(const iovec* parts, std::size_t count, ssize_t answer,
                 const void* caller) noexcept {
  std::size_t left = answer > 0 ? static_cast<std::size_t>(answer) : 0;
  for (std::size_t i = 0; i < count && left != 0; ++i) {
    const std::size_t bytes = parts[i].iov_len < left ? parts[i].iov_len : left;
    nodewise_agent_wrote(parts[i].iov_base, bytes, caller);
    left -= bytes;
  }
}

} // namespace

/// Looked up before the program begins: a signal handler may read while the loader's lock is held.
#define NODEWISE_READER(result, name, parameters, arguments, hear)                                 \
  namespace {                                                                                      \
  constinit nodewise::agent::next_function<result parameters> next_##name{#name};                  \
  [[gnu::constructor]] void find_next_##name() noexcept {                                          \
    if (next_##name.find() == nullptr) {                                                           \
      (void)::dlerror(); /* clear the error of our failed search */                                \
    }                                                                                              \
  }                                                                                                \
  }                                                                                                \
  NODEWISE_INTERPOSED result name parameters;                                                      \
  result name parameters {                                                                         \
    const result answer = next_##name.get() arguments;                                             \
    hear;                                                                                          \
    return answer;                                                                                 \
  }

NODEWISE_READER(ssize_t, read, (int file, void* into, std::size_t bytes), (file, into, bytes),
                heard(into, answer, NODEWISE_CALLER))
NODEWISE_READER(ssize_t, pread, (int file, void* into, std::size_t bytes, off_t at),
                (file, into, bytes, at), heard(into, answer, NODEWISE_CALLER))
NODEWISE_READER(ssize_t, pread64, (int file, void* into, std::size_t bytes, off64_t at),
                (file, into, bytes, at), heard(into, answer, NODEWISE_CALLER))
NODEWISE_READER(ssize_t, readv, (int file, const iovec* parts, int count), (file, parts, count),
                heard_parts(parts, static_cast<std::size_t>(count), answer, NODEWISE_CALLER))
NODEWISE_READER(ssize_t, preadv, (int file, const iovec* parts, int count, off_t at),
                (file, parts, count, at),
                heard_parts(parts, static_cast<std::size_t>(count), answer, NODEWISE_CALLER))
NODEWISE_READER(ssize_t, preadv64, (int file, const iovec* parts, int count, off64_t at),
                (file, parts, count, at),
                heard_parts(parts, static_cast<std::size_t>(count), answer, NODEWISE_CALLER))
NODEWISE_READER(ssize_t, recv, (int socket, void* into, std::size_t bytes, int flags),
                (socket, into, bytes, flags), heard(into, answer, NODEWISE_CALLER))
NODEWISE_READER(ssize_t, recvfrom,
                (int socket, void* into, std::size_t bytes, int flags, sockaddr* from,
                 socklen_t* length),
                (socket, into, bytes, flags, from, length), heard(into, answer, NODEWISE_CALLER))
NODEWISE_READER(ssize_t, recvmsg, (int socket, msghdr* message, int flags),
                (socket, message, flags),
                heard_parts(message->msg_iov, message->msg_iovlen, answer, NODEWISE_CALLER))
// Complete items are reported. At the end of the file a part of one more may have been written.
NODEWISE_READER(std::size_t, fread,
                (void* into, std::size_t each, std::size_t count, std::FILE* file),
                (into, each, count, file), heard(into, each* answer, NODEWISE_CALLER))
NODEWISE_READER(std::size_t, fread_unlocked,
                (void* into, std::size_t each, std::size_t count, std::FILE* file),
                (into, each, count, file), heard(into, each* answer, NODEWISE_CALLER))

// The functions that programs built with _FORTIFY_SOURCE call; `room` is the size of the buffer.
NODEWISE_READER(ssize_t, __read_chk, (int file, void* into, std::size_t bytes, std::size_t room),
                (file, into, bytes, room), heard(into, answer, NODEWISE_CALLER))
NODEWISE_READER(ssize_t, __pread_chk,
                (int file, void* into, std::size_t bytes, off_t at, std::size_t room),
                (file, into, bytes, at, room), heard(into, answer, NODEWISE_CALLER))
NODEWISE_READER(ssize_t, __pread64_chk,
                (int file, void* into, std::size_t bytes, off64_t at, std::size_t room),
                (file, into, bytes, at, room), heard(into, answer, NODEWISE_CALLER))
NODEWISE_READER(ssize_t, __recv_chk,
                (int socket, void* into, std::size_t bytes, std::size_t room, int flags),
                (socket, into, bytes, room, flags), heard(into, answer, NODEWISE_CALLER))
NODEWISE_READER(ssize_t, __recvfrom_chk,
                (int socket, void* into, std::size_t bytes, std::size_t room, int flags,
                 sockaddr* from, socklen_t* length),
                (socket, into, bytes, room, flags, from, length),
                heard(into, answer, NODEWISE_CALLER))
NODEWISE_READER(std::size_t, __fread_chk,
                (void* into, std::size_t room, std::size_t each, std::size_t count,
                 std::FILE* file),
                (into, room, each, count, file), heard(into, each* answer, NODEWISE_CALLER))
NODEWISE_READER(std::size_t, __fread_unlocked_chk,
                (void* into, std::size_t room, std::size_t each, std::size_t count,
                 std::FILE* file),
                (into, room, each, count, file), heard(into, each* answer, NODEWISE_CALLER))

namespace {
constinit nodewise::agent::next_function<int(void*, std::size_t, int)> next_madvise{"madvise"};
[[gnu::constructor]] void find_next_madvise() noexcept {
  (void)next_madvise.find();
}
} // namespace

NODEWISE_INTERPOSED int madvise(void* start, std::size_t bytes, int advice) noexcept {
  if (advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE) {
    nodewise_agent_gives_back(start, bytes);
  }
  return next_madvise.get()(start, bytes, advice);
}
