// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Cached files: found, moved and read, on a simulated kernel of two nodes and on real files.
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include <sys/fsuid.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "page_cache/locate.hpp"
#include "page_cache/move_pages.hpp"
#include "page_cache/warm.hpp"
#include "sys/file_window.hpp"
#include "unit/fake_kernel.hpp"

namespace nodewise::page_cache {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// Pages at the addresses 4096, 8192 and so on, all on node 0.
class PagesToMove : public testing::Test {
 protected:
  /// Gives up like Linux at the first group of pages with one node of which it cannot move all.
  class giving_up_kernel : public test::fake_kernel {
   public:
    using fake_kernel::fake_kernel;
    std::map<int, int> full; ///< node -> errno of the whole call
    std::set<std::uintptr_t> shared;
    int calls = 0;

    int move_pages(std::span<void* const> pages, std::span<const int> nodes,
                   std::span<int> status) override {
      ++calls;
      std::size_t first = 0;
      while (first < pages.size()) {
        std::size_t last = first;
        bool all = true;
        for (; last < pages.size() && nodes[last] == nodes[first]; ++last) {
          const auto page = reinterpret_cast<std::uintptr_t>(pages[last]);
          if (shared.contains(page)) {
            status[last] = -EACCES;
          } else if (stuck.contains(page) || full.contains(nodes[first])) {
            all = false;
          } else {
            page_nodes[page] = nodes[last];
          }
        }
        if (!all) {
          return full.contains(nodes[first]) ? full[nodes[first]] : 0;
        }
        for (; first < last; ++first) {
          status[first] = status[first] == -EACCES ? -EACCES : nodes[first];
        }
      }
      return 0;
    }
  };

  PagesToMove() {
    for (std::uintptr_t page = 1; page <= 8; ++page) {
      kernel_.page_nodes[page * 4096] = 0;
    }
  }

  static page_to_move page(std::uintptr_t number, int node) {
    return {reinterpret_cast<void*>(number * 4096), node}; // NOLINT(performance-no-int-to-ptr)
  }

  giving_up_kernel kernel_{node_set::range(node_id{0}, node_id{2})};
};

TEST_F(PagesToMove, AreWhereTheyShallBe) {
  const moved_pages done = move_pages(kernel_, {page(1, 1), page(2, 2), page(3, 1)}, false);
  EXPECT_EQ(done.moved, 3U);
  EXPECT_THAT(done.stayed, IsEmpty());
  EXPECT_EQ(kernel_.page_nodes[3 * 4096], 1);
  EXPECT_EQ(kernel_.calls, 1);
}

TEST_F(PagesToMove, StayWithAReasonAndDoNotKeepOthersBack) {
  kernel_.stuck = {4096};
  kernel_.shared = {4 * 4096};
  const moved_pages done =
      move_pages(kernel_, {page(1, 1), page(2, 1), page(3, 2), page(4, 2), page(5, 2)}, false);
  EXPECT_EQ(done.moved, 3U);
  EXPECT_THAT(done.stayed, ElementsAre(Pair(EACCES, 1U), Pair(EBUSY, 1U)));
  EXPECT_EQ(kernel_.page_nodes[2 * 4096], 1);
  EXPECT_EQ(kernel_.page_nodes[5 * 4096], 2);
}

TEST_F(PagesToMove, GoToOtherNodesIfOneIsFull) {
  kernel_.full[1] = ENOMEM;
  const moved_pages done = move_pages(kernel_, {page(1, 1), page(2, 2), page(3, 1)}, false);
  EXPECT_EQ(done.moved, 1U);
  EXPECT_THAT(done.stayed, ElementsAre(Pair(ENOMEM, 2U)));
}

TEST_F(PagesToMove, AllStayIfTheKernelRefusesTheCall) {
  kernel_.full[1] = EPERM;
  const moved_pages done = move_pages(kernel_, {page(1, 1), page(2, 2)}, false);
  EXPECT_EQ(done.moved, 0U);
  EXPECT_THAT(done.stayed, ElementsAre(Pair(EPERM, 2U)));
}

/// A file of 1 MiB and 100 bytes, each page with its number.
class CachedFile : public testing::Test {
 protected:
  static constexpr std::uint64_t size = (std::uint64_t{1} << 20) + 100;
  CachedFile() {
    std::string pattern = (std::filesystem::current_path() / "cached-XXXXXX").string();
    const int made = ::mkstemp(pattern.data());
    path_ = pattern;
    for (std::uint64_t at = 0; at < size; ++at) {
      text_.push_back(static_cast<char>('a' + at / page % 26));
    }
    EXPECT_EQ(::write(made, text_.data(), text_.size()), static_cast<ssize_t>(size));
    ::close(made);
    file_ = sys::cached_file::open(path_).value;
  }
  ~CachedFile() override { std::filesystem::remove(path_); }

