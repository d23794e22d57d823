// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "place/engine.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>

#include <sys/mman.h>

#include <fmt/core.h>

namespace nodewise::engine {

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

std::uintptr_t address(const void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// The hint for an errno of a placement call.
const char* hint_for(int errno_value) {
  switch (errno_value) {
  case EPERM:
  case ENOSYS:
    return "allow mbind and move_pages: a container needs CAP_SYS_NICE for mbind, and a seccomp "
           "profile that permits it for move_pages; `nodewise doctor` shows what is refused";
  case EINVAL:
    return "name nodes that exist, have memory and are in this process's cpuset (`nodewise topo`)";
  case ENOMEM:
    return "free memory on the node, or raise vm.max_map_count";
  default:
    return "`nodewise doctor` shows what this system permits";
  }
}

[[noreturn]] void refuse(const char* call, const refusal& what) {
  throw error(error_kind::system, fmt::format("{} of {}", call, describe(what.where)), "",
              hint_for(what.errno_value), what.errno_value);
}

void require_cover(std::span<const extent> extents, std::size_t pages) {
  std::size_t next = 0;
  for (const extent& e : extents) {
    if (e.first_page != next || e.last_page <= e.first_page || to_int(e.owner) < 0) {
      break;
    }
    next = e.last_page;
  }
  if (next != pages) {
    throw error(error_kind::usage, fmt::format("placing a range of {} pages", pages),
                fmt::format("the extents cover pages 0..{} only", next),
                "list extents in ascending order, without gaps, to the end of the range");
  }
}

/// Blocks shorter than the page would lose their owners. Falls back to base pages, unless `how` is
/// `must` or the range is mapped from reserved huge pages.
void give_up_rounding(strictness how, const page_window& window, std::vector<extent> asked,
                      page_choice& choice, placement& report) {
  const std::string what = fmt::format("blocks of {} extents, some shorter than a page of {} bytes",
                                       asked.size(), choice.granule_bytes);
  if (how == strictness::must) {
    throw error(error_kind::usage, what, "such a page cannot be divided among nodes",
                "ask for base pages or longer blocks");
  }
  if (reserved_page_bytes(choice.pages) != 0) {
    choice.notes.push_back(
        fmt::format("{}: rounded to whole pages, so that some owners hold nothing", what));
    return;
  }
  choice.notes.push_back(fmt::format("{}: base pages instead", what));
  choice.pages = page_size::base;
  choice.granule_bytes = window.page_bytes;
  report.asked = std::move(asked);
}

void advise_pages(sys::kernel& kernel, const page_window& window, page_size pages,
                  placement& report) {
  if (reserved_page_bytes(pages) != 0 || kernel.thp_bytes() == 0) {
    return;
  }
  const int advice = pages == page_size::transparent_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
  const auto bytes = window.pages * window.page_bytes;
  if (const int failed = kernel.madvise(window.start, bytes, advice); failed != 0) {
    report.notes.push_back(fmt::format(
        "madvise({}) failed: {}", advice == MADV_HUGEPAGE ? "MADV_HUGEPAGE" : "MADV_NOHUGEPAGE",
        errno_text(failed)));
  }
}

void place_by_policy(sys::kernel& kernel, const page_window& window, strictness how,
                     placement& report) {
  const auto mode = how == strictness::must ? sys::policy::bind : sys::policy::preferred;
  for (const extent& e : report.asked) {
    const auto bytes = window.bytes_of(e);
    // Pages already in memory are moved, too; fresh memory has none, and looking for them is cheap.
    const int failed = kernel.mbind(bytes.data(), bytes.size(), mode, {e.owner},
                                    sys::mbind_move | sys::mbind_strict);
    if (failed == 0) {
      continue;
    }
    report.refused.push_back({e, failed});
    if (how == strictness::must) {
      kernel.mbind(window.start, window.pages * window.page_bytes, sys::policy::system_default, {},
                   0);
      refuse("mbind", report.refused.back());
    }
  }
  report.method =
      report.refused.size() == report.asked.size() ? place_method::none : place_method::policy;
}

void place_by_migration(sys::kernel& kernel, const page_window& window, strictness how,
                        placement& report) {
  const std::span<std::byte> bytes(window.start, window.pages * window.page_bytes);
  if (const int failed = populate(kernel, bytes, window.page_bytes); failed != 0) {
    throw error(error_kind::system, fmt::format("memory for {} pages", window.pages), "",
                "ask for less, or free memory", failed);
  }
  migration moved = migrate_extents(kernel, bytes, report.asked);
  report.refused = std::move(moved.refused);
  if (!report.refused.empty() && how == strictness::must) {
    refuse("move_pages", report.refused.front());
  }
  report.notes.insert(report.notes.end(), moved.notes.begin(), moved.notes.end());
  report.method =
      moved.moved + moved.already_there == 0 ? place_method::none : place_method::migration;
}

} // namespace

page_window whole_pages(std::span<std::byte> range, std::size_t page_bytes) {
  const std::uintptr_t first = (address(range.data()) + page_bytes - 1) / page_bytes * page_bytes;
  const std::uintptr_t last = (address(range.data()) + range.size()) / page_bytes * page_bytes;
  return {range.data() + (first - address(range.data())),
          last > first ? (last - first) / page_bytes : 0, page_bytes};
}

std::vector<extent> round_edges(std::vector<extent> extents, const page_window& window,
                                std::size_t granule_bytes) {
  if (granule_bytes <= window.page_bytes) {
    return extents;
  }
  const std::uintptr_t start = address(window.start);
  const auto rounded = [&](std::size_t page) {
    if (page == 0 || page == window.pages) {
      return page;
    }
    const std::uintptr_t edge = start + page * window.page_bytes;
    const std::uintptr_t to = (edge + granule_bytes / 2) / granule_bytes * granule_bytes;
    return to <= start ? 0 : std::min((to - start) / window.page_bytes, window.pages);
  };
  std::vector<extent> result;
  for (const extent& e : extents) {
    detail::append(result, {rounded(e.first_page), rounded(e.last_page)}, e.owner);
  }
  return result;
}

std::size_t reserved_page_bytes(page_size pages) noexcept {
  switch (pages) {
  case page_size::huge_2m:
    return 2 * mib;
  case page_size::huge_1g:
    return 1024 * mib;
  default:
    return 0;
  }
}

page_choice choose_pages(sys::kernel& kernel, page_size asked, std::span<const extent> extents,
                         std::size_t page_bytes) {
  if (const std::size_t reserved = reserved_page_bytes(asked); reserved != 0) {
    return {asked, reserved, {}};
  }
  const page_choice base{page_size::base, page_bytes, {}};
  if (asked == page_size::base) {
    return base;
  }
  const std::size_t thp = kernel.thp_bytes();
  const page_choice huge{page_size::transparent_huge, thp, {}};
  if (asked == page_size::transparent_huge) {
    return thp != 0 ? huge
                    : page_choice{page_size::base,
                                  page_bytes,
                                  {"this kernel has no transparent huge pages: base pages"}};
  }
  const std::size_t shortest = std::ranges::min(extents, {}, &extent::pages).pages();
  return arithmetic::huge_pages_fit(std::min(shortest, SIZE_MAX / page_bytes) * page_bytes, thp)
             ? huge
             : base;
}

std::size_t policy_extent_limit(sys::kernel& kernel) {
  const auto text = kernel.read_file("/proc/sys/vm/max_map_count");
  std::size_t max_map_count = 65530; // the kernel's default, used if /proc is hidden
  std::from_chars(text.value.data(), text.value.data() + text.value.size(), max_map_count);
  return std::min(max_policy_extents, max_map_count / 4);
}

std::string describe(const extent& e) {
  return fmt::format("pages {}..{} on node {}", e.first_page, e.last_page, e.owner);
}

std::uint64_t next_placement_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

int give_back(sys::kernel& kernel, void* start, std::size_t bytes) noexcept {
  int failed = EINVAL;
  std::size_t whole = bytes;
  // The mapping may have fallen back from reserved huge pages. The kernel refuses (EINVAL) to cut a
  // reserved huge page, so the first length that it accepts is the one that was mapped.
  for (const std::size_t page : {kernel.base_page_bytes(), reserved_page_bytes(page_size::huge_2m),
                                 reserved_page_bytes(page_size::huge_1g)}) {
    whole = (bytes + page - 1) / page * page;
    failed = kernel.unmap(start, whole);
    if (failed != EINVAL) {
      break;
    }
  }
  if (failed == ENOMEM) {
    (void)kernel.madvise(start, whole, MADV_DONTNEED); // the ENOMEM is reported
  }
  return failed;
}

int populate(sys::kernel& kernel, std::span<std::byte> range, std::size_t page_bytes) {
  const int failed = kernel.madvise(range.data(), range.size(), MADV_POPULATE_WRITE);
  if (failed != EINVAL && failed != EPERM && failed != ENOSYS) {
    return failed;
  }
  // Before Linux 5.14, or if refused: touch each page. An OR with 0 keeps the contents even while
  // other threads write.
  for (std::size_t at = 0; at < range.size(); at += page_bytes) {
    __atomic_fetch_or(reinterpret_cast<unsigned char*>(range.data() + at), 0, __ATOMIC_RELAXED);
  }
  return 0;
}

placement place_extents(sys::kernel& kernel, std::span<std::byte> range,
                        const extent_source& extents, place_options options) {
  placement report;
  report.base_page_bytes = kernel.base_page_bytes();
  const page_window window = whole_pages(range, report.base_page_bytes);
  report.pages = window.pages;
  if (window.pages == 0) {
    report.notes.emplace_back("the range holds no whole page: nothing to place");
    return report;
  }
  std::vector<extent> asked = extents(window.pages);
  require_cover(asked, window.pages);

  page_choice choice = choose_pages(kernel, options.pages, asked, report.base_page_bytes);
  report.asked = round_edges(asked, window, choice.granule_bytes);
  if (report.asked.size() < asked.size()) {
    give_up_rounding(options.how, window, std::move(asked), choice, report);
  }
  report.granule_bytes = choice.granule_bytes;
  report.notes = std::move(choice.notes);
  advise_pages(kernel, window, choice.pages, report);
  if (report.asked.size() <= policy_extent_limit(kernel)) {
    place_by_policy(kernel, window, options.how, report);
  } else {
    place_by_migration(kernel, window, options.how, report);
  }
  return report;
}

} // namespace nodewise::engine

