// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Random trees of tasks, with homes, exceptions and cancellation.
#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

#include <nodewise/tasks.hpp>

namespace nodewise::test {

class random_tree {
 public:
  struct thrown : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  /// `with_failures`: some tasks throw, and some cancel their group.
  random_tree(unsigned seed, bool with_failures) : seed_(seed), with_failures_(with_failures) {}

  void grow(task_group& root) {
    root.spawn([this, of = counted(*this)] { grow(1, 0); });
  }
  /// Tasks whose functions exist now.
  [[nodiscard]] std::int64_t alive() const noexcept { return alive_; }
  [[nodiscard]] std::int64_t spawned() const noexcept { return spawned_; }
  [[nodiscard]] std::int64_t ran() const noexcept { return ran_; }

 private:
  /// Part of each task's function.
  class counted {
   public:
    explicit counted(random_tree& of) : of_(&of) {
      ++of.alive_;
      ++of.spawned_;
    }
    counted(const counted& other) : of_(other.of_) { ++of_->alive_; }
    counted(counted&& other) noexcept : counted(static_cast<const counted&>(other)) {}
    counted& operator=(const counted&) = delete;
    ~counted() { --of_->alive_; }

   private:
    random_tree* of_;
  };

  void grow(std::uint64_t path, int depth) {
    ++ran_;
    // Which worker runs a task does not change the tree.
    std::mt19937_64 random(seed_ * 1000003U + path);
    if (with_failures_ && random() % 64 == 0) {
      throw thrown("in a tree");
    }
    if (depth == 7) {
      return;
    }
    const bool catches = random() % 2 == 0;
    const bool waits = random() % 8 != 0; // else the destructor cancels
    task_group children;
    const std::uint64_t count = random() % 5;
    for (std::uint64_t k = 0; k < count; ++k) {
      const std::uint64_t child = 8 * path + k;
      auto task = [this, child, depth, of = counted(*this)] { grow(child, depth + 1); };
      if (random() % 2 == 0) {
        children.spawn(std::move(task));
      } else {
        children.spawn(node_id{static_cast<int>(random() % 6)}, std::move(task));
      }
    }
    if (with_failures_ && random() % 32 == 0) {
      children.cancel();
    }
    if (!waits && with_failures_) {
      return;
    }
    try {
      children.wait();
    } catch (const thrown&) {
      if (!catches) {
        throw;
      }
    }
  }

  unsigned seed_;
  bool with_failures_;
  std::atomic<std::int64_t> alive_{0};
  std::atomic<std::int64_t> spawned_{0};
  std::atomic<std::int64_t> ran_{0};
};

/// Grows a tree that fails, and the same without failures.
template <class Teams>
void run_random_tree(Teams& teams, unsigned seed, steal across) {
  for (const bool with_failures : {true, false}) {
    random_tree tree(seed, with_failures);
    task_statistics done;
    try {
      done = run_tasks(teams, [&](task_group& root) { tree.grow(root); }, {across});
      EXPECT_EQ(done.tasks(), static_cast<std::uint64_t>(tree.ran()));
      EXPECT_EQ(done.tasks() + done.dropped, static_cast<std::uint64_t>(tree.spawned()));
    } catch (const random_tree::thrown&) {
      EXPECT_TRUE(with_failures);
    }
    EXPECT_EQ(tree.alive(), 0) << "seed " << seed;
    EXPECT_EQ(with_failures || done.dropped == 0, true);
  }
}

} // namespace nodewise::test
