// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/read_into.hpp>

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/core.h>

namespace nodewise::inline v0::detail {

input_file::input_file(const std::filesystem::path& path)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file_ < 0) {
    throw error(error_kind::input, fmt::format("cannot read '{}' into an array", path.string()),
                "open", "check the path and its permissions", errno);
  }
}

input_file::~input_file() {
  ::close(file_);
}

void input_file::read(std::span<std::byte> into, std::uint64_t offset) const {
  while (!into.empty()) {
    const ssize_t got = ::pread(file_, into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    const auto asked = [&] {
      return fmt::format("cannot read '{}' at byte {}", path_.string(), offset);
    };
    if (got < 0) {
      throw error(error_kind::system, asked(), "pread", "check the file and its device", errno);
    }
    if (got == 0) {
      throw error(error_kind::input, asked(), "the file ends there",
                  "use an array as long as the file, or another offset");
    }
    into = into.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

} // namespace nodewise::inline v0::detail
