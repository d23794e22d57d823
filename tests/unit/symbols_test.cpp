// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Programs are compiled here and asked about; nm, addr2line and objdump are the witnesses.
#include "symbols/module.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "symbols/names.hpp"

namespace nodewise::symbols {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view c_source = R"(static double local_array[100000];
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

constexpr std::string_view cpp_source = R"(#include <vector>
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

constexpr std::string_view fortran_source = R"(module grid
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

std::string output_of(const std::string& command) {
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

class Symbols : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "nodewise-symbols-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Compiles and links; the name of the program.
  std::string build(const std::string& name, std::string_view source,
                    const std::string& options) const {
    std::ofstream(folder_ / name) << source;
    const std::string extension = fs::path(name).extension();
    const std::string compiler = extension == ".c"     ? "gcc"
                                 : extension == ".f90" ? "gfortran"
                                                       : "g++";
    const std::string program = (folder_ / (name + ".program")).string();
    output_of("cd " + folder_.string() + " && " + compiler + " " + options + " -o " + program +
              " " + name + " 2>&1");
    return program;
  }
  static module opened(const std::string& program) {
    auto found = module::open(program);
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
    char type;
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
        all[name] = {std::stoull(address, nullptr, 16), std::stoull(bytes, nullptr, 16), type};
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
  static bool contains(const std::vector<code_range>& ranges, std::uint64_t offset) {
    return std::ranges::any_of(
        ranges, [&](const code_range& r) { return r.first <= offset && offset < r.last; });
  }

  fs::path folder_;
};

const std::array kinds = {"-g -O2 -pie -fPIE", "-g -O2 -no-pie -fno-pie", "-g -O0 -pie -fPIE",
                          "-O2 -pie -fPIE", "-O2 -no-pie -fno-pie"};

TEST_F(Symbols, static_arrays_are_those_of_nm) {
  for (const std::string options : kinds) {
    SCOPED_TRACE(options);
    const std::string program = build("a.c", c_source, options);
    const auto witness = nm(program, "");
    const std::uint64_t base = base_of(program);
    const module m = opened(program);
    const auto objects = m.data_objects(64 << 10);
    ASSERT_EQ(objects.size(), 3U);
    EXPECT_TRUE(std::ranges::is_sorted(objects, {}, &data_object::offset));
    for (const data_object& o : objects) {
      const auto in_nm = std::ranges::find_if(witness, [&](const auto& w) {
        return w.first == o.name || w.first.starts_with(o.name + ".");
      });
      ASSERT_NE(in_nm, witness.end()) << o.name;
      EXPECT_EQ(o.offset + base, in_nm->second.address);
      EXPECT_EQ(o.bytes, in_nm->second.bytes);
      EXPECT_EQ(o.zero_initialised, in_nm->second.type == 'b' || in_nm->second.type == 'B');
    }
    const auto has = [&](std::string_view name) {
      return std::ranges::any_of(objects, [&](const data_object& o) { return o.name == name; });
    };
    EXPECT_TRUE(has("local_array"));
    EXPECT_TRUE(has("counts")) << "local to a function: nm has a number after it";
    EXPECT_TRUE(has("public_array") || has("second_name")) << "one name for each address";
    EXPECT_FALSE(has("constant_array")) << "not writable";
    EXPECT_FALSE(has("own_array")) << "thread-local: no static address";
  }
}

TEST_F(Symbols, names_of_cpp_and_fortran_are_the_source_s) {
  const module cpp = opened(build("a.cpp", cpp_source, "-O1"));
  std::vector<std::string> names;
  for (const data_object& o : cpp.data_objects(64 << 10)) {
    names.push_back(o.name);
  }
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"grid::field", "grid::solver::table"}));

  const std::string program = build("a.f90", fortran_source, "-g -O1");
  const auto witness = nm(program, "");
  std::map<std::string, std::uint64_t> bytes;
  const module fortran = opened(program);
  for (const data_object& o : fortran.data_objects(64 << 10)) {
    bytes[o.name] = o.bytes;
  }
  EXPECT_EQ(bytes, (std::map<std::string, std::uint64_t>{
                       {"grid::field", 720000}, {"work", 160000}, {"shared_", 120000}}));
  EXPECT_EQ(witness.at("__grid_MOD_field").bytes, 720000U);
}

