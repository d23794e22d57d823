// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "traffic/record.hpp"

namespace nodewise::traffic {

namespace {

constexpr std::string_view magic = "nodewise-counts";
constexpr std::string_view version = "1";

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
  using object_key = std::pair<process_key, object_id>;
  using row = std::pair<std::string_view, void (reader::*)(record&)>; ///< a kind and its reader
  static const std::array<row, 29> rows;

  static void check_ends(std::string_view text) {
    if (text.empty()) {
      throw error(error_kind::input, "the traffic count", "nothing was written",
                  "run it again with --verbose to see the output of the virtual machine");
    }
    if (!text.starts_with(magic)) {
      throw damaged_line(1, "this is not a traffic count");
    }
    if (!text.ends_with("\ncomplete\n")) {
      const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
      throw error(error_kind::input, "the traffic count",
                  "it is cut off after " + counted(lines, "line"),
                  "run it again; if the time limit was reached, raise it (--on-timeout)");
    }
  }

  void take(record& line) {
    if (line.line() == 1) {
      if (line.kind() != magic || line.name() != version) {
        throw line.wrong(fmt::format("the version of the format is not {}", version));
      }
      line.end();
      return;
    }
    if (complete_) {
      throw line.wrong("there are lines after the end");
    }
    const auto found = std::ranges::find(rows, line.kind(), &row::first);
    if (found == rows.end()) {
      throw line.wrong(fmt::format("no line begins with '{}'", line.kind().substr(0, 40)));
    }
    if (all_.refused && line.kind() != "complete") {
      throw line.wrong("there are lines after the refusal");
    }
    (this->*found->second)(line);
    line.end();
  }

