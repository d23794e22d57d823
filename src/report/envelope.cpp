// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/envelope.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include <nodewise/version.hpp>

namespace nodewise::report {

nlohmann::ordered_json envelope(std::string_view kind, int version, nlohmann::ordered_json machine,
                                nlohmann::ordered_json settings) {
  return {{"schema", "nodewise/" + std::string(kind) + "/" + std::to_string(version)},
          {"nodewise", NODEWISE_VERSION},
          {"machine", std::move(machine)},
          {"settings", std::move(settings)}};
}

namespace {

template <class T>
nlohmann::ordered_json value_or_unavailable(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json("unavailable");
}

} // namespace

nlohmann::ordered_json or_unavailable(std::optional<bool> value) {
  return value_or_unavailable(value);
}
nlohmann::ordered_json or_unavailable(std::optional<int> value) {
  return value_or_unavailable(value);
}
nlohmann::ordered_json or_unavailable(std::optional<std::uint64_t> value) {
  return value_or_unavailable(value);
}
nlohmann::ordered_json or_unavailable(std::optional<double> value) {
  return value_or_unavailable(value);
}
nlohmann::ordered_json or_unavailable(const std::optional<std::string>& value) {
  return value_or_unavailable(value);
}

namespace {

/// Escapes DEL and U+0080 to U+009F: JSON allows them unescaped, but terminals obey them.
std::string escaped(const std::string& json) {
  constexpr std::string_view digits = "0123456789abcdef";
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
    const auto code = static_cast<unsigned char>(json[i]);
    out.append("\\u00").append(1, digits[code >> 4U]).append(1, digits[code & 0xFU]);
  }
  return out;
}

} // namespace

std::string json_text(const nlohmann::ordered_json& value) {
  return escaped(value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
         "\n";
}

} // namespace nodewise::report
