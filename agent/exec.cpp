// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// exec and posix_spawn: a program whose dynamic linker would reject the agent, or warn about it, is
// started without it. Most of these functions may be called between vfork() and exec and in signal
// handlers, so their data is on the stack, and the functions they call are looked up in advance.
#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include <spawn.h>
#include <sys/stat.h>

#include "agent/interposed.hpp"
#include "agent/preloadable.hpp"
#include "sys/raw.hpp"

using namespace nodewise::agent;

namespace {

using words = char* const*;

using execve_function = int(const char*, words, words);
using execv_function = int(const char*, words);
using spawn_function = int(pid_t*, const char*, const posix_spawn_file_actions_t*,
                           const posix_spawnattr_t*, words, words);

int no_spawn(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
             words, words) noexcept {
  return ENOSYS;
}

constinit next_function<execve_function> next_execve{"execve"};
constinit next_function<execv_function> next_execv{"execv"};
constinit next_function<execv_function> next_execvp{"execvp"};
constinit next_function<execve_function> next_execvpe{"execvpe"};
constinit next_function<int(int, words, words)> next_fexecve{"fexecve"};
constinit next_function<int(int, const char*, words, words, int)> next_execveat{"execveat"};
constinit next_function<spawn_function> next_spawn{"posix_spawn", no_spawn};
constinit next_function<spawn_function> next_spawnp{"posix_spawnp", no_spawn};

[[gnu::constructor]] void find_next() noexcept {
  note_own_loader();
  find_all(next_execve, next_execv, next_execvp, next_execvpe, next_fexecve, next_execveat,
           next_spawn, next_spawnp);
}

constexpr char preload[] = "LD_PRELOAD=";
constexpr char ours[] = "libnodewise-";

/// Whether a library of the LD_PRELOAD list is ours.
bool is_ours(const char* library, std::size_t length) noexcept {
  const void* const slash = ::memrchr(library, '/', length);
  const char* const name = slash == nullptr ? library : static_cast<const char*>(slash) + 1;
  const auto left = length - static_cast<std::size_t>(name - library);
  return left >= sizeof ours - 1 && std::memcmp(name, ours, sizeof ours - 1) == 0;
}

/// Copies the variable without our libraries. Returns the bytes of the copy with its final 0, or 0
/// if the list is now empty.
std::size_t copy_without_ours(const char* from, char* into) noexcept {
  constexpr std::size_t begin = sizeof preload - 1;
  std::memcpy(into, from, begin);
  std::size_t filled = begin;
  for (const char* at = from + begin; *at != '\0';) {
    const std::size_t length = std::strcspn(at, ": ");
    if (length != 0 && !is_ours(at, length)) {
      if (filled != begin) {
        into[filled++] = ':';
      }
      std::memcpy(into + filled, at, length);
      filled += length;
    }
    at += length + (at[length] != '\0' ? 1 : 0);
  }
  into[filled] = '\0';
  return filled == begin ? 0 : filled + 1;
}

struct environment_size {
  std::size_t variables = 0;
  std::size_t preload_bytes = 0; ///< of those that name our libraries
};

bool names_agent(const char* variable) noexcept {
  return std::strncmp(variable, preload, sizeof preload - 1) == 0 &&
         std::strstr(variable, ours) != nullptr;
}

environment_size measure(words environment) noexcept {
  environment_size size;
  for (; environment != nullptr && environment[size.variables] != nullptr; ++size.variables) {
    const char* const each = environment[size.variables];
    size.preload_bytes += names_agent(each) ? std::strlen(each) + 1 : 0;
  }
  return size;
}

/// Calls `start` with the environment, without our libraries if the program cannot have them. A
/// failed start leaves nothing behind.
template <class CanHave, class Start>
[[gnu::always_inline]] inline int start_in(words environment, const CanHave& can_have,
                                           const Start& start) noexcept {
  const int kept = errno;
  const environment_size size = measure(environment);
  if (size.preload_bytes == 0 || can_have()) {
    errno = kept;
    return start(environment);
  }
  auto* const made = static_cast<char**>(__builtin_alloca((size.variables + 1) * sizeof(char*)));
  auto* text = static_cast<char*>(__builtin_alloca(size.preload_bytes));
  std::size_t count = 0;
  for (std::size_t i = 0; i < size.variables; ++i) {
    if (!names_agent(environment[i])) {
      made[count++] = environment[i];
      continue;
    }
    const std::size_t bytes = copy_without_ours(environment[i], text);
    if (bytes != 0) {
      made[count++] = text;
      text += bytes;
    }
  }
  made[count] = nullptr;
  errno = kept;
  return start(made);
}

bool is_executable(const char* path) noexcept {
  struct stat facts{};
  return nodewise::sys::raw::call(SYS_newfstatat, AT_FDCWD, path, &facts, 0) >= 0 &&
         S_ISREG(facts.st_mode) &&
         nodewise::sys::raw::call(SYS_faccessat, AT_FDCWD, path, X_OK) >= 0;
}

/// Checks the file that execvp() would start: the first of that name in the folders of PATH.
[[gnu::noinline]] bool can_have_by_name(const char* name) noexcept {
  if (std::strchr(name, '/') != nullptr) {
    return can_have_agent(AT_FDCWD, name);
  }
  const char* folders = ::secure_getenv("PATH");
  folders = folders == nullptr ? "/bin:/usr/bin" : folders;
  const std::size_t length = std::strlen(name);
  for (char path[4096];; ++folders) {
    const std::size_t of_folder = std::strcspn(folders, ":");
    if (of_folder + length + 2 <= sizeof path) {
      std::memcpy(path, folders, of_folder);
      path[of_folder] = '/';
      std::memcpy(path + of_folder + (of_folder != 0 ? 1 : 0), name, length + 1);
      if (is_executable(path)) {
        return can_have_agent(AT_FDCWD, path);
      }
    }
    folders += of_folder;
    if (*folders == '\0') {
      return true;
    }
  }
}

int execute(const char* path, words arguments, words environment) noexcept {
  return start_in(
      environment, [&] { return can_have_agent(AT_FDCWD, path); },
      [&](words all) { return next_execve.get()(path, arguments, all); });
}

int execute_by_name(const char* name, words arguments, words environment) noexcept {
  return start_in(
      environment, [&] { return can_have_by_name(name); },
      [&](words all) { return next_execvpe.get()(name, arguments, all); });
}

/// Hides the argument from the compiler: execl() declares it as not null, but programs pass NULL.
const char* or_null(const char* argument) noexcept {
  asm("" : "+r"(argument));
  return argument;
}

/// The arguments of execl() and its relatives as an array on the caller's stack. `rest` points to
/// what follows them.
#define NODEWISE_LISTED(arguments, rest)                                                           \
  std::size_t count = 0;                                                                           \
  std::va_list rest;                                                                               \
  va_start(rest, first);                                                                           \
  for (const char* each = or_null(first); each != nullptr; each = va_arg(rest, char*)) {           \
    ++count;                                                                                       \
  }                                                                                                \
  va_end(rest);                                                                                    \
  auto* const arguments = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*)));      \
  arguments[0] = const_cast<char*>(or_null(first));                                                \
  va_start(rest, first);                                                                           \
  for (std::size_t i = 1; i <= count; ++i) {                                                       \
    arguments[i] = va_arg(rest, char*);                                                            \
  }

} // namespace