TEST_F(Symbols, every_instruction_s_place_is_addr2line_s) {
  for (const std::string options : {"-g -O2 -pie -fPIE", "-g -O2 -no-pie -fno-pie", "-g -O0",
                                    "-gdwarf-4 -O2", "-g -O2 -gz=zlib"}) {
    SCOPED_TRACE(options);
    const std::string program = build("a.c", c_source, options);
    const std::uint64_t base = base_of(program);
    const module m = opened(program);
    EXPECT_TRUE(m.has_lines());
    std::size_t inlined = 0;
    for (const char* const function : {"fill", "main"}) {
      const auto all = instructions(program, function);
      ASSERT_GT(all.size(), 5U);
      for (const std::uint64_t address : all) {
        const auto frames = addr2line(program, address);
        inlined += frames.size() > 1 ? 1U : 0U;
        const auto place = m.locate(address - base);
        ASSERT_TRUE(place);
        EXPECT_EQ(place->function, frames.front().first) << std::hex << address;
        EXPECT_EQ(place->file + ":" + std::to_string(place->line), frames.front().second)
            << std::hex << address;
      }
    }
    EXPECT_GT(inlined, 0U);
  }
}

TEST_F(Symbols, frames_of_the_cpp_library_are_passed_over) {
  const std::string program = build("a.cpp", cpp_source, "-g -O2");
  const std::uint64_t base = base_of(program);
  const module m = opened(program);
  std::size_t passed_over = 0;
  for (const std::uint64_t address : instructions(program, "main")) {
    const auto frames = addr2line(program, address);
    const auto own = std::ranges::find_if(frames, [](const auto& f) {
      return f.second.find("/include/c++/") == std::string::npos &&
             f.second.find("??") == std::string::npos;
    });
    const auto place = m.locate(address - base);
    ASSERT_TRUE(place);
    if (own == frames.end()) {
      continue;
    }
    passed_over += own != frames.begin() ? 1U : 0U;
    EXPECT_EQ(place->file + ":" + std::to_string(place->line), own->second) << std::hex << address;
    EXPECT_EQ(place->function, own->first);
  }
  EXPECT_GT(passed_over, 3U);
}

TEST_F(Symbols, without_debug_information_the_function_is_known_and_no_line) {
  const std::string program = build("a.cpp", cpp_source, "-O2");
  const module m = opened(program);
  EXPECT_FALSE(m.has_lines());
  EXPECT_FALSE(m.stripped());
  const auto step =
      nm(program, "-C")
          .at("grid::solver::step(std::vector<double, std::allocator<double> >&, int)");
  const auto place = m.locate(step.address - base_of(program) + 1);
  ASSERT_TRUE(place);
  EXPECT_EQ(without_parameters(place->function), "grid::solver::step");
  EXPECT_EQ(place->file, "");
  EXPECT_EQ(place->line, 0);
}

TEST_F(Symbols, a_stripped_library_still_tells_what_it_exports) {
  const std::string library = build("a.c", c_source, "-g -O2 -shared -fPIC");
  output_of("strip " + library);
  const module m = opened(library);
  EXPECT_TRUE(m.stripped());
  EXPECT_FALSE(m.has_lines());
  const auto witness = nm(library, "-D");
  const auto place = m.locate(witness.at("fill").address - base_of(library));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->function, "fill");
  const auto objects = m.data_objects(64 << 10);
  ASSERT_EQ(objects.size(), 1U);
  EXPECT_EQ(objects[0].offset + base_of(library), witness.at("public_array").address);
}

