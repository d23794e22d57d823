// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "profile/profile_json.hpp"

#include <limits>

#include <nlohmann/json.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "profile/profile_json_fields.hpp"

namespace nodewise::profile {

namespace {

constexpr std::size_t most_threads = 1U << 20;
constexpr int most_int = std::numeric_limits<int>::max();

std::uint64_t address(const json_field& from) {
  const std::string text = from.text();
  const auto value = text.starts_with("0x") ? parse_number<std::uint64_t>(text.substr(2), 16)
                                            : std::optional<std::uint64_t>();
  if (!value) {
    from.refuse(fmt::format("'{}' is not an address", text), "write for example \"0x1f3\"");
  }
  return *value;
}

template <class Runs>
concept text_runs = requires(Runs& runs, run_bounds in) { read("", in, runs); };

/// Reads values by their type, and keeps the bounds that later ones must fit.
class reader {
 public:
  template <class Of>
    requires requires(const Of& of) { fields_of(of); }
  void take(const json_field& from, form /*as*/, Of& into) {
    const auto member = [&](const auto& what) {
      const auto now = from.find(what.name);
      const auto field = now ? now : from.find(what.name_in_1);
      const bool may_lack = what.is_present != nullptr && !what.is_present(into);
      if (field || (!may_lack && what.as != form::newer)) {
        take(field ? *field : from.at(what.name), what.as, into.*what.value);
      }
    };
    const auto all = [&](const auto&... each) {
      from.allow_only({each.name..., each.name_in_1...});
      (member(each), ...);
    };
    std::apply(all, fields_of(into));
  }
  template <class Value>
    requires(!text_runs<std::vector<Value>>)
  void take(const json_field& from, form as, std::vector<Value>& into) {
    for (const json_field& each : from.elements()) {
      take(each, as, into.emplace_back());
    }
  }
  void take(const json_field& from, form as, std::string& into) {
    into = from.text();
    if (as == form::processors) {
      (void)from.ids<cpu_id>();
    }
  }

 private:
  template <class Value>
  void take(const json_field& from, form as, std::optional<Value>& into) {
    Value value{};
    take(from, as, value);
    into = std::move(value);
  }
  template <class Enum>
    requires(!words_of<Enum>.empty())
  void take(const json_field& from, form /*as*/, Enum& into) {
    into = static_cast<Enum>(from.one_of(words_of<Enum>));
  }
  void take(const json_field& from, form /*as*/, node_id& into) {
    const bool unknown = from.is_text() && from.text() == "unknown";
    into = unknown ? unknown_node : node_id{from.small_number(0, most_int)};
  }
  void take(const json_field& from, form /*as*/, bool& into) { into = from.truth(); }
  void take(const json_field& from, form as, int& into) {
    into = from.small_number(as == form::from_one ? 1 : 0, most_int);
  }
  void take(const json_field& from, form /*as*/, double& into) {
    into = from.number();
    if (into < 0) {
      from.refuse("must not be negative", "write 0 or more");
    }
  }
  void take(const json_field& from, form as, std::uint64_t& into) {
    if (as == form::thread && bounds_.threads == 0) {
      from.refuse("the program has no threads", "name this one under \"threads\"");
    }
    into = as == form::address        ? address(from)
           : as == form::thread       ? from.whole_number(0, bounds_.threads - 1)
           : as == form::number       ? from.whole_number(0, most_threads)
           : as == form::team         ? from.whole_number(1, most_threads)
           : as == form::inner_number ? from.whole_number(0, inner_threads_ - 1)
                                      : from.whole_number();
    bounds_.pages = as == form::pages ? into : bounds_.pages;
  }
  void take(const json_field& from, form as, std::vector<std::size_t>& teams) {
    take<std::size_t>(from, as, teams);
    inner_threads_ = teams.size() > 1 ? 1 : most_threads + 1;
    for (const std::size_t size : teams) {
      inner_threads_ = inner_threads_ > most_threads ? inner_threads_ : inner_threads_ * size;
    }
    if (inner_threads_ > most_threads) {
      from.refuse("not the sizes of nested teams", "write two sizes or more");
    }
  }
  void take(const json_field& from, form as, std::vector<thread>& into) {
    take<thread>(from, as, into);
    bounds_.threads = into.size();
    if (into.size() > most_threads) {
      from.refuse("more than a million threads", "remove some");
    }
  }
  template <text_runs Runs>
  void take(const json_field& from, form as, Runs& into) {
    const bool in_time = as == form::intervals;
    if (!read(from.text(), in_time ? run_bounds{most_intervals, 0} : bounds_, into)) {
      from.refuse(in_time ? "invalid runs of intervals" : "invalid runs of pages",
                  in_time ? "runs ascend, and end at interval 128"
                          : "runs ascend, end with the object, and name threads of its program; "
                            "see share/doc/nodewise/formats.md, profile");
    }
  }
  void take(const json_field& from, form as, std::vector<use_run>& into) {
    take_ascending(from, as, into);
  }
  void take(const json_field& from, form as, std::vector<timed_uses>& into) {
    take_ascending(from, as, into);
  }
  template <class Run>
  void take_ascending(const json_field& from, form as, std::vector<Run>& into) {
    std::uint64_t end = 0;
    for (const json_field& each : from.elements()) {
      take(each, as, into.emplace_back());
      if (into.back().first < end) {
        each.refuse("an earlier run has a part of it", "write runs in ascending order");
      }
      end = into.back().first + into.back().count;
    }
  }

