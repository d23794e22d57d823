// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/front.hpp"

#include "agent/alloc/system_facts.hpp"
#include "agent/page.hpp"

namespace nodewise::agent {

char* map_behind_page(std::size_t bytes, std::size_t alignment) noexcept {
  // The page also prevents arrays whose addresses differ by a power of two. They would conflict in
  // the first-level caches of some processors.
  const std::size_t page = page_bytes();
  const std::size_t huge = huge_page_bytes();
  // A huge page that begins with the front would include the first pages of the object.
  const std::size_t slack = alignment > page ? alignment : huge != 0 ? page : 0;
  if (bytes > PTRDIFF_MAX - 2 * page || slack > PTRDIFF_MAX - 2 * page - bytes) {
    return nullptr;
  }
  bytes = round_up(bytes, page);
  char* const first =
      static_cast<char*>(sys::raw::map(page + bytes + slack, PROT_READ | PROT_WRITE, 0));
  if (first == nullptr) {
    return nullptr;
  }
  const std::size_t past = reinterpret_cast<std::size_t>(first + page) & (alignment - 1);
  std::size_t head = past == 0 ? 0 : alignment - past;
  if (alignment <= page && huge != 0) {
    head = reinterpret_cast<std::size_t>(first) % huge == 0 ? page : 0;
  }
  if (head != 0) {
    unmap(first, head);
  }
  if (slack != head) {
    unmap(first + head + page + bytes, slack - head);
  }
  return first + head + page;
}

} // namespace nodewise::agent
