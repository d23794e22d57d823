// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Turns the entries of a plan file into rules for the agent: threads become the nodes that they run
// on, sites become code of this build of the program.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "agent/protocol.h"
#include "base/last_part.hpp"
#include "launch/planning.hpp"
#include "plan/scale.hpp"

namespace nodewise::launch {

namespace {

using plans::layout;

/// Which file a plan's offsets refer to, as far as that is known before it runs.
enum class binary {
  same,
  unknown,   ///< no build id in the plan
  other,     ///< another build of it
  elsewhere, ///< this is another program, which may start the planned one
};

/// The most parts of a map: in an object of 4 GiB an edge moves by at most a page.
constexpr std::uint64_t most_parts = std::uint64_t{1} << 20;

/// Limits for all rules together. Linux accepts variables of 128 KiB: a run takes up to 13
/// characters of one, a piece of code usually less than 60.
constexpr std::size_t most_runs = std::min(NODEWISE_AGENT_MAX_RUNS, 4096);
constexpr std::size_t most_code = std::min(NODEWISE_AGENT_MAX_CODE, 1024);

/// Smaller sizes would turn every small block into a separate object.
constexpr std::size_t least_page = 4096;

/// The agent looks up the byte before a return address.
code_range call_before(const plans::code_place& place, const std::string& module) {
  return {module, place.offset - 1, place.offset};
}

/// The number of runs of the same node.
std::size_t count_runs(const std::vector<node_id>& owners) {
  std::size_t runs = owners.empty() ? 0 : 1;
  for (std::size_t i = 1; i < owners.size(); ++i) {
    runs += owners[i] == owners[i - 1] ? 0U : 1U;
  }
  return runs;
}

[[noreturn]] void leave_out(const std::string& why, const std::string& hint) {
  throw error(error_kind::input, "an entry", why, hint);
}

class plan_rules {
 public:
  plan_rules(const planning& now, std::string program, agent_orders& into)
      : now_(now), choice_(*now.options.plan), file_(choice_.file), program_(std::move(program)),
        module_(last_part(program_)), into_(into), runs_(count_runs(into.owners)) {
    for (const agent_rule& typed : into.rules) {
      runs_ += count_runs(typed.where.owners);
      code_ += typed.code.size();
    }
  }

  void add() {
    planned_file made{choice_.name, choice_.problem, {}};
    if (!file_.objects.empty()) {
      judge_binary();
      judge_libraries();
      judge_machine();
    }
    for (std::size_t i = 0; i < file_.objects.size(); ++i) {
      made.entries.push_back(add_entry(i));
    }
    now_.into.planned = std::move(made);
  }

 private:
  void judge_binary() {
    const bool named_so = file_.program.empty() || file_.program == module_;
    const std::string id = now_.options.build_id ? now_.options.build_id(program_) : std::string{};
    if (!file_.build_id.empty() && file_.build_id == id) {
      binary_ = binary::same;
    } else if (!named_so) {
      binary_ = binary::elsewhere;
      now_.cannot(choice_.shown(), "it is for " + file_.program + ", and " + module_ + " is not",
                  "name that program itself",
                  "its offsets are taken for a " + file_.program + " that is started by this one");
    } else if (!file_.build_id.empty()) {
      binary_ = binary::other;
      now_.cannot(choice_.shown(), module_ + " is another build than it was made for",
                  "make the plan anew",
                  "its objects are found by source line and by symbol, not by offset");
    }
  }

  /// Libraries that the program loads later are assumed to match.
  void judge_libraries() {
    const bool names_any = std::ranges::any_of(
        file_.objects, [](const plans::entry& each) { return !each.which.stack.empty(); });
    if (names_any && now_.options.libraries) {
      loaded_ = now_.options.libraries(program_);
    }
    for (const plans::library& each : file_.libraries) {
      const auto found = loaded_.find(each.name);
      if (found != loaded_.end() && now_.options.build_id &&
          now_.options.build_id(found->second) != each.build_id) {
        other_builds_.insert(each.name);
      }
    }
  }

  /// A library of a different build, whose offsets are invalid here; empty if there is none.
  [[nodiscard]] std::string other_build_in(const plans::condition& which) const {
    for (const plans::code_place& place : which.stack) {
      if (other_builds_.contains(place.module)) {
        return place.module;
      }
    }
    return {};
  }

