// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Places a range of memory by a distribution, migrates pages that are in memory, and asks the
// kernel where pages are.
//
//     #include <nodewise/team_layout.hpp>
//
//     const nodewise::team_layout team(nodewise::topology::system(), nodewise::bind_policy::close);
//     std::vector<double> v(1 << 20, 1.0); // all pages are on the node of this thread
//     const std::span<std::byte> bytes = std::as_writable_bytes(std::span(v));
//     const auto placed = nodewise::place(bytes, nodewise::blocked(team.owners()));
//     const auto found = nodewise::query_residency(bytes, placed.asked);
//     std::printf("%zu of %zu pages are on their owner\n", found.on_owner, found.pages);
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/distribution.hpp>

namespace nodewise::inline v0 {

/// The page size that the kernel should use for memory.
enum class page_size {
  automatic,        ///< transparent huge pages if every block spans at least 8 of them, else base
  base,             ///< the system's page, 4 KiB on x86-64, up to 64 KiB on AArch64
  transparent_huge, ///< huge pages if the kernel has them, base pages otherwise
  huge_2m,          ///< reserved 2 MiB pages (vm.nr_hugepages); memory is populated at once
  huge_1g,          ///< reserved 1 GiB pages; memory is populated at once
};

/// What to do if the kernel refuses to place memory.
enum class strictness {
  prefer, ///< go on, and report it in the result
  must,   ///< throw `error` that names the extent; policies are reset, pages stay where they are
};

/// Options of a placement.
struct place_options {
  strictness how = strictness::prefer;
  page_size pages = page_size::automatic;
};

/// The method by which memory was placed.
enum class place_method {
  policy,    ///< mbind for each extent: first touch allocates a page on its owner's node
  migration, ///< too many extents for policies: pages were populated, then moved
  none,      ///< the kernel refused: pages go to the node of the thread that touches them first
};

/// Returns the name of the method or page size.
[[nodiscard]] NODEWISE_API std::string_view to_string(place_method method) noexcept;
[[nodiscard]] NODEWISE_API std::string_view to_string(page_size pages) noexcept;

/// An extent that the kernel did not place, and the errno.
struct refusal {
  extent where;
  int errno_value = 0;
};

/// A placement: what was requested of the kernel, and what it refused.
struct placement {
  place_method method = place_method::none;
  std::size_t base_page_bytes = 0;
  /// Edges of extents are at multiples of this address: the base page, or the huge page used.
  std::size_t granule_bytes = 0;
  std::size_t pages = 0;          ///< base pages in the range
  std::vector<extent> asked;      ///< in base pages of the range, edges rounded to the granule
  std::vector<refusal> refused;   ///< empty if all went well
  std::vector<std::string> notes; ///< sentences on what differs from the request

  /// Whether the kernel placed everything.
  [[nodiscard]] bool complete() const noexcept {
    return method != place_method::none && refused.empty();
  }
};

/// How exactly the kernel reports where pages are.
enum class resolution {
  page,    ///< for each page
  mapping, ///< reduced: totals of whole mappings only (/proc/self/numa_maps)
  none,    ///< not at all: every resident page is `unknown`
};

/// Where the pages of a range are, compared with its distribution. Counts are base pages.
struct residency {
  /// The number of pages that a node holds.
  struct share {
    node_id node = unknown_node;
    std::size_t pages = 0;
  };

  std::size_t pages = 0;       ///< in the range
  std::size_t resident = 0;    ///< in memory
  std::size_t on_owner = 0;    ///< in memory, on the node that owns them
  std::size_t unknown = 0;     ///< in memory, but it is not known whether on their owner
  std::vector<share> per_node; ///< ascending by node, only nodes that hold pages
  resolution exactness = resolution::none;

  /// Returns the share of the located pages that are on their owner's node, 0..1; nullopt if no
  /// page is resident or none could be located.
  [[nodiscard]] std::optional<double> locality() const noexcept {
    if (resident <= unknown) {
      return std::nullopt;
    }
    return static_cast<double>(on_owner) / static_cast<double>(resident - unknown);
  }
};

/// The result of migrating pages.
struct migration {
  std::size_t moved = 0;         ///< base pages that were moved to their owner
  std::size_t already_there = 0; ///< base pages that were on their owner already
  std::size_t not_resident = 0;  ///< not in memory: they follow the policy when touched
  std::vector<refusal> refused;  ///< runs of pages that stayed where they were
  std::vector<std::string> notes;
};

/// A function that returns the extents of a range of `pages` base pages.
using extent_source = std::function<std::vector<extent>(std::size_t pages)>;

/// Places a range: sets policies for pages that are allocated later, and moves pages in memory.
/// Contents do not change. Pages that are only partly in the range, at its ends, are left alone.
/// Throws `error`: (usage) if the extents do not cover the range or `options` names reserved huge
/// pages, (system) if memory runs out. With `must` also (usage) if a block is shorter than a page,
/// and (system) if the kernel refuses; the range then has the default policy. Each policy costs a
/// mapping, so past about 1 000 extents pages are populated and moved instead.
NODEWISE_API placement place_extents(std::span<std::byte> range, const extent_source& extents,
                                     place_options options = {});

/// The same with a distribution: `place(std::as_writable_bytes(std::span(v)), blocked(owners))`.
template <distribution D>
placement place(std::span<std::byte> range, const D& d, place_options options = {}) {
  return place_extents(range, [&d](std::size_t pages) { return d.extents(pages); }, options);
}

/// Migrates the pages of a range to the nodes that `extents` names, in base pages of the range, and
/// sets policies for pages that are not in memory yet. Contents do not change; other threads may
/// use the range meanwhile. Throws `error` (usage) for extents outside the range or without a node.
/// The result lists what the kernel refused.
NODEWISE_API migration migrate_extents(std::span<std::byte> range, std::span<const extent> extents);

/// Allocates the pages of a range, also those that are only partly in it, as if the calling thread
/// had touched each: pages without a policy go to its node. Contents do not change. Twice as fast
/// as touching. Throws `error` (system) if memory runs out.
NODEWISE_API void populate(std::span<std::byte> range);

/// Asks the kernel where the pages of a range are, and compares that with `extents`. Takes about
/// 0.13 us per page and allocates no page. If the kernel refuses, falls back to less exact methods
/// and reports that in `exactness`.
[[nodiscard]] NODEWISE_API residency query_residency(std::span<const std::byte> range,
                                                     std::span<const extent> extents);

} // namespace nodewise::inline v0
