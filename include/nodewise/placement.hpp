// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Placing a range of memory by a distribution, moving what is already there, and asking the kernel
// where the pages are.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/distribution.hpp>
#include <nodewise/export.hpp>
#include <nodewise/id.hpp>

namespace nodewise::inline v0 {

/// What the kernel should back memory with.
enum class page_size {
  automatic, ///< transparent huge pages where every block spans at least 8 of them, else base
  base,      ///< the system's page, 4 KiB on x86-64, up to 64 KiB on AArch64
  transparent_huge, ///< huge pages if the kernel finds them, base pages otherwise
  huge_2m,          ///< reserved 2 MiB pages (vm.nr_hugepages); memory is populated at once
  huge_1g,          ///< reserved 1 GiB pages; memory is populated at once
};

/// What to do where the kernel refuses.
enum class strictness {
  prefer, ///< go on, and say so in the report
  must,   ///< throw `error`, naming the extent; policies are taken back, pages stay where they are
};

/// How memory is to be placed.
struct place_options {
  strictness how = strictness::prefer;
  page_size pages = page_size::automatic;
};

/// How a placement was brought about.
enum class place_method {
  policy,    ///< mbind of each extent: pages come to their node when first touched
  migration, ///< too many extents for policies: pages populated, then moved
  none,      ///< the kernel refused: pages come to the node of who touches them first
};

/// The name, as above.
[[nodiscard]] NODEWISE_API std::string_view to_string(place_method method) noexcept;
[[nodiscard]] NODEWISE_API std::string_view to_string(page_size pages) noexcept;

/// An extent that the kernel did not place, with its errno.
struct refusal {
  extent where;
  int errno_value = 0;
};

/// What was asked of the kernel, and what it answered.
struct placement {
  place_method method = place_method::none;
  std::size_t base_page_bytes = 0;
  /// Edges of extents are multiples of this address: the base page, or the huge page in force.
  std::size_t granule_bytes = 0;
  std::size_t pages = 0;          ///< base pages in the range
  std::vector<extent> asked;      ///< in base pages of the range, edges rounded to the granule
  std::vector<refusal> refused;   ///< empty if all went well
  std::vector<std::string> notes; ///< sentences about what is not as asked

  /// Whether the kernel placed everything.
  [[nodiscard]] bool complete() const noexcept {
    return method != place_method::none && refused.empty();
  }
};

/// How exactly the kernel could be asked where pages are.
enum class resolution {
  page,    ///< each page by itself
  mapping, ///< reduced: totals of whole mappings only (/proc/self/numa_maps)
  none,    ///< not at all: every resident page is `unknown`
};

/// Where the pages of a range are: asked against actual. Counts are base pages.
struct residency {
  /// How many pages a node holds.
  struct share {
    node_id node = unknown_node;
    std::size_t pages = 0;
  };

  std::size_t pages = 0;       ///< in the range
  std::size_t resident = 0;    ///< in memory
  std::size_t on_owner = 0;    ///< in memory, on the node that owns them
  std::size_t unknown = 0;     ///< in memory, but nobody can say whether on their owner
  std::vector<share> per_node; ///< ascending by node, only nodes that hold pages
  resolution exactness = resolution::none;

  /// Share of the resident pages that are on their owner's node, 0..1; nothing if no page is
  /// resident or none could be located.
  [[nodiscard]] std::optional<double> locality() const noexcept {
    if (resident <= unknown) {
      return std::nullopt;
    }
    return static_cast<double>(on_owner) / static_cast<double>(resident - unknown);
  }
};

/// What became of the pages that `migrate` was asked to move.
struct migration {
  std::size_t moved = 0;         ///< base pages now on their owner that were elsewhere
  std::size_t already_there = 0; ///< base pages that were on their owner before
  std::size_t not_resident = 0;  ///< not in memory: they follow the policy when touched
  std::vector<refusal> refused;  ///< runs of pages that stayed where they were
  std::vector<std::string> notes;
};

/// Lists the extents of a range of so many base pages.
using extent_source = std::function<std::vector<extent>(std::size_t pages)>;

/// Gives a range the distribution: pages to come by policy, pages in memory by moving them.
/// Contents do not change. Pages that the range covers only partly, at its ends, are left alone.
/// Throws `error` (usage) for extents that do not cover the range, and (system) if memory runs out;
/// with `must` also if the kernel refuses or a block is shorter than the page: the range then has
/// the default policy. Method: policies beat touch; past about 1 000 extents each policy would cost
/// a mapping of its own, so pages are populated and moved instead.
NODEWISE_API placement place_extents(std::span<std::byte> range, const extent_source& extents,
                                     place_options options = {});

/// The same by a distribution: `place(std::as_writable_bytes(std::span(v)), blocked(owners))`.
template <distribution D>
placement place(std::span<std::byte> range, const D& d, place_options options = {}) {
  return place_extents(range, [&d](std::size_t pages) { return d.extents(pages); }, options);
}

/// Moves the pages of a range in use to the nodes that `extents` (base pages of the range) names,
/// and lets pages that are not in memory yet follow. Contents do not change; other threads may go
/// on. Throws `error` (usage) for extents outside the range or without a node; what the kernel
/// refuses is in the result.
NODEWISE_API migration migrate_extents(std::span<std::byte> range, std::span<const extent> extents);

/// Brings the pages of a range into memory, also those that it covers only partly, as if the
/// calling thread had touched each: where they have no policy they come to its node. Contents do
/// not change. Twice as fast as touching. Throws `error` (system) if memory runs out.
NODEWISE_API void populate(std::span<std::byte> range);

/// Asks the kernel where the pages of a range are; about 0.13 us a page. Falls back by steps,
/// saying so in `exactness`; brings no page into memory.
[[nodiscard]] NODEWISE_API residency query_residency(std::span<const std::byte> range,
                                                     std::span<const extent> extents);

} // namespace nodewise::inline v0
