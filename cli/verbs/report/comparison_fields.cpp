// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/report/comparison.hpp"
#include "cli/verbs/report/fields.hpp"

namespace nodewise::cli {

namespace {

std::optional<profile_site> side_in(const json_field& field) {
  if (field.is_text() && field.text() == "absent") {
    return std::nullopt;
  }
  profile_site made;
  made.objects = field.at("objects").whole_number();
  made.bytes = field.at("bytes").whole_number();
  made.remote = known_amount_in(field.at("remote"));
  made.used = amount_in(field.at("used"));
  made.touched_at = field.at("touched_at").text();
  made.touching_threads = field.at("touching_threads").whole_number();
  for (const json_field& each : field.at("nodes").elements()) {
    made.on_node.emplace_back(node_id{each.at("node").small_number(0, max_id)},
                              amount_in(each.at("share")));
  }
  return made;
}

compared_site site_in(const json_field& field) {
  compared_site made{{field.at("program").text(), field.at("name").text()},
                     {},
                     side_in(field.at("before")),
                     side_in(field.at("after"))};
  if (const auto after = field.find("name_after")) {
    made.after_key = {field.at("program_after").text(), after->text()};
  }
  return made;
}

finding_side finding_side_in(const json_field& field) {
  const auto note = field.find("note");
  return {static_cast<finding_side::state>(field.at("state").one_of(finding_states)),
          note ? note->text() : ""};
}

compared_total total_in(const json_field& field) {
  return {known_amount_in(field.at("remote")), known_amount_in(field.at("predicted_s"))};
}

} // namespace

compared_profiles compared_in(const json_field& document) {
  compared_profiles made;
  for (const json_field& each : document.at("sites").elements()) {
    made.sites.push_back(site_in(each));
  }
  if (const auto findings = document.find("findings")) {
    for (const json_field& each : findings->elements()) {
      made.findings.push_back({each.at("pattern").text(), each.at("program").text(),
                               texts_in(each.at("arrays")), finding_side_in(each.at("before")),
                               finding_side_in(each.at("after"))});
    }
  }
  made.before = total_in(document.at("before"));
  made.after = total_in(document.at("after"));
  made.doubts = texts_in(document.at("doubts"));
  return made;
}

} // namespace nodewise::cli
