// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "traffic/counts.hpp"
#include "traffic/record.hpp"

namespace nodewise::traffic {

namespace {

constexpr std::string_view magic = "nodewise-counts";
constexpr std::string_view version = "1";

object_kind kind_of(std::string_view word) {
  for (const auto each :
       {object_kind::heap, object_kind::map, object_kind::static_array, object_kind::region}) {
    if (to_string(each) == word) {
      return each;
    }
  }
  return object_kind::group;
}

class reader {
 public:
  counts read(std::string_view text) {
    check_ends(text);
    std::size_t number = 0;
    while (!text.empty()) {
      const std::size_t end = text.find('\n'); // always found: the last line is whole
      record line(text.substr(0, end), ++number);
      text.remove_prefix(end + 1);
      take(line);
    }
    if (!all_.refused) {
      finish(number);
    }
    return std::move(all_);
  }

 private:
  using taker = void (reader::*)(record&);
  struct row {
    std::string_view kind;
    taker take;
  };
  static const std::array<row, 29> rows;

  static void check_ends(std::string_view text) {
    const std::string_view first = text.substr(0, text.find('\n'));
    if (text.empty()) {
      throw error(error_kind::input, "the traffic count", "there is none: nothing was written",
                  "run it again with --verbose: the virtual machine says more");
    }
    if (!first.starts_with(magic)) {
      throw damaged_line(1, "this is no traffic count");
    }
    constexpr std::string_view last = "\ncomplete\n";
    if (!text.ends_with(last)) {
      const auto lines = std::ranges::count(text, '\n');
      throw error(error_kind::input, "the traffic count",
                  "it is cut off after " + std::to_string(lines) +
                      (lines == 1 ? " line" : " lines"),
                  "run it again; give it time (--on-timeout) if a limit has ended it");
    }
  }

  void take(record& line) {
    if (line.line() == 1) {
      take_magic(line);
      return;
    }
    if (complete_) {
      throw line.wrong("something follows the end");
    }
    const auto found = std::ranges::find(rows, line.kind(), &row::kind);
    if (found == rows.end()) {
      throw line.wrong("no line begins with '" + std::string(line.kind().substr(0, 40)) + "'");
    }
    if (all_.refused && line.kind() != "complete") {
      throw line.wrong("something follows the refusal");
    }
    (this->*found->take)(line);
    line.end();
  }

  void take_magic(record& line) {
    if (line.kind() != magic || line.name() != version) {
      throw line.wrong("another version of the format than " + std::string(version));
    }
    line.end();
  }

