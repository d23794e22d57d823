// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/report_file.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/numbers.hpp"
#include "sys/descriptor.hpp"

namespace nodewise::launch {

namespace {

constexpr std::size_t least_bytes = 4096;

[[noreturn]] void refuse(const std::string& where, const char* answered, int errno_value) {
  throw error(error_kind::system, fmt::format("a file for the agent's report, {}", where), answered,
              "set TMPDIR to a directory with room that you may write to", errno_value);
}

/// For file systems that cannot reserve blocks (NFS before 4.2, 9p): written data has its blocks,
/// at the latest after fsync. Returns 0 or an errno.
int fill_with_zeros(int file, std::size_t bytes) {
  const std::array<char, 65536> zeros{};
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t put = ::pwrite(file, zeros.data(), std::min(zeros.size(), bytes - done),
                                 static_cast<off_t>(done));
    if (put < 0 && errno != EINTR) {
      return errno;
    }
    done += put > 0 ? static_cast<std::size_t>(put) : 0;
  }
  return ::fsync(file) == 0 ? 0 : errno;
}

/// Returns 0 or an errno. Does not use posix_fallocate(): its fallback writes only one byte of each
/// block, which a file system with delayed allocation accepts without having the room.
int reserve(int file, std::size_t bytes) {
  int answer = 0;
  do {
    answer = ::fallocate(file, 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  } while (answer == EINTR);
  return answer == EOPNOTSUPP || answer == ENOSYS ? fill_with_zeros(file, bytes) : answer;
}

/// Btrfs writes a changed block to a new place, for which a full disk has no room; this turns that
/// off for the file. Other file systems refuse the flag, or do not need it.
void overwrite_in_place(int file) {
  int flags = 0;
  if (::ioctl(file, FS_IOC_GETFLAGS, &flags) == 0) {
    flags |= FS_NOCOW_FL;
    (void)::ioctl(file, FS_IOC_SETFLAGS, &flags);
  }
}

/// How much of `wanted` this file system has room for, and what limits it.
std::pair<std::size_t, room_limit> room_for(int file, std::size_t wanted) {
  constexpr std::uint64_t share = 64;
  constexpr std::uint64_t always = std::uint64_t{1} << 20;
  std::pair<std::size_t, room_limit> room{wanted, room_limit::none};
  struct statvfs facts{};
  if (::fstatvfs(file, &facts) == 0) {
    const std::uint64_t free = std::uint64_t{facts.f_bavail} * facts.f_frsize;
    room = std::min(room, {std::max(free / share, always), room_limit::disk});
  }
  struct rlimit limit{};
  // Beyond this limit the kernel would send SIGXFSZ.
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0) {
    room = std::min(room, {limit.rlim_cur, room_limit::file_size});
  }
  return room;
}

std::string read_part(int file, std::size_t bytes, off_t from) {
  std::string text(bytes, '\0');
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        ::pread(file, text.data() + done, bytes - done, from + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

/// FNV-1a.
std::uint32_t hash(std::string_view text) {
  return std::accumulate(
      text.begin(), text.end(), 2166136261U,
      [](std::uint32_t sum, unsigned char each) { return (sum ^ each) * 16777619U; });
}

/// A hash of the host and the container: 8 hexadecimal digits.
std::string place_of_processes() {
  utsname host{};
  (void)::uname(&host);
  struct stat numbers{};
  const bool known = ::stat("/proc/self/ns/pid", &numbers) == 0;
  const std::string name = fmt::format("{}/{}", &host.nodename[0], known ? numbers.st_ino : 0);
  return fmt::format("{:08x}", hash(name));
}

/// The process that made a file of this name; 0 if the name has another form.
pid_t owner_of(std::string_view name, std::string_view prefix, std::string_view place) {
  if (!name.starts_with(prefix)) {
    return 0;
  }
  name.remove_prefix(prefix.size());
  const pid_t owner = take_number<pid_t>(name).value_or(0);
  return owner > 0 && name.starts_with(fmt::format("-{}-", place)) ? owner : 0;
}

void remove_entry(int directory, const char* name, const std::string& inside) {
  struct stat facts{};
  if (::fstatat(directory, name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || facts.st_uid != ::geteuid()) {
    return;
  }
  if (!S_ISDIR(facts.st_mode)) {
    (void)::unlinkat(directory, name, 0);
    return;
  }
  const int folder = ::openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder >= 0) {
    (void)::unlinkat(folder, inside.c_str(), 0);
    ::close(folder);
    (void)::unlinkat(directory, name, AT_REMOVEDIR);
  }
}

void remove_all(const std::string& directory, const std::string& prefix,
                const std::string& inside) {
  const auto close = [](DIR* each) { ::closedir(each); };
  const std::unique_ptr<DIR, decltype(close)> listed(::opendir(directory.c_str()), close);
  if (!listed) {
    return;
  }
  const std::string place = place_of_processes();
  while (const dirent* const each = ::readdir(listed.get())) {
    const pid_t owner = owner_of(&each->d_name[0], prefix, place);
    const bool has_ended = owner != 0 && ::kill(owner, 0) != 0 && errno == ESRCH;
    if (has_ended) {
      remove_entry(::dirfd(listed.get()), &each->d_name[0], inside);
    }
  }
}

} // namespace

std::string name_of_owner(const std::string& prefix) {
  return fmt::format("{}{}-{}-", prefix, ::getpid(), place_of_processes());
}

void remove_leftovers(const std::string& directory, const std::string& prefix,
                      const std::string& inside) noexcept {
  try {
    remove_all(directory, prefix, inside);
  } catch (const std::exception&) {
    return; // no memory: the next run removes them
  }
}

report_file::report_file(std::size_t wanted) : maker_(::getpid()) {
  const char* const parent = std::getenv("TMPDIR");
  // The program may change its directory before it starts another one.
  directory_ = parent != nullptr && *parent == '/' ? parent : "/tmp";
  const std::string prefix = "nodewise-";
  remove_leftovers(directory_, prefix);
  directory_ += fmt::format("/{}XXXXXX", name_of_owner(prefix));
  if (::mkdtemp(directory_.data()) == nullptr) {
    refuse(directory_, "its directory cannot be made", errno);
  }
  name_ = directory_ + "/report";
  try {
    make(wanted);
  } catch (...) {
    ::unlink(name_.c_str());
    ::rmdir(directory_.c_str());
    throw;
  }
}

void report_file::make(std::size_t wanted) {
  const sys::descriptor opened(::open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const int file = opened.number();
  if (!opened) {
    refuse(name_, "it cannot be made", errno);
  }
  overwrite_in_place(file);
  auto [bytes, limit] = room_for(file, wanted);
  limit_ = limit;
  int refused = EFBIG;
  while (bytes >= least_bytes && (refused = reserve(file, bytes)) != 0) {
    bytes /= 2;
    limit_ = room_limit::disk;
  }
  // Cut off what a larger failed request has left, which has no blocks reserved.
  if (refused == 0 && ::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    refused = errno;
  }
  if (refused != 0) {
    refuse(name_,
           limit_ == room_limit::file_size ? "files may not have 4 KiB (ulimit -f)"
                                           : "4 KiB cannot be reserved for it",
           refused);
  }
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) { // as on 9p without a cache: the agent would fail, too
    refuse(name_, "files there cannot be mapped and shared", errno);
  }
  ::munmap(mapped, bytes);
}

report_file::~report_file() {
  if (maker_ != ::getpid()) {
    return;
  }
  ::unlink(name_.c_str());
  ::rmdir(directory_.c_str());
}

run_report report_file::read() const {
  const sys::descriptor opened(::open(name_.c_str(), O_RDONLY | O_CLOEXEC));
  const int file = opened.number();
  if (!opened) {
    refuse(name_, "it cannot be opened", errno);
  }
  const off_t all = ::lseek(file, 0, SEEK_END);
  std::string bytes = read_part(file, sizeof(nodewise_agent_head), 0);
  if (all < 0 || bytes.size() < sizeof(nodewise_agent_head)) {
    refuse(name_, "it cannot be read", errno);
  }
  nodewise_agent_head head{};
  std::memcpy(&head, bytes.data(), sizeof head);
  const std::uint64_t used = std::min(head.used, static_cast<std::uint64_t>(all));
  if (used > bytes.size()) {
    bytes += read_part(file, used - bytes.size(), static_cast<off_t>(bytes.size()));
  }
  run_report made = read_agent_file(bytes);
  made.limit = limit_;
  made.room_bytes = static_cast<std::uint64_t>(all);
  return made;
}

} // namespace nodewise::launch
