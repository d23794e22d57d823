// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Fresh memory against what nodes have free, by what a kernel says in its files.
#include <cerrno>
#include <string>

#include <gmock/gmock.h>

#include <nodewise/distribution.hpp>
#include <nodewise/error.hpp>

#include "place/engine.hpp"
#include "unit/fake_kernel.hpp"

namespace nodewise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Nodes 0 and 1 with so much free each, and some pages of files.
class Room : public testing::Test {
 protected:
  void set_free(int node, std::size_t free_bytes, std::size_t cache_bytes) {
    const std::string number = std::to_string(node);
    const auto line = [&](const char* name, std::size_t bytes) {
      return "Node " + number + " " + name + ":  " + std::to_string(bytes >> 10) + " kB\n";
    };
    kernel_.files["/sys/devices/system/node/node" + number + "/meminfo"] =
        line("MemTotal", 1024 * mebibyte) + line("MemFree", free_bytes) +
        line("FilePages", cache_bytes);
  }
  static placement blocks(std::size_t bytes) {
    placement made;
    made.base_page_bytes = 4096;
    made.pages = bytes / made.base_page_bytes;
    made.asked = blocked({node_id{0}, node_id{1}}).extents(made.pages);
    return made;
  }

  test::fake_kernel kernel_{{node_id{0}, node_id{1}}};
};

TEST_F(Room, WhatFitsIsNotSpokenOf) {
  set_free(0, 100 * mebibyte, 0);
  set_free(1, 60 * mebibyte, 40 * mebibyte); // the kernel gives up pages of files
  for (const strictness how : {strictness::prefer, strictness::must}) {
    placement asked = blocks(200 * mebibyte);
    engine::require_room(kernel_, how, asked);
    EXPECT_THAT(asked.notes, IsEmpty());
  }
}

TEST_F(Room, TheExtentThatDoesNotFitIsAnErrorWhereItMust) {
  set_free(0, 200 * mebibyte, 0);
  set_free(1, 60 * mebibyte, 10 * mebibyte);
  placement asked = blocks(200 * mebibyte);
  try {
    engine::require_room(kernel_, strictness::must, asked);
    FAIL() << "100 MiB are asked of a node that has 70";
  } catch (const error& e) {
    EXPECT_EQ(e.errno_value(), ENOMEM);
    EXPECT_THAT(e.asked(), HasSubstr("pages 25600..51200 on node 1"));
    EXPECT_THAT(e.what(), HasSubstr("node 1 has 70 MiB free or in pages of files, and 100 MiB"));
  }
}

TEST_F(Room, ItIsANoteWhereAnotherNodeWillDo) {
  set_free(0, 10 * mebibyte, 0);
  set_free(1, 200 * mebibyte, 0);
  placement asked = blocks(200 * mebibyte);
  engine::require_room(kernel_, strictness::prefer, asked);
  EXPECT_THAT(asked.notes, ElementsAre(HasSubstr("node 0 has 10 MiB")));
}

TEST_F(Room, MemoryThatIsThereAlreadyNeedsNone) {
  set_free(0, 0, 0);
  set_free(1, 0, 0);
  placement moved = blocks(200 * mebibyte);
  moved.method = place_method::migration;
  engine::require_room(kernel_, strictness::must, moved);
  EXPECT_THAT(moved.notes, IsEmpty());
}

TEST_F(Room, AKernelThatDoesNotTellRefusesNothing) {
  placement asked = blocks(200 * mebibyte);
  engine::require_room(kernel_, strictness::must, asked);
  kernel_.files["/sys/devices/system/node/node0/meminfo"] = "Node 0 MemFree:  many kB\n";
  engine::require_room(kernel_, strictness::must, asked);
  EXPECT_THAT(asked.notes, IsEmpty());
}

} // namespace
} // namespace nodewise
