// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The rules are those of LIKWID 5.2 (cpustring.c), except for texts that name more than there is:
// see docs/specs.md.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/text.hpp"
#include "spec/likwid_domains.hpp"
#include "spec/syntaxes.hpp"

namespace nodewise::spec {

namespace {

/// More threads than any machine runs.
constexpr int most_threads = 1 << 13;

class evaluator {
 public:
  evaluator(std::string_view text, const topology& where, const parts& machine)
      : text_(text), where_(where), domains_(where, machine) {}

  [[nodiscard]] std::vector<cpu_id> run() {
    for (const std::string_view item : split(text_, '@')) {
      add(item);
      if (list_.size() > most_threads) {
        refuse_list(text_, fmt::format("it names more than {} threads", most_threads),
                    "name fewer");
      }
    }
    if (list_.empty()) {
      refuse_list(text_, "it names no processor", usable());
    }
    return std::move(list_);
  }

  /// The domain of that name. Throws if it does not exist, or none of its processors is allowed.
  [[nodiscard]] likwid_domain find(std::string_view name) const {
    std::vector<likwid_domain> found = find_all(name);
    if (found.size() != 1 || found.front().tag != name) {
      refuse_list(text_, fmt::format("'{}' is a kind of domain, not one domain", name),
                  fmt::format("add a number, such as {}0", name));
    }
    return std::move(found.front());
  }

 private:
  [[nodiscard]] std::string usable() const {
    return "this process may use " + where_.allowed_cpus().to_string();
  }

  void add(std::string_view item) {
    const std::vector<std::string_view> fields = split(item, ':');
    if (fields[0] == "E") {
      add_expression(fields);
    } else if (fields[0] == "L") {
      add_logical(fields, 1);
    } else if (!is_likwid_domain(fields[0])) {
      std::ranges::copy(numactl_cpus(item, where_), std::back_inserter(list_));
    } else if (fields.size() == 1) {
      append(find(fields[0]).core_by_core());
    } else if (fields[1] == "scatter" || fields[1] == "balanced" || fields[1] == "cbalanced") {
      add_policy(fields);
    } else {
      add_logical(fields, 0);
    }
  }

  void append(const std::vector<cpu_id>& cpus) {
    list_.insert(list_.end(), cpus.begin(), cpus.end());
  }

  // Domains.

  [[noreturn]] void refuse_missing(std::string_view name, std::size_t count) const {
    refuse_list(text_,
                count == 0 ? fmt::format("this machine's {} domains are unknown", name[0])
                           : fmt::format("this machine has no domain {0}, only {1}0 to {1}{2}",
                                         name, name[0], count - 1),
                "`nodewise topo` draws the machine");
  }

  [[nodiscard]] std::vector<likwid_domain> find_all(std::string_view name) const {
    if (!is_likwid_domain(name)) {
      refuse_list(text_, fmt::format("'{}' is not a domain", name),
                  "name N, S0 (package), D0 (die), C0 (last cache) or M0 (node)");
    }
    const std::vector<cpu_set> sets = domains_.sets_of(name[0]);
    std::vector<likwid_domain> all;
    if (name.size() > 1) {
      const auto number = static_cast<std::size_t>(number_of(name.substr(1)));
      if (number >= sets.size()) { // -1, for text that is not a number, becomes the largest
        refuse_missing(name, sets.size());
      }
      all.push_back(domains_.make(name[0], number, sets[number]));
    }
    for (std::size_t number = 0; name.size() == 1 && number < sets.size(); ++number) {
      all.push_back(domains_.make(name[0], number, sets[number]));
    }
    std::erase_if(all, [](const likwid_domain& each) { return each.indexed.empty(); });
    if (all.empty()) {
      refuse_list(text_, fmt::format("no allowed processor is in {}", name), usable());
    }
    return all;
  }

  // "S0:0-3,5", "L:S0:0-3"

