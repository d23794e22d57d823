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

/// Bytes of a file that are read, looked at and moved together. Each call of move_pages first waits
/// for all processors, so it should have many pages.
constexpr std::uint64_t warmed_at_once = std::uint64_t{64} << 20;
/// Bytes between two reports of progress.
constexpr std::uint64_t read_at_once = std::uint64_t{8} << 20;
constexpr std::size_t buffer_bytes = std::size_t{256} << 10;
/// Shorter runs of one owner are read together under an interleaving policy, and moved afterwards.
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
  warmer(sys::kernel& kernel, const sys::cached_file& file, const warm_request& how, bool hidden,
         std::vector<bool> cached_before)
      : kernel_(kernel), file_(file), how_(how), hidden_(hidden),
        page_bytes_(kernel.base_page_bytes()), shared_(kernel.move_shared_pages({}, {}, {}) == 0),
        buffer_(std::make_unique<std::byte[]>(buffer_bytes)),
        cached_before_(std::move(cached_before)) {}

  /// Reads and moves the pages of a part of the file; only looks at them after a failure.
  void warm_window(std::uint64_t at, std::uint64_t bytes) {
    first_page_ = static_cast<std::size_t>(at / page_bytes_);
    unreported_ = bytes;
    skipped_.clear();
    room_.clear();
    const auto window = sys::file_window::map(file_, at, bytes);
    note(window.errno_value, at);
    if (!has_failed()) {
      note(read_missing(window.value), at);
    }
    const std::size_t pages = (bytes + page_bytes_ - 1) / page_bytes_;
    std::vector<node_id> nodes(pages, unknown_node);
    if (window) {
      auto found = nodes_of_window(kernel_, window.value, hidden_);
      note(found.errno_value, at);
      nodes = found ? std::move(found.value) : std::move(nodes);
    }
    record_before(nodes);
    if (!has_failed()) {
      move(window.value, nodes);
    }
    for (const node_id node : nodes) {
      append(result_.now.runs, 1, node);
    }
    report_progress(bytes);
  }

  [[nodiscard]] bool has_failed() const { return result_.errno_value != 0; }

  warmed result(std::uint64_t file_bytes) {
    for (file_location* each : {&result_.before, &result_.now}) {
      each->bytes = file_bytes;
      each->page_bytes = page_bytes_;
      each->is_known = !hidden_;
      if (hidden_) {
        each->runs.clear();
      }
    }
    if (!hidden_) {
      result_.read_bytes = read_pages_ * page_bytes_;
    }
    return std::move(result_);
  }

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

  /// Keeps the first failure.
  void note(int failed, std::uint64_t at) {
    if (failed != 0 && !has_failed()) {
      result_.errno_value = failed;
      result_.ended_at = std::max(result_.ended_at, at);
    }
  }

  /// `bytes`: whole pages, so more than the file has at its end.
  void report_progress(std::uint64_t bytes) {
    const std::uint64_t more = std::min(bytes, unreported_);
    unreported_ -= more;
    if (how_.done && more != 0) {
      how_.done(more);
    }
  }

  /// Reads the missing pages of a window, as far as there is free memory, under a policy that
  /// allocates them on their nodes.
  int read_missing(const sys::file_window& window) {
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
      const auto is_shorter = [&](std::size_t last, std::uint64_t than) {
        return (last - first) * page_bytes_ < than;
      };
      std::size_t last = end_of_part([&](std::size_t page) {
        return owner(page) == owner(first) && is_shorter(page, read_at_once);
      });
      const bool of_several = is_shorter(last, shortest_own_run);
      if (of_several) {
        last = end_of_part([&](std::size_t page) { return is_shorter(page, shortest_own_run); });
      }
      failed = read_under_policy(window, {first, last});
      report_progress((last - first) * page_bytes_);
      first = last;
    }
    return failed;
  }

  int read_under_policy(const sys::file_window& window, const page_range& part) {
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
    const bool of_one = nodes.size() == 1;
    const policy_scope policy(kernel_, of_one ? sys::policy::preferred : sys::policy::interleave,
                              nodes);
    return read_part(window, part, of_one);
  }

  /// Mapping pages reads them, without a copy. Only of files in memory this would fill holes.
  int read_part(const sys::file_window& window, const page_range& part, bool of_one) {
    if (!file_.is_in_memory()) {
      if (!of_one) { // the kernel's larger pages would be on one node as a whole
        file_.begin_to_read((first_page_ + part.first) * page_bytes_,
                            (part.last - part.first) * page_bytes_);
      }
      if (window.read_in(part.first, part.last - part.first) == 0) {
        return 0;
      }
    }
    return copy_part(part); // its errors are those of the disk
  }

  int copy_part(const page_range& part) {
    const std::uint64_t bytes = (part.last - part.first) * page_bytes_;
    for (std::uint64_t done = 0; done < bytes;) {
      const std::uint64_t at = (first_page_ + part.first) * page_bytes_ + done;
      const auto got =
          file_.read(at, {buffer_.get(), std::min<std::uint64_t>(buffer_bytes, bytes - done)});
      if (!got) {
        result_.ended_at = at;
        return got.errno_value;
      }
      if (got.value == 0) {
        break; // the file's end
      }
      done += got.value;
    }
    return 0;
  }

  /// A page that was cached when all began is where it was then.
  void record_before(const std::vector<node_id>& nodes) {
    for (std::size_t page = 0; page < nodes.size(); ++page) {
      const std::size_t of_file = first_page_ + page;
      const bool was_cached = of_file < cached_before_.size() && cached_before_[of_file];
      append(result_.before.runs, 1, was_cached ? nodes[page] : not_cached);
      read_pages_ += !was_cached && nodes[page] != not_cached ? 1U : 0U;
    }
  }

  /// Moves cached pages to their owners, and counts those that are not there then.
  void move(const sys::file_window& window, std::vector<node_id>& nodes) {
    std::vector<page_to_move> wrong;
    std::uint64_t missing = 0;
    for (std::size_t page = 0; page < nodes.size(); ++page) {
      if (nodes[page] == not_cached) {
        ++missing;
      } else if (nodes[page] != owner(page)) {
        wrong.push_back({window.page(page), to_int(owner(page))});
      }
    }
    const std::uint64_t skipped = std::min<std::uint64_t>(missing, skipped_.size());
    count(ENOMEM, skipped);
    count(ENOENT, missing - skipped); // evicted again, a hole, or the file is shorter now
    leave_out_full_nodes(wrong);
    if (wrong.empty()) {
      return;
    }
    const moved_pages moved = move_pages(kernel_, wrong, shared_);
    result_.moved_pages += moved.moved;
    for (const auto& [why, pages] : moved.stayed) {
      count(why, pages);
    }
    look_again(window, wrong, nodes);
  }

  /// Only the kernel knows where pages are then: a file system may keep several in one large page,
  /// which moves as a whole.
  void look_again(const sys::file_window& window, const std::vector<page_to_move>& asked,
                  std::vector<node_id>& nodes) {
    std::vector<void*> pages(asked.size());
    std::vector<int> status(asked.size(), -EBUSY);
    std::ranges::transform(asked, pages.begin(), &page_to_move::address);
    (void)kernel_.query_pages(pages, status);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto offset = static_cast<std::byte*>(pages[i]) - window.page(0);
      nodes[static_cast<std::size_t>(offset) / page_bytes_] = status[i] >= 0 ? node_id{status[i]}
                                                              : status[i] == -ENOENT ? not_cached
                                                                                     : unknown_node;
    }
  }

  void count(int why, std::uint64_t pages) {
    if (pages != 0) {
      result_.stayed[why] += pages;
    }
  }

  void leave_out_full_nodes(std::vector<page_to_move>& wrong) {
    room_.clear(); // what was read may be on other nodes than it should be
    std::erase_if(wrong, [&](const page_to_move& each) {
      std::uint64_t& room = room_on(node_id{each.node});
      if (room < page_bytes_) {
        ++result_.stayed[ENOMEM];
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
  warmed result_;
  std::uint64_t read_pages_ = 0;
  std::uint64_t unreported_ = 0;    ///< bytes of the window, as progress
  std::vector<bool> cached_before_; ///< each page of the file; none if this is hidden
};

/// Which pages of a file are cached.
sys::answer<std::vector<bool>> cached_pages(const sys::cached_file& file, std::uint64_t size) {
  std::vector<bool> all;
  for (std::uint64_t at = 0; at < size; at += warmed_at_once) {
    const auto window = sys::file_window::map(file, at, std::min(warmed_at_once, size - at));
    std::vector<unsigned char> resident(window ? window.value.pages() : 0);
    const int failed = window ? window.value.find_resident(resident) : window.errno_value;
    if (failed != 0) {
      return {{}, failed};
    }
    for (const unsigned char each : resident) {
      all.push_back((each & 1U) != 0);
    }
  }
  return {std::move(all), 0};
}

} // namespace

sys::answer<warmed> warm(sys::kernel& kernel, const sys::cached_file& file,
                         const warm_request& how) {
  const auto size = file.size();
  const auto hidden = size ? file.hides_pages() : sys::answer<bool>{false, size.errno_value};
  const auto cached =
      hidden && !hidden.value ? cached_pages(file, size.value) : sys::answer<std::vector<bool>>{};
  if (!hidden || !cached) {
    return {{}, !hidden ? hidden.errno_value : cached.errno_value};
  }
  warmer work(kernel, file, how, hidden.value, cached.value);
  for (std::uint64_t at = 0; at < size.value && !(hidden.value && work.has_failed());
       at += warmed_at_once) {
    work.warm_window(at, std::min(warmed_at_once, size.value - at));
  }
  return {work.result(size.value), 0};
}

} // namespace nodewise::page_cache
