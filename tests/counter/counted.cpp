// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "counter/counted.hpp"

#include <cstdio>
#include <sstream>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nodewise/marker.h>

namespace nodewise::counter_test {

const char* const two_nodes = "parallel 0\n"
                              "low_memory 2952790016\n"
                              "processor 0 0 0\n"
                              "processor 1 1 0\n"
                              "processor 2 2 1\n"
                              "processor 3 3 1\n"
                              "memory 0 16777216\n"
                              "memory 1 16777216\n";
const char* const one_level = "cache 1 data 256 2 core\n";
const char* const two_levels = "cache 1 data 256 2 core\n"
                               "cache 2 unified 512 2 core\n";
const char* const shared_second_level = "cache 1 data 256 2 core\n"
                                        "cache 2 unified 512 2 node\n";

memory_file::memory_file(std::string_view text) : fd_(::memfd_create("counter-test", 0)) {
  EXPECT_GE(fd_, 0);
  EXPECT_EQ(::write(fd_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

memory_file::~memory_file() {
  ::close(fd_);
}

std::string memory_file::path() const {
  return "/dev/fd/" + std::to_string(fd_);
}

std::vector<std::string> memory_file::lines() const {
  std::string text;
  char part[4096];
  ssize_t got = 0;
  while ((got = ::pread(fd_, part, sizeof part, static_cast<off_t>(text.size()))) > 0) {
    text.append(part, static_cast<std::size_t>(got));
  }
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string each; std::getline(in, each);) {
    all.push_back(each);
  }
  return all;
}

guest::guest(const std::string& machine, bool booted) {
  const memory_file description(machine);
  rig_install(description.path().c_str(), result_.path().c_str());
  if (!booted) {
    return;
  }
  for (unsigned cpu = 0; cpu < 4; ++cpu) {
    run(cpu, 99);
    say(cpu, "k" + std::to_string(cpu));
  }
  say(0, "n0 2000");
  load(0, 0x2000);
  say(0, "n1 1002000");
  load(0, 0x1002000);
  mark(0, NODEWISE_MARKER_OBSERVE);
  for (unsigned cpu = 0; cpu < 4; ++cpu) {
    run(cpu, cpu);
  }
}

void guest::say(unsigned cpu, std::string_view text) {
  mark(cpu, NODEWISE_MARKER_BEGIN);
  say_bytes(cpu, text);
  mark(cpu, NODEWISE_MARKER_END);
}

void guest::say_bytes(unsigned cpu, std::string_view text) {
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    mark(cpu, byte >> 4U);
    mark(cpu, byte & 15U);
  }
}

void guest::load_lines(unsigned cpu, std::uint64_t start, unsigned lines) {
  for (unsigned i = 0; i < lines; ++i) {
    load(cpu, start + i * line);
  }
}

void guest::store_lines(unsigned cpu, std::uint64_t start, unsigned lines) {
  for (unsigned i = 0; i < lines; ++i) {
    store(cpu, start + i * line);
  }
}

std::vector<std::string> guest::records(std::string_view kind) {
  if (!finished_) {
    mark(0, NODEWISE_MARKER_FINISH);
    finished_ = true;
  }
  std::vector<std::string> found;
  for (const std::string& each : lines()) {
    if (each.substr(0, each.find(' ')) == kind) {
      found.push_back(each.size() > kind.size() ? each.substr(kind.size() + 1) : "");
    }
  }
  return found;
}

void in_a_process_of_its_own(const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    body(); // failures are printed as they happen
    std::fflush(nullptr);
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "the test's process failed, or died by a signal or a sanitizer";
}

} // namespace nodewise::counter_test
