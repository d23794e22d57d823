// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A task: a function to call once, for a group, with a home.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <nodewise/cache_aligned.hpp>

namespace nodewise::inline v0 {
class task_group;
}

namespace nodewise::inline v0::detail {

class task_worker;

/// A task in a block of its own. A function that does not fit is on the heap, and the block has its
/// address.
struct alignas(cache_aligned_bytes) task {
  static constexpr std::size_t room = 72;

  /// What happens to the function. It is destroyed in both cases, even if it throws.
  enum class fate { run, drop };

  task* next = nullptr;     ///< in the queue of a team, or among free blocks
  task* previous = nullptr; ///< in the queue of a team
  task_group* group = nullptr;
  task_worker* owner = nullptr; ///< gets the block back; nullptr: from `operator new`
  void (*settle)(task&, fate) = nullptr;
  std::uint32_t home = 0; ///< the team's number, or `no_home`
  alignas(void*) std::byte function[room];

  template <class F>
  void hold(F&& f) {
    using function_type = std::remove_cvref_t<F>;
    if constexpr (sizeof(function_type) <= room && alignof(function_type) <= alignof(void*)) {
      ::new (static_cast<void*>(function)) function_type(std::forward<F>(f));
      settle = &settle_function<function_type>;
    } else {
      hold([large = std::make_unique<function_type>(std::forward<F>(f))] { (*large)(); });
    }
  }

 private:
  template <class F>
  static void settle_function(task& of, fate what) {
    struct destroyed {
      F& f;
      ~destroyed() { f.~F(); }
    } here{*std::launder(reinterpret_cast<F*>(of.function))};
    if (what == fate::run) {
      here.f();
    }
  }
};
static_assert(sizeof(task) == cache_aligned_bytes);

} // namespace nodewise::inline v0::detail
