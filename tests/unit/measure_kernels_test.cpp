// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/kernels.hpp"

#include <bit>
#include <cstdint>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace {

using namespace nodewise::measure;
using testing::HasSubstr;

constexpr double guard = 12345.5;

/// Four arrays with guards on both sides; parts of any size begin `shift` elements into a line.
class arrays {
 public:
  explicit arrays(std::size_t elements, std::size_t shift = 0)
      : elements_(elements), begin_(64 + shift),
        memory_(4, std::vector<line>((elements + 144) / 8, line{})) {
    for (auto& each : memory_)
      for (line& l : each)
        std::fill(std::begin(l.elements), std::end(l.elements), guard);
  }

  operands part() {
    operands p;
    for (std::size_t k = 0; k < 4; ++k)
      p.arrays[k] = memory_[k].data()->elements + begin_;
    p.elements = elements_;
    return p;
  }

  /// Whether all outside of the first so many arrays' parts is as it was.
  bool guards_hold(std::size_t used) {
    for (std::size_t k = 0; k < 4; ++k) {
      const double* const all = memory_[k].data()->elements;
      for (std::size_t i = 0; i < memory_[k].size() * 8; ++i)
        if ((k >= used || i < begin_ || i >= begin_ + elements_) && all[i] != guard)
          return false;
    }
    return true;
  }

 private:
  struct alignas(64) line {
    double elements[8];
  };
  std::size_t elements_;
  std::size_t begin_;
  std::vector<std::vector<line>> memory_;
};

/// Each test runs once for each instruction set that this processor has and this file was compiled
/// for.
class MeasureKernels : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

INSTANTIATE_TEST_SUITE_P(Targets, MeasureKernels,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) {
                           return std::string(hwy::TargetName(target.param));
                         });

TEST_P(MeasureKernels, TheInstructionSetIsTheOneAskedFor) {
  const std::string highway = hwy::TargetName(GetParam());
  const std::string_view ours = instruction_set();
  if (highway.starts_with("AVX3"))
    EXPECT_EQ(ours, "AVX-512");
  else if (highway == "SCALAR" || highway == "EMU128")
    EXPECT_EQ(ours, "scalar");
  else
    EXPECT_TRUE(highway.starts_with(ours)) << highway << " is called " << ours;
}

// The loops once more, as they stand in the formulas, on values of the test's own.
double plain(const kernel& k, const operands& p) {
  const auto& [a, b, c, d] = p.arrays;
  const auto is = [&](std::string_view name) {
    return k.name == name || k.name == std::string(name) + "_nt";
  };
  double sum = 0;
  for (std::size_t i = 0; i < p.elements; ++i) {
    if (is("sum"))
      sum += a[i];
    else if (is("store"))
      a[i] = 7;
    else if (is("copy"))
      a[i] = b[i];
    else if (is("update"))
      a[i] = -a[i];
    else if (is("scale"))
      a[i] = 3 * b[i];
    else if (is("add"))
      a[i] = b[i] + c[i];
    else if (is("triad"))
      a[i] = b[i] + 3 * c[i];
    else if (is("schoenauer"))
      a[i] = b[i] + c[i] * d[i];
  }
  return sum;
}

TEST_P(MeasureKernels, EveryLengthAndStartGivesWhatPlainLoopsGive) {
  for (const kernel& k : kernels()) {
    if (k.stores == 0 && k.name != "sum")
      continue; // a pattern of bits: see below
    for (std::size_t elements = 0; elements <= 300; ++elements) {
      arrays ours(elements, elements % 8);
      arrays theirs(elements);
      for (std::size_t array = 0; array < k.arrays; ++array)
        for (std::size_t i = 0; i < elements; ++i)
          ours.part().arrays[array][i] = theirs.part().arrays[array][i] =
              static_cast<double>(1000 * array + 3 * i) - 400;
      const double found = k.run(ours.part());
      ASSERT_EQ(found, plain(k, theirs.part())) << k.name << ", " << elements;
      for (std::size_t array = 0; array < k.arrays; ++array)
        for (std::size_t i = 0; i < elements; ++i)
          ASSERT_EQ(ours.part().arrays[array][i], theirs.part().arrays[array][i])
              << k.name << ", element " << i << " of " << elements << " of array " << array;
      ASSERT_TRUE(ours.guards_hold(k.arrays)) << k.name << ", " << elements;
    }
  }
}

