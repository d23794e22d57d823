// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/machine/drawing.hpp"

#include <array>
#include <map>
#include <span>

#include <fmt/core.h>

#include "base/text.hpp"
#include "report/table.hpp"
#include "topology/part_sets.hpp"

namespace nodewise::cli {

namespace {

using report::paint;
using report::style;
using report::tone;

/// "label    text", wrapped, with the text in its own column.
std::string paragraph(const style& how, std::string_view label, std::string_view text,
                      tone look = tone::plain) {
  constexpr std::size_t indent = 12;
  const std::size_t room = how.width > indent + 20 ? how.width - indent : 20;
  std::string all;
  for (const std::string& line : report::wrap(text, room)) {
    const std::string head = report::pad_right(all.empty() ? label : "", indent);
    all += fmt::format("{}{}\n", paint(how, tone::strong, head), paint(how, look, line));
  }
  return all;
}

/// Paragraphs with one label, after an empty line.
std::string paragraphs(const style& how, std::string_view label,
                       const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) {
    all += all.empty() ? "\n" + paragraph(how, label, printable(text), tone::faint)
                       : paragraph(how, "", printable(text), tone::faint);
  }
  return all;
}

/// The name of a table and a remark beside it, or below it if it does not fit.
std::string heading(const style& how, const std::string& name, const std::string& remark) {
  const std::string first = paint(how, tone::strong, name);
  if (name.size() + 2 + report::display_width(remark) <= how.width) {
    return fmt::format("{}  {}\n", first, paint(how, tone::faint, remark));
  }
  return fmt::format("{}\n{}\n", first,
                     joined(report::wrap(remark, how.width), "\n", [&](const std::string& line) {
                       return paint(how, tone::faint, line);
                     }));
}

// The head.

std::string totals(const machine& all) {
  std::uint64_t bytes = 0;
  for (const memory_node& node : all.nodes) {
    bytes += node.memory_bytes;
  }
  const std::pair<std::size_t, const char*> counts[] = {{all.nodes.size(), "node"},
                                                        {all.packages.size(), "package"},
                                                        {all.cores.size(), "core"},
                                                        {all.cpus().size(), "hardware thread"}};
  std::vector<std::string> parts;
  for (const auto& [count, what] : counts) {
    if (count != 0) {
      parts.push_back(counted(count, what));
    }
  }
  if (bytes != 0) {
    parts.push_back(report::format_bytes(bytes));
  }
  return joined(parts, ", ");
}

template <class Id>
std::string share_text(const char* what, const id_set<Id>& allowed, const id_set<Id>& all) {
  if (allowed == all) {
    return fmt::format("all {}", what);
  }
  return fmt::format("{} of {} {} ({})", allowed.size(), all.size(), what,
                     allowed.empty() ? "none" : "P#" + allowed.to_string());
}

std::string head(const topology& what, const style& how) {
  const machine& all = what.machine();
  std::string text = paint(how, tone::strong, all.name.empty() ? "a machine" : all.name) + "\n";
  for (const std::string& line : {all.title, totals(all)}) {
    for (const std::string& part : report::wrap(line, how.width)) {
      text += part.empty() ? "" : part + "\n";
    }
  }
  const cpu_set cpus = all.cpus();
  const node_set usable = what.memory_nodes();
  const node_set nodes = usable | withheld_nodes(what); // all nodes with memory
  if (what.allowed_cpus() == cpus && usable == nodes) {
    return text + paragraph(how, "allowed", "everything", tone::good);
  }
  const std::string allowed =
      fmt::format("{}, memory of {}", share_text("threads", what.allowed_cpus(), cpus),
                  share_text("nodes", usable, nodes));
  return text + paragraph(how, "allowed", allowed, tone::warning);
}

// Caches.

/// What shares one of these caches: "core", "node", "package", or "4 threads".
std::string sharer(const machine& all, const std::vector<cache>& alike) {
  const std::pair<const char*, std::vector<cpu_set>> kinds[] = {{"core", sets_of(all.cores)},
                                                                {"package", sets_of(all.packages)},
                                                                {"node", sets_of(all.nodes)}};
  for (const auto& [name, parts] : kinds) {
    if (std::ranges::all_of(sets_of(alike), [&known = parts](const cpu_set& each) {
          return std::ranges::find(known, each) != known.end();
        })) {
      return name;
    }
  }
  return counted(alike.front().cpus.size(), "thread");
}

/// The largest first, grouped by sharer: "L3 30 MiB / package, L2 256 KiB, L1d 32 KiB / core".
std::string caches_text(const machine& all) {
  std::map<std::tuple<int, cache_kind, std::uint64_t>, std::vector<cache>> alike;
  for (const cache& each : all.caches) {
    alike[{-each.level, each.kind, each.size_bytes}].push_back(each);
  }
  constexpr std::array<const char*, 3> letters = {"", "d", "i"};
  std::string text;
  std::string last_sharer;
  for (const auto& [key, caches] : alike) {
    const auto& [level, kind, bytes] = key;
    const std::string of = sharer(all, caches);
    if (!text.empty()) {
      text += of == last_sharer ? ", " : " / " + last_sharer + ", ";
    }
    text += fmt::format("L{}{}{}{}", -level, letters.at(static_cast<std::size_t>(kind)),
                        bytes == 0 ? "" : " ", bytes == 0 ? "" : report::format_bytes(bytes));
    last_sharer = of;
  }
  return text + " / " + last_sharer;
}

// Figures between nodes.

/// Rows and columns are nodes; the width limits how many columns are side by side.
class node_matrix {
 public:
  void set(node_id from, node_id to, report::cell entry) {
    width_ = std::max({width_, entry.text.size(), name(from).size(), name(to).size()});
    columns_.insert(to);
    rows_[from].insert_or_assign(to, std::move(entry));
  }

