// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// From the name of a line or a function to its machine code, and the names themselves.
#include "symbols/names.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "symbols/module.hpp"
#include "unit/symbols_programs.hpp"

namespace nodewise::symbols {

namespace {

using namespace test;

class SymbolRanges : public symbols_test {};

// Innermost or not: a call that was inlined is in the line that makes it, too.
TEST_F(SymbolRanges, code_of_a_line_is_what_addr2line_gives_that_line) {
  for (const std::string options : {"-g -O2", "-g -O0"}) {
    SCOPED_TRACE(options);
    const std::string program = build("a.c", c_source, options);
    const std::uint64_t base = base_of(program);
    const module m = opened(program);
    std::size_t inlined = 0;
    std::vector<std::uint64_t> all = instructions(program, "fill");
    for (const std::uint64_t address : instructions(program, "main")) {
      all.push_back(address);
    }
    std::vector<std::set<std::string>> places;
    for (const std::uint64_t address : all) {
      std::set<std::string>& lines = places.emplace_back();
      for (const auto& [function, line] : addr2line(program, address)) {
        lines.insert(line);
      }
      inlined += lines.size() - 1;
    }
    std::size_t found = 0;
    for (int line = 1; line < 25; ++line) {
      const auto ranges = m.ranges_of_line("a.c", line);
      EXPECT_EQ(ranges, m.ranges_of_line((folder_ / "a.c").string(), line));
      for (std::size_t i = 0; i < all.size(); ++i) {
        const bool there =
            places[i].contains((folder_ / "a.c").string() + ":" + std::to_string(line));
        EXPECT_EQ(contains(ranges, all[i] - base), there) << line << " " << std::hex << all[i];
        found += there ? 1U : 0U;
      }
    }
    EXPECT_EQ(found, all.size() + inlined);
    EXPECT_GT(inlined, 0U); // twice() at every level of optimisation
    EXPECT_TRUE(m.ranges_of_line("other.c", 8).empty());
    EXPECT_TRUE(m.ranges_of_line(".c", 8).empty()) << "a suffix is of whole names";
  }
}

TEST_F(SymbolRanges, code_of_a_function_with_its_inlined_copies) {
  const std::string program = build("a.c", c_source, "-g -O2");
  const std::uint64_t base = base_of(program);
  const module m = opened(program);
  const auto fill = m.ranges_of_function("fill");
  const auto twice = m.ranges_of_function("twice");
  std::size_t copies = 0;
  for (const std::uint64_t address : instructions(program, "fill")) {
    EXPECT_TRUE(contains(fill, address - base));
    const bool in_copy = addr2line(program, address).front().first == "twice";
    EXPECT_EQ(contains(twice, address - base), in_copy);
    copies += in_copy ? 1U : 0U;
  }
  EXPECT_GT(copies, 0U);
  for (const std::uint64_t address : instructions(program, "main")) {
    EXPECT_FALSE(contains(fill, address - base));
  }
  EXPECT_TRUE(m.ranges_of_function("no_such_function").empty());
}

TEST_F(SymbolRanges, functions_are_found_by_every_name_they_have) {
  for (const std::string options : {"-g -O2", "-O2"}) {
    SCOPED_TRACE(options);
    const module cpp = opened(build("a.cpp", cpp_source, options));
    const auto step = cpp.ranges_of_function("step");
    ASSERT_EQ(step.size(), 1U);
    for (const char* const name :
         {"grid::solver::step", "solver::step", "_ZN4grid6solver4stepERSt6vectorIdSaIdEEi",
          "grid::solver::step(std::vector<double, std::allocator<double> >&, int)"}) {
      EXPECT_EQ(cpp.ranges_of_function(name), step) << name;
    }
    EXPECT_EQ(cpp.ranges_of_function("grid::twice").size(), 2U) << "two instances of a template";
    EXPECT_TRUE(cpp.ranges_of_function("ep").empty());

    const std::string program = build("a.f90", fortran_source, options);
    const module fortran = opened(program);
    const auto smooth = fortran.ranges_of_function("smooth");
    const auto reference = nm(program, "").at("smooth_");
    ASSERT_EQ(smooth.size(), 1U);
    EXPECT_EQ(smooth[0].first + base_of(program), reference.address);
    EXPECT_EQ(smooth[0].last - smooth[0].first, reference.bytes);
    EXPECT_EQ(fortran.ranges_of_function("smooth_"), smooth);
    EXPECT_FALSE(fortran.ranges_of_function("relax").empty());
    EXPECT_EQ(fortran.ranges_of_function("grid::relax"), fortran.ranges_of_function("relax"));
  }
}

TEST_F(SymbolRanges, outlined_loops_belong_to_their_function) {
  const std::string program = build("a.c", R"(double a[1000];
void solve(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) a[i] += i;
}
int main(int argc, char** argv) { (void)argv; solve(argc); return 0; }
)",
                                    "-g -O2 -fopenmp");
  const auto outlined = nm(program, "").at("solve._omp_fn.0");
  const module m = opened(program);
  EXPECT_TRUE(contains(m.ranges_of_function("solve"), outlined.address - base_of(program)));
}

