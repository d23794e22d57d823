// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/prediction/predicted.hpp"
#include "cli/profiles/gain.hpp"
#include "cli/verbs/profile/ranks.hpp"
#include "cli/verbs/profile/result.hpp"
#include "symbols/names.hpp"

namespace nodewise::cli {

namespace {

using report::tone;

constexpr std::size_t label_width = 11;

/// "  evidence  all pages on node 0": text is wrapped below itself on a terminal.
std::string labelled(const std::string& label, const std::string& what, const report::style& how) {
  const std::string first = fmt::format("  {:{}}", label, label_width);
  const std::string text = // printable, since it may contain names
      report::wrap_on_terminal(printable(what), how, first.size());
  return fmt::format("{}{}\n", how.terminal ? report::paint(how, tone::faint, first) : first, text);
}

/// Several lines of one kind: only the first has the label.
template <class Values, class Text = std::identity>
std::string lines(const std::string& label, const Values& values, const report::style& how,
                  Text text = {}) {
  std::string all;
  for (const auto& each : values) {
    all += labelled(all.empty() ? label : "", text(each), how);
  }
  return all;
}

template <class Value>
std::span<const Value> first_of(const std::vector<Value>& values, std::size_t most) {
  return {values.data(), std::min(most, values.size())};
}

std::string objects_text(const advise::named_objects& what, bool has_uses) {
  const std::string text =
      fmt::format("{}{}  {}", symbols::abbreviated(what.name),
                  what.ids.size() > 1 ? fmt::format(" ({} objects)", what.ids.size()) : "",
                  report::format_bytes(what.bytes));
  return has_uses
             ? fmt::format("{}, {} of the traffic, {} of it remote", text,
                           report::format_percent(what.share), report::format_percent(what.remote))
             : text;
}

/// Empty without places.
std::string places_text(const std::string& label, const std::vector<advise::code_share>& places,
                        const report::style& how) {
  if (places.empty()) {
    return {};
  }
  constexpr std::size_t most = 3;
  const std::string text = joined(first_of(places, most), ", ", [](const advise::code_share& each) {
    return fmt::format("{} ({})", symbols::abbreviated(profile::label_of(each.where)),
                       report::format_percent(each.share));
  });
  return labelled(label, text + (places.size() > most ? ", ..." : ""), how);
}

std::string code_text(std::string_view code, const report::style& how) {
  if (code.ends_with('\n')) {
    code.remove_suffix(1);
  }
  return code.empty() ? "" : joined(split(code, '\n'), "", [&](std::string_view line) {
    return fmt::format("{:8}{}\n", "", report::paint(how, tone::accent, printable(line)));
  });
}

/// All fixes with their code, or the first without.
std::string cures_text(const std::vector<advise::cure>& cures, bool verbose,
                       const report::style& how) {
  std::string all;
  for (const advise::cure& each : first_of(cures, verbose ? cures.size() : 1)) {
    all += labelled(all.empty() ? "fix" : "", fmt::format("{}: {}", each.with, each.what), how);
    all += verbose ? code_text(each.code, how) : "";
  }
  return all;
}

std::string dismissed_text(const advise::dismissal& what) {
  return fmt::format("{}{}{}: {}", advise::name_of(what.what), what.objects.empty() ? "" : " of ",
                     joined(what.objects, ", ", &advise::named_objects::name), what.reason);
}

/// What limits the program, now and after the fix.
std::string limits_text(const advise::gain& worth) {
  const std::string after = worth.binds_after == worth.binds_before ? "the same, with less traffic"
                            : worth.binds_after.empty()             ? "by nothing that was observed"
                                                                    : "by " + worth.binds_after;
  return fmt::format("limited by {}; after the fix {}", worth.binds_before, after);
}

std::string finding_text(const advise::finding& what, std::size_t number, bool verbose,
                         const report::style& how) {
  const bool has_uses = std::ranges::any_of(
      what.objects, [](const advise::named_objects& each) { return each.share > 0; });
  const std::string title = printable(fmt::format("{}. {}", number, what.title));
  std::string text =
      report::paint(how, tone::strong, report::wrap_on_terminal(title, how, 3)) + "\n";
  text += labelled("gain", verbose ? gain_with_range(what.worth) : gain_words(what.worth), how);
  if (!what.worth.binds_before.empty()) {
    text += labelled("", limits_text(what.worth), how);
  }
  const std::size_t most = verbose ? what.objects.size() : 3;
  text += lines("arrays", first_of(what.objects, most), how,
                [&](const auto& each) { return objects_text(each, has_uses); });
  if (what.objects.size() > most) {
    text += labelled("", fmt::format("{} more", what.objects.size() - most), how);
  }
  text +=
      places_text("touched at", what.first_touched, how) + places_text("used at", what.used, how);
  const std::string cures = cures_text(what.cures, verbose, how);
  return verbose ? text + lines("evidence", what.evidence, how) + cures +
                       lines("doubts", what.remarks, how)
                 : text + cures;
}

std::string evidence_text(const profile::profile& what, const report::style& how) {
  const profile::evidence& seen = what.seen;
  std::uint64_t unseen_touches = 0;
  std::uint64_t resident = 0;
  for (const profile::program& program : what.programs) {
    for (const profile::object& object : program.objects) {
      unseen_touches += object.unseen_touches;
      resident += object.resident;
    }
  }
  std::string text =
      fmt::format("{} page faults sampled, {} lost; {} of {} pages whose first touch was not seen",
                  seen.fault_samples, seen.lost_samples, unseen_touches, resident);
  if (seen.hinting) {
    text += fmt::format(
        "; {} accesses sampled, {} pages bound to their node meanwhile, {} moved by the kernel",
        seen.hinting_samples, seen.pages_bound, seen.pages_moved);
  }
  if (seen.counts) {
    text += "; memory traffic counted";
  }
  if (seen.thinned_samples != 0) {
    text += fmt::format("; {} samples dropped to limit memory", seen.thinned_samples);
  }
  const std::string overhead = fmt::format(
      "observer {} of {}", format_seconds(what.cost.observer_s), format_seconds(what.cost.wall_s));
  return labelled("evidence", text, how) + labelled("overhead", overhead, how) +
         lines("not seen", seen.missing, how);
}

/// One line for each reason, with all patterns that it concerns.
std::string unexamined_text(const std::vector<advise::unexamined>& what, const report::style& how) {
  using reason = std::pair<std::string, std::string>;
  std::vector<reason> by_reason;
  for (const advise::unexamined& each : what) {
    const auto same = std::ranges::find(by_reason, each.missing, &reason::first);
    if (same == by_reason.end()) {
      by_reason.emplace_back(each.missing, advise::name_of(each.what));
    } else {
      same->second += ", " + advise::name_of(each.what);
    }
  }
  return lines("unchecked", by_reason, how,
               [](const reason& each) { return fmt::format("{}: {}", each.first, each.second); });
}

std::string findings_text(const advise::advice& found, bool verbose, const report::style& how) {
  const std::size_t most = verbose ? found.findings.size() : 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, found.findings.size()); ++i) {
    text += (i == 0 ? "" : "\n") + finding_text(found.findings[i], i + 1, verbose, how);
  }
  if (found.findings.size() > most) {
    text += fmt::format("\n{} not shown; --verbose shows all\n",
                        counted(found.findings.size() - most, "smaller finding"));
  }
  return text;
}

