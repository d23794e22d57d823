// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "page_cache/tensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

namespace nodewise::page_cache {

namespace {

/// More than any known header: vocabularies are the largest parts.
constexpr std::uint64_t longest_header = std::uint64_t{1} << 30;
constexpr std::uint64_t most_tensors = std::uint64_t{1} << 20;
constexpr std::uint64_t longest_name = std::uint64_t{1} << 16;
constexpr std::uint32_t most_dimensions = 16;

/// A file from its beginning, in the order of bytes of x86-64 and AArch64.
class header_reader {
 public:
  header_reader(const sys::cached_file& file, const std::string& path)
      : file_(file), path_(path), size_(file.size().value) {}

  [[nodiscard]] std::uint64_t position() const noexcept { return at_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  template <class Number>
  Number take() {
    std::array<std::byte, sizeof(Number)> bytes{};
    take_bytes(bytes);
    return std::bit_cast<Number>(bytes);
  }

  std::string take_text(std::uint64_t most) {
    const auto length = take<std::uint64_t>();
    if (length > most) {
      refuse(fmt::format("a text of {} bytes", length));
    }
    std::string text(static_cast<std::size_t>(length), '\0');
    take_bytes(std::as_writable_bytes(std::span(text)));
    return text;
  }

  void take_bytes(std::span<std::byte> into) {
    const std::uint64_t from = at_;
    skip(into.size());
    if (from < buffer_at_ || from + into.size() > buffer_at_ + buffer_.size()) {
      fill(from, into.size());
    }
    std::ranges::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(from - buffer_at_),
                        static_cast<std::ptrdiff_t>(into.size()), into.begin());
  }

  void skip(std::uint64_t bytes) {
    if (bytes > size_ - at_ || at_ + bytes > longest_header) {
      refuse("the header goes beyond the end");
    }
    at_ += bytes;
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw error(error_kind::input, fmt::format("the tensors of {}", path_),
                fmt::format("at byte {}: {}", at_, what),
                "check the file, or leave --by-tensor out");
  }

 private:
  void fill(std::uint64_t from, std::size_t least) {
    constexpr std::size_t at_once = std::size_t{64} << 10;
    buffer_.resize(std::max(least, at_once));
    std::size_t got = 0;
    while (got < buffer_.size()) {
      const auto more = file_.read(from + got, std::span(buffer_).subspan(got));
      if (!more) {
        throw error(error_kind::system, fmt::format("the tensors of {}", path_),
                    "reading the header", "check the file", more.errno_value);
      }
      if (more.value == 0) {
        break;
      }
      got += more.value;
    }
    buffer_.resize(got);
    buffer_at_ = from;
    if (got < least) {
      refuse("the file has become shorter");
    }
  }

  const sys::cached_file& file_;
  const std::string& path_;
  std::uint64_t size_;
  std::uint64_t at_ = 0;
  std::vector<std::byte> buffer_;
  std::uint64_t buffer_at_ = 0;
};

/// In ascending order, and each inside of the file.
std::vector<tensor> checked(std::vector<tensor> tensors, const header_reader& from) {
  std::ranges::sort(tensors, {}, &tensor::first);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const tensor& each = tensors[i];
    const bool overlaps = i + 1 < tensors.size() && each.last > tensors[i + 1].first;
    if (each.first > each.last || each.last > from.size() || overlaps) {
      from.refuse(fmt::format(
          "the tensor {} has the bytes {} to {}{}", each.name, each.first, each.last,
          overlaps ? ", and the next one some of them" : ", some of them outside of the file"));
    }
  }
  return tensors;
}

// GGUF: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md

constexpr std::uint32_t gguf_magic = 0x46554747; ///< "GGUF"

class gguf_reader {
 public:
  explicit gguf_reader(header_reader& from) : from_(from) {}

  std::vector<tensor> read() {
    const auto version = from_.take<std::uint32_t>();
    if (version < 2 || version > 3) {
      from_.refuse(fmt::format("version {} of GGUF is not known", version));
    }
    const auto count = from_.take<std::uint64_t>();
    const auto values = from_.take<std::uint64_t>();
    if (count > most_tensors || values > most_tensors) {
      from_.refuse(fmt::format("{} tensors and {} values", count, values));
    }
    for (std::uint64_t i = 0; i < values; ++i) {
      read_value();
    }
    std::vector<tensor> tensors;
    for (std::uint64_t i = 0; i < count; ++i) {
      tensors.push_back(read_tensor());
    }
    return with_ends(std::move(tensors));
  }

 private:
  static constexpr std::uint32_t type_u32 = 4;
  static constexpr std::uint32_t type_text = 8;
  static constexpr std::uint32_t type_list = 9;
  /// Bytes of a value of each type; 0: its length follows.
  static constexpr std::array<std::uint8_t, 13> sizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

