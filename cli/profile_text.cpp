// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>

#include "base/counted.hpp"
#include "base/printable.hpp"
#include "cli/model_view.hpp"
#include "cli/profile_ranks.hpp"
#include "cli/profile_sites.hpp"
#include "cli/profile_view.hpp"
#include "report/wrap.hpp"

namespace nodewise::cli {

namespace {

using report::tone;

constexpr std::size_t label_width = 11;

std::string ratio(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", value);
  return text.data();
}

/// "  evidence  all pages on node 0": text is wrapped below itself on a terminal.
std::string labelled(const std::string& label, const std::string& what, const report::style& how) {
  const std::string text = printable(what); // it may contain names
  const std::size_t indent = 2 + label_width;
  const std::string first = "  " + report::pad_right(label, label_width);
  if (!how.terminal) {
    return first + text + "\n";
  }
  std::string all;
  for (const std::string& line : report::wrap(text, how.width - indent)) {
    all += (all.empty() ? report::paint(how, tone::faint, first) : std::string(indent, ' ')) +
           line + "\n";
  }
  return all;
}

/// Several lines of one kind: only the first has the label.
template <class Values, class Text>
std::string lines(const std::string& label, const Values& values, const report::style& how,
                  Text text) {
  std::string all;
  for (const auto& each : values) {
    all += labelled(all.empty() ? label : "", text(each), how);
  }
  return all;
}

std::string objects_text(const advise::named_objects& what, bool has_uses) {
  std::string text = what.name;
  if (what.ids.size() > 1) {
    text += " (" + std::to_string(what.ids.size()) + " objects)";
  }
  text += "  " + report::format_bytes(what.bytes);
  if (has_uses) {
    text += ", " + report::format_percent(what.share) + " of the traffic, " +
            report::format_percent(what.remote) + " of it remote";
  }
  return text;
}

std::string places_text(const std::vector<advise::code_share>& places) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, places.size()); ++i) {
    text += (i == 0 ? "" : ", ") + profile::label_of(places[i].where) + " (" +
            report::format_percent(places[i].share) + ")";
  }
  return text + (places.size() > most ? ", ..." : "");
}

/// The title, wrapped below itself on a terminal.
std::string title_text(const std::string& title, const report::style& how) {
  constexpr std::size_t indent = 3;
  const std::size_t width = how.terminal ? how.width : title.size() + indent;
  return report::paint(how, tone::strong, report::wrap_indented(printable(title), width, indent)) +
         "\n";
}

std::string code_text(const std::string& code, const report::style& how) {
  std::string all;
  std::size_t at = 0;
  while (at < code.size()) {
    const std::size_t end = std::min(code.find('\n', at), code.size());
    all += std::string(8, ' ') +
           report::paint(how, tone::accent, printable(code.substr(at, end - at))) + "\n";
    at = end + 1;
  }
  return all;
}

std::string cures_text(const std::vector<advise::cure>& cures, const report::style& how) {
  std::string all;
  for (const advise::cure& each : cures) {
    all += labelled(all.empty() ? "cure" : "", each.with + ": " + each.what, how);
    all += code_text(each.code, how);
  }
  return all;
}

/// The first cure, without its code.
std::string cure_line(const advise::cure& first, const report::style& how) {
  return labelled("cure", first.with + ": " + first.what, how);
}

std::string dismissed_text(const advise::dismissal& what) {
  std::string text = advise::name_of(what.what);
  for (std::size_t i = 0; i < what.objects.size(); ++i) {
    text += (i == 0 ? " of " : ", ") + what.objects[i].name;
  }
  return text + ": " + what.reason;
}

/// What limits the program, now and after the fix.
std::string limits_text(const advise::gain& worth) {
  const std::string before = "limited by " + worth.binds_before + "; after the fix ";
  if (worth.binds_after == worth.binds_before) {
    return before + "still, with less traffic";
  }
  return before + "by " + (worth.binds_after.empty() ? "nothing that was seen" : worth.binds_after);
}

} // namespace

std::string gain_text(const advise::gain& worth, bool verbose) {
  using kind = advise::gain::kind;
  if (worth.how == kind::unavailable) {
    return "gain unavailable" + (worth.note.empty() ? "" : ": " + worth.note);
  }
  std::string text = "up to " + ratio(worth.ratio) + " x as fast (predicted";
  if (verbose && worth.high > worth.low) {
    text += "; " + ratio(worth.low) + " to " + ratio(worth.high) +
            " by what is not known of the machine";
  }
  text += ")";
  return worth.note.empty() ? text : text + "; " + worth.note;
}