TEST_F(Symbols, code_of_a_line_is_what_addr2line_gives_that_line) {
  for (const std::string options : {"-g -O2", "-g -O0"}) {
    SCOPED_TRACE(options);
    const std::string program = build("a.c", c_source, options);
    const std::uint64_t base = base_of(program);
    const module m = opened(program);
    std::size_t both = 0;
    std::vector<std::uint64_t> all = instructions(program, "fill");
    for (const std::uint64_t address : instructions(program, "main")) {
      all.push_back(address);
    }
    std::vector<std::string> places;
    for (const std::uint64_t address : all) {
      places.push_back(addr2line(program, address).front().second);
    }
    for (int line = 1; line < 25; ++line) {
      const auto ranges = m.ranges_of_line("a.c", line);
      EXPECT_EQ(ranges, m.ranges_of_line((folder_ / "a.c").string(), line));
      for (std::size_t i = 0; i < all.size(); ++i) {
        const bool there = places[i] == (folder_ / "a.c").string() + ":" + std::to_string(line);
        EXPECT_EQ(contains(ranges, all[i] - base), there) << line << " " << std::hex << all[i];
        both += there ? 1U : 0U;
      }
    }
    EXPECT_EQ(both, all.size());
    EXPECT_TRUE(m.ranges_of_line("other.c", 8).empty());
    EXPECT_TRUE(m.ranges_of_line(".c", 8).empty()) << "a suffix is of whole names";
  }
}

TEST_F(Symbols, code_of_a_function_with_its_inlined_copies) {
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

TEST_F(Symbols, functions_are_found_by_every_name_they_have) {
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
    const auto witness = nm(program, "").at("smooth_");
    ASSERT_EQ(smooth.size(), 1U);
    EXPECT_EQ(smooth[0].first + base_of(program), witness.address);
    EXPECT_EQ(smooth[0].last - smooth[0].first, witness.bytes);
    EXPECT_EQ(fortran.ranges_of_function("smooth_"), smooth);
    EXPECT_FALSE(fortran.ranges_of_function("relax").empty());
    EXPECT_EQ(fortran.ranges_of_function("grid::relax"), fortran.ranges_of_function("relax"));
  }
}

TEST_F(Symbols, outlined_loops_belong_to_their_function) {
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

TEST_F(Symbols, fortran_places) {
  const std::string program = build("a.f90", fortran_source, "-g -O0");
  const module m = opened(program);
  const std::uint64_t base = base_of(program);
  const auto symbols = nm(program, "");
  const auto in_module = m.locate(symbols.at("__grid_MOD_relax").address - base);
  ASSERT_TRUE(in_module);
  EXPECT_EQ(in_module->function, "grid::relax");
  EXPECT_EQ(in_module->line, 5);
  const auto outside = m.locate(symbols.at("smooth_").address - base);
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->function, "smooth");
  EXPECT_TRUE(path_ends_in(outside->file, "a.f90"));
}

TEST_F(Symbols, what_is_no_module_is_refused) {
  EXPECT_FALSE(module::open("/no/such/file"));
  EXPECT_FALSE(module::open("/"));
  EXPECT_FALSE(module::open("/etc/passwd"));
  EXPECT_FALSE(module::open("/dev/null"));
  const std::string program = build("a.c", c_source, "-g -O2");
  output_of("cd " + folder_.string() + " && gcc -c a.c -o a.o");
  EXPECT_FALSE(module::open((folder_ / "a.o").string())) << "not linked: it has no addresses";
}

TEST_F(Symbols, damaged_files_do_no_harm) {
  const std::string program = build("a.c", c_source, "-g -O2");
  std::ifstream in(program, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  unsigned seed = 1;
  const auto any = [&] { return (seed = seed * 1103515245U + 12345U) >> 8; };
  for (int round = 0; round < 200; ++round) {
    std::string damaged = whole.substr(0, round % 4 == 0 ? any() % whole.size() : whole.size());
    for (int i = 0; i < 20 && !damaged.empty(); ++i) {
      damaged[any() % damaged.size()] = static_cast<char>(any());
    }
    const std::string name = (folder_ / "damaged").string();
    std::ofstream(name, std::ios::binary | std::ios::trunc) << damaged;
    if (const auto m = module::open(name)) {
      (void)m->data_objects(0);
      (void)m->locate(0x1234);
      (void)m->ranges_of_line("a.c", 14);
      (void)m->ranges_of_function("fill");
    }
  }
}

TEST(Names, parts_of_demangled_names) {
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

} // namespace

} // namespace nodewise::symbols
