// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/executable.hpp"

#include <cerrno>
#include <cstring>

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/text.hpp"
#include "sys/descriptor.hpp"

namespace nodewise::launch {

namespace {

struct answer {
  const char* what;
  std::string hint;
};

answer missing(const std::string& program, const struct stat* found, bool is_path) {
  // The working directory is not searched.
  if (!is_path && found != nullptr && S_ISDIR(found->st_mode)) {
    return {"it was not found in PATH, and is a directory here", "name a program"};
  }
  if (!is_path && found != nullptr) {
    return {"it was not found in PATH, and is a file here", fmt::format("write ./{}", program)};
  }
  if (found == nullptr || S_ISDIR(found->st_mode)) {
    return {"it was not found", "check the spelling, the PATH, or give a path with a slash"};
  }
  return {"the interpreter or loader that it names was not found",
          fmt::format("check its first line, or what `file {}` shows, and install that", program)};
}

answer denied(const std::string& program, const struct stat* found, bool is_path) {
  if (!is_path) {
    return {"the files of this name in PATH are not executable",
            "find them with `type -a`, and give a path with a slash"};
  }
  if (found != nullptr && S_ISDIR(found->st_mode)) {
    return {"it is a directory", "name a program in it"};
  }
  if (found != nullptr && !S_ISREG(found->st_mode)) {
    return {"it is not a file", "name a program"};
  }
  if (found != nullptr && ::access(program.c_str(), X_OK) != 0) {
    return {"it has no permission to be executed",
            fmt::format("chmod +x {}, or write its interpreter before it", program)};
  }
  return {"it cannot be executed",
          "check the permissions of its directories and of its interpreter, and that its file "
          "system is not mounted with noexec"};
}

class open_file {
 public:
  explicit open_file(const std::string& name)
      : descriptor_(::open(name.c_str(), O_RDONLY | O_CLOEXEC)) {}

  /// The bytes at `offset` that exist, at most `bytes`.
  [[nodiscard]] std::string read(std::size_t offset, std::size_t bytes) const {
    std::string content(bytes, '\0');
    const ssize_t got =
        ::pread(descriptor_.number(), content.data(), bytes, static_cast<off_t>(offset));
    content.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return content;
  }

 private:
  sys::descriptor descriptor_; ///< without one, read() fails
};

/// The facts of an ELF file that decide whether a library can be preloaded.
struct elf_facts {
  unsigned char word_class = 0;
  std::uint16_t machine = 0;
  std::string interpreter;         ///< the dynamic linker; empty in a static program
  std::vector<std::string> needed; ///< the libraries it names
};

/// The file offset of the byte at an address once the file is loaded.
template <class Segment>
std::optional<std::size_t> offset_of(const std::vector<Segment>& segments, std::uint64_t address) {
  for (const Segment& each : segments) {
    if (each.p_type == PT_LOAD && address >= each.p_vaddr &&
        address - each.p_vaddr < each.p_filesz) {
      return static_cast<std::size_t>(address - each.p_vaddr + each.p_offset);
    }
  }
  return std::nullopt;
}

template <class Segment, class Dynamic>
void read_needed(const open_file& file, const std::vector<Segment>& segments, elf_facts& facts) {
  constexpr std::size_t most = std::size_t{1} << 16;
  std::string entries;
  for (const Segment& each : segments) {
    if (each.p_type == PT_DYNAMIC && each.p_filesz <= most) {
      entries = file.read(each.p_offset, each.p_filesz);
    }
  }
  std::vector<std::uint64_t> names;
  std::optional<std::size_t> table;
  for (std::size_t at = 0; at + sizeof(Dynamic) <= entries.size(); at += sizeof(Dynamic)) {
    Dynamic entry;
    std::memcpy(&entry, entries.data() + at, sizeof entry);
    if (entry.d_tag == DT_NEEDED) {
      names.push_back(entry.d_un.d_val);
    } else if (entry.d_tag == DT_STRTAB) {
      table = offset_of(segments, entry.d_un.d_ptr);
    }
  }
  for (std::size_t i = 0; table && i < names.size(); ++i) {
    constexpr std::size_t longest = 256;
    const std::string name = file.read(*table + names[i], longest);
    facts.needed.push_back(name.substr(0, name.find('\0')));
  }
}

template <class Header, class Segment, class Dynamic>
void read_segments(const open_file& file, const std::string& start, elf_facts& facts) {
  Header header;
  if (start.size() < sizeof header) {
    return;
  }
  std::memcpy(&header, start.data(), sizeof header);
  facts.machine = header.e_machine;
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < header.e_phnum && header.e_phentsize == sizeof(Segment); ++i) {
    const std::string bytes = file.read(header.e_phoff + i * sizeof(Segment), sizeof(Segment));
    Segment segment;
    if (bytes.size() < sizeof segment) {
      return;
    }
    std::memcpy(&segment, bytes.data(), sizeof segment);
    segments.push_back(segment);
    if (segment.p_type == PT_INTERP && segment.p_filesz < 4096) {
      facts.interpreter = file.read(segment.p_offset, segment.p_filesz); // with its final 0
    }
  }
  read_needed<Segment, Dynamic>(file, segments, facts);
}

std::optional<elf_facts> read_elf(const std::string& name) {
  const open_file file(name);
  const std::string start = file.read(0, sizeof(Elf64_Ehdr));
  if (start.size() < EI_NIDENT || !start.starts_with(ELFMAG)) {
    return std::nullopt;
  }
  elf_facts facts;
  facts.word_class = static_cast<unsigned char>(start[EI_CLASS]);
  if (facts.word_class == ELFCLASS64) {
    read_segments<Elf64_Ehdr, Elf64_Phdr, Elf64_Dyn>(file, start, facts);
  } else {
    read_segments<Elf32_Ehdr, Elf32_Phdr, Elf32_Dyn>(file, start, facts);
  }
  return facts;
}

/// "#!/usr/bin/env python3" names /usr/bin/env; empty if it is not a script.
std::string interpreter_of_script(const std::string& name) {
  const std::string start = open_file(name).read(0, 256);
  if (!start.starts_with("#!")) {
    return {};
  }
  const std::size_t first = start.find_first_not_of(" \t", 2);
  const std::size_t last = start.find_first_of(" \t\n", first);
  return first == std::string::npos ? std::string{} : start.substr(first, last - first);
}

/// The dynamic linker of such a program ignores paths in LD_PRELOAD.
bool changes_identity(const std::string& name) {
  struct stat facts{};
  if (::stat(name.c_str(), &facts) != 0) {
    return false;
  }
  const bool as_user = (facts.st_mode & S_ISUID) != 0 && facts.st_uid != ::getuid();
  const bool as_group = (facts.st_mode & S_ISGID) != 0 && facts.st_gid != ::getgid();
  const bool capable =
      ::getuid() != 0 && ::getxattr(name.c_str(), "security.capability", nullptr, 0) > 0;
  return as_user || as_group || capable;
}

std::optional<obstacle> obstacle_of_elf(const std::string& name, const elf_facts& program,
                                        const elf_facts& library) {
  if (program.word_class != library.word_class || program.machine != library.machine) {
    return obstacle{fmt::format("{} is built for a different architecture than the agent", name),
                    "use a program for the machine's own architecture"};
  }
  if (program.interpreter.empty()) {
    return obstacle{fmt::format("{} is statically linked: no library can be loaded into it", name),
                    "link it dynamically, or place its memory with --interleave or --membind"};
  }
  if (program.interpreter.find("ld-musl") != std::string::npos) {
    return obstacle{
        fmt::format("{} uses the musl C library, and the agent is built for glibc", name),
        "place its memory with --interleave or --membind"};
  }
  for (const std::string& needed : program.needed) {
    // It refuses to run after any other library.
    if (needed.starts_with("libasan.so") || needed.starts_with("libclang_rt.asan")) {
      return obstacle{
          fmt::format("{} is built with AddressSanitizer, whose library must come first", name),
          "build it without -fsanitize=address"};
    }
  }
  return std::nullopt;
}

} // namespace

