// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Turns the entries of a plan file into rules for the agent: threads become the nodes that they run
// on, sites become code of this build of the program.
#include <set>
#include <tuple>
#include <utility>

#include "agent/protocol.h"
#include "base/path.hpp"
#include "launch/planning.hpp"
#include "placement/resolve.hpp"

namespace nodewise::launch {

namespace {

/// Which file a plan's offsets refer to, as far as that is known before it runs.
enum class binary {
  same,
  unknown,   ///< no build id in the plan
  other,     ///< another build of it
  elsewhere, ///< this is another program, which may start the planned one
};

/// The most characters for all rules together; the rest is for the agent's other settings.
constexpr std::size_t most_text = longest_variable - (std::size_t{12} << 10);

/// Smaller sizes would turn every small block into a separate object.
constexpr std::size_t least_page = 4096;

/// The agent looks up the byte before a return address.
code_range call_before(const plans::code_place& place, const std::string& module) {
  return {module, place.offset - 1, place.offset};
}

[[noreturn]] void leave_out(const std::string& why, const std::string& hint) {
  throw error(error_kind::input, "an entry", why, hint);
}

class plan_rules {
 public:
  plan_rules(const planning& now, std::string program, agent_orders& into)
      : now_(now), choice_(*now.options.plan), file_(choice_.file), program_(std::move(program)),
        module_(last_part(program_)), into_(into), runs_(placements::runs_of(into.owners).size()),
        text_(placements::wire_text(placements::runs_of(into.owners)).size()) {
    for (const agent_rule& typed : into.rules) {
      text_ += text_of(typed).size();
      runs_ += typed.where.what.owners.size();
      code_ += typed.code.size() + typed.above.size();
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
      now_.cannot(choice_.shown(), fmt::format("it is for {}, not for {}", file_.program, module_),
                  fmt::format("name {} itself", file_.program),
                  fmt::format("it applies to a {} that {} starts", file_.program, module_));
    } else if (!file_.build_id.empty()) {
      binary_ = binary::other;
      now_.cannot(choice_.shown(),
                  fmt::format("{} is a different build from the one that it was made for", module_),
                  "make a new plan",
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
    const auto found = std::ranges::find_if(which.stack, [&](const plans::code_place& place) {
      return other_builds_.contains(place.module);
    });
    return found == which.stack.end() ? std::string{} : found->module;
  }

  void judge_machine() const {
    const std::size_t nodes = now_.here.domains().size();
    if (file_.nodes != 0 && file_.nodes != nodes) {
      now_.cannot(choice_.shown(),
                  fmt::format("it was made for {} nodes with processors, and this machine has {}",
                              file_.nodes, nodes),
                  "make a plan for this machine", "objects follow its threads to where they are");
    }
  }

  planned_file::entry add_entry(std::size_t position) {
    const plans::entry& entry = file_.objects[position];
    planned_file::entry shown{label_of(entry), placements::text_of(entry.where), {}};
    const std::string number = fmt::format("entry {}", position + 1);
    try {
      agent_rule made = rule_of(entry);
      made.entry = position;
      made.text = fmt::format("{}: {}", number, shown.label);
      take_room(made);
      into_.rules.push_back(std::move(made));
    } catch (const error& refused) {
      shown.left_out = refused.answered();
      now_.cannot(fmt::format("{}: {} ({})", choice_.shown(), number, shown.label), shown.left_out,
                  refused.hint(), "it is skipped");
    }
    return shown;
  }

  [[nodiscard]] agent_rule rule_of(const plans::entry& entry) const {
    const plans::condition& which = entry.which;
    agent_rule made;
    static_cast<plans::object_match&>(made) = which;
    made.least_bytes = which.least_bytes < least_page ? 0 : which.least_bytes;
    name_code(which, made);
    made.where = {for_agent(entry.where)};
    return made;
  }

  /// Offsets are the most precise for the same build; lines also work for another build.
  void name_code(const plans::condition& which, agent_rule& into) const {
    const bool has_stack = !which.stack.empty();
    const std::string changed = other_build_in(which);
    if (!changed.empty()) {
      if (!name_by_lines(which, into)) {
        leave_out(fmt::format("{} is a different build from the one that it was made for", changed),
                  "make a new plan, or load the library that it was made with");
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
      leave_out("its offsets are of a different build, and it names no source line",
                "make a new plan, or give the entry a \"site\"");
    } else if (!which.source.empty()) {
      leave_out(fmt::format("{} has no code of '{}'", module_, which.source),
                "build it with -g, or make a new plan");
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

  /// Threads become the nodes that they run on.
  [[nodiscard]] placements::placement for_agent(const placements::placement& where) const {
    const placements::surroundings here{
        [&] { return into_.owners; },
        file_.threads,
        [&] { return now_.here.memory_nodes(); },
        [&] { return nodes_of_threads(now_); },
    };
    auto made = placements::resolved(where, placements::grammar::plan_file, here);
    if (placements::traits_of(where.how).owners == placements::owned_by::nodes) {
      check_memories(made);
    }
    return made;
  }

  void check_memories(const placements::placement& where) const {
    for (const placements::owner_run& run : where.owners) {
      const memory_node* const node = now_.here.machine().find_node(placements::node_of(run));
      if (node == nullptr || node->memory_bytes == 0) {
        leave_out(fmt::format("node {} {}", run.owner,
                              node == nullptr ? "does not exist" : "has no memory"),
                  "make a plan for this machine");
      }
    }
  }

  /// The agent's tables and the variable that carries the rules are limited.
  void take_room(const agent_rule& rule) {
    if (into_.rules.size() == NODEWISE_AGENT_MAX_RULES) {
      leave_out(fmt::format("the agent takes at most {} rules", NODEWISE_AGENT_MAX_RULES),
                "give several objects one entry: a range of sizes, a function's name");
    }
    const std::size_t runs = runs_ + rule.where.what.owners.size();
    const std::size_t code = code_ + rule.code.size() + rule.above.size();
    const std::size_t text = text_ + text_of(rule).size();
    const std::tuple<std::size_t, std::size_t, const char*> limits[] = {
        {runs, NODEWISE_AGENT_MAX_RUNS, "changes of node in maps"},
        {code, NODEWISE_AGENT_MAX_CODE, "pieces of code"},
        {text, most_text, "bytes of text"}};
    for (const auto& [wanted, most, what] : limits) {
      if (wanted > most) {
        leave_out(fmt::format("with it, all entries together have more than {} {}", most, what),
                  "make maps of larger parts, or name fewer sites");
      }
    }
    runs_ = runs;
    code_ = code;
    text_ = text;
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
  std::size_t text_;
};

} // namespace

bool plan_needs_owners(const run_options& options) noexcept {
  return options.plan &&
         std::ranges::any_of(options.plan->file.objects, [](const plans::entry& entry) {
           return placements::traits_of(entry.where.how).by_thread;
         });
}

void add_rules_of_plan(const planning& now, const std::string& program, agent_orders& into) {
  plan_rules(now, program, into).add();
}

} // namespace nodewise::launch
