// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <charconv>
#include <map>

#include "doctor/allowance.hpp"
#include "doctor/examine.hpp"
#include "doctor/firmware.hpp"
#include "doctor/settings.hpp"
#include "doctor/text.hpp"
#include "sys/node_memory.hpp"

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

/// Removes the next line from a text and returns it.
std::string_view next_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

/// Removes the next word from a line and returns it.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

std::optional<std::uint64_t> number_in(std::string_view word) {
  std::uint64_t value = 0;
  const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  return code == std::errc{} && stop == word.data() + word.size() ? std::optional(value)
                                                                  : std::nullopt;
}

/// Removes "Node 0, zone   Normal" from a line and returns the node; nullopt for anything else.
std::optional<node_id> take_zone(std::string_view& line) {
  if (next_word(line) != "Node") {
    return std::nullopt;
  }
  std::string_view node = next_word(line);
  node.remove_suffix(node.ends_with(',') ? 1 : 0);
  const auto id = number_in(node);
  if (!id || *id > static_cast<std::uint64_t>(max_id) || next_word(line) != "zone" ||
      next_word(line).empty()) {
    return std::nullopt;
  }
  return node_id{static_cast<int>(*id)};
}

/// Pages that the kernel keeps free on each node before it falls back to another node, by the low
/// watermarks of its zones in /proc/zoneinfo; empty if that cannot be read.
std::map<node_id, std::uint64_t> read_low_watermarks(sys::kernel& from) {
  const auto text = from.read_file("/proc/zoneinfo");
  std::map<node_id, std::uint64_t> pages;
  std::optional<node_id> node;
  std::string_view rest = text.value;
  while (!rest.empty()) {
    std::string_view line = next_line(rest);
    if (line.starts_with("Node")) {
      node = take_zone(line);
    } else if (node && next_word(line) == "low") {
      pages[*node] += number_in(next_word(line)).value_or(0);
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
    const auto blocks = number_in(word);
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
  std::string_view rest = text.value;
  while (!rest.empty()) {
    if (!add_zone(nodes, next_line(rest), large_order)) {
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
    const std::string name = "memory_policy";
    const auto policy = kernel_.get_mempolicy();
    if (!policy) {
      add(unreadable(name));
      return;
    }
    const char* const inherited = ", inherited: what is started from here has it, too";
    const auto told = [&](const char* word) { add(fine(name, word + std::string(inherited))); };
    switch (policy.value) {
    case sys::policy::system_default:
      return add(fine(name, "default: on the node of the processor that touches first"));
    case sys::policy::local:
      return told("local");
    case sys::policy::preferred:
      return told("preferred");
    case sys::policy::preferred_many:
      return told("preferred-many");
    case sys::policy::bind:
    case sys::policy::bind_and_balance:
      return told("bind");
    case sys::policy::interleave:
      return told("interleave");
    case sys::policy::weighted_interleave:
      return told("weighted-interleave");
    }
    told("another");
  }

  void free_memory(node_id node) {
    const std::string number = std::to_string(to_int(node));
    const std::string name = "free_memory_node_" + number;
    const auto now = sys::read_node_memory(kernel_, node);
    if (!now) {
      add(unreadable(name));
      return;
    }
    const std::string found = mebibytes(now->free_bytes) + " of " + mebibytes(now->total_bytes) +
                              ", page cache " + mebibytes(now->cache_bytes);
    const std::uint64_t cache = now->evictable_bytes.value_or(0);
    const auto low = low_watermarks_.find(node);
    const std::uint64_t kept =
        low == low_watermarks_.end() ? 0 : low->second * settings_.page_bytes.value_or(0);
    const std::uint64_t free = now->free_bytes - std::min(kept, now->free_bytes);
    if (!may_use(node)) {
      add(fine(name, found + "; not for this process"));
    } else if (free + cache < now->total_bytes / nearly_full_part) {
      add(doubtful(name, found + ": nearly full, " + beyond(free + cache),
                   "numastat -m, and nodewise pages PID for each large process, show whose it is"));
    } else if (allowed_.several_nodes() && zone_reclaim_ == 0 && cache > free) {
      add(doubtful(
          name,
          found + ": more than half of what programs could have is page cache, and " + beyond(free),
          "nodewise sweep --nodes " + number + " empties the cache; with nodewise run --membind " +
              number + " the kernel takes memory back from it"));
    } else {
      add(fine(name, found));
    }
  }

  /// Says where memory comes from when a node has only this much left.
  [[nodiscard]] std::string beyond(std::uint64_t left_bytes) const {
    const std::string touched = "what is touched beyond " + mebibytes(left_bytes);
    if (allowed_.several_nodes()) {
      return touched + " comes from other nodes";
    }
    return touched + (settings_.swap_bytes.value_or(0) > 0
                          ? " has to be swapped for"
                          : " can end with the kernel's killing a program");
  }

  void fragmentation() {
    const node_set nodes = allowed_.nodes_with_memory.value_or(node_set{});
    const std::size_t page = kernel_.base_page_bytes();
    const std::size_t huge = kernel_.thp_bytes();
    const bool sizes_known = page != 0 && huge >= page;
    const auto blocks =
        sizes_known
            ? read_free_blocks(kernel_, static_cast<unsigned>(std::bit_width(huge / page) - 1))
            : std::nullopt;
    for (const node_id node : nodes) {
      const std::string number = std::to_string(to_int(node));
      const std::string name = "fragmentation_node_" + number;
      const auto at =
          blocks ? blocks->find(node) : std::map<node_id, free_blocks>::const_iterator{};
      if (!blocks || at == blocks->end() || at->second.pages == 0) {
        add(unreadable(name));
        continue;
      }
      const free_blocks& here = at->second;
      const std::string found = std::to_string(here.large_pages * 100 / here.pages) +
                                " % of free memory is in blocks of " + std::to_string(huge >> 10) +
                                " KiB or more";
      if (here.large_pages * 2 >= here.pages || settings_.thp == "never" || !may_use(node)) {
        add(fine(name, found));
      } else {
        add(doubtful(name,
                     found + ": memory beyond these gets huge pages only after the kernel has "
                             "moved others, or none",
                     "as root: echo 1 > /sys/devices/system/node/node" + number + "/compact"));
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