  void refused(record& line) {
    all_ = {};
    all_.refused = line.sentence();
  }
  void selftest(record& line) {
    all_.tested.processors = line.count();
    all_.tested.pages = line.count();
    tested_ = true;
  }
  void line_bytes(record& line) { all_.line_bytes = size(line); }
  void page_bytes(record& line) { all_.page_bytes = size(line); }
  void coherence(record& line) { all_.coherence = line.flag(); }
  void cache(record& line) {
    modelled_cache& to = all_.caches.emplace_back();
    to.level = static_cast<int>(std::min<std::uint64_t>(line.count(), 9));
    to.kind = line.one_of({"data", "unified"});
    to.bytes = line.count();
    to.ways = static_cast<unsigned>(std::min<std::uint64_t>(line.count(), 1U << 20));
    to.shared = line.one_of({"core", "node"});
  }
  void processor_line(record& line) {
    processor one;
    one.cpu = line.cpu();
    one.node = line.node();
    if (to_int(one.cpu) < 0 ||
        (!all_.processors.empty() && all_.processors.back().cpu >= one.cpu)) {
      throw line.wrong("processors do not ascend");
    }
    all_.processors.push_back(one);
  }
  void memory(record& line) {
    const node_id node = line.node();
    if (node == unknown_node || (!all_.memories.empty() && all_.memories.back() >= node)) {
      throw line.wrong("memories do not ascend");
    }
    all_.memories.push_back(node);
  }
  void program_line(record& line) {
    program& to = all_.programs.emplace_back();
    to.pid = line.pid();
    to.parent = line.pid();
    to.name = line.name();
    if (!begun_.insert(to.pid).second) {
      throw line.wrong("a program that is there already");
    }
  }
  void mapping_line(record& line) {
    mapping& to = all_.mappings.emplace_back();
    to.pid = line.pid();
    to.start = line.address();
    to.end = line.address();
    to.offset = line.file_offset();
    to.name = line.name();
    if (to.end < to.start) {
      throw line.wrong("a mapping ends before its start");
    }
  }
  void ended(record& line) { ended_.insert(line.pid()); }
  void thread_line(record& line) {
    thread& to = all_.threads.emplace_back();
    to.pid = line.pid();
    to.index = line.count();
    to.tid = line.tid();
    if (to.index != threads_[to.pid]++) {
      throw line.wrong("threads do not ascend by one");
    }
  }
  void work(record& line) {
    thread& of = known_thread(line);
    of.instructions = line.count();
  }
  void stay(record& line) {
    thread& of = known_thread(line);
    const node_id node = line.node();
    of.stays.push_back({node, line.count()});
  }
  thread& known_thread(record& line) {
    const process_key pid = line.pid();
    const thread_ordinal index = line.count();
    require_thread(line, pid, index);
    return *std::ranges::find_if(
        all_.threads, [&](const thread& each) { return each.pid == pid && each.index == index; });
  }
  void object_line(record& line) {
    object& to = all_.objects.emplace_back();
    to.pid = line.pid();
    to.id = line.number();
    to.start = line.address();
    to.bytes = line.count();
    to.kind = kind_of(line.one_of({"heap", "map", "static", "group", "region"}));
    to.module = line.name();
    to.offset = line.address();
    to.name = line.name();
    if (!known_.insert({to.pid, to.id}).second) {
      throw line.wrong("an object that is there already");
    }
  }
  void freed(record& line) {
    const process_key pid = line.pid();
    const object_id id = line.number();
    expect_object(line, pid, id);
    freed_.insert({pid, id});
  }
  void cell_line(record& line) {
    cell& to = all_.cells.emplace_back();
    to.cpu = line.cpu();
    to.to = line.node();
    to.when = line.when();
    to.lines.fills = line.count();
    to.lines.write_backs = line.count();
    to.dirty = line.count();
    to.lines.streams = line.count();
  }
  void transfers(record& line) {
    transfer& to = all_.transfers.emplace_back();
    to.cpu = line.cpu();
    to.local = line.count();
    to.remote = line.count();
    to.invalidations = line.count();
  }
  void traffic_line(record& line) {
    object_traffic& to = all_.by_object.emplace_back();
    to.pid = line.pid();
    to.object = line.object();
    expect_object(line, to.pid, to.object);
    to.when = line.when();
    to.from = line.node();
    to.to = line.node();
    to.lines = line.lines();
  }
  void pages(record& line) {
    page_run& to = all_.pages.emplace_back();
    pages_of(line, to);
    to.to = line.node();
    for (std::size_t when = 0; when < phases; ++when) {
      to.local[when] = line.count();
      to.remote[when] = line.count();
    }
    to.user = line.node();
  }
  /// Reads a record of pages up to their number.
  template <class Pages>
  void pages_of(record& line, Pages& to) {
    to.pid = line.pid();
    to.object = line.object();
    expect_object(line, to.pid, to.object);
    to.first = to.object ? line.number() : line.address();
    to.count = line.count();
    if (to.count == 0) {
      throw line.wrong("no pages");
    }
  }
  void page_users(record& line) {
    user_run& to = all_.page_users.emplace_back();
    pages_of(line, to);
    to.to = line.node();
    to.by = line.users();
    require_thread(line, to.pid, to.by.back().thread);
  }
  void touched(record& line) {
    touched_run& to = all_.touched.emplace_back();
    pages_of(line, to);
    to.thread = line.number();
    require_thread(line, to.pid, to.thread);
  }
  void object_code(record& line) {
    code_use& to = all_.object_code.emplace_back();
    to.pid = line.pid();
    to.object = line.object();
    expect_object(line, to.pid, to.object);
    to.pc = line.address();
    to.lines = line.count();
  }
  void code(record& line) {
    code_traffic& to = all_.code.emplace_back();
    to.pid = line.pid();
    to.pc = line.address();
    to.when = line.when();
    to.local = line.count();
    to.remote = line.count();
  }
  void shared(record& line) {
    shared_line& to = all_.shared.emplace_back();
    to.pid = line.pid();
    to.address = line.address();
    to.object = line.object();
    to.transfers = line.count();
    to.invalidations = line.count();
    to.writers = line.cpus();
    to.readers = line.cpus();
    to.overlap = line.flag();
    to.rewrites = line.count();
    to.pc = line.address();
  }
  void region(record& line) {
    region_traffic& to = all_.regions.emplace_back();
    to.pid = line.pid();
    to.name = line.name();
    to.from = line.node();
    to.to = line.node();
    to.lines = line.lines();
  }
  void uncounted(record& line) {
    omission& to = all_.uncounted.emplace_back();
    to.count = line.number();
    to.text = line.sentence();
  }
  void accesses(record& line) { all_.accesses = line.number(); }
  void complete(record&) { complete_ = true; }