  void judge_machine() const {
    const std::size_t nodes = now_.here.domains().size();
    if (file_.nodes != 0 && file_.nodes != nodes) {
      now_.cannot(choice_.shown(),
                  "it was made for " + std::to_string(file_.nodes) +
                      " nodes with processors, and this machine has " + std::to_string(nodes),
                  "make a plan for this machine", "objects follow its threads to where they are");
    }
  }

  planned_file::entry add_entry(std::size_t position) {
    const plans::entry& entry = file_.objects[position];
    planned_file::entry told{label_of(entry), word_of(entry), {}};
    std::string hint;
    try {
      agent_rule made = rule_of(entry);
      made.entry = position;
      made.text = "entry " + std::to_string(position + 1) + ": " + told.label;
      take_room(made);
      into_.rules.push_back(std::move(made));
    } catch (const error& refused) {
      told.left_out = refused.answered();
      hint = refused.hint();
    }
    if (!told.left_out.empty()) {
      now_.cannot(choice_.shown() + ": entry " + std::to_string(position + 1) + " (" + told.label +
                      ")",
                  told.left_out, hint, "it is left out");
    }
    return told;
  }

  [[nodiscard]] agent_rule rule_of(const plans::entry& entry) const {
    const plans::condition& which = entry.which;
    agent_rule made;
    made.kind = which.kind;
    made.symbol = which.symbol;
    made.least_bytes = which.least_bytes < least_page ? 0 : which.least_bytes;
    made.most_bytes = which.most_bytes;
    made.first = which.first;
    made.last = which.last;
    name_code(which, made);
    made.where = placement_of(entry);
    return made;
  }

  /// Offsets are the most precise for the same build; lines also work for another build.
  void name_code(const plans::condition& which, agent_rule& into) const {
    const bool has_stack = !which.stack.empty();
    const std::string changed = other_build_in(which);
    if (!changed.empty()) {
      if (!name_by_lines(which, into)) {
        leave_out(changed + " is another build than it was made for",
                  "make the plan anew, or load the library that it was made with");
      }
      return;
    }
    const bool stack_first = binary_ == binary::same || binary_ == binary::elsewhere;
    if (!(has_stack && stack_first) && name_by_lines(which, into)) {
      return;
    }
    if (has_stack && (binary_ != binary::other || !is_own(which.stack.front()))) {
      name_by_stack(which, into);
    } else if (has_stack && which.source.empty()) {
      leave_out("its offsets are of another build, and it names no source line",
                "make the plan anew, or give the entry a \"site\"");
    } else if (!which.source.empty()) {
      leave_out(module_ + " has no code of '" + which.source + "'",
                "build it with -g, or make the plan anew");
    }
  }

  [[nodiscard]] bool is_own(const plans::code_place& place) const {
    return place.module == file_.program || place.module == module_;
  }

  void name_by_stack(const plans::condition& which, agent_rule& into) const {
    for (const plans::code_place& place : which.stack) {
      const bool renamed = binary_ == binary::same && place.module == file_.program;
      if (binary_ == binary::other && is_own(place)) {
        continue; // the code has moved in this build
      }
      const code_range call = call_before(place, renamed ? module_ : name_in_agent(place.module));
      (into.code.empty() ? into.code : into.above).push_back(call);
    }
  }

  /// Profiles name a library by its file, the agent by the name under which it is loaded.
  [[nodiscard]] std::string name_in_agent(const std::string& module) const {
    const auto found = loaded_.find(module);
    return found == loaded_.end() ? module : std::string(last_part(found->second));
  }

  /// False if it names no line, or no code of the line is found in the program.
  bool name_by_lines(const plans::condition& which, agent_rule& into) const {
    if (!now_.options.find_site || which.source.empty()) {
      return false;
    }
    into.code = now_.options.find_site(which.source, program_);
    for (const std::string& caller : which.callers) {
      const std::vector<code_range> found = now_.options.find_site(caller, program_);
      if (!found.empty()) { // all listed ranges must be on the stack, so use one
        const auto last = std::ranges::max(found, {}, &code_range::last).last;
        into.above.push_back(
            {found.front().module, std::ranges::min(found, {}, &code_range::first).first, last});
      }
    }
    return !into.code.empty();
  }

