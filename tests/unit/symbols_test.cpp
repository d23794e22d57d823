// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a module tells of its static data, and whose code is at an address.
#include "symbols/module.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "symbols/names.hpp"
#include "unit/symbols_programs.hpp"

namespace nodewise::symbols {

namespace {

using namespace test;

class Symbols : public symbols_test {};

const std::array kinds = {"-g -O2 -pie -fPIE", "-g -O2 -no-pie -fno-pie", "-g -O0 -pie -fPIE",
                          "-O2 -pie -fPIE", "-O2 -no-pie -fno-pie"};

TEST_F(Symbols, static_arrays_are_those_of_nm) {
  for (const std::string options : kinds) {
    SCOPED_TRACE(options);
    const std::string program = build("a.c", c_source, options);
    const auto reference = nm(program, "");
    const std::uint64_t base = base_of(program);
    const module m = opened(program);
    const auto objects = m.data_objects(64 << 10);
    ASSERT_EQ(objects.size(), 3U);
    EXPECT_TRUE(std::ranges::is_sorted(objects, {}, &data_object::offset));
    for (const data_object& o : objects) {
      const auto in_nm = std::ranges::find_if(reference, [&](const auto& w) {
        return w.first == o.name || w.first.starts_with(o.name + ".");
      });
      ASSERT_NE(in_nm, reference.end()) << o.name;
      EXPECT_EQ(o.offset + base, in_nm->second.address);
      EXPECT_EQ(o.bytes, in_nm->second.bytes);
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

TEST_F(Symbols, the_build_id_is_the_linker_s) {
  EXPECT_EQ(build_id(build("a.c", c_source, "-Wl,--build-id=0xAB0012ff")), "ab0012ff");
  EXPECT_EQ(build_id(build("a.c", c_source, "-Wl,--build-id=none")), "");
  EXPECT_EQ(build_id("/etc/passwd"), "");
  EXPECT_EQ(build_id("/nonexistent"), "");
}

TEST_F(Symbols, imports_are_functions_of_other_files) {
  const std::string file = build("i.c",
                                 "int puts(const char*); int own(void) { return puts(\"\"); }"
                                 " int main(void) { return own(); }",
                                 "-O0");
  constexpr std::array<std::string_view, 2> imported = {"absent", "put"};
  EXPECT_TRUE(imports_any(file, imported));
  constexpr std::array<std::string_view, 1> defined = {"own"};
  EXPECT_FALSE(imports_any(file, defined));
  EXPECT_FALSE(imports_any("/etc/passwd", imported));
  EXPECT_FALSE(imports_any("/nonexistent", imported));
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
  const auto reference = nm(program, "");
  std::map<std::string, std::uint64_t> bytes;
  const module fortran = opened(program);
  for (const data_object& o : fortran.data_objects(64 << 10)) {
    bytes[o.name] = o.bytes;
  }
  EXPECT_EQ(bytes, (std::map<std::string, std::uint64_t>{
                       {"grid::field", 720000}, {"work", 160000}, {"shared_", 120000}}));
  EXPECT_EQ(reference.at("__grid_MOD_field").bytes, 720000U);
}

TEST_F(Symbols, every_instruction_s_place_is_addr2line_s) {
  for (const std::string options : {"-g -O2 -pie -fPIE", "-g -O2 -no-pie -fno-pie", "-g -O0",
                                    "-gdwarf-4 -O2", "-g -O2 -gz=zlib"}) {
    SCOPED_TRACE(options);
    const std::string program = build("a.c", c_source, options);
    const std::uint64_t base = base_of(program);
    const module m = opened(program);
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

TEST_F(Symbols, frames_of_this_project_s_library_are_passed_over) {
  const std::string program = build("made.cpp", R"(namespace nodewise::inline v0 {
struct [[gnu::visibility("default")]] made {
  [[gnu::always_inline]] explicit made(volatile int* at) {
    *at = 1;
  }
};
[[gnu::noinline]] void alone(volatile int* at) {
  *at = 2;
}
}
int main(int argc, char**) {
  volatile int place = argc;
  nodewise::made first(&place);
  nodewise::alone(&place);
  return place;
}
)",
                                    "-g -O2 -std=c++20");
  const std::uint64_t base = base_of(program);
  const module m = opened(program);
  std::size_t passed_over = 0;
  for (const std::uint64_t address : instructions(program, "main")) {
    if (addr2line(program, address).front().second.ends_with("made.cpp:4")) {
      ++passed_over;
      EXPECT_EQ(m.locate(address - base)->line, 13) << std::hex << address;
    }
  }
  EXPECT_GT(passed_over, 0U);
  const auto alone =
      m.locate(nm(program, "-C").at("nodewise::v0::alone(int volatile*)").address - base);
  ASSERT_TRUE(alone);
  EXPECT_GE(alone->line, 7); // code of the library in a function of its own keeps its place
  EXPECT_LE(alone->line, 9);
}

TEST_F(Symbols, without_debug_information_the_function_is_known_and_no_line) {
  const std::string program = build("a.cpp", cpp_source, "-O2");
  const module m = opened(program);
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
  const auto reference = nm(library, "-D");
  const auto place = m.locate(reference.at("fill").address - base_of(library));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->function, "fill");
  EXPECT_EQ(place->line, 0);
  const auto objects = m.data_objects(64 << 10);
  ASSERT_EQ(objects.size(), 1U);
  EXPECT_EQ(objects[0].offset + base_of(library), reference.at("public_array").address);
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

} // namespace

} // namespace nodewise::symbols
