// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Call chains from copies of registers and stack, against glibc's backtrace() inside the program.
#include "symbols/unwind.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/unwind_programs.hpp"
#include "unit/unwind_sources.hpp"

namespace nodewise::symbols {

namespace {

using namespace test;

class Unwind : public unwind_test {};

void expect_glibc_s_chains(unwinder& by, const code_map& map, const std::vector<record>& records) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < records.size() && wrong < 3; ++i) {
    const unwound got = by.chain(map, records[i].at(), records[i].copy());
    wrong += got.addresses == records[i].chain ? 0U : 1U;
    EXPECT_EQ(got.addresses, records[i].chain) << "record " << i;
    // A static program has stubs of which the linker says nothing.
    EXPECT_EQ(got.why, got.addresses.size() == 1 ? chain_end::no_cfi : chain_end::outermost) << i;
  }
}

TEST_F(Unwind, every_fault_and_instruction_of_a_c_program) {
  for (const std::string extra :
       {"", " -static", " -no-pie -fno-pie", " -Wl,-z,now", " -Wl,-z,lazy"}) {
    SCOPED_TRACE(extra);
    (void)run("a.c", c_program, std::string(plain) + extra);
    ASSERT_GT(records_.size(), 1000U);
    unwinder u;
    expect_glibc_s_chains(u, map_, records_);
  }
}

TEST_F(Unwind, threads_of_openmp_end_where_they_began) {
  (void)run("a.c", openmp_program, std::string(plain) + " -fopenmp");
  ASSERT_GE(records_.size(), 64U);
  unwinder u;
  expect_glibc_s_chains(u, map_, records_);
}

TEST_F(Unwind, constructors_and_fortran) {
  unwinder u;
  for (const auto& [name, source] : {std::pair{"a.cpp", cpp_program}, {"a.f90", fortran_program}}) {
    SCOPED_TRACE(name);
    // Fortran's runtime would take the signal for itself.
    (void)run(name, source,
              std::string(plain) + (source == fortran_program ? " -fno-backtrace" : ""));
    ASSERT_GE(records_.size(), 32U);
    expect_glibc_s_chains(u, map_, records_);
  }
}

TEST_F(Unwind, a_stripped_program_keeps_its_chains) {
  (void)run("a.c", c_program, std::string(plain), "strip");
  ASSERT_GT(records_.size(), 1000U);
  unwinder u;
  expect_glibc_s_chains(u, map_, records_);
}

TEST_F(Unwind, debug_frame_serves_where_there_is_no_eh_frame) {
  // The start files have their .eh_frame; main's callers are in libc.
  (void)run("a.c", c_program, std::string(plain) + " -fno-asynchronous-unwind-tables");
  const record& first = records_.front();
  unwinder u;
  const unwound got = u.chain(map_, first.at(), first.copy());
  EXPECT_EQ(got.why, chain_end::outermost);
  EXPECT_GE(got.addresses.size(), 5U) << "own_loop, main, two of libc, _start";
}

TEST_F(Unwind, a_shorter_copy_gives_the_chain_s_beginning) {
  (void)run("a.c", c_program, std::string(plain));
  unwinder u;
  std::size_t cut = 0;
  for (std::size_t i = 0; i < records_.size(); i += 7) {
    const auto whole = u.chain(map_, records_[i].at(), records_[i].copy()).addresses;
    for (const std::size_t bytes : {0U, 8U, 64U, 100U, 256U, 1024U}) {
      const stack_copy part{records_[i].copy().start, std::span(records_[i].stack).first(bytes)};
      const unwound got = u.chain(map_, records_[i].at(), part);
      ASSERT_LE(got.addresses.size(), whole.size());
      EXPECT_TRUE(std::ranges::equal(got.addresses, std::span(whole).first(got.addresses.size())));
      if (got.addresses.size() < whole.size()) {
        EXPECT_EQ(got.why, chain_end::copy_ends) << i;
        ++cut;
      }
    }
    const unwound short_one = u.chain(map_, records_[i].at(), records_[i].copy(), 2);
    EXPECT_EQ(short_one.why, chain_end::too_long);
    EXPECT_EQ(short_one.addresses.size(), 2U);
  }
  EXPECT_GT(cut, 100U);
}

