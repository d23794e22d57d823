// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "launch/agent_report.hpp"

namespace nodewise::launch {

/// Reads what the agent wrote (agent/protocol.h). Anything may be missing or cut off: whole records
/// are read, the remaining bytes are counted.
[[nodiscard]] run_report read_agent_report(std::string_view records);
/// The same for a whole file: the file's head precedes the records.
[[nodiscard]] run_report read_agent_file(std::string_view file);

} // namespace nodewise::launch