  void read_value() {
    const std::string key = from_.take_text(longest_name);
    const auto type = from_.take<std::uint32_t>();
    if (key == "general.alignment" && type == type_u32) {
      alignment_ = from_.take<std::uint32_t>();
      if (alignment_ == 0 || alignment_ % 8 != 0) {
        from_.refuse(fmt::format("an alignment of {}", alignment_));
      }
    } else {
      skip_value(type, 0);
    }
  }

  void skip_value(std::uint32_t type, int depth) {
    constexpr int deepest = 4; // of lists in lists
    if (type >= sizes.size() || depth > deepest) {
      from_.refuse(fmt::format("a value of type {}", type));
    }
    if (type == type_text) {
      from_.skip(from_.take<std::uint64_t>());
    } else if (type == type_list) {
      skip_list(depth);
    } else {
      from_.skip(sizes[type]);
    }
  }

  void skip_list(int depth) {
    const auto type = from_.take<std::uint32_t>();
    const auto count = from_.take<std::uint64_t>();
    if (type < sizes.size() && sizes[type] != 0) {
      if (count > longest_header) {
        from_.refuse(fmt::format("a list of {}", count));
      }
      from_.skip(count * sizes[type]);
      return;
    }
    for (std::uint64_t i = 0; i < count; ++i) { // ends at the header's limit
      skip_value(type, depth + 1);
    }
  }

  tensor read_tensor() {
    tensor made{from_.take_text(longest_name), 0, 0};
    const auto dimensions = from_.take<std::uint32_t>();
    if (dimensions > most_dimensions) {
      from_.refuse(fmt::format("a tensor of {} dimensions", dimensions));
    }
    from_.skip(std::uint64_t{dimensions} * 8 + 4); // their lengths, and the type
    made.first = from_.take<std::uint64_t>();
    return made;
  }

  std::vector<tensor> with_ends(std::vector<tensor> tensors) const {
    const std::uint64_t data = (from_.position() + alignment_ - 1) / alignment_ * alignment_;
    std::ranges::sort(tensors, {}, &tensor::first);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (data > from_.size() || tensors[i].first > from_.size() - data) {
        from_.refuse(fmt::format("the tensor {} begins outside of the file", tensors[i].name));
      }
      tensors[i].first += data;
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      tensors[i].last = i + 1 < tensors.size() ? tensors[i + 1].first : from_.size();
    }
    return tensors;
  }

  header_reader& from_;
  std::uint64_t alignment_ = 32;
};

// safetensors: the length of a JSON object, the object, the data.

std::vector<tensor> read_safetensors(header_reader& from, std::uint64_t length) {
  std::string text(static_cast<std::size_t>(length), '\0');
  from.take_bytes(std::as_writable_bytes(std::span(text)));
  const auto header = nlohmann::json::parse(text, nullptr, false);
  if (!header.is_object()) {
    from.refuse("the header is no JSON object");
  }
  std::vector<tensor> tensors;
  for (const auto& [name, about] : header.items()) {
    if (name == "__metadata__") {
      continue;
    }
    const auto offsets = about.is_object() ? about.find("data_offsets") : about.end();
    if (offsets == about.end() || !offsets->is_array() || offsets->size() != 2 ||
        !(*offsets)[0].is_number_unsigned() || !(*offsets)[1].is_number_unsigned()) {
      from.refuse(fmt::format("the tensor {} has no data_offsets", name));
    }
    const auto first = (*offsets)[0].get<std::uint64_t>();
    const auto last = (*offsets)[1].get<std::uint64_t>();
    if (std::max(first, last) > from.size()) {
      from.refuse(fmt::format("the tensor {} is outside of the file", name));
    }
    tensors.push_back({name, from.position() + first, from.position() + last});
  }
  return tensors;
}

/// The length of a safetensors header, if the file begins with one.
std::optional<std::uint64_t> safetensors_length(const sys::cached_file& file) {
  std::array<std::byte, 9> bytes{};
  const auto got = file.read(0, bytes);
  if (!got || got.value != bytes.size() || static_cast<char>(bytes[8]) != '{') {
    return std::nullopt;
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const std::uint64_t size = file.size().value;
  return length >= 2 && length <= longest_header && length <= size - 8 ? std::optional(length)
                                                                       : std::nullopt;
}

} // namespace

std::optional<std::vector<tensor>> read_tensors(const sys::cached_file& file,
                                                const std::string& path) {
  header_reader from(file, path);
  if (from.size() < 16) {
    return std::nullopt;
  }
  if (const auto length = safetensors_length(file)) {
    from.skip(8);
    return checked(read_safetensors(from, *length), from);
  }
  if (from.take<std::uint32_t>() != gguf_magic) {
    return std::nullopt;
  }
  return checked(gguf_reader(from).read(), from);
}

} // namespace nodewise::page_cache
