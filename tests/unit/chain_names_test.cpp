// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Names of call chains: inlined functions included, against addr2line and the sources' lines.
#include "symbols/chain_names.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "symbols/module.hpp"
#include "symbols/names.hpp"
#include "symbols/unwind.hpp"
#include "unit/unwind_programs.hpp"
#include "unit/unwind_sources.hpp"

namespace nodewise::symbols {

namespace {

using namespace test;

class ChainNames : public unwind_test {
 protected:
  [[nodiscard]] std::vector<chain_frame> frames_of(const record& of) {
    return namer_.frames(map_, unwinder_.chain(map_, of.at(), of.copy()).addresses);
  }

  unwinder unwinder_;
  chain_namer namer_;
};

int line_of(std::string_view source, std::string_view text) {
  const std::size_t at = source.find(text);
  EXPECT_NE(at, source.npos) << text;
  return 1 + static_cast<int>(std::ranges::count(source.substr(0, at), '\n'));
}

/// "function:line" of the frames in the program's own source, innermost first.
std::vector<std::string> own_frames(const std::vector<chain_frame>& all, std::string_view file) {
  std::vector<std::string> own;
  for (const chain_frame& f : all) {
    if (last_part(f.file) == file) {
      own.push_back(std::string(without_parameters(f.function)) + ":" + std::to_string(f.line));
    }
  }
  return own;
}

std::string at(std::string_view function, std::string_view source, std::string_view text) {
  return std::string(function) + ":" + std::to_string(line_of(source, text));
}

TEST_F(ChainNames, c_programs_with_touches_in_the_library) {
  (void)run("a.c", c_program, std::string(plain));
  std::set<std::vector<std::string>> seen;
  std::set<std::string> innermost;
  for (const record& r : records_) {
    const auto frames = frames_of(r);
    seen.insert(own_frames(frames, "a.c"));
    innermost.insert(frames.front().module);
  }
  const std::string_view s = c_program;
  EXPECT_TRUE(seen.contains(
      {at("own_loop", s, "into[i] = i"), at("main", s, "own_loop(untouched(1 << 14)")}));
  EXPECT_TRUE(
      seen.contains({at("by_library", s, "memset(into"), at("main", s, "by_library(untouched")}));
  EXPECT_TRUE(
      seen.contains({at("by_library", s, "memcpy(into"), at("main", s, "by_library(untouched")}));
  EXPECT_TRUE(innermost.contains("libc.so.6"));
  EXPECT_TRUE(innermost.contains("a.c.program"));
}

TEST_F(ChainNames, constructors_that_were_inlined) {
  (void)run("a.cpp", cpp_program, std::string(plain));
  std::set<std::string> lines;
  std::size_t inlined = 0;
  for (const record& r : records_) {
    const auto frames = frames_of(r);
    const auto own = own_frames(frames, "a.cpp");
    ASSERT_FALSE(own.empty());
    EXPECT_TRUE(own.back().starts_with("main:")) << own.back();
    lines.insert(own.begin(), own.end());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      inlined += frames[i].inlined ? 1U : 0U;
      if (frames[i].inlined) {
        ASSERT_LT(i + 1, frames.size());
        EXPECT_EQ(frames[i].offset, frames[i + 1].offset);
        EXPECT_EQ(frames[i].module, frames[i + 1].module);
      }
    }
  }
  const std::string_view s = cpp_program;
  EXPECT_GT(inlined, 100U);
  EXPECT_TRUE(lines.contains(at("grid::grid", s, "field(n, 1.0)")));
  EXPECT_TRUE(lines.contains(at("grid::grid", s, "cells(n)")));
  EXPECT_TRUE(lines.contains(at("cell::cell", s, "struct cell")));
  EXPECT_TRUE(lines.contains(at("fill", s, "std::uninitialized_fill")));
  EXPECT_TRUE(lines.contains(at("main", s, "fill(static_cast")));
}

TEST_F(ChainNames, openmp_and_fortran) {
  (void)run("a.c", openmp_program, std::string(plain) + " -fopenmp");
  const std::string body = at("init._omp_fn.0", openmp_program, "memset(into");
  std::set<std::string> outermost;
  for (const record& r : records_) {
    const auto own = own_frames(frames_of(r), "a.c");
    ASSERT_FALSE(own.empty());
    EXPECT_EQ(own.front(), body);
    outermost.insert(own.back());
  }
  EXPECT_EQ(outermost, (std::set{body, at("main", openmp_program, "init(untouched")}))
      << "threads of the runtime have no main";

  (void)run("a.f90", fortran_program, std::string(plain) + " -fno-backtrace");
  for (const record& r : records_) {
    const auto own = own_frames(frames_of(r), "a.f90");
    ASSERT_GE(own.size(), 2U);
    EXPECT_EQ(own[0], at("grid::init", fortran_program, "field = 1.0d0"));
    EXPECT_EQ(own[1], at("solve", fortran_program, "call init"));
  }
}

TEST_F(ChainNames, every_frame_is_addr2line_s) {
  const std::string program = run("a.cpp", cpp_program, std::string(plain));
  const std::uint64_t base = base_of(program);
  std::set<std::pair<std::uint64_t, bool>> asked;
  for (const record& r : records_) {
    const auto chain = unwinder_.chain(map_, r.at(), r.copy()).addresses;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const auto frames = namer_.frames_of(map_, chain[i], i != 0);
      if (frames.front().module != "a.cpp.program" || frames.front().file.empty() ||
          !asked.emplace(chain[i], i != 0).second) {
        continue;
      }
      const auto reference = addr2line(program, frames.front().offset + base - (i != 0 ? 1 : 0));
      ASSERT_EQ(frames.size(), reference.size());
      for (std::size_t k = 0; k < frames.size(); ++k) {
        EXPECT_EQ(frames[k].file + ":" + std::to_string(frames[k].line), reference[k].second);
        EXPECT_EQ(frames[k].function, reference[k].first);
      }
    }
  }
  EXPECT_GE(asked.size(), 4U);
}

TEST_F(ChainNames, a_stripped_program_has_module_and_offset) {
  const std::string program = run("a.c", c_program, std::string(plain));
  const record touched = records_.front();
  const auto full = frames_of(touched);
  output_of("strip " + program);
  chain_namer fresh;
  const auto frames =
      fresh.frames(map_, unwinder_.chain(map_, touched.at(), touched.copy()).addresses);
  ASSERT_EQ(frames.size(), full.size()) << "nothing was inlined here";
  EXPECT_EQ(frames.front().module, "a.c.program");
  EXPECT_EQ(frames.front().offset, full.front().offset);
  EXPECT_EQ(frames.front().line, 0);
  EXPECT_EQ(module_and_offset(program, frames.front().offset).substr(0, 14), "a.c.program+0x");

  EXPECT_EQ(
      namer_.frames_of({}, 0x1234, false),
      (std::vector<chain_frame>{{.module = {}, .offset = 0x1234, .function = {}, .file = {}}}));
}

} // namespace

} // namespace nodewise::symbols
