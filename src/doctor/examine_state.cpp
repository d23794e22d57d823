// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "base/numbers.hpp"
#include "doctor/examine.hpp"
#include "doctor/settings.hpp"

namespace nodewise::doctor {

namespace {

/// A node is nearly full if free memory and evictable cache are less than this part of it: an array
/// spread evenly over the machine then hardly fits.
constexpr std::uint64_t nearly_full_part = 20;

/// Free pages of a node, of all its zones.
struct free_blocks {
  std::uint64_t pages = 0;
  std::uint64_t large_pages = 0; ///< of these, in blocks of at least a transparent huge page
};

/// Removes the next word from a line and returns it.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

/// Removes "Node 0, zone   Normal" from a line and returns the node; nullopt for anything else.
std::optional<node_id> take_zone(std::string_view& line) {
  if (next_word(line) != "Node") {
    return std::nullopt;
  }
  std::string_view node = next_word(line);
  node.remove_suffix(node.ends_with(',') ? 1 : 0);
  const auto id = parse_number<int>(node);
  const bool valid =
      id && *id >= 0 && *id <= max_id && next_word(line) == "zone" && !next_word(line).empty();
  return valid ? std::optional(node_id{*id}) : std::nullopt;
}

/// Pages that the kernel keeps free on each node before it falls back to another node, by the low
/// watermarks of its zones in /proc/zoneinfo; empty if that cannot be read.
std::map<node_id, std::uint64_t> read_low_watermarks(sys::kernel& from) {
  const auto text = from.read_file("/proc/zoneinfo");
  std::map<node_id, std::uint64_t> pages;
  std::optional<node_id> node;
  for (std::string_view line : split(text.value, '\n')) {
    if (line.starts_with("Node")) {
      node = take_zone(line);
    } else if (node && next_word(line) == "low") {
      pages[*node] += parse_number<std::uint64_t>(next_word(line)).value_or(0);
    }
  }
  return pages;
}

/// Adds a line "Node 0, zone   Normal   1   2 ...": numbers of free blocks of 1, 2, 4, ... pages.
/// False for anything else.
bool add_zone(std::map<node_id, free_blocks>& nodes, std::string_view line, unsigned large_order) {
  const auto node = take_zone(line);
  if (!node) {
    return false;
  }
  free_blocks& into = nodes[*node];
  unsigned order = 0;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line), ++order) {
    const auto blocks = parse_number<std::uint64_t>(word);
    constexpr unsigned most_order = 32;
    if (!blocks || *blocks >> 31 != 0 || order >= most_order) {
      return false;
    }
    const std::uint64_t pages = *blocks << order;
    into.pages += pages;
    into.large_pages += order >= large_order ? pages : 0;
  }
  return order > 0;
}

/// From /proc/buddyinfo; nullopt if it cannot be read or has an invalid line.
std::optional<std::map<node_id, free_blocks>> read_free_blocks(sys::kernel& from,
                                                               unsigned large_order) {
  const auto text = from.read_file("/proc/buddyinfo");
  if (!text) {
    return std::nullopt;
  }
  std::map<node_id, free_blocks> nodes;
  for (const std::string_view line : split(text.value, '\n')) {
    if (!line.empty() && !add_zone(nodes, line, large_order)) {
      return std::nullopt;
    }
  }
  return nodes;
}

class state_examiner {
 public:
  state_examiner(sys::kernel& from, const machine* here, const unused_costs& unused)
      : kernel_(from), here_(here), unused_(unused), allowed_(read_allowance(from)),
        settings_(read_settings(from)), low_watermarks_(read_low_watermarks(from)),
        zone_reclaim_(read_number(from, "/proc/sys/vm/zone_reclaim_mode", 0, 7)) {}

  std::vector<finding> all() {
    memory_policy();
    if (!allowed_.nodes_with_memory) {
      found_.push_back(unreadable("free_memory"));
      found_.push_back(unreadable("fragmentation"));
    }
    for (const node_id node : allowed_.nodes_with_memory.value_or(node_set{})) {
      free_memory(node);
    }
    fragmentation();
    firmware();
    return std::move(found_);
  }

 private:
  void add(finding f) { found_.push_back(std::move(f)); }
  [[nodiscard]] bool may_use(node_id node) const {
    const auto usable = allowed_.usable_nodes();
    return !usable || usable->contains(node);
  }

  void memory_policy() {
    using enum sys::policy;
    constexpr std::array<std::pair<sys::policy, const char*>, 7> words = {{
        {local, "local"},
        {preferred, "preferred"},
        {preferred_many, "preferred-many"},
        {bind, "bind"},
        {bind_and_balance, "bind"},
        {interleave, "interleave"},
        {weighted_interleave, "weighted-interleave"},
    }};
    const auto policy = kernel_.get_mempolicy();
    if (!policy) {
      add(unreadable("memory_policy"));
    } else if (policy.value == system_default) {
      add(fine("memory_policy", "default: a page goes to the node of the processor that touches it "
                                "first"));
    } else {
      const auto* const found =
          std::ranges::find(words, policy.value, &std::pair<sys::policy, const char*>::first);
      add(fine("memory_policy",
               fmt::format("{}, inherited by the programs that this process starts",
                           found == words.end() ? "unknown" : found->second)));
    }
  }

