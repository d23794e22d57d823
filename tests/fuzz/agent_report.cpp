// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the agent wrote, or what is left of it.
#include "launch/agent_report.hpp"

#include <cstring>

#include "agent/protocol.h"
#include "fuzz/fuzz.hpp"

using namespace nodewise;

namespace {

/// Gives whole records their checksum, or none but the seeds would pass it.
void seal(std::string& bytes) {
  nodewise_agent_header header{};
  for (std::size_t at = 0; at + sizeof header <= bytes.size(); at += header.bytes) {
    std::memcpy(&header, bytes.data() + at, sizeof header);
    if (header.bytes < sizeof header || header.bytes > bytes.size() - at) {
      return;
    }
    header.checksum = 0;
    std::memcpy(bytes.data() + at, &header, sizeof header);
    header.checksum = nodewise_agent_checksum(bytes.data() + at, header.bytes);
    std::memcpy(bytes.data() + at, &header, sizeof header);
  }
}

template <class Record>
std::string record(Record what, nodewise_agent_kind kind, const std::string& behind = "") {
  what.header.magic = NODEWISE_AGENT_MAGIC;
  what.header.version = NODEWISE_AGENT_RECORDS;
  what.header.kind = static_cast<decltype(what.header.kind)>(kind);
  what.header.bytes = static_cast<decltype(what.header.bytes)>(sizeof what + behind.size());
  return std::string(reinterpret_cast<const char*>(&what), sizeof what) + behind;
}

} // namespace

std::vector<std::string> fuzz::seeds() {
  nodewise_agent_start start{};
  start.page_bytes = 4096;
  nodewise_agent_object object{};
  object.bytes = 40960;
  object.pages = 10;
  object.resident = 8;
  object.cells = 3;
  object.shares = 1;
  const nodewise_agent_share share{8, 255, 0};
  const std::string one = record(object, NODEWISE_AGENT_OBJECT,
                                 std::string(reinterpret_cast<const char*>(&share), sizeof share));
  const std::string begin = record(start, NODEWISE_AGENT_START);
  const std::string end = record(nodewise_agent_end{}, NODEWISE_AGENT_END);
  nodewise_agent_object traced = object;
  traced.shares = 0;
  traced.runs = 2;
  const nodewise_agent_run runs[] = {{0, 5, 0}, {7, 3, -2}};
  const std::string two = record(traced, NODEWISE_AGENT_OBJECT,
                                 std::string(reinterpret_cast<const char*>(runs), sizeof runs));
  nodewise_agent_stack stack{};
  stack.bytes = 4;
  nodewise_agent_end totals{};
  totals.rules = 1;
  const nodewise_agent_matched matched{3, 2};
  const std::string rest =
      record(nodewise_agent_allocation{}, NODEWISE_AGENT_ALLOCATED) +
      record(stack, NODEWISE_AGENT_STACK, "abcd") +
      record(nodewise_agent_writes{}, NODEWISE_AGENT_WROTE) + two +
      record(totals, NODEWISE_AGENT_END,
             std::string(reinterpret_cast<const char*>(&matched), sizeof matched));
  return {begin + rest, rest, begin + one + end, one + one, begin, end + begin + one, ""};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(fuzz::text(data, size));
  seal(bytes);
  const launch::run_report report = launch::read_agent_report(bytes);
  fuzz::require(report.damaged_bytes <= bytes.size());
  (void)launch::losses_of(launch::read_agent_file(bytes), "");
  for (std::size_t i = 0; i < report.processes.size(); ++i) {
    (void)launch::completeness_of(report, i);
    for (const launch::object_report& object : report.processes[i].objects) {
      fuzz::require(object.locality().value_or(0) >= 0 && object.locality().value_or(0) <= 1);
      std::uint64_t end = 0;
      for (const auto& run : object.where) {
        fuzz::require(run.first >= end && run.count <= object.pages - run.first);
        end = run.first + run.count;
      }
    }
  }
  return 0;
}
