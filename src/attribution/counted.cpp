// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "attribution/counted.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "attribution/page_runs.hpp"
#include "base/path.hpp"
#include "traffic/summary.hpp"

namespace nodewise::attribution {

namespace {

constexpr std::uint64_t first_unasked_id = std::uint64_t{1} << 61U;

/// The agent gives the counter an object's id: its process, which a forked process inherits, and
/// its number in that process.
std::uint64_t counted_id(int pid, std::uint64_t number) {
  return static_cast<std::uint64_t>(pid) << 32U | number;
}

profile::object_kind kind_of(const traffic::mapping& what) {
  if (what.name.starts_with("[stack")) {
    return profile::object_kind::stack;
  }
  return what.name.starts_with('/') ? profile::object_kind::file : profile::object_kind::other;
}

profile::object_kind profile_kind(traffic::object_kind what) {
  using enum profile::object_kind;
  constexpr std::array kinds = {heap, map, static_array, group, region, file, other};
  return kinds[static_cast<std::size_t>(what)];
}

/// Leaves out what only the agent's report has.
profile::object object_of(const traffic::object& what, std::uint64_t page_bytes) {
  profile::object made;
  made.id = what.id & 0xffffffffU; // the upper half is the process
  made.kind = profile_kind(what.kind);
  made.name = what.name;
  made.start = what.start;
  made.bytes = what.bytes;
  made.pages = what.bytes == 0
                   ? 0
                   : (what.start + what.bytes - 1) / page_bytes - what.start / page_bytes + 1;
  made.live_at_end = !what.freed;
  return made;
}

class addition {
 public:
  addition(profile::profile& whole, profile::program& into, const traffic::counts& from,
           traffic::process_key key)
      : whole_(whole), into_(into), from_(from), key_(key), names_(from) {}

  void run() {
    into_.use_from = profile::use_source::traffic_count;
    into_.use_unit_bytes = static_cast<double>(from_.line_bytes);
    add_threads();
    begun_.emplace(from_, key_, threads_);
    add_objects();
    add_rest();
    add_contested_variables();
  }

 private:
  /// First touches show where a thread initialised, perhaps before it was bound. Where it worked is
  /// more reliable.
  void add_threads() {
    constexpr std::uint64_t enough = 64; // lines
    for (const traffic::thread& each : from_.threads) {
      if (each.pid != key_) {
        continue;
      }
      const auto same = std::find_if(into_.threads.rbegin(), into_.threads.rend(),
                                     [&](const profile::thread& t) { return t.tid == each.tid; });
      if (each.tid != 0 && same != into_.threads.rend()) {
        threads_.push_back(static_cast<profile::thread_index>(into_.threads.rend() - same - 1));
      } else {
        into_.threads.emplace_back().tid = each.tid;
        threads_.push_back(into_.threads.size() - 1);
      }
      std::uint64_t sum = 0;
      std::vector<profile::thread::stay> stays;
      for (const traffic::thread::stay& stay : each.stays) {
        stays.push_back({stay.node, stay.lines});
        sum += stay.lines;
      }
      profile::thread& thread = into_.threads[threads_.back()];
      thread.instructions = each.instructions;
      if (sum >= enough) {
        thread.stays = std::move(stays);
      }
    }
  }

  [[nodiscard]] bool knows_threads(const traffic::user_run& run) const {
    return std::ranges::all_of(
        run.by, [&](const traffic::thread_lines& each) { return each.thread < threads_.size(); });
  }

  void add_objects() {
    std::map<traffic::object_id, page_uses> uses;
    for (const traffic::user_run& run : from_.page_users) {
      if (run.pid == key_ && run.object && knows_threads(run)) {
        uses[*run.object].add(run, run.first, threads_);
      }
    }
    for (profile::object& object : into_.objects) {
      object.uses.clear(); // samples are less precise than the count
      grow(object);
      const auto found = uses.find(counted_id(into_.pid, object.id));
      if (found != uses.end()) {
        take(found->second, object);
      }
      add_lines(object);
      add_code(object);
    }
  }

  /// A group is reported when its first block is freed; other blocks may be allocated later.
  void grow(profile::object& into) const {
    const traffic::object* const known =
        into.kind == profile::object_kind::group
            ? from_.find_object(key_, counted_id(into_.pid, into.id))
            : nullptr;
    if (known != nullptr && known->bytes > into.bytes) {
      into.bytes = known->bytes;
      into.pages = std::max(into.pages, (known->bytes + from_.page_bytes - 1) / from_.page_bytes);
    }
  }