  [[nodiscard]] int index_in(std::string_view text, const likwid_domain& domain) const {
    const int index = number_of(text);
    const int size = static_cast<int>(domain.indexed.size());
    if (index < 0 || index >= size) {
      refuse_list(text_,
                  index < 0
                      ? fmt::format("'{}' is not a number", text)
                      : fmt::format("domain {} has no {}: its processors are counted from 0 to {}",
                                    domain.tag, text, size - 1),
                  "write domain:list, such as S0:0-3 or S0:0,2");
    }
    return index;
  }

  void add_logical(const std::vector<std::string_view>& fields, std::size_t first) {
    const bool whole = first == 1 && fields.size() == 2; // L:0-3
    if (fields.size() != first + 2 && !whole) {
      refuse_list(text_, "a domain and a list are expected", "write S0:0-3 or L:S0:0-3");
    }
    const likwid_domain domain = find(whole ? std::string_view("N") : fields[first]);
    for (const std::string_view range : split(fields.back(), ',')) {
      const std::size_t dash = range.find('-');
      const int from = index_in(range.substr(0, dash), domain);
      const int to =
          dash == std::string_view::npos ? from : index_in(range.substr(dash + 1), domain);
      for (int at = from; at != to; at += from < to ? 1 : -1) {
        list_.push_back(domain.indexed[static_cast<std::size_t>(at)]);
      }
      list_.push_back(domain.indexed[static_cast<std::size_t>(to)]);
    }
  }

  // "E:N:4", "E:N:4:2:4", "E:N:4:2:4:1": domain, count, chunk, stride, offset

  [[nodiscard]] int field(const std::vector<std::string_view>& fields, std::size_t at, int missing,
                          int lowest) const {
    if (at >= fields.size()) {
      return missing;
    }
    const int value = number_of(fields[at]);
    if (value < lowest || value > most_threads) {
      refuse_list(
          text_,
          fmt::format("'{}' is not a number from {} to {}", fields[at], lowest, most_threads),
          "write E:domain:count or E:domain:count:chunk:stride");
    }
    return value;
  }

  void add_expression(const std::vector<std::string_view>& fields) {
    if (fields.size() < 2 || fields.size() == 4 || fields.size() > 6) {
      refuse_list(text_, "not an expression",
                  "write E:domain:count or E:domain:count:chunk:stride");
    }
    const std::vector<cpu_id> cpus = find(fields[1]).core_by_core();
    const auto size = static_cast<int>(cpus.size());
    const int count = field(fields, 2, static_cast<int>(where_.allowed_cpus().size()), 1);
    const int chunk = field(fields, 3, 1, 1);
    const int stride = field(fields, 4, 1, 0);
    const int offset = field(fields, 5, 0, 0);
    if (offset >= size) {
      refuse_list(text_, fmt::format("its offset is beyond the domain's {} processors", size),
                  "omit the offset");
    }
    int start = offset;
    for (int named = 0; named < count;) {
      for (int at = start; at < std::min(start + chunk, size) && named < count; ++at, ++named) {
        list_.push_back(cpus[static_cast<std::size_t>(at)]);
      }
      start = start + stride < size ? start + stride : offset;
    }
  }

  // "M:scatter", "S:balanced:4", "S:cbalanced:4"

  void add_policy(const std::vector<std::string_view>& fields) {
    if (fields.size() > 3) {
      refuse_list(text_, "too many fields", "write M:scatter or M:scatter:4");
    }
    const std::vector<likwid_domain> domains = find_all(fields[0]);
    std::size_t all = 0;
    for (const likwid_domain& each : domains) {
      all += each.indexed.size();
    }
    const auto count = static_cast<std::size_t>(field(fields, 2, static_cast<int>(all), 1));
    if (count > all) {
      refuse_list(text_, fmt::format("the domains have only {} processors", all),
                  "use at most that number");
    }
    if (fields[1] == "scatter") {
      scatter(domains, count);
    } else {
      balance(domains, count, fields[1] == "cbalanced");
    }
  }

  void scatter(const std::vector<likwid_domain>& domains, std::size_t count) {
    const std::size_t end = list_.size() + count;
    for (std::size_t at = 0; list_.size() < end; ++at) {
      for (const likwid_domain& each : domains) {
        if (at < each.indexed.size() && list_.size() < end) {
          list_.push_back(each.indexed[at]);
        }
      }
    }
  }