NODEWISE_INTERPOSED int execve(const char* path, words arguments, words environment) noexcept {
  return execute(path, arguments, environment);
}

NODEWISE_INTERPOSED int execv(const char* path, words arguments) noexcept {
  return start_in(
      environ, [&] { return can_have_agent(AT_FDCWD, path); },
      [&](words all) {
        return all == environ ? next_execv.get()(path, arguments)
                              : next_execve.get()(path, arguments, all);
      });
}

NODEWISE_INTERPOSED int execvp(const char* name, words arguments) noexcept {
  return start_in(
      environ, [&] { return can_have_by_name(name); },
      [&](words all) {
        return all == environ ? next_execvp.get()(name, arguments)
                              : next_execvpe.get()(name, arguments, all);
      });
}

NODEWISE_INTERPOSED int execvpe(const char* name, words arguments, words environment) noexcept {
  return execute_by_name(name, arguments, environment);
}

NODEWISE_INTERPOSED int execl(const char* path, const char* first, ...) noexcept {
  NODEWISE_LISTED(arguments, rest)
  va_end(rest);
  return execute(path, arguments, environ);
}

NODEWISE_INTERPOSED int execlp(const char* name, const char* first, ...) noexcept {
  NODEWISE_LISTED(arguments, rest)
  va_end(rest);
  return execute_by_name(name, arguments, environ);
}

NODEWISE_INTERPOSED int execle(const char* path, const char* first, ...) noexcept {
  NODEWISE_LISTED(arguments, rest)
  const words environment = va_arg(rest, words);
  va_end(rest);
  return execute(path, arguments, environment);
}

NODEWISE_INTERPOSED int fexecve(int file, words arguments, words environment) noexcept {
  return start_in(
      environment, [&] { return can_have_agent(file); },
      [&](words all) { return next_fexecve.get()(file, arguments, all); });
}

NODEWISE_INTERPOSED int execveat(int folder, const char* path, words arguments, words environment,
                                 int flags) noexcept {
  const bool by_file = (flags & AT_EMPTY_PATH) != 0 && or_null(path) != nullptr && *path == '\0';
  return start_in(
      environment, [&] { return by_file ? can_have_agent(folder) : can_have_agent(folder, path); },
      [&](words all) { return next_execveat.get()(folder, path, arguments, all, flags); });
}

NODEWISE_INTERPOSED int posix_spawn(pid_t* child, const char* path,
                                    const posix_spawn_file_actions_t* actions,
                                    const posix_spawnattr_t* attributes, words arguments,
                                    words environment) {
  return start_in(
      environment, [&] { return can_have_agent(AT_FDCWD, path); },
      [&](words all) {
        return next_spawn.get()(child, path, actions, attributes, arguments, all);
      });
}

NODEWISE_INTERPOSED int posix_spawnp(pid_t* child, const char* name,
                                     const posix_spawn_file_actions_t* actions,
                                     const posix_spawnattr_t* attributes, words arguments,
                                     words environment) {
  return start_in(
      environment, [&] { return can_have_by_name(name); },
      [&](words all) {
        return next_spawnp.get()(child, name, actions, attributes, arguments, all);
      });
}