  [[nodiscard]] std::string to_string(const style& how) const {
    const std::vector<node_id> columns(columns_.begin(), columns_.end());
    const std::size_t fit = std::max<std::size_t>(1, (how.width - width_) / (width_ + 1));
    std::string text;
    for (std::size_t first = 0; first < columns.size(); first += fit) {
      text += part(how, std::span(columns).subspan(first, std::min(fit, columns.size() - first)));
    }
    return text;
  }

 private:
  static std::string name(node_id node) { return fmt::format("{}", node); }
  [[nodiscard]] std::string node_name(const style& how, node_id node) const {
    return report::paint_node(how, to_int(node), report::pad_left(name(node), width_));
  }

  [[nodiscard]] std::string part(const style& how, std::span<const node_id> columns) const {
    std::string text(width_, ' ');
    for (const node_id column : columns) {
      text += " " + node_name(how, column);
    }
    text += "\n";
    for (const auto& [row, entries] : rows_) {
      text += node_name(how, row);
      for (const node_id column : columns) {
        const auto at = entries.find(column);
        const report::cell none = how.unicode ? "·" : ".";
        const report::cell& entry = at == entries.end() ? none : at->second;
        text += " " + paint(how, entry.what, report::pad_left(entry.text, width_));
      }
      text += "\n";
    }
    return text;
  }

