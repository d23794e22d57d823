// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/preloadable.hpp"

#include <algorithm>
#include <cstring>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include "agent/own_descriptors.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// The dynamic linker of this process. The agent works with its C library.
struct identity {
  dev_t device;
  ino_t number;
};
constinit identity own_loader{};

class file {
 public:
  file(int folder, const char* path) noexcept
      : number_(static_cast<int>(
            sys::raw::call(SYS_openat, folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0))),
        owned_(true) {}
  explicit file(int number) noexcept : number_(number) {}
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  ~file() {
    if (owned_ && number_ >= 0) {
      sys::raw::call(SYS_close, number_);
    }
  }

  /// Reads up to `bytes` bytes, and returns their number.
  [[nodiscard]] std::size_t read_some(std::uint64_t offset, void* into,
                                      std::size_t bytes) const noexcept {
    const long got = sys::raw::call(SYS_pread64, number_, into, bytes, static_cast<long>(offset));
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  template <class Value>
  [[nodiscard]] bool read(std::uint64_t offset, Value& into) const noexcept {
    return read_some(offset, &into, sizeof into) == sizeof into;
  }
  /// Reads a text that ends with 0, cut to the room.
  template <std::size_t Bytes>
  void read_text(std::uint64_t offset, char (&into)[Bytes]) const noexcept {
    into[read_some(offset, into, Bytes - 1)] = '\0';
  }

 private:
  int number_;
  bool owned_ = false;
};

bool begins_with(const char* text, const char* beginning) noexcept {
  return std::strncmp(text, beginning, std::strlen(beginning)) == 0;
}

/// Libraries that refuse to work, or fail, behind another one that replaces malloc.
bool wants_to_be_first(const char* library) noexcept {
  constexpr const char* names[] = {"libasan.so",      "libhwasan.so",     "libtsan.so",
                                   "liblsan.so",      "libclang_rt.asan", "libclang_rt.hwasan",
                                   "libclang_rt.tsan"};
  return std::ranges::any_of(names, [=](const char* each) { return begins_with(library, each); });
}

/// An ELF file for this machine.
class program_file {
 public:
  program_file(const file& from, const ElfW(Ehdr) & header) noexcept
      : from_(from), header_(header) {}

  [[nodiscard]] bool takes_agent() const noexcept {
    ElfW(Phdr) segment;
    return !find(PT_INTERP, 0, segment) || (is_own_loader(segment) && !needs_to_be_first());
  }

 private:
  /// The first segment of this type that contains this address; address 0 matches any.
  [[nodiscard]] bool find(std::uint32_t type, std::uint64_t address,
                          ElfW(Phdr) & into) const noexcept {
    for (std::size_t i = 0; i < header_.e_phnum && header_.e_phentsize == sizeof into; ++i) {
      if (from_.read(header_.e_phoff + i * sizeof into, into) && into.p_type == type &&
          (address == 0 || (address >= into.p_vaddr && address - into.p_vaddr < into.p_filesz))) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool is_own_loader(const ElfW(Phdr) & segment) const noexcept {
    char path[256];
    from_.read_text(segment.p_offset, path);
    struct stat facts{};
    return own_loader.number == 0 ||
           (sys::raw::call(SYS_newfstatat, AT_FDCWD, path, &facts, 0) >= 0 &&
            facts.st_dev == own_loader.device && facts.st_ino == own_loader.number);
  }

  [[nodiscard]] bool needs_to_be_first() const noexcept {
    ElfW(Phdr) dynamic;
    if (!find(PT_DYNAMIC, 0, dynamic)) {
      return false;
    }
    const std::size_t count = dynamic.p_filesz / sizeof(ElfW(Dyn));
    std::uint64_t names = 0;
    ElfW(Dyn) each;
    for (std::size_t i = 0; i < count && entry(dynamic, i, each); ++i) {
      names = each.d_tag == DT_STRTAB ? each.d_un.d_ptr : names;
    }
    ElfW(Phdr) holder;
    if (names == 0 || !find(PT_LOAD, names, holder)) {
      return false;
    }
    const std::uint64_t offset = names - holder.p_vaddr + holder.p_offset;
    for (std::size_t i = 0; i < count && entry(dynamic, i, each); ++i) {
      char library[32];
      if (each.d_tag == DT_NEEDED) {
        from_.read_text(offset + each.d_un.d_val, library);
        if (wants_to_be_first(library)) {
          return true;
        }
      }
    }
    return false;
  }
  [[nodiscard]] bool entry(const ElfW(Phdr) & dynamic, std::size_t i,
                           ElfW(Dyn) & into) const noexcept {
    return from_.read(dynamic.p_offset + i * sizeof into, into) && into.d_tag != DT_NULL;
  }

  const file& from_;
  const ElfW(Ehdr) & header_;
};

/// "#!/usr/bin/env python3" names /usr/bin/env. Some functions run a file that is not a program and
/// names no interpreter as a shell script.
void find_interpreter(char (&line)[256], std::size_t bytes, const char*& interpreter) noexcept {
  line[bytes] = '\0';
  interpreter = "/bin/sh";
  if (begins_with(line, "#!")) {
    char* const first = line + 2 + std::strspn(line + 2, " \t");
    first[std::strcspn(first, " \t\n")] = '\0';
    interpreter = first;
  }
}

/// Whether the open file can have the agent. If another file decides, returns false and its path.
bool decide(const file& from, char (&start)[256], const char*& interpreter) noexcept {
  interpreter = nullptr;
  const std::size_t bytes = from.read_some(0, start, sizeof start - 1);
  if (bytes == 0) {
    return true;
  }
  ElfW(Ehdr) header;
  if (bytes < sizeof header || std::memcmp(start, ELFMAG, SELFMAG) != 0) {
    find_interpreter(start, bytes, interpreter);
    return false;
  }
  std::memcpy(&header, start, sizeof header);
#if defined(__x86_64__)
  constexpr unsigned own_machine = EM_X86_64;
#else
  constexpr unsigned own_machine = EM_AARCH64;
#endif
  return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == own_machine &&
         program_file(from, header).takes_agent();
}

template <class Open>
bool can_have(const Open& open) noexcept {
  bool can = true;
  auto look = [&] {
    char start[256];
    const char* interpreter = nullptr;
    can = decide(open(), start, interpreter);
    constexpr int most = 5; // the kernel follows as many interpreters
    for (int i = 0; interpreter != nullptr && i < most; ++i) {
      can = decide(file(AT_FDCWD, interpreter), start, interpreter);
    }
    can = can || interpreter != nullptr;
  };
  with_own_descriptors(look);
  return can;
}

} // namespace

void note_own_loader() noexcept {
  Dl_info loader{};
  struct stat facts{};
  if (::dladdr(reinterpret_cast<const void*>(_r_debug.r_ldbase), &loader) != 0 &&
      sys::raw::call(SYS_newfstatat, AT_FDCWD, loader.dli_fname, &facts, 0) >= 0) {
    own_loader = {facts.st_dev, facts.st_ino};
  }
}

bool can_have_agent(int folder, const char* path) noexcept {
  return can_have([&] { return file(folder, path); });
}

bool can_have_agent(int open) noexcept {
  return can_have([&] { return file(open); });
}

} // namespace nodewise::agent
