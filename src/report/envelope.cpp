// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/envelope.hpp"

#include <utility>

#include <nodewise/version.hpp>

namespace nodewise::report {

nlohmann::ordered_json envelope(std::string_view kind, int version, nlohmann::ordered_json machine,
                                nlohmann::ordered_json settings) {
  return {{"schema", "nodewise/" + std::string(kind) + "/" + std::to_string(version)},
          {"nodewise", NODEWISE_VERSION},
          {"machine", std::move(machine)},
          {"settings", std::move(settings)}};
}

std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace nodewise::report