TEST_P(MeasureKernels, LoadsTakeEveryElementOnceWhereTheyShould) {
  for (const std::string_view name : {"load", "strided_load"}) {
    const kernel& k = *find_kernel(name);
    for (const std::size_t stride : {8UL, 16UL, 64UL, 72UL, 4096UL}) {
      for (std::size_t elements = 0; elements <= 300; ++elements) {
        arrays memory(elements, elements % 8);
        operands p = memory.part();
        p.stride_bytes = stride;
        std::uint64_t expected = 0;
        const std::size_t step = name == "load" ? 1 : stride / 8;
        for (std::size_t i = 0; i < elements; ++i) {
          const std::uint64_t bits = 0x9E3779B97F4A7C15U * (i + 1);
          p.arrays[0][i] = std::bit_cast<double>(bits);
          expected ^= i % step == 0 ? bits : 0;
        }
        ASSERT_EQ(std::bit_cast<std::uint64_t>(k.run(p)), expected)
            << name << ", " << elements << ", " << stride;
      }
    }
  }
}

TEST_P(MeasureKernels, VerifyAgreesAfterAnyNumberOfSweeps) {
  for (const kernel& k : kernels()) {
    for (const std::size_t elements : {0UL, 1UL, 7UL, 8UL, 63UL, 64UL, 1000UL, 4099UL}) {
      for (std::size_t sweeps = 0; sweeps < 4; ++sweeps) {
        arrays memory(elements);
        fill(k, memory.part());
        double result = 0;
        for (std::size_t n = 0; n < sweeps; ++n)
          result = k.run(memory.part());
        const auto wrong = verify(k, memory.part(), sweeps, result);
        ASSERT_FALSE(wrong.has_value()) << k.name << ", " << elements << ": " << *wrong;
        ASSERT_TRUE(memory.guards_hold(k.arrays)) << k.name << ", " << elements;
      }
    }
  }
}

TEST_P(MeasureKernels, AFencedPartOfAnotherLeavesTheRestAlone) {
  for (const kernel& k : kernels()) {
    arrays memory(64);
    fill(k, memory.part());
    operands half = memory.part();
    half.elements = 32;
    (void)k.run(half);
    operands rest = memory.part();
    for (double*& array : rest.arrays)
      array += 32;
    rest.elements = 32;
    // Untouched: as after no sweep, but for its place in the sequence of first values.
    arrays fresh(64);
    fill(k, fresh.part());
    for (std::size_t array = 0; array < k.arrays; ++array)
      for (std::size_t i = 32; i < 64; ++i)
        ASSERT_EQ(memory.part().arrays[array][i], fresh.part().arrays[array][i]) << k.name;
  }
}

TEST(MeasureKernelsVerify, FindsOneSpoiledElementInEveryArray) {
  for (const kernel& k : kernels()) {
    for (std::size_t array = 0; array < k.arrays; ++array) {
      for (const std::size_t at : {0UL, 17UL, 511UL}) {
        arrays memory(512);
        fill(k, memory.part());
        const double result = k.run(memory.part());
        memory.part().arrays[array][at] += 1;
        const auto wrong = verify(k, memory.part(), 1, result);
        ASSERT_TRUE(wrong.has_value()) << k.name;
        EXPECT_THAT(*wrong,
                    HasSubstr(std::string(1, "abcd"[array]) + "[" + std::to_string(at) + "] is "));
      }
    }
  }
}

TEST(MeasureKernelsVerify, FindsAWrongResultAMissingSweepAndAForeignOne) {
  for (const kernel& k : kernels()) {
    arrays memory(512);
    fill(k, memory.part());
    if (k.stores == 0) {
      EXPECT_TRUE(verify(k, memory.part(), 1, k.run(memory.part()) + 1).has_value()) << k.name;
      // One element less.
      operands shorter = memory.part();
      shorter.elements = 504;
      EXPECT_TRUE(verify(k, memory.part(), 1, k.run(shorter)).has_value()) << k.name;
    } else {
      EXPECT_TRUE(verify(k, memory.part(), 1, 0).has_value()) << k.name;
      (void)k.run(memory.part());
      EXPECT_TRUE(verify(k, memory.part(), 0, 0).has_value()) << k.name;
    }
  }
  const kernel& update = *find_kernel("update");
  arrays memory(16);
  fill(update, memory.part());
  for (int sweep = 0; sweep < 3; ++sweep)
    (void)update.run(memory.part());
  EXPECT_EQ(verify(update, memory.part(), 3, 0), std::nullopt);
  EXPECT_TRUE(verify(update, memory.part(), 2, 0).has_value());
}