  /// Whether none of it is cached now; a file system in memory keeps it.
  bool drop() {
    EXPECT_EQ(file_.write_out(), 0);
    EXPECT_EQ(file_.advise_unneeded(), 0);
    return file_.resident_bytes().value == 0;
  }
  [[nodiscard]] warm_request request() const {
    return {.owner = [](std::size_t) { return node_id{0}; },
            .memory = [](node_id node) { return sys::read_node_memory(sys::real_kernel(), node); },
            .done = {}};
  }
  [[nodiscard]] std::string contents() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::uint64_t page = sys::real_kernel().base_page_bytes();
  const std::uint64_t pages = (size + page - 1) / page;
  std::string path_;
  std::string text_;
  sys::cached_file file_;
};

TEST_F(CachedFile, IsFoundWithoutBeingRead) {
  const auto whole = locate(sys::real_kernel(), file_);
  ASSERT_EQ(whole.errno_value, 0);
  EXPECT_EQ(whole.value.bytes, size);
  EXPECT_EQ(whole.value.cached_pages(), pages);
  if (!drop()) {
    GTEST_SKIP() << "this file system is in memory";
  }
  for (int look = 0; look < 2; ++look) {
    const auto none = locate(sys::real_kernel(), file_);
    ASSERT_EQ(none.errno_value, 0);
    EXPECT_THAT(none.value.runs, ElementsAre(cached_run{pages, not_cached}));
  }
}

TEST_F(CachedFile, IsReadOnceAndKeepsItsContents) {
  if (!drop()) {
    GTEST_SKIP() << "this file system is in memory";
  }
  std::uint64_t reported = 0;
  warm_request how = request();
  how.done = [&](std::uint64_t bytes) { reported += bytes; };
  const auto first = warm(sys::real_kernel(), file_, how);
  ASSERT_EQ(first.errno_value, 0);
  EXPECT_EQ(first.value.read_bytes, pages * page);
  EXPECT_THAT(first.value.stayed, IsEmpty());
  EXPECT_EQ(reported, size);
  const auto second = warm(sys::real_kernel(), file_, how);
  EXPECT_EQ(second.value.read_bytes, 0U);
  EXPECT_EQ(contents(), text_);
}

TEST_F(CachedFile, IsNotReadIfMemoryIsFull) {
  if (!drop()) {
    GTEST_SKIP() << "this file system is in memory";
  }
  warm_request how = request();
  how.memory = [](node_id) {
    return sys::node_memory{std::uint64_t{1} << 30, std::uint64_t{16} << 20, 0, 0};
  };
  const auto done = warm(sys::real_kernel(), file_, how);
  ASSERT_EQ(done.errno_value, 0);
  EXPECT_EQ(done.value.read_bytes, 0U);
  EXPECT_THAT(done.value.stayed, ElementsAre(Pair(ENOMEM, pages)));
  EXPECT_EQ(file_.resident_bytes().value, 0U);
}

TEST_F(CachedFile, MayBecomeShorterWhileItIsMapped) {
  const auto window = sys::file_window::map(file_, 0, size);
  ASSERT_EQ(window.errno_value, 0);
  EXPECT_EQ(window.value.touch(0, pages), 0);
  ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(page)), 0);
  EXPECT_EQ(window.value.touch(0, 1), 0);
  EXPECT_EQ(window.value.touch(0, pages), EFAULT);
  EXPECT_EQ(window.value.touch_each(0, 1), 0);
  EXPECT_EQ(window.value.touch_each(0, pages), EFAULT);
  const auto nodes = nodes_of_window(sys::real_kernel(), window.value, false);
  ASSERT_EQ(nodes.errno_value, 0);
  EXPECT_NE(nodes.value[0], not_cached);
  EXPECT_EQ(nodes.value[1], not_cached);
  const auto done = warm(sys::real_kernel(), file_, request());
  EXPECT_EQ(done.errno_value, 0);
}

TEST_F(CachedFile, OfAnotherUserIsUnknown) {
  constexpr unsigned nobody = 65534;
  const int before = ::setfsuid(nobody); // of this thread; its capabilities over files go, too
  const auto found = locate(sys::real_kernel(), file_);
  const auto done = warm(sys::real_kernel(), file_, request());
  const int during = ::setfsuid(static_cast<uid_t>(before));
  if (during == 0) {
    GTEST_SKIP() << "root may not be nobody here";
  }
  ASSERT_EQ(found.errno_value, 0);
  EXPECT_FALSE(found.value.is_known);
  EXPECT_THAT(found.value.runs, IsEmpty());
  ASSERT_EQ(done.errno_value, 0);
  EXPECT_EQ(done.value.read_bytes, std::nullopt);
  EXPECT_THAT(done.value.stayed, IsEmpty());
}

TEST(Folder, IsNoCachedFile) {
  const auto none = sys::cached_file::open("/");
  EXPECT_EQ(none.errno_value, EISDIR);
}

} // namespace
} // namespace nodewise::page_cache
