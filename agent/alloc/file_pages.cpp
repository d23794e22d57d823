// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/file_pages.hpp"

#include <algorithm>
#include <cerrno>

#include <unistd.h>

#include "agent/alloc/extents.hpp"
#include "agent/alloc/placement.hpp"
#include "agent/asked.hpp"
#include "agent/clock.hpp"
#include "agent/messages.hpp"
#include "agent/page.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

constexpr std::size_t pages_at_once = 8192;
constexpr std::uint64_t second = 1'000'000'000;

/// Too large for the stack of a thread that maps a file.
struct buffers {
  void* page[pages_at_once];
  int target[pages_at_once]; ///< the node where the page shall be
  int where[pages_at_once];  ///< its node, or -errno
  unsigned char cached[pages_at_once];
  // Of the pages that one call moves:
  void* moving[pages_at_once];
  int to[pages_at_once];
  int answer[pages_at_once];
};

/// The nodes of the pages in their order.
class page_targets {
 public:
  explicit page_targets(const object& what) noexcept
      : owners_(what.where->owners), extents_(what), by_extents_(by_extents(what)) {}

  int next() noexcept {
    const std::size_t page = page_++;
    if (!by_extents_) {
      return owners_.run[page % owners_.runs].node;
    }
    while (page * page_bytes() >= now_.end && extents_.next(now_)) {
    }
    return now_.node;
  }

 private:
  const owner_list& owners_;
  extent_cursor extents_;
  extent now_{0, 0, -1};
  bool by_extents_;
  std::size_t page_ = 0; ///< the next one
};

/// The calling thread's memory policy while it reads pages that are not cached.
class policy_for_reading {
 public:
  policy_for_reading() noexcept {
    known_ = sys::raw::get_mempolicy(&mode_, mask_, words, nullptr, 0) == 0;
  }
  policy_for_reading(const policy_for_reading&) = delete;
  policy_for_reading& operator=(const policy_for_reading&) = delete;
  ~policy_for_reading() {
    if (known_) {
      (void)sys::raw::set_mempolicy(static_cast<sys::policy>(mode_), mask_, words);
    }
  }

  /// Without the present policy, which could not be restored, it leaves it alone.
  void prefer(int node) const noexcept {
    unsigned long mask[words] = {};
    mask[static_cast<std::size_t>(node) / bits] = 1UL << (static_cast<std::size_t>(node) % bits);
    if (known_) {
      (void)sys::raw::set_mempolicy(sys::policy::preferred, mask, words);
    }
  }

 private:
  static constexpr std::size_t bits = sizeof(unsigned long) * 8;
  static constexpr std::size_t words = NODEWISE_AGENT_MAX_NODES / bits;
  int mode_ = 0;
  unsigned long mask_[words] = {};
  bool known_ = false;
};

class file_placer {
 public:
  file_placer(object& what, buffers& with) noexcept
      : what_(what), with_(with), targets_(what), said_(now_ns()) {}

  /// The number of pages that are cached elsewhere at the end.
  std::size_t place() noexcept {
    const std::size_t pages = round_up(what_.placed_bytes, page_bytes()) / page_bytes();
    std::size_t elsewhere = 0;
    for (std::size_t first = 0; first < pages; first += count_) {
      count_ = std::min(pages - first, pages_at_once);
      for (std::size_t i = 0; i < count_; ++i) {
        with_.page[i] = what_.start + (first + i) * page_bytes();
        with_.target[i] = targets_.next();
      }
      elsewhere += place_chunk();
      say_progress(first + count_, pages);
    }
    return elsewhere;
  }

