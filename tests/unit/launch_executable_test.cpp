// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/executable.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nodewise::launch {
namespace {

using testing::HasSubstr;

/// A folder with small files that pretend to be programs.
class Executable : public testing::Test {
 protected:
  Executable() { ::mkdtemp(folder_.data()); }
  ~Executable() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& content, mode_t mode = 0755) {
    const std::string file = folder_ + "/" + name;
    std::ofstream(file, std::ios::binary) << content;
    ::chmod(file.c_str(), mode);
    return file;
  }

  /// The headers of a program for this machine; no interpreter means static.
  static std::string elf(const std::string& interpreter, std::uint16_t machine = EM_X86_64) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = machine;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    Elf64_Phdr segments[2] = {};
    segments[0].p_type = PT_LOAD;
    segments[1].p_type = interpreter.empty() ? PT_NOTE : PT_INTERP;
    segments[1].p_offset = sizeof header + sizeof segments;
    segments[1].p_filesz = interpreter.size() + 1;
    std::string content(reinterpret_cast<const char*>(&header), sizeof header);
    content.append(reinterpret_cast<const char*>(segments), sizeof segments);
    return content.append(interpreter.c_str(), interpreter.size() + 1);
  }

  std::string why(const std::string& file) {
    const auto found = why_not_preloaded(file, agent());
    EXPECT_TRUE(!found || !found->hint.empty());
    return found ? found->why : "";
  }
  std::string agent() { return write("agent.so", elf("")); }

  std::string folder_ = std::filesystem::temp_directory_path() / "nodewise-test-XXXXXX";
  const std::string dynamic_ = elf("/lib64/ld-linux-x86-64.so.2");
};

TEST_F(Executable, ADynamicProgramTakesTheAgent) {
  EXPECT_EQ(why(write("p", dynamic_)), "");
}

TEST_F(Executable, AStaticProgramDoesNot) {
  EXPECT_THAT(why(write("p", elf(""))), HasSubstr("statically linked"));
}

TEST_F(Executable, AnotherArchitectureDoesNot) {
  EXPECT_THAT(why(write("p", elf("/lib/ld.so", EM_AARCH64))), HasSubstr("different architecture"));
  std::string narrow = dynamic_;
  narrow[EI_CLASS] = ELFCLASS32;
  EXPECT_THAT(why(write("p", narrow)), HasSubstr("different architecture"));
}

TEST_F(Executable, AnotherLibcDoesNot) {
  EXPECT_THAT(why(write("p", elf("/lib/ld-musl-x86_64.so.1"))), HasSubstr("musl"));
}

TEST_F(Executable, AMissingAgentIsSaid) {
  const auto found = why_not_preloaded(write("p", dynamic_), folder_ + "/none.so");
  ASSERT_TRUE(found);
  EXPECT_THAT(found->why, HasSubstr("/none.so is missing"));
}

TEST_F(Executable, AScriptIsAsItsInterpreter) {
  const std::string program = write("p", dynamic_);
  const std::string fixed = write("static", elf(""));
  EXPECT_EQ(why(write("a", "#!" + program + " -x\n")), "");
  EXPECT_THAT(why(write("b", "#! " + fixed + "\n")), HasSubstr("statically linked"));
  EXPECT_THAT(why(write("c", "#!" + folder_ + "/b")), HasSubstr("statically linked"));
  EXPECT_EQ(why(write("d", "echo no first line\n")), "");
  EXPECT_EQ(why(write("e", "#!")), "");
  EXPECT_EQ(why(write("f", "#!" + folder_ + "/f\n")), ""); // itself, for ever
}

TEST_F(Executable, AProgramWithOtherRightsDoesNot) {
  const std::string file = write("p", dynamic_);
  if (::getuid() != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  ASSERT_EQ(::chown(file.c_str(), 65534, 65534), 0);
  ::chmod(file.c_str(), 04755);
  EXPECT_THAT(why(file), HasSubstr("other rights"));
  ::chmod(file.c_str(), 02755);
  EXPECT_THAT(why(file), HasSubstr("other rights"));
  ::chmod(file.c_str(), 0755);
  EXPECT_EQ(why(file), "");
}

TEST_F(Executable, TruncatedHeadersAreReadSafely) {
  for (std::size_t length = 0; length < dynamic_.size(); ++length) {
    (void)why(write("p", dynamic_.substr(0, length)));
  }
  std::string wild = dynamic_;
  for (std::size_t at = EI_NIDENT; at < wild.size(); ++at) {
    wild[at] = '\xff';
    (void)why(write("p", wild));
  }
}

int exit_code_of(const std::string& name, const char* path) {
  try {
    (void)find_executable(name, path);
  } catch (const not_started& e) {
    return e.exit_code();
  }
  return 0;
}

TEST_F(Executable, IsFoundAsAShellFindsIt) {
  const std::string first = folder_ + "/first";
  const std::string second = folder_ + "/second";
  std::filesystem::create_directories(first + "/folder");
  std::filesystem::create_directories(second);
  write("first/plain", "", 0644);
  write("second/plain", "");
  write("second/other", "", 0644);
  const std::string path = first + ":/nonexistent:" + second;
  EXPECT_EQ(find_executable("plain", path.c_str()), second + "/plain");
  EXPECT_EQ(find_executable(second + "/plain", nullptr), second + "/plain");
  EXPECT_EQ(find_executable("sh", nullptr), "/bin/sh");
  EXPECT_EQ(exit_code_of("other", path.c_str()), not_started::not_executable);
  EXPECT_EQ(exit_code_of("folder", path.c_str()), not_started::not_executable);
  EXPECT_EQ(exit_code_of("missing", path.c_str()), not_started::not_found);
  EXPECT_EQ(exit_code_of("", path.c_str()), not_started::not_found);
  EXPECT_EQ(exit_code_of("./missing", path.c_str()), not_started::not_found);
  EXPECT_EQ(exit_code_of(second + "/other", path.c_str()), not_started::not_executable);
}

} // namespace
} // namespace nodewise::launch