not_started why_not_started(const std::string& program, int errno_value) {
  struct stat facts{};
  const bool exists = ::stat(program.c_str(), &facts) == 0;
  const struct stat* const found = exists ? &facts : nullptr;
  // "." and ".." are searched in PATH's directories, where they name directories.
  const bool is_path = program.find('/') != std::string::npos || program == "." || program == "..";
  const bool is_missing = errno_value == ENOENT || errno_value == ENOTDIR;
  const answer why = is_missing              ? missing(program, found, is_path)
                     : errno_value == EACCES ? denied(program, found, is_path)
                     : errno_value == ENOEXEC
                         ? answer{"it is neither a program nor a script with an interpreter",
                                  "begin a script with #! and its interpreter"}
                         : answer{"it cannot be executed",
                                  "check its permissions, and that it is built for this machine"};
  return {is_missing ? not_started::not_found : not_started::not_executable,
          fmt::format("the program '{}'", program), why.what, why.hint, errno_value};
}

std::string find_executable(const std::string& name, const char* search) {
  const auto is_executable = [](const std::string& file) {
    struct stat facts{};
    if (::stat(file.c_str(), &facts) != 0) {
      return errno;
    }
    if (!S_ISREG(facts.st_mode)) {
      return EACCES;
    }
    return ::access(file.c_str(), X_OK) == 0 ? 0 : errno;
  };
  if (name.find('/') != std::string::npos) {
    const int failed = is_executable(name);
    if (failed != 0) {
      throw why_not_started(name, failed);
    }
    return name;
  }
  bool denied = false;
  if (name.empty()) {
    throw why_not_started(name, ENOENT);
  }
  for (const std::string_view folder : split(search == nullptr ? "/bin:/usr/bin" : search, ':')) {
    const std::string file = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    const int failed = is_executable(file);
    if (failed == 0) {
      return file;
    }
    denied = denied || failed == EACCES;
  }
  throw why_not_started(name, denied ? EACCES : ENOENT);
}

std::optional<obstacle> why_not_preloaded(const std::string& file, const std::string& library) {
  const auto agent = read_elf(library);
  if (!agent) {
    return obstacle{fmt::format("the agent {} is missing", library), "install nodewise completely"};
  }
  std::string name = file;
  // The kernel follows this many interpreters of interpreters.
  for (int depth = 0; depth < 5; ++depth) {
    if (const auto elf = read_elf(name)) {
      // A set-user-ID bit has no effect on a script, but it has on its interpreter.
      if (changes_identity(name)) {
        return obstacle{
            fmt::format("{} runs with other rights (setuid, setgid or file capabilities): no "
                        "library can be preloaded into it",
                        name),
            "start the program itself with these rights, without the bits on the file"};
      }
      return obstacle_of_elf(name, *elf, *agent);
    }
    const std::string interpreter = interpreter_of_script(name);
    name = interpreter.empty() ? "/bin/sh" : interpreter; // as execvp does for a script without #!
  }
  return std::nullopt;
}

} // namespace nodewise::launch