TEST_F(Unwind, signals_code_of_no_file_and_the_vdso) {
  (void)run("a.c", odd_program, std::string(plain));
  ASSERT_GT(records_.size(), 20U);
  unwinder u;
  // What a signal interrupted has called nothing: the byte before its address is its instruction.
  std::vector<std::uint64_t> with_signal = records_[0].chain;
  ASSERT_GT(with_signal.size(), 5U);
  ++with_signal[3]; // touch, handler, the trampoline
  EXPECT_EQ(u.chain(map_, records_[0].at(), records_[0].copy()).addresses, with_signal);

  const unwound made = u.chain(map_, records_[1].at(), records_[1].copy());
  EXPECT_EQ(made.why, chain_end::no_module);
  EXPECT_EQ(made.addresses.size(), 2U);

  std::size_t in_vdso = 0;
  for (const record& r : records_) {
    const code_mapping* const where = map_.at(r.registers[16]);
    if (where != nullptr && where->file == "[vdso]") {
      ++in_vdso;
      const unwound got = u.chain(map_, r.at(), r.copy());
      EXPECT_EQ(got.addresses.size(), 1U);
      EXPECT_EQ(got.why, chain_end::no_module);
    }
  }
  EXPECT_GT(in_vdso, 0U);
}

TEST_F(Unwind, files_that_are_gone_or_something_else_end_the_chain) {
  (void)run("a.c", c_program, std::string(plain));
  const record& first = records_.front();
  const code_mapping there = *map_.at(first.registers[16]);
  for (const std::string file : {"/no/such/file", "/etc/passwd", "/", "/dev/null"}) {
    code_map other = map_;
    other.add({there.start, there.end, there.file_offset, file});
    unwinder u;
    const unwound got = u.chain(other, first.at(), first.copy());
    EXPECT_EQ(got.addresses, std::vector{first.registers[16]});
    EXPECT_EQ(got.why, chain_end::no_cfi);
  }
  unwinder u;
  registers elsewhere(processor::aarch64, first.registers[16], first.registers[7]);
  EXPECT_EQ(u.chain(map_, elsewhere, first.copy()).why, chain_end::no_cfi);
  EXPECT_EQ(u.chain({}, first.at(), first.copy()).why, chain_end::no_module);
}

TEST_F(Unwind, damaged_files_do_no_harm) {
  const std::string program = run("a.c", c_program, std::string(plain));
  std::ifstream in(program, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  unsigned seed = 1;
  const auto any = [&] { return (seed = seed * 1103515245U + 12345U) >> 8; };
  for (int round = 0; round < 200; ++round) {
    std::string damaged = whole.substr(0, round % 4 == 0 ? any() % whole.size() : whole.size());
    for (int i = 0; i < 200 && !damaged.empty(); ++i) {
      damaged[any() % damaged.size()] = static_cast<char>(any());
    }
    std::ofstream(program, std::ios::binary | std::ios::trunc) << damaged;
    unwinder u;
    for (std::size_t i = 0; i < records_.size(); i += 50) {
      const unwound got = u.chain(map_, records_[i].at(), records_[i].copy());
      ASSERT_GE(got.addresses.size(), 1U);
      ASSERT_LE(got.addresses.size(), 128U);
    }
  }
}

TEST(CodeMap, the_later_mapping_is_the_valid_one) {
  code_map map;
  map.add({0x1000, 0x5000, 0x100, "/a"});
  map.add({0x2000, 0x3000, 0, "/b"});
  map.add({0x6000, 0x6000, 0, "/empty"});
  EXPECT_EQ(map.at(0xfff), nullptr);
  EXPECT_EQ(map.at(0x1fff)->file, "/a");
  EXPECT_EQ(map.at(0x2000)->file, "/b");
  EXPECT_EQ(map.at(0x3000)->file, "/a");
  EXPECT_EQ(map.at(0x3000)->file_offset, 0x2100U);
  EXPECT_EQ(map.at(0x5000), nullptr);
  EXPECT_EQ(map.at(0x6000), nullptr);
  map.add({0x0, 0x10000, 0, "/all"});
  EXPECT_EQ(map.at(0x2500)->file, "/all");
  EXPECT_EQ(map.at(0x2500)->start, 0U);
}

} // namespace

} // namespace nodewise::symbols