  [[nodiscard]] agent_placement placement_of(const plans::entry& entry) const {
    switch (entry.how) {
    case layout::untouched:
      return {};
    case layout::blocked:
      return {memory_mode::blocked, {}, 0};
    case layout::interleaved:
      return interleaved(entry);
    case layout::cyclic:
      return {memory_mode::cyclic, into_.owners, entry.granule_bytes};
    case layout::on_thread:
      return {memory_mode::prefer, {node_of(entry.thread)}, 0};
    case layout::map:
      return {memory_mode::map, owners_of_parts(entry.parts), 0};
    }
    return {};
  }

  /// Page by page in turn; in proportion to the weights if these differ.
  [[nodiscard]] agent_placement interleaved(const plans::entry& entry) const {
    if (entry.memories.empty()) {
      const node_set nodes = nodes_of_threads(now_);
      return {memory_mode::interleave, {nodes.begin(), nodes.end()}, 0};
    }
    std::vector<node_id> owners;
    for (const plans::memory_weight& each : entry.memories) {
      const memory_node* const node = now_.here.machine().find_node(each.node);
      if (node == nullptr || node->memory_bytes == 0) {
        leave_out("node " + std::to_string(to_int(each.node)) +
                      (node == nullptr ? " is not there" : " has no memory"),
                  "make a plan for this machine");
      }
      owners.insert(owners.end(), each.weight, each.node);
    }
    const bool even = owners.size() == entry.memories.size();
    return {even ? memory_mode::interleave : memory_mode::cyclic, std::move(owners), 0};
  }

  /// 0 in the file: the number of threads here.
  [[nodiscard]] std::size_t planned_threads() const {
    return file_.threads == 0 ? into_.owners.size() : file_.threads;
  }

  void check_thread(std::size_t thread) const {
    if (thread >= planned_threads()) {
      leave_out("it speaks of thread " + std::to_string(thread) + ", and there are " +
                    std::to_string(planned_threads()),
                "say in \"threads\" for how many it was made: \"count\"");
    }
  }

  [[nodiscard]] node_id node_of(std::size_t thread) const {
    check_thread(thread);
    return into_.owners[plans::scaled_thread(thread, planned_threads(), into_.owners.size())];
  }

  [[nodiscard]] std::vector<node_id>
  owners_of_parts(const std::vector<plans::part_run>& parts) const {
    for (const plans::part_run& run : parts) {
      check_thread(run.thread);
    }
    auto by_node = plans::scaled_parts(parts, planned_threads(), into_.owners.size());
    for (plans::part_run& run : by_node) { // replaces the thread by its node
      run.thread = static_cast<std::size_t>(to_int(into_.owners[run.thread]));
    }
    std::vector<node_id> owners;
    for (const plans::part_run& run : plans::simplified(std::move(by_node), most_parts)) {
      owners.insert(owners.end(), run.parts, node_id{static_cast<int>(run.thread)});
    }
    return owners;
  }

  /// The agent's tables and the variable that carries the rules are limited.
  void take_room(const agent_rule& rule) {
    if (into_.rules.size() == NODEWISE_AGENT_MAX_RULES) {
      leave_out("the agent takes " + std::to_string(NODEWISE_AGENT_MAX_RULES) + " rules",
                "give several objects one entry: a range of sizes, a function's name");
    }
    const std::size_t runs = runs_ + count_runs(rule.where.owners);
    const std::size_t code = code_ + rule.code.size() + rule.above.size();
    if (runs > most_runs || code > most_code) {
      leave_out(runs > most_runs ? "with it, all maps together change the node more than " +
                                       std::to_string(most_runs) + " times"
                                 : "with it, all entries together name more than " +
                                       std::to_string(most_code) + " pieces of code",
                "make maps of larger parts, name fewer sites");
    }
    runs_ = runs;
    code_ = code;
  }

  const planning& now_;
  const plan_choice& choice_;
  const plans::plan_file& file_;
  std::string program_;
  std::string module_; ///< its name in the agent
  agent_orders& into_;
  binary binary_ = binary::unknown;
  std::map<std::string, std::string> loaded_; ///< libraries: path by last part
  std::set<std::string> other_builds_;        ///< of these
  std::size_t runs_;
  std::size_t code_ = 0;
};

} // namespace

bool plan_needs_owners(const run_options& options) noexcept {
  return options.plan &&
         std::ranges::any_of(options.plan->file.objects, [](const plans::entry& entry) {
           return entry.how != layout::untouched && entry.how != layout::interleaved;
         });
}

void add_rules_of_plan(const planning& now, const std::string& program, agent_orders& into) {
  plan_rules(now, program, into).add();
}

} // namespace nodewise::launch
