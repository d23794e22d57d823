// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/envelope.hpp"

#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <nodewise/version.hpp>

namespace nodewise::report {

nlohmann::ordered_json envelope(std::string_view kind, int version, nlohmann::ordered_json machine,
                                nlohmann::ordered_json settings) {
  return {{"schema", fmt::format("nodewise/{}/{}", kind, version)},
          {"nodewise", NODEWISE_VERSION},
          {"machine", std::move(machine)},
          {"settings", std::move(settings)}};
}

namespace {

/// Escapes DEL and U+0080 to U+009F: JSON allows them unescaped, but terminals obey them.
std::string escaped(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const bool second =
        json[i] == '\xC2' && i + 1 < json.size() && static_cast<unsigned char>(json[i + 1]) < 0xA0;
    if (json[i] != '\x7F' && !second) {
      out += json[i];
      continue;
    }
    i += second ? 1 : 0;
    out += fmt::format("\\u00{:02x}", static_cast<unsigned char>(json[i]));
  }
  return out;
}

} // namespace

std::string json_text(const nlohmann::ordered_json& value) {
  return escaped(value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
         "\n";
}

} // namespace nodewise::report
