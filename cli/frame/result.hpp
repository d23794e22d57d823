// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <type_traits>

#include <nlohmann/json_fwd.hpp>

#include "cli/frame/invocation.hpp"
#include "report/style.hpp"
#include "sys/kernel.hpp"

namespace nodewise::cli {

/// The `settings` of a result (docs/schemas/settings-1.json).
[[nodiscard]] nlohmann::ordered_json settings_json(sys::kernel& of);

/// Writes a result where -o says, else to standard output. Throws `error`: (usage) for an invalid
/// file name, (system) if it cannot be written. A file appears whole or not at all.
void write_result(std::string_view result, const invocation& given);
/// Call before computing a result. Throws what `write_result` would throw, as far as that can be
/// checked now.
void check_output(const invocation& given);

/// Throws `error` (usage) if the selected form is not text and standard output is a terminal. For
/// verbs that print every form, also with -o.
void refuse_terminal(const invocation& given);

/// The form that goes where `write_result` writes: the selected one, or JSON if only -o is given;
/// nullptr without both. A verb that reports elsewhere also goes by it.
[[nodiscard]] const flag* form_to_write(const invocation& given);
/// Whether the result is asked for as text; text may accompany a result file.
[[nodiscard]] bool asks_for_text(const invocation& given);

[[noreturn]] void refuse_form(const flag& by);
template <class Result>
using forms_of = std::span<const form<std::type_identity_t<Result>>>;

/// The result in this form. Throws `error` (usage) if this result of the verb does not have it.
template <class Result>
[[nodiscard]] std::string written(const flag& by, forms_of<Result> forms, const Result& what) {
  const auto found = std::ranges::find(forms, &by, &form<Result>::by);
  if (found == forms.end()) {
    refuse_form(by);
  }
  return found->write(what);
}
/// Writes a result in the form that `by` selects to where it belongs: a file, standard output, or
/// the terminal as a picture.
void deliver(std::string result, const flag& by, const invocation& given);
/// Writes the result in the form that the options ask for, if they ask for one.
template <class Result>
void write_form(const invocation& given, forms_of<Result> forms, const Result& what) {
  if (const flag* const by = form_to_write(given)) {
    deliver(written(*by, forms, what), *by, given);
  }
}

/// On a terminal, the command that shows the file of -o as a page; else empty.
[[nodiscard]] std::string report_line(const invocation& given, const report::style& how);

using text_maker = std::function<std::string(const report::style&)>;
/// Prints the text if the options ask for it.
void show_text(const invocation& given, const text_maker& as_text);
/// Writes the result in the forms that the options ask for, and as text.
template <class Result>
void show_result(const invocation& given, forms_of<Result> forms, const Result& what,
                 const text_maker& as_text) {
  write_form(given, forms, what);
  show_text(given, as_text);
}

/// The forms of a result that has only JSON and text: `show_result<json_maker>(...)`.
using json_maker = std::function<nlohmann::ordered_json()>;
[[nodiscard]] std::string json_of(const json_maker& make);
inline constexpr std::array json_only = {form<json_maker>{&flags::json, json_of}};

/// The file that the value of -o names: %r, %h, %p and %% are replaced.
[[nodiscard]] std::string output_file(std::string_view pattern);

/// The same two functions for another option that names a file. `which` appears in the errors.
void check_file(const flag& which, std::string_view pattern);
void write_to_file(const flag& which, std::string_view pattern, std::string_view text);

/// Replaces the file, or leaves it as it was. Returns 0 or errno.
[[nodiscard]] int replace_file(const std::string& name, std::string_view text);

} // namespace nodewise::cli
