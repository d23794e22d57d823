// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace nodewise::symbols {

using byte_span = std::span<const std::uint8_t>;

/// Reads numbers in DWARF's encodings, in the machine's byte order. Past the end everything is 0,
/// and `failed` stays true.
class byte_reader {
 public:
  explicit byte_reader(byte_span from) : bytes_(from) {}

  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] bool at_end() const noexcept { return at_ == bytes_.size(); }
  [[nodiscard]] std::size_t position() const noexcept { return at_; }
  void go_to(std::size_t position) noexcept {
    failed_ = failed_ || position > bytes_.size();
    at_ = failed_ ? bytes_.size() : position;
  }

  template <class T>
  T fixed() noexcept {
    T value{};
    if (bytes_.size() - at_ < sizeof value) {
      go_to(bytes_.size() + 1);
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint64_t uleb() noexcept { return leb().value; }
  std::int64_t sleb() noexcept {
    const auto [value, bits, negative] = leb();
    return static_cast<std::int64_t>(negative && bits < 64 ? value | ~std::uint64_t{0} << bits
                                                           : value);
  }
  byte_span block(std::uint64_t size) noexcept {
    if (size > bytes_.size() - at_) {
      go_to(bytes_.size() + 1);
      return {};
    }
    const byte_span found = bytes_.subspan(at_, static_cast<std::size_t>(size));
    at_ += found.size();
    return found;
  }

 private:
  struct number {
    std::uint64_t value;
    unsigned bits;
    bool negative; ///< if it is signed
  };
  number leb() noexcept {
    std::uint64_t value = 0;
    unsigned bits = 0;
    std::uint8_t byte = 0;
    do {
      byte = fixed<std::uint8_t>();
      if (bits < 64) {
        value |= static_cast<std::uint64_t>(byte & 0x7fU) << bits;
        bits += 7;
      }
    } while ((byte & 0x80U) != 0);
    return {value, bits, (byte & 0x40U) != 0};
  }

  byte_span bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

} // namespace nodewise::symbols
