// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>

#include <fmt/core.h>

#include "place/engine.hpp"

namespace nodewise::engine {

namespace {

class mover {
 public:
  mover(sys::kernel& kernel, const page_window& window, migration& report)
      : kernel_(kernel), window_(window), report_(report) {}

  void move(const extent& e) {
    for (std::size_t page = e.first_page; page < e.last_page; ++page) {
      pages_.push_back(window_.page(page));
      indices_.push_back(page);
      nodes_.push_back(to_int(e.owner));
      if (pages_.size() == batch_pages) {
        flush();
      }
    }
  }

  void flush() {
    if (pages_.empty()) {
      return;
    }
    before_.assign(pages_.size(), -ENOENT);
    after_.assign(pages_.size(), -ENOENT);
    const bool located = kernel_.query_pages(pages_, before_) == 0;
    const int failed = kernel_.move_pages(pages_, nodes_, after_);
    if (failed == 0) {
      ask_again_about_the_busy();
    }
    for (std::size_t i = 0; i < pages_.size(); ++i) {
      count(i, located, failed);
    }
    pages_.clear();
    indices_.clear();
    nodes_.clear();
  }

 private:
  /// When a huge page moves as a whole, the kernel reports some of its small pages as busy. This
  /// asks where they are now and counts that.
  void ask_again_about_the_busy() {
    if (std::ranges::none_of(after_, [](int status) { return status == -EBUSY; })) {
      return;
    }
    std::vector<int> now(pages_.size(), -ENOENT);
    if (kernel_.query_pages(pages_, now) != 0) {
      return;
    }
    for (std::size_t i = 0; i < now.size(); ++i) {
      after_[i] = after_[i] == -EBUSY && now[i] == nodes_[i] ? now[i] : after_[i];
    }
  }

  void count(std::size_t i, bool located, int failed) {
    if (failed != 0) {
      refuse(i, failed);
    } else if (after_[i] == -ENOENT || after_[i] == -EFAULT) {
      ++report_.not_resident; // EFAULT: only the shared zero page is there
    } else if (after_[i] != nodes_[i]) {
      refuse(i, after_[i] < 0 ? -after_[i] : EAGAIN);
    } else if (located && before_[i] == nodes_[i]) {
      ++report_.already_there;
    } else {
      ++report_.moved;
    }
  }

  /// Merges neighbouring pages that are refused for the same reason into one refusal.
  void refuse(std::size_t i, int errno_value) {
    const node_id owner{nodes_[i]};
    if (!report_.refused.empty()) {
      refusal& last = report_.refused.back();
      if (last.where.last_page == indices_[i] && last.where.owner == owner &&
          last.errno_value == errno_value) {
        ++last.where.last_page;
        return;
      }
    }
    report_.refused.push_back({{indices_[i], indices_[i] + 1, owner}, errno_value});
  }

  sys::kernel& kernel_;
  const page_window& window_;
  migration& report_;
  std::vector<void*> pages_;
  std::vector<std::size_t> indices_;
  std::vector<int> nodes_;
  std::vector<int> before_;
  std::vector<int> after_;
};

/// Sets policies for pages that are touched later, if few policies are enough.
void set_policies(sys::kernel& kernel, const page_window& window, std::span<const extent> extents,
                  migration& report) {
  if (extents.size() > policy_extent_limit(kernel)) {
    report.notes.emplace_back("too many extents for policies: only pages in memory follow");
    return;
  }
  for (const extent& e : extents) {
    const auto bytes = window.bytes_of(e);
    const int failed =
        kernel.mbind(bytes.data(), bytes.size(), sys::policy::preferred, {e.owner}, 0);
    if (failed != 0) {
      report.notes.push_back(
          fmt::format("mbind failed: {}: pages touched later follow the thread that touches them",
                      errno_text(failed)));
      return;
    }
  }
}

} // namespace

migration migrate_extents(sys::kernel& kernel, std::span<std::byte> range,
                          std::span<const extent> extents) {
  migration report;
  const page_window window = whole_pages(range, kernel.base_page_bytes());
  for (const extent& e : extents) {
    if (e.first_page > e.last_page || e.last_page > window.pages || to_int(e.owner) < 0) {
      throw error(
          error_kind::usage,
          fmt::format("migrating pages {}..{} to node {}", e.first_page, e.last_page, e.owner),
          fmt::format("the range has {} pages", window.pages),
          "list extents within the range, each with a node");
    }
  }
  set_policies(kernel, window, extents, report);
  mover mover(kernel, window, report);
  for (const extent& e : extents) {
    mover.move(e);
  }
  mover.flush();
  return report;
}

} // namespace nodewise::engine
