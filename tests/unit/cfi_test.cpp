// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Rows of call frame information, against readelf; frames of both processors; expressions.
#include "symbols/cfi.hpp"

#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include <dwarf.h>
#include <gtest/gtest.h>

#include "symbols/frame_step.hpp"
#include "unit/symbols_programs.hpp"

namespace nodewise::symbols {

namespace {

using namespace test;
using place = frame_rule::place;

class CallFrames : public symbols_test {};

/// As readelf writes it: "rsp+16", "c-8", "exp", "vexp".
std::string text_of(const frame_row& row, const std::string& column) {
  static const std::vector<std::string> names = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                                 "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                                 "r12", "r13", "r14", "r15", "ra"};
  const auto sum = [](const std::string& of, std::int64_t offset) {
    return of + (offset < 0 ? "" : "+") + std::to_string(offset);
  };
  if (column == "CFA") {
    return row.cfa.where == place::computed ? "exp" : sum(names.at(row.cfa.from), row.cfa.offset);
  }
  const auto number = std::ranges::find(names, column) - names.begin();
  const frame_rule* const rule = row.of(static_cast<std::uint64_t>(number));
  if (rule == nullptr || rule->where == place::lost) {
    return "u";
  }
  return rule->where == place::memory      ? sum("c", rule->offset)
         : rule->where == place::memory_at ? "exp"
         : rule->where == place::computed  ? "vexp"
         : rule->where == place::kept      ? "s"
                                           : "?";
}

TEST_F(CallFrames, every_row_is_readelf_s) {
#ifndef __x86_64__
  GTEST_SKIP() << "the names of registers are x86-64's";
#endif
  for (const std::string options : {"-O2 -g -fomit-frame-pointer", "-O0 -g", "-O2 -static",
                                    "-O2 -g -fno-asynchronous-unwind-tables"}) {
    SCOPED_TRACE(options);
    const std::string program = build("a.cpp", cpp_source, options);
    const elf_file file(program);
    frame_table table(file.get(), nullptr);
    std::istringstream lines(output_of("readelf --debug-dump=frames-interp " + program));
    std::vector<std::string> columns;
    std::size_t rows = 0;
    bool entry = false;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::vector<std::string> parts;
      for (std::string word; words >> word;) {
        parts.push_back(word);
      }
      if (line.find(" CIE ") != line.npos || line.find(" FDE ") != line.npos) {
        entry = line.find(" FDE ") != line.npos;
        columns.clear();
      } else if (!parts.empty() && parts[0] == "LOC") {
        columns = parts;
      } else if (entry && !columns.empty() && parts.size() == columns.size()) {
        // Registers that are in registers are written in two words: left out here.
        const frame_row* const row = table.row_at(std::stoull(parts[0], nullptr, 16));
        ASSERT_NE(row, nullptr) << line;
        ++rows;
        for (std::size_t i = 1; i < parts.size(); ++i) {
          if (!columns[i].starts_with("xmm")) {
            EXPECT_EQ(text_of(*row, columns[i]), parts[i]) << line << " column " << columns[i];
          }
        }
      }
    }
    EXPECT_GT(rows, 5U);
  }
}

struct words_of_stack {
  explicit words_of_stack(std::vector<std::uint64_t> of) : words(std::move(of)) {}
  [[nodiscard]] stack_copy at(std::uint64_t start) const {
    return {start, std::as_bytes(std::span(words))};
  }
  std::vector<std::uint64_t> words;
};

std::optional<frame_row> row_of(const std::vector<std::uint8_t>& program, std::uint64_t address) {
  frame_program run({4, -8, DW_EH_PE_absptr});
  return run.run(program, 0, address) ? std::optional(run.row()) : std::nullopt;
}

TEST(CallFrameSteps, aarch64_signs_return_addresses) {
  const std::vector<std::uint8_t> program = {
      DW_CFA_def_cfa,         31, 0, // at entry: sp+0, nothing is saved
      DW_CFA_advance_loc | 1,        //
      DW_CFA_GNU_window_save,        // paciasp: here that is DW_CFA_AARCH64_negate_ra_state
      DW_CFA_advance_loc | 1,        //
      DW_CFA_def_cfa_offset,  32,    // stp x29, x30, [sp, -32]!
      DW_CFA_offset | 29,     4,     //
      DW_CFA_offset | 30,     3,
  };
  registers now(processor::aarch64, 0x400008, 0x7000);
  now.set(30, 0x400100);
  now.set(29, 0x1234);
  std::optional<frame_row> row = row_of(program, 0);
  ASSERT_TRUE(row);
  row->return_register = 30;
  const words_of_stack stack({0x7040, 0x12000000400200, 0, 0, 0, 0});
  const caller of_leaf = caller_of(now, *row, stack.at(0x7000));
  ASSERT_TRUE(of_leaf.at);
  EXPECT_EQ(of_leaf.at->pc(), 0x400100U) << "a leaf keeps its return in x30";
  EXPECT_EQ(of_leaf.at->get(31), 0x7000U);

  row = row_of(program, 8);
  ASSERT_TRUE(row);
  row->return_register = 30;
  const caller up = caller_of(now, *row, stack.at(0x7000));
  ASSERT_TRUE(up.at);
  EXPECT_EQ(up.at->pc(), 0x400200U) << "the signature is not of the address";
  EXPECT_EQ(up.at->get(31), 0x7020U);
  EXPECT_EQ(up.at->get(29), 0x7040U);
}

TEST(CallFrameSteps, states_are_restored) {
  const std::vector<std::uint8_t> program = {
      DW_CFA_def_cfa,
      7,
      8,
      DW_CFA_offset | 16,
      1,
      DW_CFA_advance_loc | 1,
      DW_CFA_remember_state,
      DW_CFA_def_cfa_offset,
      64,
      DW_CFA_offset | 3,
      2,
      DW_CFA_advance_loc | 1,
      DW_CFA_restore_state,
  };
  const auto inside = row_of(program, 4);
  const auto after = row_of(program, 8);
  ASSERT_TRUE(inside && after);
  EXPECT_EQ(inside->cfa.offset, 64);
  EXPECT_NE(inside->of(3), nullptr);
  EXPECT_EQ(after->cfa.offset, 8);
  EXPECT_EQ(after->of(3), nullptr);
  EXPECT_FALSE(row_of({DW_CFA_restore_state}, 0));
  EXPECT_FALSE(row_of({DW_CFA_def_cfa}, 0)) << "cut off";
  EXPECT_FALSE(row_of({0x3f}, 0)) << "nobody's instruction";
  EXPECT_FALSE(row_of(std::vector<std::uint8_t>(1000, DW_CFA_remember_state), 0)) << "too deep";
}

TEST(CallFrameSteps, expressions) {
  registers now(processor::x86_64, 0x40100b, 0x7000);
  const words_of_stack stack({11, 22, 33});
  const stack_copy copy = stack.at(0x7000);
  const auto value = [&](std::vector<std::uint8_t> of) {
    frame_values values{now, copy};
    return evaluate(of, std::nullopt, values);
  };
  // What linkers say of the procedure linkage table: sp + 8 + (in the second half ? 8 : 0).
  const std::vector<std::uint8_t> linkage = {DW_OP_breg7, 8,         DW_OP_breg16, 0,
                                             DW_OP_lit15, DW_OP_and, DW_OP_lit11,  DW_OP_ge,
                                             DW_OP_lit3,  DW_OP_shl, DW_OP_plus};
  EXPECT_EQ(value(linkage), 0x7010U);
  now.set_pc(0x40100a);
  EXPECT_EQ(value(linkage), 0x7008U);
  EXPECT_EQ(value({DW_OP_breg7, 8, DW_OP_deref}), 22U);
  EXPECT_FALSE(value({DW_OP_breg7, 24, DW_OP_deref})) << "beyond the copy";
  EXPECT_FALSE(value({DW_OP_breg3, 0})) << "an unknown register";
  EXPECT_FALSE(value({DW_OP_skip, 0xfd, 0xff})) << "does not end";
  EXPECT_FALSE(value({DW_OP_skip, 0x7f, 0x7f})) << "leads out";
  EXPECT_FALSE(value({DW_OP_plus}));
  EXPECT_FALSE(value({}));
  EXPECT_FALSE(value({DW_OP_call_frame_cfa})) << "not allowed here";
  EXPECT_FALSE(value(std::vector<std::uint8_t>(100, DW_OP_lit0))) << "too deep";
}

} // namespace

} // namespace nodewise::symbols