 private:
  std::size_t place_chunk() noexcept {
    if (asked.reads_files) {
      read_chunk();
    }
    map_cached();
    if (!find()) {
      return count_;
    }
    for (std::size_t i = 0; i < count_; ++i) {
      if (is_elsewhere(i) && with_.target[i] != -1) {
        move_to(with_.target[i], i);
      }
    }
    if (!find()) {
      return count_;
    }
    std::size_t elsewhere = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (is_elsewhere(i)) {
        ++elsewhere;
      }
    }
    return elsewhere;
  }

  [[nodiscard]] bool is_elsewhere(std::size_t page) const noexcept {
    return with_.where[page] >= 0 && with_.where[page] != with_.target[page];
  }

  /// The end of the run of pages from `first` on for which `same(first, page)` holds.
  template <class Same>
  [[nodiscard]] std::size_t end_of_run(std::size_t first, Same same) const noexcept {
    std::size_t last = first + 1;
    while (last < count_ && same(first, last)) {
      ++last;
    }
    return last;
  }

  /// Reads ahead as the kernel does: pages that it puts on a neighbour's node are moved later.
  void read_chunk() noexcept {
    const policy_for_reading policy;
    for (std::size_t first = 0; first < count_;) {
      const std::size_t last = end_of_run(
          first, [&](std::size_t a, std::size_t b) { return with_.target[a] == with_.target[b]; });
      policy.prefer(with_.target[first]);
      touch(first, last - first);
      first = last;
    }
  }

  /// A page can be moved only while this process has mapped it.
  void map_cached() noexcept {
    if (what_.hides_pages || asked.reads_files ||
        sys::raw::call(SYS_mincore, with_.page[0], count_ * page_bytes(), with_.cached) != 0) {
      return; // what the program itself has brought in (MAP_POPULATE) is mapped
    }
    const auto is_cached = [&](std::size_t page) { return (with_.cached[page] & 1) != 0; };
    for (std::size_t first = 0; first < count_;) {
      const std::size_t last = end_of_run(
          first, [&](std::size_t a, std::size_t b) { return is_cached(a) == is_cached(b); });
      if (is_cached(first)) {
        touch(first, last - first);
      }
      first = last;
    }
  }

  void touch(std::size_t first, std::size_t count) const noexcept {
    (void)sys::raw::touch_pages(with_.page[first], count, page_bytes());
  }

  bool find() noexcept {
    const long answer =
        sys::raw::move_pages(0, count_, with_.page, nullptr, with_.where, sys::move_own_pages);
    if (answer < 0) {
      refuse(static_cast<int>(-answer));
    }
    return answer >= 0;
  }

  /// Moves all pages from `first` on that belong on this node: the kernel gives up at the first
  /// group of pages for one node that it cannot move. Marks them, so that none is tried twice.
  void move_to(int node, std::size_t first) noexcept {
    std::size_t moving = 0;
    for (std::size_t i = first; i < count_; ++i) {
      if (with_.target[i] == node && is_elsewhere(i)) {
        with_.moving[moving] = with_.page[i];
        with_.to[moving++] = node;
        with_.where[i] = -EBUSY;
      }
    }
    std::fill_n(with_.answer, moving, 0);
    const long answer =
        sys::raw::move_pages(0, moving, with_.moving, with_.to, with_.answer, sys::move_own_pages);
    if (answer < 0) {
      refuse(static_cast<int>(-answer));
    }
    const int* const refused = std::find_if(with_.answer, with_.answer + moving, [](int status) {
      return status < 0 && status != -ENOENT;
    });
    if (refused != with_.answer + moving) {
      refuse(-*refused);
    }
  }

  void refuse(int why) noexcept {
    what_.refused_errno = what_.refused_errno == 0 ? why : what_.refused_errno;
  }

  void say_progress(std::size_t done, std::size_t pages) noexcept {
    const std::uint64_t now = now_ns();
    if (!asked.quiet && now - said_ > 2 * second && done < pages) {
      said_ = now;
      say("nodewise: %s[%d]: placing %s: %zu %%", program_invocation_short_name, ::getpid(),
          what_.name == nullptr ? "a file" : what_.name, done * 100 / pages);
    }
  }

  object& what_;
  buffers& with_;
  page_targets targets_;
  std::size_t count_ = 0; ///< of pages in the buffers
  std::uint64_t said_;
};

} // namespace

void place_file(object& what) noexcept {
  what.granule_bytes = page_bytes();
  if (!what.is_to_be_placed() || (!by_extents(what) && what.where->owners.runs == 0)) {
    return; // each page may be on any node
  }
  what.granule_bytes = granule_in_base_pages(what);
  if (what.hides_pages && !asked.reads_files) {
    what.refused_errno = EACCES;
  }
  void* const memory = sys::raw::map(sizeof(buffers), PROT_READ | PROT_WRITE, 0);
  if (memory == nullptr) {
    what.refused_errno = ENOMEM;
    return;
  }
  const std::size_t elsewhere = file_placer(what, *static_cast<buffers*>(memory)).place();
  sys::raw::unmap(memory, sizeof(buffers));
  const bool all_known = !what.hides_pages || asked.reads_files;
  if (elsewhere == 0 && all_known) {
    what.refused_errno = 0;
    what.flags |= NODEWISE_AGENT_PLACED;
  } else if (what.refused_errno == 0) {
    what.refused_errno = EBUSY;
  }
}

} // namespace nodewise::agent
