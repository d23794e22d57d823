// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <nlohmann/json_fwd.hpp>

#include "cli/frame/invocation.hpp"
#include "report/style.hpp"
#include "sys/kernel.hpp"

namespace nodewise::cli {

/// The `settings` of a result (docs/schemas/settings-1.json).
[[nodiscard]] nlohmann::ordered_json settings_json(sys::kernel& of);

/// Writes a result where -o says, else to standard output. Throws `error`: (usage) for an invalid
/// file name, (system) if it cannot be written. A file appears whole or not at all.
void write_result(const nlohmann::ordered_json& result, const invocation& given);

enum class form { none, text, json, csv };
/// The form that the options select; a verb that reports elsewhere also goes by it.
[[nodiscard]] form form_of(const invocation& given);
/// Whether the result is asked for as JSON: with --json, and with -o unless another format is.
[[nodiscard]] bool asks_for_json(const invocation& given);
/// Whether it is asked for as text; text may accompany a result file.
[[nodiscard]] bool asks_for_text(const invocation& given);
/// Writes the result in the forms that the options ask for.
void show_result(const invocation& given, const std::function<nlohmann::ordered_json()>& as_json,
                 const std::function<std::string(const report::style&)>& as_text);

/// Call before computing a result. Throws what `write_result` would throw, as far as that can be
/// checked now.
void check_output(const invocation& given);

/// The same for a result in another tool's format.
void write_result_text(std::string_view text, const invocation& given);

/// The same two functions for another option that names a file. `which` appears in the errors.
void check_file(const flag& which, std::string_view pattern);
void write_to_file(const flag& which, std::string_view pattern, std::string_view text);

/// Replaces the file, or leaves it as it was. Returns 0 or errno.
[[nodiscard]] int replace_file(const std::string& name, std::string_view text);

} // namespace nodewise::cli
