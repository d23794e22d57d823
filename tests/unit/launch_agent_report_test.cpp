// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/agent_report.hpp"

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/protocol.h"

namespace nodewise::launch {
namespace {

using testing::IsEmpty;

template <class Item>
std::string bytes_of(const std::vector<Item>& items) {
  return {reinterpret_cast<const char*>(items.data()), items.size() * sizeof(Item)};
}

template <class Record>
std::string sealed(Record record, nodewise_agent_kind kind, int pid, const std::string& rest = {}) {
  record.header = {NODEWISE_AGENT_MAGIC,
                   NODEWISE_AGENT_RECORDS,
                   static_cast<std::uint16_t>(kind),
                   0,
                   0,
                   pid,
                   pid};
  record.header.bytes = static_cast<std::uint32_t>(sizeof record + rest.size());
  std::string bytes(reinterpret_cast<const char*>(&record), sizeof record);
  bytes += rest;
  const std::uint32_t sum = nodewise_agent_checksum(bytes.data(), bytes.size());
  std::memcpy(bytes.data() + offsetof(nodewise_agent_header, checksum), &sum, sizeof sum);
  return bytes;
}

std::string start(int pid, const char* name) {
  nodewise_agent_start record{};
  record.page_bytes = 4096;
  std::strncpy(record.program, name, sizeof record.program - 1);
  return sealed(record, NODEWISE_AGENT_START, pid);
}

std::string object(int pid, std::uint64_t sequence) {
  nodewise_agent_object record{};
  record.sequence = sequence;
  record.bytes = 40960;
  record.pages = 10;
  record.resident = 8;
  record.on_owner = 6;
  record.flags = NODEWISE_AGENT_PLACED | NODEWISE_AGENT_LIVE_AT_END;
  record.cells = 3;
  record.strip[0] = 1;
  record.strip[1] = NODEWISE_AGENT_CELL_EMPTY;
  record.strip[2] = NODEWISE_AGENT_CELL_UNKNOWN;
  record.start = 0x10000;
  record.allocated_ns = 5;
  record.freed_ns = 9;
  record.maker = 70;
  record.stack = 3;
  record.shares = 2;
  record.runs = 3;
  return sealed(record, NODEWISE_AGENT_OBJECT, pid,
                bytes_of<nodewise_agent_share>({{6, 0, 0}, {2, 255, 0}}) +
                    bytes_of<nodewise_agent_run>(
                        {{0, 4, 0}, {4, 1, 255}, {7, 3, NODEWISE_AGENT_CELL_UNKNOWN}}));
}

std::string end(int pid) {
  nodewise_agent_end record{};
  record.objects = 2;
  record.placed = 2;
  record.writes_left_out = 6;
  record.rules = 2;
  return sealed(record, NODEWISE_AGENT_END, pid,
                bytes_of<nodewise_agent_matched>({{2, 1}, {0, 0}}));
}

std::size_t objects_in(const run_report& report) {
  std::size_t count = 0;
  for (const process_report& process : report.processes) {
    count += process.objects.size();
  }
  return count;
}

TEST(AgentReport, IsReadBack) {
  const auto report = read_agent_report(start(7, "solver") + object(7, 1) + object(7, 0) + end(7));
  ASSERT_EQ(report.processes.size(), 1U);
  const process_report& process = report.processes[0];
  EXPECT_EQ(process.pid, 7);
  EXPECT_EQ(process.program, "solver");
  ASSERT_TRUE(process.totals);
  EXPECT_EQ(process.totals->placed, 2U);
  ASSERT_EQ(process.objects.size(), 2U);
  const object_report& first = process.objects[0];
  EXPECT_EQ(first.sequence, 0U); // sorted
  EXPECT_TRUE(first.placed && first.live_at_end);
  EXPECT_FALSE(first.map_limited || first.reduced);
  ASSERT_EQ(first.shares.size(), 2U);
  EXPECT_EQ(first.shares[1].node, node_id{255});
  ASSERT_EQ(first.strip.size(), 3U);
  EXPECT_EQ(first.strip[0].node, node_id{1});
  EXPECT_EQ(first.strip[1].what, object_report::cell::content::empty);
  EXPECT_EQ(first.strip[2].what, object_report::cell::content::unknown);
  EXPECT_DOUBLE_EQ(*first.locality(), 0.75);
  EXPECT_EQ(report.damaged_bytes, 0U);
}

TEST(AgentReport, TraceModeRecordsMoreOfEachObject) {
  const auto report = read_agent_report(start(7, "solver") + object(7, 0) + end(7));
  const object_report& first = report.processes.at(0).objects.at(0);
  EXPECT_EQ(first.start, 0x10000U);
  EXPECT_EQ(first.allocated_ns, 5U);
  EXPECT_EQ(first.freed_ns, 9U);
  EXPECT_EQ(first.maker_tid, 70);
  EXPECT_EQ(first.stack, 3U);
  ASSERT_EQ(first.where.size(), 3U);
  EXPECT_EQ(first.where[1].first, 4U);
  EXPECT_EQ(first.where[1].node, node_id{255});
  EXPECT_EQ(first.where[2].count, 3U);
  EXPECT_EQ(first.where[2].node, unknown_node);
  EXPECT_FALSE(first.where_cut);
  const process_totals& totals = *report.processes[0].totals;
  EXPECT_EQ(totals.writes_left_out, 6U);
  ASSERT_EQ(totals.by_rule.size(), 2U);
  EXPECT_EQ(totals.by_rule[0].objects, 2U);
  EXPECT_EQ(totals.by_rule[0].placed, 1U);
}

std::string allocation(int pid, std::uint64_t sequence) {
  nodewise_agent_allocation record{};
  record.sequence = sequence;
  record.start = 0x4000;
  record.bytes = 12;
  record.time_ns = 34;
  record.object_kind = NODEWISE_AGENT_STATIC;
  record.tid = 56;
  record.stack = 78;
  std::strncpy(record.name, "field", sizeof record.name - 1);
  return sealed(record, NODEWISE_AGENT_ALLOCATED, pid);
}

std::string stack(int pid, const std::string& bytes) {
  nodewise_agent_stack record{};
  record.number = 9;
  record.sp = 0x7000;
  record.ip = 0x1234;
  record.caller = 0x4321;
  record.known = 1U << 3 | 1U << 16;
  record.registers[3] = 33;
  record.registers[16] = 0x1234;
  record.bytes = static_cast<std::uint32_t>(bytes.size());
  return sealed(record, NODEWISE_AGENT_STACK, pid, bytes);
}

std::string write(int pid, std::uint64_t sequence) {
  nodewise_agent_writes record{};
  record.sequence = sequence;
  record.start = 0x4000;
  record.first = 8;
  record.last = 12;
  record.bytes = 40;
  record.calls = 10;
  record.tid = 5;
  return sealed(record, NODEWISE_AGENT_WROTE, pid);
}

TEST(AgentReport, AProcessThatWasKilledHasItsBirths) {
  const auto report =
      read_agent_report(start(7, "solver") + stack(7, "abc") + allocation(7, 1) +
                        write(7, NODEWISE_AGENT_NO_SEQUENCE) + write(7, 1) + allocation(7, 1));
  EXPECT_EQ(report.damaged_bytes, 0U);
  const process_report& process = report.processes.at(0);
  EXPECT_FALSE(process.totals);
  ASSERT_EQ(process.allocations.size(), 2U);
  const allocation_report& seen = process.allocations[0];
  EXPECT_EQ(seen.what, object_report::kind::static_array);
  EXPECT_EQ(seen.name, "field");
  EXPECT_EQ(seen.start, 0x4000U);
  EXPECT_EQ(seen.bytes, 12U);
  EXPECT_EQ(seen.time_ns, 34U);
  EXPECT_EQ(seen.tid, 56);
  EXPECT_EQ(seen.stack, 78U);
  ASSERT_EQ(process.stacks.size(), 1U);
  const stack_report& copy = process.stacks[0];
  EXPECT_EQ(copy.bytes, "abc");
  EXPECT_EQ(copy.sp, 0x7000U);
  EXPECT_EQ(copy.registers[3], 33U);
  EXPECT_EQ(copy.registers[16], 0x1234U);
  EXPECT_EQ(copy.registers[4], std::nullopt);
  ASSERT_EQ(process.writes.size(), 2U);
  EXPECT_EQ(process.writes[0].sequence, std::nullopt);
  EXPECT_EQ(process.writes[1].sequence, 1U);
  EXPECT_EQ(process.writes[1].last, 12U);
  EXPECT_EQ(process.writes[1].calls, 10U);
}

std::string head(std::uint64_t used, std::uint64_t lost) {
  return bytes_of<nodewise_agent_head>({{used, lost, {}}});
}

TEST(AgentReport, TheHeadSaysWhereItEnds) {
  const std::string records = start(7, "solver") + object(7, 0) + end(7);
  const std::size_t whole = sizeof(nodewise_agent_head) + records.size();
  const auto report = read_agent_file(head(whole, 3) + records + std::string(1000, '\0'));
  ASSERT_EQ(report.processes.size(), 1U);
  EXPECT_EQ(report.processes[0].objects.size(), 1U);
  EXPECT_EQ(report.damaged_bytes, 0U);
  EXPECT_EQ(report.lost, 3U);
  for (const std::uint64_t lie : {std::uint64_t{0}, std::uint64_t{63}, whole + 1, UINT64_MAX}) {
    const auto found = read_agent_file(head(lie, 0) + records);
    EXPECT_EQ(found.processes.size(), lie > whole ? 1U : 0U);
    EXPECT_EQ(found.damaged_bytes, 0U);
  }
  EXPECT_THAT(read_agent_file("short").processes, IsEmpty());
}

TEST(AgentReport, ARecordThatWasNotFinishedIsSkipped) {
  std::string unfinished = object(7, 0);
  unfinished.replace(0, sizeof(std::uint32_t), sizeof(std::uint32_t), '\0'); // the magic comes last
  const auto report = read_agent_report(start(7, "solver") + unfinished + object(7, 1) + end(7));
  ASSERT_EQ(objects_in(report), 1U);
  EXPECT_EQ(report.processes[0].objects[0].sequence, 1U);
  EXPECT_EQ(report.damaged_bytes, unfinished.size());
  EXPECT_THAT(losses_of(report, "remedy"), testing::ElementsAre(testing::HasSubstr("was killed")));
}

TEST(AgentReport, ProcessesOfTheAgentsOwnAreNoPrograms) {
  struct {
    nodewise_agent_header header;
  } helper{};
  std::string record = sealed(helper, NODEWISE_AGENT_HELPER, 7);
  auto& header = *reinterpret_cast<nodewise_agent_header*>(record.data());
  header.tid = 70;
  header.checksum = nodewise_agent_checksum(record.data(), record.size());
  const auto report = read_agent_report(start(7, "solver") + record + end(7));
  ASSERT_EQ(report.processes.size(), 1U);
  EXPECT_THAT(report.processes[0].helpers, testing::ElementsAre(70));
  EXPECT_EQ(report.damaged_bytes, 0U);
}

TEST(AgentReport, LossesNameTheirCause) {
  using testing::AllOf;
  using testing::ElementsAre;
  using testing::HasSubstr;
  using testing::Not;
  run_report report;
  EXPECT_THAT(losses_of(report, "remedy"), IsEmpty());
  report.room_bytes = 8192;
  report.processes.resize(2); // the second one was killed
  report.processes[0].program = "solver";
  report.processes[0].pid = 7;
  report.processes[0].totals.emplace();
  report.processes[0].totals->lost = report.lost = 2;
  EXPECT_THAT(losses_of(report, "remedy"),
              ElementsAre("solver[7]: 2 records lost: the report file of 8 KiB is full; remedy"));
  report.lost = 3;
  report.limit = room_limit::file_size;
  EXPECT_THAT(losses_of(report, "remedy"),
              ElementsAre(AllOf(HasSubstr("ulimit -f"), Not(HasSubstr("TMPDIR"))),
                          HasSubstr("1 record of processes without totals lost")));
  report.lost = 2;
  report.limit = room_limit::disk;
  EXPECT_THAT(losses_of(report, "remedy"), ElementsAre(HasSubstr("TMPDIR")));
  report.processes[0].totals->lost = report.lost = 0;
  report.processes[0].totals->no_memory = 1;
  EXPECT_THAT(losses_of(report, "remedy"),
              ElementsAre(AllOf(HasSubstr("had no memory"), Not(HasSubstr("TMPDIR")))));
  EXPECT_EQ(completeness_of(report, 0), completeness::cut_off);
}

TEST(AgentReport, LocalityNeedsALocatedPage) {
  object_report object;
  EXPECT_EQ(object.locality(), std::nullopt);
  object.resident = object.unknown = 5;
  EXPECT_EQ(object.locality(), std::nullopt);
}

TEST(AgentReport, ProcessesAreKeptApart) {
  const auto report = read_agent_report(start(1, "sh") + start(2, "a") + object(2, 0) +
                                        start(1, "b") + object(1, 0) + end(1) + end(2));
  ASSERT_EQ(report.processes.size(), 3U);
  EXPECT_FALSE(report.processes[0].totals); // became b
  EXPECT_EQ(report.processes[1].objects.size(), 1U);
  EXPECT_EQ(report.processes[2].program, "b");
  EXPECT_EQ(report.processes[2].objects.size(), 1U);
}

TEST(AgentReport, AnObjectWhoseProcessIsUnknownIsKept) {
  const auto report = read_agent_report(object(9, 0));
  ASSERT_EQ(report.processes.size(), 1U);
  EXPECT_EQ(report.processes[0].pid, 9);
  EXPECT_EQ(report.processes[0].page_bytes, 0U);
}

TEST(AgentReport, TruncatedAtAnyByteKeepsWhatIsWhole) {
  const std::string one = start(7, "solver");
  const std::string two = one + object(7, 0);
  const std::string all = two + end(7);
  for (std::size_t length = 0; length <= all.size(); ++length) {
    const auto report = read_agent_report(all.substr(0, length));
    EXPECT_EQ(report.processes.size(), length < one.size() ? 0U : 1U);
    EXPECT_EQ(objects_in(report), length < two.size() ? 0U : 1U);
  }
}

TEST(AgentReport, ARecordAfterATruncatedOneIsFound) {
  const std::string whole = object(7, 0);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto report = read_agent_report(whole.substr(0, length) + object(7, 1) + end(7));
    ASSERT_EQ(objects_in(report), 1U) << length;
    EXPECT_EQ(report.processes[0].objects[0].sequence, 1U);
    EXPECT_EQ(report.damaged_bytes, length);
  }
}

TEST(AgentReport, AFlippedBitLosesOneRecordOnly) {
  const std::string all = object(7, 0) + object(7, 1);
  for (std::size_t at = 0; at < all.size(); ++at) {
    std::string damaged = all;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_EQ(objects_in(read_agent_report(damaged)), 1U) << at;
  }
}

TEST(AgentReport, CountsThatLieAreNotBelieved) {
  nodewise_agent_object record{};
  record.cells = 65;
  EXPECT_EQ(objects_in(read_agent_report(sealed(record, NODEWISE_AGENT_OBJECT, 1))), 0U);
  record.cells = 0;
  record.shares = 0xffffffff;
  EXPECT_EQ(objects_in(read_agent_report(sealed(record, NODEWISE_AGENT_OBJECT, 1))), 0U);
  record.shares = 0;
  record.runs = 0xffffffff;
  EXPECT_EQ(objects_in(read_agent_report(sealed(record, NODEWISE_AGENT_OBJECT, 1))), 0U);
  record.pages = 10;
  record.runs = 2;
  using runs = std::vector<nodewise_agent_run>;
  for (const runs& lie : {runs{{0, 5, 0}, {4, 1, 0}}, runs{{0, 5, 0}, {5, 6, 0}},
                          runs{{0, 5, 0}, {UINT64_MAX, 1, 0}}}) {
    EXPECT_EQ(objects_in(read_agent_report(
                  sealed(record, NODEWISE_AGENT_OBJECT, 1, bytes_of<nodewise_agent_run>(lie)))),
              0U);
  }
  nodewise_agent_stack copy{};
  copy.bytes = 1;
  nodewise_agent_end last{};
  last.rules = 0xffffffff;
  nodewise_agent_writes backwards{};
  backwards.first = 1;
  for (const std::string& lie :
       {sealed(copy, NODEWISE_AGENT_STACK, 1), sealed(last, NODEWISE_AGENT_END, 1),
        sealed(backwards, NODEWISE_AGENT_WROTE, 1)}) {
    EXPECT_THAT(read_agent_report(lie).processes, IsEmpty());
    EXPECT_EQ(read_agent_report(lie).damaged_bytes, lie.size());
  }
  nodewise_agent_header header{};
  struct {
    nodewise_agent_header header;
  } bare{header};
  for (const auto kind : {NODEWISE_AGENT_START, NODEWISE_AGENT_OBJECT, NODEWISE_AGENT_END,
                          NODEWISE_AGENT_ALLOCATED, NODEWISE_AGENT_STACK, NODEWISE_AGENT_WROTE}) {
    EXPECT_THAT(read_agent_report(sealed(bare, kind, 1)).processes, IsEmpty());
  }
}

TEST(AgentReport, NoiseIsOnlyNoise) {
  std::mt19937 random(1); // NOLINT(cert-msc32-c,cert-msc51-cpp): the same noise every time
  for (int round = 0; round < 200; ++round) {
    std::string noise(2000, '\0');
    for (char& byte : noise) {
      byte = static_cast<char>(random());
    }
    const auto report = read_agent_report(noise + end(3) + noise);
    EXPECT_EQ(report.processes.size(), 1U);
    EXPECT_EQ(report.damaged_bytes, 4000U);
  }
}

} // namespace
} // namespace nodewise::launch
