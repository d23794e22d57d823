// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Recordings where rights, locked memory, room or files are few.
#include "observe/recorder.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "unit/recorded_programs.hpp"

namespace nodewise::observe {

using test::become;
using test::become_nobody;
using test::expect_each_page_once;
using test::in_a_child;
using test::program;
using test::record;
using test::Recorder;
using test::said_text;

TEST_F(Recorder, WithoutRightsUserFaultsAreSampledAllTheSame) {
  said_text said;
  EXPECT_EQ(in_a_child([&] {
              become_nobody();
              const recording got = record({program, "4000", "2"}, said);
              expect_each_page_once(got, said, 2, 4000);
              return !HasFailure() && got.end.exit_code() == 0;
            }),
            0);
}

TEST_F(Recorder, RingsShrinkToWhatMayBeLocked) {
  const said_text said;
  EXPECT_EQ(in_a_child([&] {
              become_nobody();
              const rlimit none{};
              ::setrlimit(RLIMIT_MEMLOCK, &none);
              recording_options options;
              options.faults.ring_bytes = std::size_t{64} << 20;
              const recording got =
                  record_program([&] { become({program, "1000", "1"}, said); }, options);
              EXPECT_EQ(got.losses.taken + got.losses.lost, got.losses.counted);
              EXPECT_GE(got.losses.counted, 1000U);
              return !HasFailure();
            }),
            0);
}

TEST_F(Recorder, WhatFindsNoRoomIsCountedAsLost) {
  constexpr std::uint64_t pages = 25000; // 200 MiB in all: a node of the lab's smallest machine
  constexpr std::size_t smallest_ring = std::size_t{16} << 10;
  const said_text said;
  recording_options options;
  options.faults.ring_bytes = smallest_ring;
  const recording got =
      record_program([&] { become({program, std::to_string(pages), "2"}, said); }, options);
  EXPECT_EQ(got.end.exit_code(), 0);
  EXPECT_GE(got.losses.counted, 2 * pages);
  EXPECT_EQ(got.losses.taken + got.losses.lost, got.losses.counted);
  EXPECT_EQ(got.log.samples(), got.losses.taken);
}

TEST_F(Recorder, TooManyFilesIsSaid) {
  EXPECT_EQ(in_a_child([] {
              const rlimit few{10, 10};
              ::setrlimit(RLIMIT_NOFILE, &few);
              recording_options options;
              try {
                (void)record_program([] { ::_exit(0); }, options);
              } catch (const error& e) {
                return e.errno_value() == EMFILE && e.hint().find("ulimit") != std::string::npos;
              }
              return false;
            }),
            0);
}

} // namespace nodewise::observe
