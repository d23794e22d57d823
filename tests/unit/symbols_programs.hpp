// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Programs in three languages to ask about, and nm, addr2line and objdump to compare with.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "symbols/module.hpp"

namespace nodewise::test {

inline constexpr std::string_view c_source = R"(static double local_array[100000];
double public_array[20000] = {1.0};
extern double second_name[20000] __attribute__((alias("public_array")));
const double constant_array[50000] = {2.0};
_Thread_local double own_array[30000];
double small;
static inline __attribute__((always_inline)) double twice(double x) {
  return x * 2 +
         small;
}
__attribute__((noinline)) double fill(double* into, int n) {
  static double counts[9000];
  for (int i = 0; i < n; ++i) {
    into[i] = twice(counts[i % 9000]);
    counts[i % 9000] += 1;
  }
  return twice(into[0]);
}
int main(int argc, char** argv) {
  (void)argv;
  return (int)fill(local_array, argc) + (int)public_array[argc] + (int)constant_array[argc] + (int)own_array[argc];
}
)";

inline constexpr std::string_view cpp_source = R"(#include <vector>
namespace grid {
double field[40000];
struct solver {
  static int table[20000];
  double step(std::vector<double>& v, int i);
};
int solver::table[20000];
__attribute__((noinline)) double solver::step(std::vector<double>& v, int i) {
  return v[static_cast<unsigned>(i)] + field[i] + table[i];
}
template <class T> __attribute__((noinline)) T twice(T x) { return x + x; }
}
int main(int argc, char**) {
  std::vector<double> v(100);
  grid::solver s;
  v.resize(static_cast<unsigned>(argc) * 1000);
  return static_cast<int>(s.step(v, argc)) + grid::twice(argc) + static_cast<int>(grid::twice(1.5 * argc));
}
)";

inline constexpr std::string_view fortran_source = R"(module grid
  implicit none
  double precision :: field(300, 300)
contains
  subroutine relax(n)
    integer, intent(in) :: n
    field(1, 1) = field(1, 1) + n
  end subroutine
end module
subroutine smooth(n)
  use grid
  integer, intent(in) :: n
  double precision, save :: work(20000)
  common /shared/ box(30000)
  real box
  work(n) = work(n) + 1 + box(n)
  call relax(n + int(work(n)))
end subroutine
program solve
  use grid
  integer :: n
  n = command_argument_count() + 1
  call smooth(n)
  print *, field(1, 1)
end program
)";

inline std::string output_of(const std::string& command) {
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> part{};
  std::size_t got = 0;
  while ((got = std::fread(part.data(), 1, part.size(), pipe)) != 0) {
    text.append(part.data(), got);
  }
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return text;
}

/// Compiles into a folder of its own.
class symbols_test : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "nodewise-symbols-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Compiles and links; the name of the program.
  std::string build(const std::string& name, std::string_view source,
                    const std::string& options) const {
    std::ofstream(folder_ / name) << source;
    const std::string extension = std::filesystem::path(name).extension();
    const std::string compiler = extension == ".c"     ? "gcc"
                                 : extension == ".f90" ? "gfortran"
                                                       : "g++";
    const std::string program = (folder_ / (name + ".program")).string();
    output_of("cd " + folder_.string() + " && " + compiler + " " + options + " -o " + program +
              " " + name + " 2>&1");
    return program;
  }
  static symbols::module opened(const std::string& program) {
    auto found = symbols::module::open(program);
    EXPECT_TRUE(found) << program;
    return std::move(*found);
  }
  /// What has to be added to an offset for the addresses that binutils speak of.
  static std::uint64_t base_of(const std::string& program) {
    std::istringstream lines(output_of("readelf -lW " + program));
    std::string word;
    while (lines >> word) {
      if (word == "LOAD") {
        std::string ignored;
        std::string address;
        lines >> ignored >> address;
        return std::stoull(address, nullptr, 16);
      }
    }
    return 0;
  }
  struct nm_line {
    std::uint64_t address;
    std::uint64_t bytes;
  };
  static std::map<std::string, nm_line> nm(const std::string& program, const std::string& options) {
    std::map<std::string, nm_line> all;
    std::istringstream lines(output_of("nm -S " + options + " " + program));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string address;
      std::string bytes;
      char type = 0;
      std::string name;
      if (fields >> address >> bytes >> type && bytes.size() == 16 &&
          std::getline(fields >> std::ws, name)) {
        all[name] = {std::stoull(address, nullptr, 16), std::stoull(bytes, nullptr, 16)};
      }
    }
    return all;
  }
  /// Function and file:line of each frame, innermost first.
  static std::vector<std::pair<std::string, std::string>> addr2line(const std::string& program,
                                                                    std::uint64_t address) {
    std::ostringstream command;
    command << "addr2line -i -f -C -e " << program << " 0x" << std::hex << address;
    std::istringstream lines(output_of(command.str()));
    std::vector<std::pair<std::string, std::string>> frames;
    std::string function;
    std::string place;
    while (std::getline(lines, function) && std::getline(lines, place)) {
      place = place.substr(0, place.find(" (discriminator"));
      frames.emplace_back(function, place);
    }
    return frames;
  }
  /// Every instruction's address in a function, by objdump.
  static std::vector<std::uint64_t> instructions(const std::string& program,
                                                 const std::string& function) {
    std::vector<std::uint64_t> all;
    std::istringstream lines(
        output_of("objdump -d --no-show-raw-insn --disassemble=" + function + " " + program));
    for (std::string line; std::getline(lines, line);) {
      const std::size_t colon = line.find(":\t");
      if (line.starts_with(' ') && colon != line.npos) {
        all.push_back(std::stoull(line.substr(0, colon), nullptr, 16));
      }
    }
    return all;
  }
  static bool contains(const std::vector<symbols::code_range>& ranges, std::uint64_t offset) {
    return std::ranges::any_of(
        ranges, [&](const symbols::code_range& r) { return r.first <= offset && offset < r.last; });
  }

  std::filesystem::path folder_;
};

} // namespace nodewise::test
