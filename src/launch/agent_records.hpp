// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The agent's records as values, one by one.
#pragma once

#include <optional>
#include <string_view>

#include "agent/protocol.h"
#include "launch/agent_report.hpp"

namespace nodewise::launch {

/// A record whose length and checksum are right; its contents are not checked yet.
struct whole_record {
  nodewise_agent_header header;
  std::string_view bytes;
};
/// The record at the front of the bytes; nullopt if there is none.
[[nodiscard]] std::optional<whole_record> next_record(std::string_view bytes);

// Each of these returns nullopt if the record is too short for what it announces, or if its counts
// contradict each other.
[[nodiscard]] std::optional<process_report> start_of(const whole_record& record);
[[nodiscard]] std::optional<object_report> object_of(const whole_record& record);
[[nodiscard]] std::optional<thread_report> thread_of(const whole_record& record);
[[nodiscard]] std::optional<process_totals> totals_of(const whole_record& record);
[[nodiscard]] std::optional<allocation_report> allocation_of(const whole_record& record);
[[nodiscard]] std::optional<stack_report> stack_of(const whole_record& record);
[[nodiscard]] std::optional<write_report> write_of(const whole_record& record);
[[nodiscard]] std::optional<numa_pinner_report> numa_pinner_of(const whole_record& record);

} // namespace nodewise::launch