  static std::uint64_t size(record& line) {
    const std::uint64_t bytes = line.count();
    constexpr std::uint64_t most = 1U << 20;
    if (bytes == 0 || bytes > most) {
      throw line.wrong(std::to_string(bytes) + " is no size of a line or page");
    }
    return bytes;
  }
  /// The object may come later in the file.
  void expect_object(const record& line, process_key pid, std::optional<object_id> id) {
    if (id) {
      expected_.try_emplace({pid, *id}, line.line());
    }
  }
  /// Threads come before all records that name them.
  void require_thread(const record& line, process_key pid, thread_ordinal thread) const {
    const auto found = threads_.find(pid);
    if (found == threads_.end() || thread >= found->second) {
      throw line.wrong("process " + std::to_string(pid) + " has no thread " +
                       std::to_string(thread));
    }
  }
  void check_objects() const {
    for (const auto& [object, line] : expected_) {
      if (!known_.contains(object)) {
        throw damaged_line(line, "process " + std::to_string(object.first) + " has no object " +
                                     std::to_string(object.second));
      }
    }
  }

  /// Checks what every count must have, since the rest depends on it.
  void finish(std::size_t last_line) {
    const auto need = [&](bool there, const char* kind) {
      if (!there) {
        throw damaged_line(last_line, "the line '" + std::string(kind) + "' is missing");
      }
    };
    need(tested_, "selftest");
    need(all_.line_bytes != 0, "line_bytes");
    need(all_.page_bytes != 0, "page_bytes");
    need(!all_.processors.empty(), "processor");
    need(!all_.memories.empty(), "memory");
    check_objects();
    for (program& each : all_.programs) {
      each.ended = ended_.contains(each.pid);
    }
    std::ranges::sort(all_.objects, {}, [](const object& o) { return std::pair(o.pid, o.id); });
    for (object& each : all_.objects) {
      each.freed = freed_.contains({each.pid, each.id});
    }
  }

  counts all_;
  bool tested_ = false;
  bool complete_ = false;
  using object_key = std::pair<process_key, object_id>;
  std::set<object_key> known_;
  std::set<object_key> freed_;
  std::map<object_key, std::size_t> expected_; ///< and the line that named it first
  std::set<process_key> begun_;
  std::map<process_key, thread_ordinal> threads_; ///< how many
  std::set<process_key> ended_;
};

const std::array<reader::row, 29> reader::rows = {{
    {"refused", &reader::refused},
    {"selftest", &reader::selftest},
    {"line_bytes", &reader::line_bytes},
    {"page_bytes", &reader::page_bytes},
    {"coherence", &reader::coherence},
    {"cache", &reader::cache},
    {"processor", &reader::processor_line},
    {"memory", &reader::memory},
    {"program", &reader::program_line},
    {"mapping", &reader::mapping_line},
    {"ended", &reader::ended},
    {"thread", &reader::thread_line},
    {"work", &reader::work},
    {"stay", &reader::stay},
    {"object", &reader::object_line},
    {"freed", &reader::freed},
    {"cell", &reader::cell_line},
    {"transfers", &reader::transfers},
    {"traffic", &reader::traffic_line},
    {"pages", &reader::pages},
    {"users", &reader::page_users},
    {"touched", &reader::touched},
    {"codeuse", &reader::object_code},
    {"code", &reader::code},
    {"shared", &reader::shared},
    {"region", &reader::region},
    {"uncounted", &reader::uncounted},
    {"accesses", &reader::accesses},
    {"complete", &reader::complete},
}};

} // namespace

counts read_counts(std::string_view text) {
  return reader().read(text);
}

} // namespace nodewise::traffic
