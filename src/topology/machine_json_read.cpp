// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "topology/machine_json.hpp"
#include "topology/part_sets.hpp"

namespace nodewise {

namespace {

constexpr int most_threads_per_core = 1024;
// Linux has at most 1024 nodes and 8192 processors. Each part of a machine is a set of them.
constexpr std::size_t most_nodes = 1024;
constexpr std::size_t most_figures = most_nodes * most_nodes;
constexpr std::size_t most_parts = 65536;
constexpr int highest_cpu = 65535;

// Read a field if the object has it.

void read_text(const json_field& object, const char* key, std::string& text) {
  if (const auto found = object.find(key)) {
    text = found->text();
  }
}

template <class Number>
void read_number(const json_field& object, const char* key, Number& number, int lowest = 0,
                 int highest = max_id) {
  if (const auto found = object.find(key)) {
    number = static_cast<Number>(found->small_number(lowest, highest));
  }
}

/// The position of a name is the value of the enumeration.
template <class Kind>
void read_kind(const json_field& object, Kind& kind, std::span<const std::string_view> names) {
  if (const auto found = object.find("kind")) {
    kind = static_cast<Kind>(found->one_of(names));
  }
}

/// The elements of a list, at most `most`.
std::vector<json_field> elements_of(const json_field& list, std::size_t most) {
  auto elements = list.elements();
  if (elements.size() > most) {
    list.refuse(fmt::format("a list of {}", elements.size()), fmt::format("list at most {}", most));
  }
  return elements;
}

/// The processors of one part of a list whose parts must not overlap.
cpu_set read_cpus(const json_field& part, cpu_set& claimed) {
  const json_field field = part.at("cpus");
  cpu_set cpus = field.ids<cpu_id>();
  if (cpus.highest() > highest_cpu) {
    field.refuse(fmt::format("a number above {}", highest_cpu),
                 "use the numbers that the operating system gives the processors");
  }
  if (cpus.intersects(claimed)) {
    field.refuse(
        fmt::format("the processors {} are also in another entry", (cpus & claimed).to_string()),
        "list each processor once");
  }
  claimed = std::move(claimed) | cpus;
  return cpus;
}

cpu_set read_some_cpus(const json_field& part, cpu_set& claimed) {
  cpu_set cpus = read_cpus(part, claimed);
  if (cpus.empty()) {
    part.at("cpus").refuse("no processor", "name at least one, such as \"0-3\"");
  }
  return cpus;
}

/// Reads the parts in the order of the file. Records where each node went, because other lists have
/// the same order.
class machine_reader {
 public:
  explicit machine_reader(const json_field& document) : document_(document) {}

  machine read() {
    document_.allow_only({"schema", "nodewise", "name", "title", "source", "notes",
                          "threads_per_core", "nodes", "packages", "cores", "distances", "caches",
                          "parameters", "devices", "lab"});
    read_text(document_, "name", all_.name);
    read_text(document_, "title", all_.title);
    read_text(document_, "source", all_.source);
    for_each("notes", [&](const json_field& note) { all_.notes.push_back(note.text()); });
    read_nodes();
    read_cores();
    cpu_set in_packages;
    for_each("packages", [&](const json_field& each) { read_package(each, in_packages); });
    read_distances();
    for_each("caches", [&](const json_field& each) { read_cache(each); });
    for_each("parameters", [&](const json_field& each) { read_parameter(each); }, most_figures);
    for_each("devices", [&](const json_field& each) { read_device(each); });
    if (const auto lab = document_.find("lab")) {
      read_lab(*lab);
    }
    sort_caches(all_.caches);
    return std::move(all_);
  }

 private:
  template <class Read>
  void for_each(const char* key, Read read, std::size_t most = most_parts) {
    if (const auto list = document_.find(key)) {
      std::ranges::for_each(elements_of(*list, most), read);
    }
  }

