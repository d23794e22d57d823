// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/tune/setting_line.hpp"

namespace nodewise::cli {

invocation run_line_of(const tune::setting& how) {
  std::vector<const char*> words = {"run"};
  for (const std::string& each : how.options) {
    words.push_back(each.c_str());
  }
  words.insert(words.end(), {"--", "program"});
  return parse(words);
}

} // namespace nodewise::cli