  void free_memory(node_id node) {
    const std::string name = fmt::format("free_memory_node_{}", node);
    const auto now = sys::read_node_memory(kernel_, node);
    if (!now) {
      add(unreadable(name));
      return;
    }
    const std::string found = fmt::format("{} of {}, page cache {}", mebibytes(now->free_bytes),
                                          mebibytes(now->total_bytes), mebibytes(now->cache_bytes));
    const std::uint64_t cache = now->evictable_bytes.value_or(0);
    const auto low = low_watermarks_.find(node);
    const std::uint64_t kept =
        low == low_watermarks_.end() ? 0 : low->second * settings_.page_bytes.value_or(0);
    const std::uint64_t free = now->free_bytes - std::min(kept, now->free_bytes);
    if (!may_use(node)) {
      add(fine(name, found + "; not available to this process"));
    } else if (free + cache < now->total_bytes / nearly_full_part) {
      add(doubtful(name, fmt::format("{}: nearly full, {}", found, beyond(free + cache)),
                   "numastat -m and, for each large process, nodewise pages PID show who uses it"));
    } else if (allowed_.several_nodes() && zone_reclaim_ == 0 && cache > free) {
      add(doubtful(name,
                   fmt::format("{}: more than half of the memory that programs could get is page "
                               "cache, and {}",
                               found, beyond(free)),
                   fmt::format("nodewise drop-cache --nodes {0} drops the cache; with nodewise run "
                               "--membind {0} the kernel reclaims memory from it",
                               node)));
    } else {
      add(fine(name, found));
    }
  }

  /// Describes where memory comes from when a node has only this much left.
  [[nodiscard]] std::string beyond(std::uint64_t left_bytes) const {
    return fmt::format("memory touched beyond {} {}", mebibytes(left_bytes),
                       allowed_.several_nodes() ? "comes from other nodes"
                       : settings_.swap_bytes.value_or(0) > 0
                           ? "causes swapping"
                           : "may make the kernel kill a program");
  }

  void fragmentation() {
    const std::size_t page = kernel_.base_page_bytes();
    const std::size_t huge = kernel_.thp_bytes();
    const bool sizes_known = page != 0 && huge >= page;
    const auto blocks =
        sizes_known
            ? read_free_blocks(kernel_, static_cast<unsigned>(std::bit_width(huge / page) - 1))
            : std::nullopt;
    for (const node_id node : allowed_.nodes_with_memory.value_or(node_set{})) {
      const std::string name = fmt::format("fragmentation_node_{}", node);
      const free_blocks here = blocks && blocks->contains(node) ? blocks->at(node) : free_blocks{};
      if (here.pages == 0) {
        add(unreadable(name));
        continue;
      }
      const std::string found = fmt::format("{} % of free memory is in blocks of {} KiB or more",
                                            here.large_pages * 100 / here.pages, huge >> 10);
      if (here.large_pages * 2 >= here.pages || settings_.thp == "never" || !may_use(node)) {
        add(fine(name, found));
      } else {
        add(doubtful(
            name,
            found + ": beyond these, the kernel must move other pages to make a huge page, "
                    "or makes none",
            fmt::format("as root: echo 1 > /sys/devices/system/node/node{}/compact", node)));
      }
    }
  }

  void firmware() {
    if (here_ == nullptr) {
      for (const char* const name :
           {"firmware_nodes", "distances", "measured_distances", "memory_of_processors"}) {
        add(unreadable(name));
      }
      return;
    }
    const auto command_line = kernel_.read_file("/proc/cmdline");
    add(examine_nodes(*here_, command_line.value));
    add(examine_distances(*here_));
    // The costs of a single node contradict nothing, but an unused file is worth a warning.
    if (here_->nodes.size() > 1 || !unused_.why.empty()) {
      add(examine_measured(*here_, unused_));
    }
    add(examine_reach(*here_, allowed_));
  }

  sys::kernel& kernel_;
  const machine* here_;
  const unused_costs& unused_;
  allowance allowed_;
  settings settings_;
  std::map<node_id, std::uint64_t> low_watermarks_;
  std::optional<long long> zone_reclaim_;
  std::vector<finding> found_;
};

} // namespace

std::vector<finding> examine_state(sys::kernel& from, const machine* here,
                                   const unused_costs& unused) {
  return state_examiner(from, here, unused).all();
}

} // namespace nodewise::doctor
