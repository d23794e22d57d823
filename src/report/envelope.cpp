// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/envelope.hpp"

#include <utility>

#include <nodewise/version.hpp>

namespace nodewise::report {

nlohmann::ordered_json to_json(const settings& of) {
  return {{"kernel", or_unavailable(of.kernel)},
          {"page_bytes", or_unavailable(of.page_bytes)},
          {"numa_balancing", or_unavailable(of.numa_balancing)},
          {"transparent_huge_pages", or_unavailable(of.thp)},
          {"transparent_huge_pages_defrag", or_unavailable(of.thp_defrag)},
          {"virtualisation", or_unavailable(of.virtualisation)}};
}

nlohmann::ordered_json envelope(std::string_view kind, int version, nlohmann::ordered_json machine,
                                const settings& of) {
  return {{"schema", "nodewise/" + std::string(kind) + "/" + std::to_string(version)},
          {"nodewise", NODEWISE_VERSION},
          {"machine", std::move(machine)},
          {"settings", to_json(of)}};
}

std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace nodewise::report
