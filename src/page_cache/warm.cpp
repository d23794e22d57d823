// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "page_cache/warm.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "page_cache/move_pages.hpp"

namespace nodewise::page_cache {

namespace {

/// Bytes of a file that are read and then looked at: few enough for all to be cached meanwhile.
constexpr std::uint64_t warmed_at_once = std::uint64_t{8} << 20;
constexpr std::size_t read_bytes_at_once = std::size_t{256} << 10;
/// Shorter runs of one owner are read under an interleaving policy and moved afterwards: the
/// kernel's readahead crosses their ends anyway.
constexpr std::uint64_t shortest_own_run = std::uint64_t{256} << 10;
/// The part of a node's memory that stays free, as the kernel keeps some for itself.
constexpr std::uint64_t part_kept_free = 64;

/// A policy of the calling thread, until this is destroyed.
class policy_scope {
 public:
  policy_scope(sys::kernel& kernel, sys::policy mode, const node_set& nodes) : kernel_(kernel) {
    (void)kernel_.set_mempolicy(mode, nodes); // if it is refused, pages are moved afterwards
  }
  policy_scope(const policy_scope&) = delete;
  policy_scope& operator=(const policy_scope&) = delete;
  ~policy_scope() { (void)kernel_.set_mempolicy(sys::policy::system_default, {}); }

 private:
  sys::kernel& kernel_;
};

struct page_range {
  std::size_t first = 0;
  std::size_t last = 0;
};

class warmer {
 public:
  warmer(sys::kernel& kernel, const sys::cached_file& file, const warm_request& how, bool hidden)
      : kernel_(kernel), file_(file), how_(how), hidden_(hidden),
        page_bytes_(kernel.base_page_bytes()), shared_(kernel.move_shared_pages({}, {}, {}) == 0),
        buffer_(std::make_unique<std::byte[]>(read_bytes_at_once)) {}

  /// Returns 0 or errno.
  int warm_window(std::uint64_t at, std::uint64_t bytes) {
    first_page_ = static_cast<std::size_t>(at / page_bytes_);
    skipped_.clear();
    room_.clear();
    const auto window = sys::file_window::map(file_, at, bytes);
    if (!window) {
      return window.errno_value;
    }
    const auto read = [&](const page_range& part) { return read_part(part); };
    const auto touch = [&](const page_range& part) {
      (void)window.value.touch(part.first, part.last - part.first); // beyond the end nothing is
      return 0;
    };
    int failed = only_touched_ ? 0 : for_missing(window.value, read);
    // Of some file systems only mappings are cached (9p, FUSE).
    if (failed == 0 && !hidden_ && !file_.is_in_memory()) {
      only_touched_ = has_missing(window.value) && skipped_.empty();
      failed = for_missing(window.value, touch);
    }
    return failed != 0 ? failed : move(window.value);
  }

  warmed result;
  std::uint64_t absent = 0; ///< pages that are not cached in the end

 private:
  static bool is_missing(unsigned char resident) { return (resident & 1U) == 0; }

  [[nodiscard]] node_id owner(std::size_t page) const { return how_.owner(first_page_ + page); }

  /// Bytes that may be allocated on a node. The kernel is asked once for each node until `room_` is
  /// cleared.
  std::uint64_t& room_on(node_id node) {
    const auto [found, is_new] = room_.emplace(node, ~std::uint64_t{0});
    if (const auto now = is_new ? how_.memory(node) : std::nullopt) {
      const std::uint64_t kept = now->total_bytes / part_kept_free;
      found->second = now->free_bytes > kept ? now->free_bytes - kept : 0;
    }
    return found->second;
  }

  /// Calls `does` for the missing pages of a window, as far as there is free memory, under a policy
  /// that allocates them on their nodes.
  template <class Does>
  int for_missing(const sys::file_window& window, const Does& does) {
    std::vector<unsigned char> resident(window.pages(), 0);
    int failed = hidden_ ? 0 : window.find_resident(resident);
    for (std::size_t first = 0; failed == 0 && first < resident.size();) {
      if (!is_missing(resident[first])) {
        ++first;
        continue;
      }
      const auto end_of_part = [&](const auto& belongs) {
        std::size_t last = first + 1;
        while (last < resident.size() && is_missing(resident[last]) && belongs(last)) {
          ++last;
        }
        return last;
      };
      const auto is_short = [&](std::size_t last) {
        return (last - first) * page_bytes_ < shortest_own_run;
      };
      std::size_t last = end_of_part([&](std::size_t page) { return owner(page) == owner(first); });
      if (is_short(last)) {
        last = end_of_part(is_short);
      }
      failed = under_policy({first, last}, does);
      first = last;
    }
    return failed;
  }

