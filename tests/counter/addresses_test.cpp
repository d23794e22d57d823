// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/marker.h>

#include "counter/counted.hpp"

namespace nodewise::counter_test {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t none = UINT64_MAX;
constexpr std::uint64_t mebibyte = 1 << 20;
constexpr std::uint64_t high = std::uint64_t{1} << 32;

/// Two nodes of 16 MiB; memory beyond 20 MiB is above 4 GiB.
void describe() {
  const memory_file description("low_memory 20971520\nprocessor 0 0 0\nprocessor 1 1 1\n"
                                "memory 0 16777216\nmemory 1 16777216\ncache 1 data 256 2 core\n");
  rig_machine(description.path().c_str());
}

COUNTER_TEST(Addresses, ArePhysicalOnesWithAHoleBelow4GiB) {
  describe();
  EXPECT_EQ(rig_position(0, 0x1000), 0x1000U);
  EXPECT_EQ(rig_position(0, 20 * mebibyte - 1), 20 * mebibyte - 1);
  EXPECT_EQ(rig_position(0, 20 * mebibyte), none);
  EXPECT_EQ(rig_position(0, high - 1), none);
  EXPECT_EQ(rig_position(0, high), 20 * mebibyte);
  EXPECT_EQ(rig_position(0, high + 12 * mebibyte - 1), 32 * mebibyte - 1);
  EXPECT_EQ(rig_position(0, high + 12 * mebibyte), none);
  EXPECT_EQ(rig_position(0, none), none);
}

COUNTER_TEST(Addresses, AreThoseOfMemoryBlocksEachBehindItsPlace) {
  describe();
  EXPECT_EQ(rig_position(1, 0x1000), 0x1000U);
  EXPECT_EQ(rig_position(1, 16 * mebibyte - 1), 16 * mebibyte - 1);
  EXPECT_EQ(rig_position(1, 16 * mebibyte), none);
  EXPECT_EQ(rig_position(1, 32 * mebibyte), 16 * mebibyte);
  EXPECT_EQ(rig_position(1, 48 * mebibyte - 1), 32 * mebibyte - 1);
  EXPECT_EQ(rig_position(1, 48 * mebibyte), none);
}

COUNTER_TEST(Addresses, AreOnTheNodeWhoseMemoryHasThem) {
  describe();
  EXPECT_EQ(rig_node_of(16 * mebibyte - 1), 0U);
  EXPECT_EQ(rig_node_of(16 * mebibyte), 1U);
}

const std::string machine = std::string(two_nodes) + one_level;

COUNTER_TEST(Accesses, ThatCrossALineUseBoth) {
  guest g(machine);
  g.load(0, on_node0 + line - 4);
  g.load(0, on_node0 + 3 * line - 8); // up to the end and no further
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 3 0 0 0"));
}

COUNTER_TEST(Accesses, ThatCrossAPageAreOnBoth) {
  guest g(machine);
  fake_map(on_node0 + page, on_node1);
  g.store(0, on_node0 + page - 8, 16);
  EXPECT_THAT(g.records("cell"), ElementsAre("0 0 init 1 0 0 0", "0 0 use 0 0 1 0",
                                             "0 1 init 1 0 0 0", "0 1 use 0 0 1 0"));
  EXPECT_THAT(g.records("accesses"), ElementsAre("1"));
}

COUNTER_TEST(Accesses, OfDevicesAreNotCountedButTold) {
  guest g(machine);
  fake_device(on_node0);
  g.load(0, on_node0);
  g.stream(0, on_node0);
  EXPECT_THAT(g.records("cell"), testing::IsEmpty());
  EXPECT_THAT(g.records("uncounted"),
              ElementsAre("2 accesses%20to%20devices%2C%20or%20to%20pages%20that%20went%20away%20"
                          "meanwhile"));
}

COUNTER_TEST(Accesses, OfGathersThatTheEmulatorMisreadsAreReported) {
  guest g(machine);
  rig_misread(0);
  rig_misread(1);
  g.mark(2, NODEWISE_MARKER_EXCLUDE);
  rig_misread(2);
  EXPECT_THAT(
      g.records("uncounted"),
      ElementsAre("2 gathers%20by%20register%20xmm4%20or%20ymm4%2C%20of%20which%20this%20QEMU"
                  "%20reads%20the%20wrong%20elements"));
}

COUNTER_TEST(Accesses, AreBookedToTheirInstruction) {
  guest g(machine);
  g.load(0, on_node0, 8, 0x1000);
  g.load(0, on_node1, 8, 0x1000);
  g.load(0, on_node1 + line, 8, 0x2000);
  g.load(0, on_node0, 8, 0x2000); // a hit
  EXPECT_THAT(g.records("code"),
              testing::UnorderedElementsAre("0 0x1000 init 1 1", "0 0x2000 init 0 1"));
}

} // namespace
} // namespace nodewise::counter_test
