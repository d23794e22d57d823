// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "page_cache/page_cache.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "sys/cached_file.hpp"

namespace nodewise::page_cache {

namespace {

constexpr const char* door = "/proc/sys/vm/drop_caches";

int write_to(const char* path, std::string_view text) noexcept {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) {
    return errno;
  }
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int failed = written ? 0 : errno;
  ::close(file);
  return failed;
}

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
/// Some page cache always stays: it also holds the code of running programs.
constexpr std::uint64_t part_left_cached = 64;
constexpr std::uint64_t part_at_a_time = 256;
constexpr std::uint64_t swap_noise = mebibyte;
constexpr int most_in_vain = 2;

class presser {
 public:
  presser(const surroundings& on, const sys::node_memory& before)
      : on_(on), chunk_(std::clamp(before.total_bytes / part_at_a_time, mebibyte, 256 * mebibyte)),
        least_free_(2 * chunk_), least_cached_(before.total_bytes / part_left_cached),
        swap_before_(on.free_swap()), total_(before.free_bytes + *before.evictable_bytes),
        least_seen_(*before.evictable_bytes) {}

  /// Why to stop, or nullopt to go on.
  std::optional<ending> reason(const std::optional<sys::node_memory>& now) {
    if (!now || !now->evictable_bytes) {
      return ending::unknown;
    }
    if (*now->evictable_bytes <= least_cached_) {
      return ending::swept;
    }
    if (const auto swap = on_.free_swap();
        swap && swap_before_ && *swap + swap_noise < *swap_before_) {
      return ending::swaps;
    }
    if (const auto room = on_.room(); room && *room < chunk_ + least_free_) {
      return ending::limited;
    }
    return in_vain(*now) ? std::optional(ending::stuck) : std::nullopt;
  }

  /// Allocates the next piece; sets `errno_value` if the kernel refuses.
  void take(pressure& so_far) {
    so_far.errno_value = on_.take(chunk_);
    if (so_far.errno_value == 0) {
      so_far.taken_bytes += chunk_;
      on_.progress(std::min(so_far.taken_bytes, total_), total_);
    }
  }

 private:
  /// Whether pieces no longer shrink the cache: with nothing free, each must come from the cache.
  bool in_vain(const sys::node_memory& now) {
    const bool given_up = *now.evictable_bytes + chunk_ / 2 <= least_seen_;
    least_seen_ = std::min(least_seen_, *now.evictable_bytes);
    vain_ = now.free_bytes > least_free_ || given_up ? 0 : vain_ + 1;
    return vain_ > most_in_vain;
  }

  const surroundings& on_;
  std::uint64_t chunk_;
  std::uint64_t least_free_;
  std::uint64_t least_cached_;
  std::optional<std::uint64_t> swap_before_;
  std::uint64_t total_;
  std::uint64_t least_seen_;
  int vain_ = 0;
};

} // namespace

bool may_drop_everything() noexcept {
  return ::access(door, W_OK) == 0;
}

int drop_everything() {
  // Check permission first: writing dirty pages can take minutes.
  if (!may_drop_everything()) {
    return errno;
  }
  ::sync();
  return write_to(door, "1\n");
}

dropped drop_file(const std::string& path) {
  const auto file = sys::cached_file::open(path);
  if (!file) {
    return {file.errno_value, {}};
  }
  int failed = file.value.write_out();
  if (failed == 0 || failed == EROFS || failed == EINVAL) { // or nothing that could be dirty
    failed = file.value.advise_unneeded();
  }
  if (failed != 0) {
    return {failed, {}};
  }
  const auto resident = file.value.resident_bytes();
  return {0, resident ? std::optional(resident.value) : std::nullopt};
}

void be_first_to_be_ended() noexcept {
  (void)write_to("/proc/self/oom_score_adj", "1000\n");
}

pressure press(const surroundings& on) {
  pressure result;
  const auto before = on.look();
  if (!before || !before->evictable_bytes) {
    return result;
  }
  presser work(on, *before);
  for (auto now = before;; now = on.look()) {
    if (const auto why = work.reason(now)) {
      result.why = *why;
      return result;
    }
    work.take(result);
    if (result.errno_value != 0) {
      result.why = ending::refused;
      return result;
    }
  }
}

} // namespace nodewise::page_cache