  template <class Does>
  int under_policy(const page_range& part, const Does& does) {
    node_set nodes;
    for (std::size_t page = part.first; page < part.last; ++page) {
      nodes.insert(owner(page));
    }
    const std::uint64_t bytes = (part.last - part.first) * page_bytes_;
    if (std::ranges::none_of(nodes, [&](node_id node) { return room_on(node) >= bytes; })) {
      for (std::size_t page = part.first; page < part.last; ++page) {
        skipped_.insert(page);
      }
      return 0;
    }
    for (std::size_t page = part.first; page < part.last; ++page) {
      std::uint64_t& room = room_on(owner(page));
      room -= std::min(room, page_bytes_);
    }
    const policy_scope policy(
        kernel_, nodes.size() == 1 ? sys::policy::preferred : sys::policy::interleave, nodes);
    return does(part);
  }

  [[nodiscard]] bool has_missing(const sys::file_window& window) const {
    std::vector<unsigned char> resident(window.pages(), 1);
    return window.find_resident(resident) == 0 && std::ranges::any_of(resident, is_missing);
  }

  int read_part(const page_range& part) {
    const std::uint64_t bytes = (part.last - part.first) * page_bytes_;
    for (std::uint64_t done = 0; done < bytes;) {
      const std::uint64_t at = (first_page_ + part.first) * page_bytes_ + done;
      const auto got = file_.read(
          at, {buffer_.get(), std::min<std::uint64_t>(read_bytes_at_once, bytes - done)});
      if (!got) {
        result.ended_at = at;
        return got.errno_value;
      }
      if (got.value == 0) {
        break; // the file's end
      }
      done += got.value;
    }
    return 0;
  }

  /// Moves cached pages to their owners and counts what is where then.
  int move(const sys::file_window& window) {
    const auto nodes = nodes_of_window(kernel_, window, hidden_);
    if (!nodes) {
      return nodes.errno_value;
    }
    std::vector<page_to_move> wrong;
    std::uint64_t missing = 0;
    for (std::size_t page = 0; page < nodes.value.size(); ++page) {
      const node_id node = nodes.value[page];
      if (node == not_cached) {
        ++missing;
      } else if (node != owner(page)) {
        wrong.push_back({window.page(page), to_int(owner(page))});
      }
    }
    absent += missing;
    const std::uint64_t skipped = std::min<std::uint64_t>(missing, skipped_.size());
    count(ENOMEM, skipped);
    count(ENOENT, missing - skipped); // evicted again, a hole, or the file is shorter now
    leave_out_full_nodes(wrong);
    const moved_pages moved = move_pages(kernel_, std::move(wrong), shared_);
    result.moved_pages += moved.moved;
    for (const auto& [why, pages] : moved.stayed) {
      count(why, pages);
    }
    return 0;
  }

  void count(int why, std::uint64_t pages) {
    if (pages != 0) {
      result.stayed[why] += pages;
    }
  }

  void leave_out_full_nodes(std::vector<page_to_move>& wrong) {
    room_.clear(); // what was read may be on other nodes than it should be
    std::erase_if(wrong, [&](const page_to_move& each) {
      std::uint64_t& room = room_on(node_id{each.node});
      if (room < page_bytes_) {
        ++result.stayed[ENOMEM];
        return true;
      }
      room -= page_bytes_;
      return false;
    });
  }

  sys::kernel& kernel_;
  const sys::cached_file& file_;
  const warm_request& how_;
  bool hidden_;
  std::uint64_t page_bytes_;
  bool shared_; ///< whether pages that others have mapped may be moved
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t first_page_ = 0;            ///< of the window
  std::map<node_id, std::uint64_t> room_; ///< see `room_on`
  std::set<std::size_t> skipped_; ///< pages of the window that were not read for lack of memory
  bool only_touched_ = false;     ///< reading this file does not cache it
};

} // namespace

sys::answer<warmed> warm(sys::kernel& kernel, const sys::cached_file& file,
                         const warm_request& how) {
  const auto size = file.size();
  const auto hidden = size ? file.hides_pages() : sys::answer<bool>{false, size.errno_value};
  if (!hidden) {
    return {{}, hidden.errno_value};
  }
  const auto cached_before = file.resident_bytes();
  warmer work(kernel, file, how, hidden.value);
  for (std::uint64_t at = 0; at < size.value; at += warmed_at_once) {
    const std::uint64_t bytes = std::min(warmed_at_once, size.value - at);
    if (const int failed = work.warm_window(at, bytes); failed != 0) {
      work.result.errno_value = failed;
      work.result.ended_at = std::max(work.result.ended_at, at);
      break;
    }
    if (how.done) {
      how.done(bytes);
    }
  }
  if (cached_before && work.result.errno_value == 0) {
    const std::uint64_t page = kernel.base_page_bytes();
    const std::uint64_t now = ((size.value + page - 1) / page - work.absent) * page;
    work.result.read_bytes = now - std::min(now, cached_before.value);
  }
  return {std::move(work.result), 0};
}

} // namespace nodewise::page_cache