  run_bounds bounds_;
  std::size_t inner_threads_ = 0;
};

using json = nlohmann::ordered_json;

/// Writes values by their type.
struct writer {
  template <class Value>
  static json write(form /*as*/, const Value& what) {
    if constexpr (requires { fields_of(what); }) {
      json made = json::object();
      const auto write_member = [&](const auto& member) {
        if (member.is_present == nullptr || member.is_present(what)) {
          made[member.name] = write(member.as, what.*member.value);
        }
      };
      std::apply([&](const auto&... each) { (write_member(each), ...); }, fields_of(what));
      return made;
    } else if constexpr (requires { to_string(what); }) {
      return to_string(what);
    } else if constexpr (requires { text_of(what); }) {
      return text_of(what);
    } else {
      return what;
    }
  }
  static json write(form as, std::uint64_t what) {
    return as == form::address ? json(fmt::format("{:#x}", what)) : json(what);
  }
  static json write(form /*as*/, node_id which) {
    return which == unknown_node ? json("unknown") : json(to_int(which));
  }
  template <class Value>
  static json write(form as, const std::optional<Value>& what) {
    return write(as, *what);
  }
  template <class Value>
    requires(!requires(const std::vector<Value>& what) { text_of(what); })
  static json write(form as, const std::vector<Value>& what) {
    json all = json::array();
    for (const Value& each : what) {
      all.push_back(write(as, each));
    }
    return all;
  }
};

} // namespace

profile profile_from_json(const json_field& document) {
  check_schema(document, schema, older_schema);
  document.allow_only({"schema", "nodewise", "machine", "settings", "command", "page_bytes",
                       "evidence", "overhead", "memory", "programs"});
  profile made;
  reader in;
  in.take(document.at("command"), form::usual, made.command);
  made.page_bytes = document.at("page_bytes").whole_number(1, std::uint64_t{1} << 30);
  in.take(document.at("evidence"), form::usual, made.seen);
  in.take(document.at("overhead"), form::usual, made.cost);
  in.take(document.at("memory"), form::usual, made.memory);
  in.take(document.at("programs"), form::usual, made.programs);
  return made;
}

void append(json& document, const profile& what) {
  document["command"] = what.command;
  document["page_bytes"] = what.page_bytes;
  document["evidence"] = writer::write(form::usual, what.seen);
  document["overhead"] = writer::write(form::usual, what.cost);
  document["memory"] = writer::write(form::usual, what.memory);
  document["programs"] = writer::write(form::usual, what.programs);
}

} // namespace nodewise::profile