TEST(SymbolNames, parts_of_demangled_names) {
  EXPECT_EQ(without_parameters("a::f(int, void (*)(int)) const"), "a::f");
  EXPECT_EQ(without_parameters("double ns::f<int>(int)"), "ns::f<int>");
  EXPECT_EQ(without_parameters("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
  EXPECT_EQ(without_parameters("a::operator()(int) const"), "a::operator()");
  EXPECT_EQ(without_parameters("main"), "main");
  EXPECT_EQ(without_clone_suffix("f(int) [clone .constprop.0]"), "f(int)");
  EXPECT_EQ(without_clone_suffix("solve._omp_fn.0"), "solve");
  EXPECT_EQ(demangle("__grid_MOD_field"), "grid::field");
  EXPECT_EQ(demangle("_QMgridEfield"), "grid::field");
  EXPECT_EQ(demangle("a"), "a");
  EXPECT_TRUE(names_function("f", "ns::f(int)"));
  EXPECT_FALSE(names_function("f", "ns::of(int)"));
}

TEST(SymbolNames, abbreviates_long_names_only) {
  EXPECT_EQ(abbreviated("double ns::f<int>(int) const"), "double ns::f<int>(int) const");
  EXPECT_EQ(abbreviated(std::string(60, 'f')), std::string(60, 'f'));
  const auto in_table = [](std::string_view name) {
    return abbreviated(name, std::min<std::size_t>(name.size() - 1, 60));
  };
  for (const auto& [name, expected] : std::vector<std::pair<std::string, std::string>>{
           {"double ns::f<int, std::vector<double> >(int) const", "ns::f<...>(...) const"},
           {"std::vector<int, std::allocator<int> > ns::f()", "ns::f()"},
           {"decltype (a+b) f<int>(int)", "f<...>(...)"},
           {"ns::matrix<double>::matrix(unsigned long)", "ns::matrix<...>::matrix(...)"},
           {"(anonymous namespace)::f(int, int, int)", "(anonymous namespace)::f(...)"},
           {"void a::f<int>(int)::{lambda(auto:1)#1}::operator()<int>(int) const",
            "a::f<...>(...)::{lambda#1}::operator()<...>(...) const"},
           {"std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char)",
            "std::operator<< <...>(...)"},
           {"bool operator><int>(a<int> const&, a<int> const&)", "operator><...>(...)"},
           {"a::operator std::vector<int, int>() const", "a::operator std::vector<...>() const"},
           {"void f<&(bool a::operator< <int>(int)), ((1)>(2))>(char)", "f<...>(...)"},
           {"void f<decltype (x->y)>(char, char, char)", "f<...>(...)"},
           {"f(int, int, int, int) [clone .constprop.0]", "f(...) [clone .constprop.0]"},
           {"double* ns::f<int, int, int>(int) #2", "ns::f<...>(...) #2"},
           {"m::field<int, double, 3> #2", "m::field<...> #2"},
       }) {
    EXPECT_EQ(in_table(name), expected) << name;
  }
}

TEST(SymbolNames, abbreviations_that_are_still_too_long_lose_their_beginning) {
  EXPECT_EQ(abbreviated("one::two::three(int, int)", 15), "...::three(...)");
  EXPECT_EQ(abbreviated("zero::one::two::three(int, int)", 20), "...::two::three(...)");
  EXPECT_EQ(abbreviated("lattice.cpp:93 (through kernel.hpp:28)", 36),
            "...ce.cpp:93 (through kernel.hpp:28)");
  EXPECT_EQ(abbreviated("\u00e4\u00e4\u00e4", 4), "...") << "no half of a character";
}

// GCC mangles some outlined loops so that no demangler reads them.
TEST(SymbolNames, abbreviations_of_mangled_names_have_what_is_plain_in_them) {
  EXPECT_EQ(abbreviated("_ZN2ns11in_parallelIZNS_3runIiEEvEUlmE_EEvT_._omp_fn.0", 30),
            "ns::in_parallel...");
  EXPECT_EQ(abbreviated("_ZL4fillIZ4mainEUlmE_Evv._omp_fn.0", 20), "fill...");
  EXPECT_EQ(abbreviated("_ZN99999999999999999999999f12345678", 20), "...99999999f12345678");
  EXPECT_EQ(abbreviated("_Z9f", 3), "...");
}

// Names come from files, which may be damaged.
TEST(SymbolNames, abbreviates_anything) {
  const std::string parts[] = {"_Z", "N", "3", "<",  ">",        "(",  ")", "{",
                               "}",  "[", " ", "->", "operator", "::", "f"};
  std::uint64_t next = 1;
  for (int i = 0; i < 20000; ++i) {
    std::string name;
    for (int k = 0; k < 12; ++k) {
      next = next * 6364136223846793005U + 1442695040888963407U;
      name += parts[(next >> 33U) % std::size(parts)];
    }
    for (const std::size_t longest : {0U, 3U, 10U, 20U}) {
      const std::string made = abbreviated(name, longest);
      EXPECT_LE(made.size(), std::max<std::size_t>(longest, 3)) << name;
      EXPECT_FALSE(made.empty()) << name;
    }
  }
}

TEST(SymbolNames, short_names_of_places) {
  EXPECT_EQ(short_name({"solve(int)", "/src/solver.c", 41}), "solver.c:41");
  EXPECT_EQ(short_name({"solve(int)", "/src/solver.c", 0}), "solve(int)") << "no line is known";
  EXPECT_EQ(short_name({"solve(int)", "", 0}), "solve(int)");
  EXPECT_EQ(short_name({"", "/src/solver.c", 0}), "");
  EXPECT_EQ(last_part("solver.c"), "solver.c");
  EXPECT_EQ(last_part("/src/"), "");
  EXPECT_EQ(module_and_offset("/lib/libsolver.so", 0x1234), "libsolver.so+0x1234");
  EXPECT_EQ(module_and_offset("solver", 0), "solver+0x0");
  EXPECT_EQ(module_and_offset("solver", ~std::uint64_t{0}), "solver+0xffffffffffffffff");
}

} // namespace

} // namespace nodewise::symbols