  void take(const page_uses& from, profile::object& into) {
    const auto is_outside = [&](const auto& run) { return run.first + run.count > into.pages; };
    into.uses = from.runs();
    std::erase_if(into.uses, is_outside);
    into.where = from.residence(into.where);
    std::erase_if(into.where, is_outside);
    whole_.seen.pages_moved += from.moved;
  }

  /// Lines written per line used; without an object, in memory outside all objects.
  [[nodiscard]] double write_share_of(std::optional<traffic::object_id> object,
                                      traffic::phase when) const {
    traffic::volume used;
    for (const traffic::object_traffic& each : from_.by_object) {
      if (each.pid == key_ && each.object == object && each.when == when) {
        used += each.lines;
      }
    }
    return used.asked() == 0 ? 0
                             : static_cast<double>(used.write_backs + used.streams) /
                                   static_cast<double>(used.asked());
  }

  void add_lines(profile::object& into) {
    const std::uint64_t id = counted_id(into_.pid, into.id);
    into.write_share = write_share_of(id, traffic::phase::use);
    into.initialised = begun_->of(id, 0, into.pages);
    into.initialised_write_share = write_share_of(id, traffic::phase::initialisation);
    // A killed program was not queried for its pages.
    into.resident = std::max({into.resident, pages_in(into.initialised), pages_in(into.uses)});
    add_contested(id, into);
  }

  void add_contested(std::optional<traffic::object_id> id, profile::object& into) {
    for (const traffic::shared_line& each : from_.shared) {
      const bool in_it = each.pid == key_ && each.object == id && each.address >= into.start &&
                         each.address - into.start < into.bytes;
      if (in_it && (id || !names_.variable_at(key_, each.address))) {
        into.contested.push_back(line_of(each, into.start));
      }
    }
  }

  profile::contested_line line_of(const traffic::shared_line& what, std::uint64_t start) {
    return {what.address > start ? what.address - start : 0,
            what.transfers,
            what.writers.size(),
            what.overlap,
            what.rewrites,
            what.pc != 0 ? std::optional(frame_at(what.pc)) : std::nullopt};
  }

  /// Static variables that are too small for their own object and whose parts processors write in
  /// turn.
  void add_contested_variables() {
    std::map<std::uint64_t, profile::object> by_start;
    for (const traffic::shared_line& each : from_.shared) {
      const bool may_be = each.pid == key_ && !each.object && !each.overlap;
      const auto in = may_be ? names_.variable_at(key_, each.address) : std::nullopt;
      if (!in) {
        continue;
      }
      profile::object& made = by_start[in->start];
      made.kind = profile::object_kind::static_array;
      made.name = in->name;
      made.start = in->start;
      made.bytes = in->bytes;
      made.live_at_end = true;
      made.contested.push_back(line_of(each, in->start));
      if (made.contested.back().written_at) {
        made.used_at.push_back({*made.contested.back().written_at,
                                static_cast<double>(each.transfers + each.rewrites)});
      }
    }
    for (auto& [start, object] : by_start) {
      const std::uint64_t page = from_.page_bytes;
      const profile::contested_line& worst = object.contested.front();
      if (worst.transfers + worst.rewrites < 100) {
        continue; // as when a program starts its threads
      }
      object.id = next_id_++;
      object.pages = object.resident = (start + object.bytes - 1) / page - start / page + 1;
      into_.objects.push_back(std::move(object));
    }
  }

  void add_code(profile::object& into) {
    constexpr std::size_t most = 16;
    into.used_at.clear();
    for (const traffic::code_use& each : from_.object_code) {
      if (each.pid == key_ && each.object == counted_id(into_.pid, into.id)) {
        into.used_at.push_back({frame_at(each.pc), static_cast<double>(each.lines)});
      }
    }
    profile::keep_most_used(into.used_at, most);
  }

  profile::frame frame_at(std::uint64_t pc) {
    const traffic::source named = names_.code(key_, pc);
    const traffic::mapping* const in = from_.find_mapping(key_, pc);
    const std::string module(in == nullptr ? std::string_view() : last_part(in->name));
    return {module, pc - module_start(module), named.function, named.file, named.line, false};
  }

  std::uint64_t module_start(const std::string& module) const {
    std::uint64_t lowest = 0;
    for (const traffic::mapping& each : from_.mappings) {
      if (!module.empty() && each.pid == key_ && last_part(each.name) == module &&
          (lowest == 0 || each.start < lowest)) {
        lowest = each.start;
      }
    }
    return lowest;
  }