TEST(MeasureKernelsVerify, SaysWhereWhatAndWhatInstead) {
  const kernel& store = *find_kernel("store");
  arrays memory(64);
  fill(store, memory.part());
  (void)store.run(memory.part());
  memory.part().arrays[0][9] = 5;
  EXPECT_EQ(verify(store, memory.part(), 1, 0), "a[9] is 5, not 7");
}

TEST(MeasureKernelsRandom, PlacesAreSpreadOverThePart) {
  // Which lines are loaded is seen by taking each line out in turn: the result changes if it was.
  const kernel& k = *find_kernel("random_load");
  constexpr std::size_t lines = 2048;
  arrays memory(lines * 8);
  const operands p = memory.part();
  std::fill_n(p.arrays[0], p.elements, 0.0);
  EXPECT_EQ(k.accesses(p), lines);
  std::size_t odd_times = 0;
  for (std::size_t line = 0; line < lines; ++line) {
    p.arrays[0][line * 8] = 1;
    odd_times += k.run(p) == 1 ? 1U : 0U;
    p.arrays[0][line * 8] = 0;
  }
  // Of n draws with replacement from n lines a line has an odd number with (1 - exp(-2)) / 2 =
  // 0.432. Counts are independent Poissons of mean 1, given their sum, which has a probability of
  // 1 / sqrt(2 pi n) = 1/113. So by Chernoff the share is off by 0.1 or more with less than
  // 113 * 2 exp(-2048 KL(0.532, 0.432)) = 3e-16.
  EXPECT_NEAR(static_cast<double>(odd_times) / lines, 0.432, 0.1);
}

TEST(MeasureKernelsTable, NamesAndTheWordsOfLikwidBench) {
  std::set<std::string_view> names;
  for (const kernel& k : kernels()) {
    EXPECT_TRUE(names.insert(k.name).second) << k.name;
    EXPECT_EQ(find_kernel(k.name), &k);
    EXPECT_EQ(k.streaming, k.name.ends_with("_nt"));
  }
  EXPECT_EQ(kernels().size(), static_cast<std::size_t>(kernel_id::count));
  for (std::size_t i = 0; i < kernels().size(); ++i)
    EXPECT_EQ(static_cast<std::size_t>(kernels()[i].id), i);
  EXPECT_EQ(find_kernel("stream")->name, "triad");
  EXPECT_EQ(find_kernel("stream_mem")->name, "triad_nt");
  EXPECT_EQ(find_kernel("copy_mem")->name, "copy_nt");
  EXPECT_EQ(find_kernel("triad")->formula, "a[i]=b[i]+s*c[i]");
  EXPECT_EQ(find_kernel("daxpy"), nullptr);
  EXPECT_EQ(find_kernel(""), nullptr);
}

TEST(MeasureKernelsTable, BytesAreThoseOfStreamAndThoseThatMove) {
  // STREAM's 16, 16, 24, 24; Hager and Wellein, section 3.3: the vector triad's 32, and 40 with the
  // read before the store.
  struct {
    const char* name;
    std::size_t counted;
    std::size_t moved;
  } const facts[] = {
      {"load", 8, 8},          {"sum", 8, 8},          {"store", 8, 16},
      {"copy", 16, 24},        {"update", 16, 16},     {"scale", 16, 24},
      {"add", 24, 32},         {"triad", 24, 32},      {"schoenauer", 32, 40},
      {"store_nt", 8, 8},      {"copy_nt", 16, 16},    {"scale_nt", 16, 16},
      {"add_nt", 24, 24},      {"triad_nt", 24, 24},   {"schoenauer_nt", 32, 32},
      {"strided_load", 8, 64}, {"random_load", 8, 64},
  };
  EXPECT_EQ(std::size(facts), kernels().size());
  for (const auto& fact : facts) {
    EXPECT_EQ(find_kernel(fact.name)->counted_bytes(), fact.counted) << fact.name;
    const kernel& k = *find_kernel(fact.name);
    const std::size_t unless_streamed = k.streaming && !has_streaming_stores ? 8 : 0;
    EXPECT_EQ(k.moved_bytes(), fact.moved + unless_streamed) << fact.name;
  }
  EXPECT_EQ(find_kernel("strided_load")->moved_bytes(16), 16U);
  EXPECT_EQ(find_kernel("strided_load")->moved_bytes(4096), 64U);
}

} // namespace