std::string finding_text(const advise::finding& what, std::size_t number, bool verbose,
                         const report::style& how) {
  const bool has_uses = std::ranges::any_of(
      what.objects, [](const advise::named_objects& each) { return each.share > 0; });
  std::string text = title_text(std::to_string(number) + ". " + what.title, how);
  text += labelled("gain", gain_text(what.worth, verbose), how);
  if (!what.worth.binds_before.empty()) {
    text += labelled("", limits_text(what.worth), how);
  }
  const std::size_t most = verbose ? what.objects.size() : 3;
  std::vector<advise::named_objects> shown(
      what.objects.begin(),
      what.objects.begin() + static_cast<std::ptrdiff_t>(std::min(most, what.objects.size())));
  text +=
      lines("arrays", shown, how, [&](const auto& each) { return objects_text(each, has_uses); });
  if (what.objects.size() > most) {
    text += labelled("", std::to_string(what.objects.size() - most) + " more", how);
  }
  if (!what.first_touched.empty()) {
    text += labelled("touched at", places_text(what.first_touched), how);
  }
  if (!what.used.empty()) {
    text += labelled("used at", places_text(what.used), how);
  }
  if (!verbose) {
    return text + (what.cures.empty() ? "" : cure_line(what.cures.front(), how));
  }
  const auto same = [](const std::string& each) { return each; };
  text += lines("evidence", what.evidence, how, same);
  text += cures_text(what.cures, how);
  return text + lines("doubts", what.remarks, how, same);
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
  std::string text = std::to_string(seen.fault_samples) + " page faults sampled, " +
                     std::to_string(seen.lost_samples) + " lost; " +
                     std::to_string(unseen_touches) + " of " + std::to_string(resident) +
                     " pages whose first touch was not seen";
  if (seen.hinting) {
    text += "; " + std::to_string(seen.hinting_samples) + " accesses sampled, " +
            std::to_string(seen.pages_held) + " pages bound to their node meanwhile, " +
            std::to_string(seen.pages_moved) + " moved by the kernel";
  }
  if (seen.counts) {
    text += "; memory traffic counted";
  }
  if (seen.thinned_samples != 0) {
    text += "; " + std::to_string(seen.thinned_samples) + " samples left out to bound memory";
  }
  std::string all = labelled("evidence", text, how);
  all += labelled("overhead",
                  "observer " + format_seconds(what.cost.observer_s) + " of " +
                      format_seconds(what.cost.wall_s),
                  how);
  return all + lines("not seen", seen.missing, how, [](const std::string& each) { return each; });
}

namespace {

/// One line for each reason, with all patterns that it concerns.
std::string unexamined_text(const std::vector<advise::unexamined>& what, const report::style& how) {
  std::vector<std::pair<std::string, std::string>> by_reason;
  for (const advise::unexamined& each : what) {
    const auto same =
        std::ranges::find(by_reason, each.missing, &decltype(by_reason)::value_type::first);
    if (same == by_reason.end()) {
      by_reason.emplace_back(each.missing, advise::name_of(each.what));
    } else {
      same->second += ", " + advise::name_of(each.what);
    }
  }
  return lines("not judged", by_reason, how, [](const auto& each) {
    return "not looked for, because " + each.first + ": " + each.second;
  });
}

} // namespace

namespace {

std::string headline(const machine& on) {
  return on.nodes.size() == 1 ? "This machine has one node: nothing can be in the wrong place"
                              : "No finding";
}

std::string findings_text(const advise::advice& found, bool verbose, const report::style& how) {
  const std::size_t most = verbose ? found.findings.size() : 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, found.findings.size()); ++i) {
    text += (i == 0 ? "" : "\n") + finding_text(found.findings[i], i + 1, verbose, how);
  }
  if (found.findings.size() > most) {
    text += "\n" + counted(found.findings.size() - most, "smaller finding") +
            " not shown; --verbose shows all\n";
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
           return "a plan for " + what.programs[each.program].name + ": " + each.refused;
         });
}

} // namespace

std::string advice_text(const profile::profile& what, const advise::advice& found,
                        const machine& on, bool verbose, const report::style& how) {
  const auto same = [](const std::string& each) { return each; };
  std::string text = ranks_text(what, how) + findings_text(found, verbose, how);
  if (found.findings.empty()) {
    text += report::paint(how, tone::strong, headline(on)) + "\n";
  }
  if (verbose || found.findings.empty()) {
    text += "\n" + sites_text(what, how) + "\n";
  }
  const bool unseen = found.findings.empty() && on.nodes.size() > 1;
  if (verbose || unseen) {
    text += rejected_text(what, found, how);
  }
  if (!verbose) {
    return text + lines("not seen", worth_saying(what.seen), how, same);
  }
  text += evidence_text(what, how);
  // On one node, the unexamined patterns cannot occur, and nothing is priced.
  return on.nodes.size() == 1 && found.findings.empty()
             ? text
             : text + unexamined_text(found.not_asked, how) +
                   lines("note", found.remarks, how, same);
}

} // namespace nodewise::cli