  /// Adds memory outside all objects: one object for each mapping that was used.
  void add_rest() {
    std::erase_if(into_.objects,
                  [](const profile::object& o) { return o.kind == profile::object_kind::other; });
    std::set<traffic::object_id> known;
    for (const profile::object& each : into_.objects) {
      known.insert(counted_id(into_.pid, each.id));
    }
    std::map<const traffic::mapping*, page_uses> uses;
    for (const traffic::user_run& run : from_.page_users) {
      if (run.pid != key_ || (run.object && known.contains(*run.object)) || !knows_threads(run)) {
        continue;
      }
      const std::uint64_t address = address_of(run);
      const traffic::mapping* const mapping = from_.find_mapping(key_, address);
      const std::uint64_t start = mapping == nullptr ? 0 : mapping->start;
      uses[mapping].add(run, (address - start) / from_.page_bytes, threads_);
    }
    for (const auto& [mapping, used] : uses) {
      into_.objects.push_back(rest_object(mapping, used));
    }
  }

  /// The address of the run's first page. The report may leave out an object that was counted. The
  /// rest has the uses of such objects, but not their initialisation.
  [[nodiscard]] std::uint64_t address_of(const traffic::user_run& run) const {
    const traffic::object* const in = run.object ? from_.find_object(key_, *run.object) : nullptr;
    return in == nullptr ? run.first : in->start + run.first * from_.page_bytes;
  }

  [[nodiscard]] bool has_objects(const traffic::mapping& in) const {
    const auto is_there = [&](std::uint64_t start) { return start >= in.start && start < in.end; };
    return std::ranges::any_of(into_.objects, is_there, &profile::object::start);
  }

  [[nodiscard]] profile::object rest_object(const traffic::mapping* mapping,
                                            const page_uses& used) {
    profile::object made;
    made.id = next_id_++;
    made.kind = mapping == nullptr ? profile::object_kind::other : kind_of(*mapping);
    made.name = mapping == nullptr      ? "memory unmapped before the end"
                : mapping->name.empty() ? "unnamed memory"
                                        : mapping->name;
    made.uses = used.runs();
    made.where = used.residence({});
    made.write_share = write_share_of(std::nullopt, traffic::phase::use);
    const std::uint64_t last = used.by_page.rbegin()->first + 1;
    made.start = mapping == nullptr ? 0 : mapping->start;
    made.pages = mapping == nullptr
                     ? last
                     : std::max(last, (mapping->end - mapping->start) / from_.page_bytes);
    made.resident = used.by_page.size();
    const bool is_room = mapping == nullptr || mapping->name.empty() || has_objects(*mapping) ||
                         made.kind == profile::object_kind::stack; // only a part of it is used
    made.bytes = (is_room ? made.resident : made.pages) * from_.page_bytes;
    made.initialised = begun_->of(std::nullopt, made.start / from_.page_bytes, made.pages);
    made.initialised_write_share = write_share_of(std::nullopt, traffic::phase::initialisation);
    add_contested(std::nullopt, made);
    made.live_at_end = mapping != nullptr;
    return made;
  }

  profile::profile& whole_;
  profile::program& into_;
  const traffic::counts& from_;
  traffic::process_key key_;
  traffic::namer names_;
  std::vector<profile::thread_index> threads_; ///< by the counter's number
  std::optional<initialisation> begun_;        ///< set once the threads are known
  std::uint64_t next_id_ = first_unasked_id;   ///< of objects that the agent did not report
};

} // namespace

void add_counts(profile::profile& into, const traffic::counts& counted) {
  into.seen.counts = true;
  std::map<int, std::multiset<traffic::process_key>> keys;
  for (const traffic::program& each : counted.programs) {
    if (each.pid != 0) {
      keys[static_cast<int>(traffic::pid_of(each.pid))].insert(each.pid);
    }
  }
  for (profile::program& each : into.programs) {
    if (auto& left = keys[each.pid]; !left.empty()) {
      addition(into, each, counted, left.extract(left.begin()).value()).run();
    }
  }
}

profile::profile profile_of(const traffic::counts& counted, const profile::program& like,
                            std::vector<std::string> command) {
  profile::profile made;
  made.command = std::move(command);
  made.page_bytes = counted.page_bytes;
  for (const traffic::program& each : counted.programs) {
    if (each.pid == 0 || each.name != like.name) {
      continue;
    }
    profile::program one;
    one.pid = static_cast<int>(traffic::pid_of(each.pid));
    one.name = like.name;
    one.openmp = like.openmp;
    one.tbb = like.tbb;
    for (const traffic::object& object : counted.objects) {
      if (object.pid == each.pid) {
        one.objects.push_back(object_of(object, counted.page_bytes));
      }
    }
    made.programs.push_back(std::move(one));
  }
  add_counts(made, counted);
  return made;
}

} // namespace nodewise::attribution