  /// Takes equal numbers from all domains, one more from the first ones; the next domains make up
  /// for small ones.
  void balance(const std::vector<likwid_domain>& domains, std::size_t count, bool by_cores) {
    std::vector<std::size_t> shares(domains.size(), 0);
    for (std::size_t dealt = 0; dealt < count;) {
      for (std::size_t i = 0; i < domains.size() && dealt < count; ++i) {
        if (shares[i] < domains[i].indexed.size()) {
          ++shares[i];
          ++dealt;
        }
      }
    }
    for (std::size_t i = 0; i < domains.size(); ++i) {
      std::vector<cpu_id> cpus =
          by_cores ? spread_over_cores(domains[i], shares[i]) : domains[i].core_by_core();
      cpus.resize(shares[i]);
      append(cpus);
    }
  }

  /// One hardware thread on each core; any more go to the first cores.
  [[nodiscard]] static std::vector<cpu_id> spread_over_cores(const likwid_domain& domain,
                                                             std::size_t count) {
    std::vector<cpu_id> cpus;
    std::size_t left = count;
    for (std::size_t i = 0; i < domain.cores.size() && left > 0; ++i) {
      const std::vector<cpu_id>& core = domain.cores[i];
      const std::size_t cores_behind = domain.cores.size() - i - 1;
      const std::size_t here =
          std::clamp<std::size_t>(left > cores_behind ? left - cores_behind : 1, 1, core.size());
      cpus.insert(cpus.end(), core.begin(), core.begin() + static_cast<std::ptrdiff_t>(here));
      left -= here;
    }
    return cpus;
  }

  std::string_view text_;
  const topology& where_;
  likwid_domains domains_;
  std::vector<cpu_id> list_;
};

parts parts_for(std::string_view text, const topology& where, const system_files& files) {
  return {where, files, text.find('C') != std::string_view::npos};
}

/// The numbers of a text such as "M0@M1": 0 and 1; empty for other texts.
std::vector<int> memory_domains(std::string_view text) {
  std::vector<int> numbers;
  for (const std::string_view item : split(text, '@')) {
    const int number = item.starts_with('M') ? number_of(item.substr(1)) : -1;
    if (number < 0) {
      return {};
    }
    numbers.push_back(number);
  }
  return numbers;
}

} // namespace

bool is_likwid_text(std::string_view text) noexcept {
  const std::string_view first = text.substr(0, text.find(':'));
  return text.find('@') != std::string_view::npos || is_likwid_domain(first) ||
         ((first == "E" || first == "L") && first.size() < text.size());
}

std::vector<cpu_id> likwid_cpus(std::string_view text, const topology& where,
                                const system_files& files) {
  const parts machine = parts_for(text, where, files);
  return evaluator(text, where, machine).run();
}

node_set likwid_nodes(std::string_view text, const topology& where, node_purpose purpose,
                      const system_files& files) {
  const parts machine = parts_for(text, where, files);
  const node_set usable = usable_nodes(where, purpose);
  node_set nodes;
  for (const int number : memory_domains(text)) {
    if (static_cast<std::size_t>(number) >= machine.nodes().size()) {
      refuse_list(text,
                  fmt::format("this machine has no domain M{}, only M0 to M{}", number,
                              machine.nodes().size() - 1),
                  "`nodewise topo` draws the machine");
    }
    nodes.insert(machine.nodes()[static_cast<std::size_t>(number)].is->id);
  }
  if (nodes.empty()) {
    for (const cpu_id cpu : evaluator(text, where, machine).run()) {
      if (const node_id node = where.node_of(cpu); node != unknown_node) {
        nodes.insert(node);
      }
    }
  }
  for (const node_id node : nodes) {
    check_node(node, where, purpose, usable);
  }
  if (nodes.empty()) {
    refuse_list(text, "the nodes of its processors are unknown",
                "name nodes by number: " + usable.to_string());
  }
  return nodes;
}

} // namespace nodewise::spec