  void read_nodes() {
    const json_field list = document_.at("nodes");
    std::vector<memory_node> nodes;
    node_set seen;
    cpu_set claimed;
    for (const json_field& field : elements_of(list, most_nodes)) {
      nodes.push_back(read_node(field, seen, claimed));
    }
    if (nodes.empty()) {
      list.refuse("no node", "list at least one");
    }
    order_.resize(nodes.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::sort(order_, {}, [&](std::size_t at) { return nodes[at].id; });
    for (const std::size_t at : order_) {
      all_.nodes.push_back(std::move(nodes[at]));
    }
  }

  static memory_node read_node(const json_field& field, node_set& seen, cpu_set& claimed) {
    field.allow_only({"id", "cpus", "memory_bytes", "kind", "logical"});
    memory_node node;
    node.id = node_id{field.at("id").small_number(0, max_id)};
    if (seen.contains(node.id)) {
      field.at("id").refuse(fmt::format("node {} is listed twice", node.id),
                            "give each node a number of its own");
    }
    seen.insert(node.id);
    node.cpus = read_cpus(field, claimed);
    node.memory_bytes = field.at("memory_bytes").whole_number();
    read_kind(field, node.kind, memory_kind_names);
    read_number(field, "logical", node.logical);
    return node;
  }

  void read_cores() {
    const cpu_set of_nodes = all_.cpus();
    std::size_t threads = 1;
    read_number(document_, "threads_per_core", threads, 1, most_threads_per_core);
    cpu_set claimed;
    for_each("cores", [&](const json_field& field) {
      field.allow_only({"cpus"});
      all_.cores.push_back({read_some_cpus(field, claimed)});
    });
    const auto list = document_.find("cores");
    if (!list) {
      deal_out_cores(threads);
    } else if (!claimed.includes(of_nodes)) {
      list->refuse(
          fmt::format("the processors {} are in no core", (of_nodes - claimed).to_string()),
          "list every core, or omit the field");
    }
    std::ranges::sort(all_.cores, {}, [](const core& each) { return each.cpus.first(); });
    if (all_.cores.empty()) {
      document_.at("nodes").refuse("no node has a processor",
                                   "give one of them processors: \"cpus\": \"0-3\"");
    }
  }

  /// Without a list of cores, `threads` consecutive processors of a node make a core.
  void deal_out_cores(std::size_t threads) {
    for (const memory_node& node : all_.nodes) {
      if (node.cpus.size() % threads != 0) {
        document_.at("threads_per_core")
            .refuse(fmt::format("node {} has {} processors, which is not a multiple of {}", node.id,
                                node.cpus.size(), threads),
                    "list the cores: \"cores\": [{\"cpus\": \"0,32\"}, ...]");
      }
      cpu_set cpus;
      for (const cpu_id cpu : node.cpus) {
        cpus.insert(cpu);
        if (cpus.size() == threads) {
          all_.cores.push_back({std::exchange(cpus, {})});
        }
      }
    }
  }

  void read_package(const json_field& field, cpu_set& claimed) {
    field.allow_only({"id", "cpus"});
    package& each = all_.packages.emplace_back();
    read_number(field, "id", each.id);
    each.cpus = read_some_cpus(field, claimed);
  }

  void read_distances() {
    const auto table = document_.find("distances");
    if (!table) {
      return;
    }
    const std::size_t count = all_.nodes.size();
    const auto one_for_each_node = [count](const json_field& list) {
      auto elements = list.elements();
      if (elements.size() != count) {
        list.refuse(fmt::format("{} entries for {} nodes", elements.size(), count),
                    "write one row for each node with one number for each node, in the order of "
                    "\"nodes\"");
      }
      return elements;
    };
    const auto rows = one_for_each_node(*table);
    all_.distances.assign(count, std::vector<int>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const auto figures = one_for_each_node(rows[order_[i]]);
      for (std::size_t j = 0; j < count; ++j) {
        all_.distances[i][j] = figures[order_[j]].small_number(1, max_id);
      }
      if (!is_nearest_to_itself(all_.distances[i], i)) {
        figures[order_[i]].refuse("the node is nearer to another than to itself",
                                  "write 10 from a node to itself and more to the others");
      }
    }
  }

  void read_cache(const json_field& field) {
    field.allow_only({"level", "kind", "size_bytes", "line_bytes", "ways", "shared_by", "cpus"});
    cache each;
    each.level = field.at("level").small_number(1, 9);
    read_kind(field, each.kind, cache_kind_names);
    if (const auto bytes = field.find("size_bytes")) {
      each.size_bytes = bytes->whole_number();
    }
    read_number(field, "line_bytes", each.line_bytes);
    read_number(field, "ways", each.ways);
    for (cpu_set& cpus : sharers(field)) {
      each.cpus = std::move(cpus);
      all_.caches.push_back(each);
    }
  }

  /// One set per cache: the one that "cpus" names, or one for each part that "shared_by" names.
  [[nodiscard]] std::vector<cpu_set> sharers(const json_field& field) const {
    const auto word = field.find("shared_by");
    if (word.has_value() == field.find("cpus").has_value()) {
      field.refuse(word ? "both 'cpus' and 'shared_by'" : "neither 'cpus' nor 'shared_by'",
                   "use one of the two for what shares the cache");
    }
    if (!word) {
      cpu_set claimed;
      return {read_some_cpus(field, claimed)};
    }
    constexpr std::array<std::string_view, 4> words = {"core", "node", "package", "machine"};
    const std::size_t which = word->one_of(words);
    std::vector<cpu_set> sets = which == 0   ? sets_of(all_.cores)
                                : which == 1 ? sets_of(all_.nodes)
                                : which == 2 ? sets_of(all_.packages)
                                             : std::vector{all_.cpus()};
    if (sets.empty()) {
      word->refuse("the machine has none of these",
                   "list them: \"packages\": [{\"cpus\": \"0-3\"}]");
    }
    return sets;
  }

  [[nodiscard]] node_id known_node(const json_field& field) const {
    const node_id node{field.small_number(0, max_id)};
    if (all_.find_node(node) == nullptr) {
      field.refuse(fmt::format("there is no node {}", node),
                   fmt::format("the nodes are {}", all_.node_ids().to_string()));
    }
    return node;
  }

  void read_parameter(const json_field& field) {
    field.allow_only({"name", "from", "to", "value", "unit", "source"});
    all_.parameters.push_back({.name = field.at("name").text(),
                               .from = known_node(field.at("from")),
                               .to = known_node(field.at("to")),
                               .value = field.at("value").number(),
                               .unit = field.at("unit").text(),
                               .source = field.at("source").text()});
    if (all_.parameters.back().source.empty()) {
      field.at("source").refuse("it is empty",
                                "name a publication, or write \"measured ...\" or \"assumed\"");
    }
  }

  void read_device(const json_field& field) {
    field.allow_only({"name", "kind", "bus", "nodes"});
    constexpr std::array<std::string_view, 5> kinds = {"network", "storage", "gpu", "fabric",
                                                       "other"};
    device& each = all_.devices.emplace_back();
    each.name = field.at("name").text();
    each.kind = kinds[field.at("kind").one_of(kinds)];
    read_text(field, "bus", each.bus);
    if (const auto nodes = field.find("nodes")) {
      each.nodes = nodes->ids<node_id>();
    }
    if (const node_set unknown = each.nodes - all_.node_ids(); !unknown.empty()) {
      field.at("nodes").refuse(fmt::format("there is no node {}", unknown.to_string()),
                               fmt::format("the nodes are {}", all_.node_ids().to_string()));
    }
  }

  void read_lab(const json_field& field) {
    field.allow_only({"memory_bytes_per_node", "offline_nodes"});
    if (const auto memory = field.find("memory_bytes_per_node")) {
      read_lab_memory(*memory);
    }
    if (const auto offline = field.find("offline_nodes")) {
      for (const json_field& node : offline->elements()) {
        all_.lab.offline_nodes.insert(known_node(node));
      }
      if (all_.lab.offline_nodes == all_.node_ids()) {
        offline->refuse("all nodes are offline", "leave one online");
      }
    }
  }

  /// One figure for all nodes, or one per node; a node without memory stays without.
  void read_lab_memory(const json_field& field) {
    const auto figures =
        field.is_array() ? field.elements() : std::vector(all_.nodes.size(), field);
    if (figures.size() != all_.nodes.size()) {
      field.refuse(fmt::format("{} numbers for {} nodes", figures.size(), all_.nodes.size()),
                   "write one number for all nodes, or one for each node in the order of "
                   "\"nodes\"");
    }
    for (std::size_t i = 0; i < all_.nodes.size(); ++i) {
      const std::uint64_t bytes = figures[order_[i]].whole_number();
      all_.lab.memory_bytes.push_back(all_.nodes[i].memory_bytes > 0 ? bytes : 0);
    }
  }

  const json_field& document_;
  machine all_;
  std::vector<std::size_t> order_; ///< order_[i]: position in the file of the i-th node by number
};

template <class Id>
id_set<Id> allowed_of(const json_field& allowed, const char* key, const id_set<Id>& all) {
  const auto field = allowed.find(key);
  if (!field) {
    return all;
  }
  auto ids = field->template ids<Id>();
  if (!all.includes(ids)) {
    field->refuse(fmt::format("{} is not in the machine", (ids - all).to_string()),
                  fmt::format("allow only {}", all.to_string()));
  }
  return ids;
}

} // namespace

machine machine_from_json(const json_field& document) {
  check_schema(document, machine_schema);
  return machine_reader(document).read();
}

topology topology_from_json(const json_field& document) {
  const std::string schema = document.at("schema").text();
  const auto nested = document.find("machine");
  if (!nested || schema.starts_with("nodewise/machine/")) {
    return topology(machine_from_json(document));
  }
  if (schema.starts_with("nodewise/topology/")) {
    check_schema(document, topology_schema);
    document.allow_only({"schema", "nodewise", "machine", "settings", "nodes", "allowed"});
  }
  machine all = machine_from_json(*nested);
  const auto allowed = document.find("allowed");
  if (!allowed) {
    return topology(std::move(all));
  }
  allowed->allow_only({"cpus", "nodes"});
  cpu_set cpus = allowed_of(*allowed, "cpus", all.cpus());
  node_set nodes = allowed_of(*allowed, "nodes", all.node_ids());
  return {std::move(all), std::move(cpus), std::move(nodes)};
}

topology topology::from_json(const std::filesystem::path& file) {
  const nlohmann::ordered_json document = read_json_file(file, largest_machine_file);
  topology read =
      topology_from_json(json_field(document, fmt::format("the machine file {}", file.string())));
  if (read.machine_.name.empty()) {
    read.machine_.name = file.stem().string();
  }
  return read;
}

} // namespace nodewise