/// What is missing, without the gaps that do not matter when all uses were counted.
std::vector<std::string> worth_saying(const profile::evidence& of) {
  std::vector<std::string> all = of.missing;
  if (of.counts) {
    std::erase_if(all, [](const std::string& each) {
      return each.starts_with("page faults inside system calls");
    });
  }
  return all;
}

/// The candidates that were considered and rejected.
std::string rejected_text(const profile::profile& what, const advise::advice& found,
                          const report::style& how) {
  return lines("rejected", found.not_worth, how, dismissed_text) +
         lines("rejected", found.refused, how, [&](const advise::proposal& each) {
           return fmt::format("a plan for {}: {}", what.programs[each.program].name, each.refused);
         });
}

} // namespace

std::string advice_text(const profile::profile& what, const advise::advice& found,
                        const machine& on, bool verbose, const report::style& how) {
  std::string text = ranks_text(what, how) + findings_text(found, verbose, how);
  if (found.findings.empty()) {
    text += report::paint(how, tone::strong,
                          on.nodes.size() == 1
                              ? "This machine has one node: nothing can be in the wrong place"
                              : "No finding") +
            "\n";
  }
  if (verbose || found.findings.empty()) {
    text += "\n" + sites_text(what, how) + "\n";
  }
  const bool unseen = found.findings.empty() && on.nodes.size() > 1;
  if (verbose || unseen) {
    text += rejected_text(what, found, how);
  }
  if (!verbose) {
    return text + lines("not seen", worth_saying(what.seen), how);
  }
  text += evidence_text(what, how);
  // On one node, the unexamined patterns cannot occur, and nothing is priced.
  return on.nodes.size() == 1 && found.findings.empty()
             ? text
             : text + unexamined_text(found.not_asked, how) + lines("note", found.remarks, how);
}

} // namespace nodewise::cli