  void refused(record& line) {
    all_ = {};
    all_.refused = line.sentence();
  }
  // The words of a line are read in the order of the initialisers.
  void selftest(record& line) {
    all_.tested = {.processors = line.count(), .pages = line.count()};
    tested_ = true;
  }
  void line_bytes(record& line) { all_.line_bytes = size(line); }
  void page_bytes(record& line) { all_.page_bytes = size(line); }
  void coherence(record& line) { all_.coherence = line.flag(); }
  void cache(record& line) {
    const auto at_most = [&line](std::uint64_t most) { return std::min(line.count(), most); };
    all_.caches.push_back({.level = static_cast<int>(at_most(9)),
                           .kind = line.one_of({"data", "unified"}),
                           .bytes = line.count(),
                           .ways = static_cast<unsigned>(at_most(1U << 20)),
                           .shared = line.one_of({"core", "node"})});
  }
  void processor_line(record& line) {
    const processor one{.cpu = line.cpu(), .node = line.node()};
    if (to_int(one.cpu) < 0 ||
        (!all_.processors.empty() && all_.processors.back().cpu >= one.cpu)) {
      throw line.wrong("processors are not in ascending order");
    }
    all_.processors.push_back(one);
  }
  void memory(record& line) {
    const node_id node = line.node();
    if (node == unknown_node || (!all_.memories.empty() && all_.memories.back() >= node)) {
      throw line.wrong("memories are not in ascending order");
    }
    all_.memories.push_back(node);
  }
  void program_line(record& line) {
    all_.programs.push_back({.pid = line.pid(), .parent = line.pid(), .name = line.name()});
    if (!begun_.insert(all_.programs.back().pid).second) {
      throw line.wrong("the program occurs twice");
    }
  }
  void mapping_line(record& line) {
    all_.mappings.push_back({.pid = line.pid(),
                             .start = line.address(),
                             .end = line.address(),
                             .offset = line.file_offset(),
                             .name = line.name()});
    if (all_.mappings.back().end < all_.mappings.back().start) {
      throw line.wrong("the mapping ends before its start");
    }
  }
  void ended(record& line) { ended_.insert(line.pid()); }
  void thread_line(record& line) {
    all_.threads.push_back({.pid = line.pid(), .index = line.count(), .tid = line.tid()});
    const thread& one = all_.threads.back();
    if (one.index != threads_[one.pid]++) {
      throw line.wrong("threads are not numbered one by one");
    }
  }
  void work(record& line) {
    thread& of = known_thread(line);
    of.instructions = line.count();
  }
  void stay(record& line) {
    thread& of = known_thread(line);
    of.stays.push_back({.node = line.node(), .lines = line.count()});
  }
  thread& known_thread(record& line) {
    const process_key pid = line.pid();
    const thread_ordinal index = line.count();
    require_thread(line, pid, index);
    return *std::ranges::find_if(
        all_.threads, [&](const thread& each) { return each.pid == pid && each.index == index; });
  }
  void object_line(record& line) {
    all_.objects.push_back({.pid = line.pid(),
                            .id = line.number(),
                            .start = line.address(),
                            .bytes = line.count(),
                            .kind = static_cast<object_kind>(line.which_of(
                                {"heap", "map", "static", "group", "region", "file"})),
                            .module = line.name(),
                            .offset = line.address(),
                            .name = line.name()});
    if (!known_.insert({all_.objects.back().pid, all_.objects.back().id}).second) {
      throw line.wrong("the object occurs twice");
    }
  }
  void freed(record& line) {
    const object_key freed{line.pid(), line.number()};
    expect_object(line, freed.first, freed.second);
    freed_.insert(freed);
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
    all_.transfers.push_back({.cpu = line.cpu(),
                              .local = line.count(),
                              .remote = line.count(),
                              .invalidations = line.count()});
  }
  void traffic_line(record& line) {
    all_.by_object.push_back({.pid = line.pid(),
                              .object = line.object(),
                              .when = line.when(),
                              .from = line.node(),
                              .to = line.node(),
                              .lines = line.lines()});
    expect_object(line, all_.by_object.back().pid, all_.by_object.back().object);
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
      throw line.wrong("the number of pages is 0");
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
    all_.object_code.push_back(
        {.pid = line.pid(), .object = line.object(), .pc = line.address(), .lines = line.count()});
    expect_object(line, all_.object_code.back().pid, all_.object_code.back().object);
  }
  void code(record& line) {
    all_.code.push_back({.pid = line.pid(),
                         .pc = line.address(),
                         .when = line.when(),
                         .local = line.count(),
                         .remote = line.count()});
  }
  void shared(record& line) {
    all_.shared.push_back({.pid = line.pid(),
                           .address = line.address(),
                           .object = line.object(),
                           .transfers = line.count(),
                           .invalidations = line.count(),
                           .writers = line.cpus(),
                           .readers = line.cpus(),
                           .overlap = line.flag(),
                           .rewrites = line.count(),
                           .pc = line.address()});
  }
  void region(record& line) {
    all_.regions.push_back({.pid = line.pid(),
                            .name = line.name(),
                            .from = line.node(),
                            .to = line.node(),
                            .lines = line.lines()});
  }
  void uncounted(record& line) {
    all_.uncounted.push_back({.count = line.number(), .text = line.sentence()});
  }
  void accesses(record& line) { all_.accesses = line.number(); }
  void complete(record&) { complete_ = true; }

  static std::uint64_t size(record& line) {
    const std::uint64_t bytes = line.count();
    constexpr std::uint64_t most = 1U << 20;
    if (bytes == 0 || bytes > most) {
      throw line.wrong(fmt::format("{} is not a size of a line or page", bytes));
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
      throw line.wrong(fmt::format("process {} has no thread {}", pid, thread));
    }
  }

  /// Checks what every count must have, since the rest depends on it.
  void finish(std::size_t last_line) {
    for (const auto& [is_missing, kind] : {std::pair(!tested_, "selftest"),
                                           {all_.line_bytes == 0, "line_bytes"},
                                           {all_.page_bytes == 0, "page_bytes"},
                                           {all_.processors.empty(), "processor"},
                                           {all_.memories.empty(), "memory"}}) {
      if (is_missing) {
        throw damaged_line(last_line, fmt::format("the line '{}' is missing", kind));
      }
    }
    for (const auto& [object, line] : expected_) {
      if (!known_.contains(object)) {
        throw damaged_line(line,
                           fmt::format("process {} has no object {}", object.first, object.second));
      }
    }
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