  std::map<node_id, std::map<node_id, report::cell>> rows_;
  node_set columns_;
  std::size_t width_ = 1;
};

/// Grades a figure as good, plain, warning or bad by its position between best and worst.
tone grade(double value, double best, double worst) {
  if (value == best) {
    return tone::good;
  }
  const double share = worst == best ? 0 : (value - best) / (worst - best);
  return share < 0.5 ? tone::plain : share < 0.85 ? tone::warning : tone::bad;
}

std::string distances_text(const machine& all, const style& how) {
  int longest = 0;
  for (const auto& row : all.distances) {
    longest = std::max(longest, std::ranges::max(row));
  }
  node_matrix matrix;
  for (std::size_t i = 0; i < all.nodes.size(); ++i) {
    for (std::size_t j = 0; j < all.nodes.size(); ++j) {
      const int value = all.distances[i][j];
      matrix.set(all.nodes[i].id, all.nodes[j].id,
                 {std::to_string(value), grade(value, all.distances[i][i], longest)});
    }
  }
  return heading(how, "distances", "from the firmware, row to column: an order, not a cost") +
         matrix.to_string(how);
}

std::string one_parameter(const std::vector<parameter>& figures, const style& how) {
  const bool more_is_better = figures.front().name.find("bandwidth") != std::string::npos;
  const auto [least, most] = std::ranges::minmax_element(figures, {}, &parameter::value);
  const double best = more_is_better ? most->value : least->value;
  const double worst = more_is_better ? least->value : most->value;
  node_matrix matrix;
  for (const parameter& each : figures) {
    matrix.set(each.from, each.to,
               {fmt::format("{:.4g}", each.value), grade(each.value, best, worst)});
  }
  const parameter& first = figures.front();
  const std::string name = joined(split(first.name, '_'), " ");
  const std::string source = first.source.empty() ? "no source given" : first.source;
  return heading(how, fmt::format("{} ({})", name, first.unit), "from row to column; " + source) +
         matrix.to_string(how);
}

std::string parameters_text(const machine& all, const style& how) {
  std::vector<std::vector<parameter>> kinds;
  for (const parameter& each : all.parameters) {
    const auto same = std::ranges::find_if(kinds, [&](const auto& kind) {
      return std::tie(kind.front().name, kind.front().unit, kind.front().source) ==
             std::tie(each.name, each.unit, each.source);
    });
    if (same == kinds.end()) {
      kinds.push_back({each});
    } else {
      same->push_back(each);
    }
  }
  std::string text;
  for (const auto& figures : kinds) {
    text += "\n" + one_parameter(figures, how);
  }
  return text;
}

/// One line for each place: "node 0     eth0, eth1 (network); sda (storage)".
std::string devices_text(const machine& all, const style& how) {
  std::map<std::string, std::map<std::string, std::string>> places;
  for (const device& each : all.devices) {
    std::string& names = places[each.nodes.to_string()][each.kind];
    names += (names.empty() ? "" : ", ") + each.name;
  }
  std::string text = paint(how, tone::strong, "devices") + "\n";
  for (const auto& [nodes, kinds] : places) {
    const std::string list = joined(kinds, "; ", [](const auto& each) {
      return fmt::format("{} ({})", each.second, each.first);
    });
    const bool is_one = nodes.find_first_of(",-") == std::string::npos;
    text += paragraph(
        how, nodes.empty() ? "no node" : fmt::format("node{} {}", is_one ? "" : "s", nodes), list);
  }
  return text;
}

/// The texts come from an untrusted file: escapes control sequences for the terminal.
machine with_printable_texts(machine of) {
  std::vector<std::string*> texts = {&of.name, &of.title, &of.source};
  for (std::string& note : of.notes) {
    texts.push_back(&note);
  }
  for (parameter& each : of.parameters) {
    texts.insert(texts.end(), {&each.name, &each.unit, &each.source});
  }
  for (device& each : of.devices) {
    texts.insert(texts.end(), {&each.name, &each.kind, &each.bus});
  }
  for (std::string* const text : texts) {
    *text = printable(*text);
  }
  return of;
}

} // namespace

std::string draw(const topology& what, const style& how, const std::vector<std::string>& costs) {
  const topology shown(with_printable_texts(what.machine()), what.allowed_cpus(),
                       what.allowed_nodes());
  const machine& all = shown.machine();
  std::string text = head(shown, how) + "\n" + draw_nodes(shown, how);
  if (!all.caches.empty()) {
    text += "\n" + paragraph(how, "caches", caches_text(all));
  }
  if (!all.distances.empty() && all.nodes.size() > 1) {
    text += "\n" + distances_text(all, how);
  }
  text += parameters_text(all, how);
  text += paragraphs(how, "costs", costs);
  if (!all.devices.empty()) {
    text += "\n" + devices_text(all, how);
  }
  if (!all.source.empty()) {
    text += paragraphs(how, "source", {all.source});
  }
  return text + paragraphs(how, "notes", all.notes);
}

} // namespace nodewise::cli