// The public functions: they call the engine with the running kernel.
namespace nodewise::inline v0 {

namespace {

/// The name of a value of an enumeration, from names in its order.
template <class Enumeration>
std::string_view name_of(Enumeration value,
                         std::initializer_list<std::string_view> names) noexcept {
  const auto at = static_cast<std::size_t>(value);
  return at < names.size() ? names.begin()[at] : "unknown";
}

} // namespace

std::string_view to_string(place_method method) noexcept {
  return name_of(method, {"policy", "migration", "none"});
}

std::string_view to_string(page_size pages) noexcept {
  return name_of(pages, {"automatic", "base", "transparent huge", "2 MiB", "1 GiB"});
}

placement place_extents(std::span<std::byte> range, const extent_source& extents,
                        place_options options) {
  if (engine::reserved_page_bytes(options.pages) != 0) {
    throw error(error_kind::usage, "placing existing memory on reserved huge pages",
                "memory gets its page size when it is mapped", "make a nodewise::region instead");
  }
  return engine::place_extents(sys::real_kernel(), range, extents, options);
}

migration migrate_extents(std::span<std::byte> range, std::span<const extent> extents) {
  return engine::migrate_extents(sys::real_kernel(), range, extents);
}

void populate(std::span<std::byte> range) {
  sys::kernel& kernel = sys::real_kernel();
  const std::size_t page_bytes = kernel.base_page_bytes();
  const std::size_t before = reinterpret_cast<std::uintptr_t>(range.data()) % page_bytes;
  const std::size_t bytes = (before + range.size() + page_bytes - 1) / page_bytes * page_bytes;
  const int failed = engine::populate(kernel, {range.data() - before, bytes}, page_bytes);
  if (failed != 0) {
    throw error(error_kind::system, fmt::format("memory for {} bytes", range.size()),
                "populating them", "ask for less, or free memory on the nodes that were asked",
                failed);
  }
}

residency query_residency(std::span<const std::byte> range, std::span<const extent> extents) {
  return engine::query_residency(sys::real_kernel(), range, extents);
}

} // namespace nodewise::inline v0
