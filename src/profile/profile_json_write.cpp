// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "profile/profile_json.hpp"
#include "profile/profile_json_fields.hpp"
#include "profile/runs_text.hpp"

namespace nodewise::profile {

namespace {

using json = nlohmann::ordered_json;

/// Writes values by their type.
struct writer {
  template <class Value>
  static json write(form /*as*/, const Value& what) {
    if constexpr (requires { fields_of(what); }) {
      return with_fields(what);
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

 private:
  template <class Of>
  static json with_fields(const Of& of) {
    json made = json::object();
    const auto add = [&](const auto& member) {
      if (member.is_present == nullptr || member.is_present(of)) {
        made[member.name] = write(member.as, of.*member.value);
      }
    };
    std::apply([&](const auto&... each) { (add(each), ...); }, fields_of(of));
    return made;
  }
};

} // namespace

void append(json& document, const profile& what) {
  document["command"] = what.command;
  document["page_bytes"] = what.page_bytes;
  document["evidence"] = writer::write(form::usual, what.seen);
  document["overhead"] = writer::write(form::usual, what.cost);
  document["memory"] = writer::write(form::usual, what.memory);
  document["programs"] = writer::write(form::usual, what.programs);
}

} // namespace nodewise::profile
