// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace nodewise {

using byte_span = std::span<const std::uint8_t>;

/// Reads numbers in the machine's byte order and in DWARF's encodings. Past the end everything is
/// 0, and `failed` stays true.
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
    if (const byte_span from = block(sizeof value); !from.empty()) {
      std::memcpy(&value, from.data(), sizeof value);
    }
    return value;
  }
  /// Reads one field into each variable, in this order.
  template <class... T>
  void into(T&... values) noexcept {
    ((values = fixed<T>()), ...);
  }
  /// A number of 1, 2, 4 or 8 bytes. With a sign, it is extended.
  std::uint64_t number(unsigned bytes, bool with_sign) noexcept {
    switch (bytes) {
    case 1:
      return with_sign ? extended<std::int8_t>() : fixed<std::uint8_t>();
    case 2:
      return with_sign ? extended<std::int16_t>() : fixed<std::uint16_t>();
    case 4:
      return with_sign ? extended<std::int32_t>() : fixed<std::uint32_t>();
    default:
      return fixed<std::uint64_t>();
    }
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
  byte_span rest() noexcept { return block(bytes_.size() - at_); }
  /// The last bytes, which are not read again.
  byte_span last_block(std::size_t size) noexcept {
    if (size > bytes_.size() - at_) {
      return block(size);
    }
    const byte_span found = bytes_.last(size);
    bytes_ = bytes_.first(bytes_.size() - size);
    return found;
  }

 private:
  template <class Signed>
  std::uint64_t extended() noexcept {
    return static_cast<std::uint64_t>(std::int64_t{fixed<Signed>()});
  }
  struct leb_number {
    std::uint64_t value;
    unsigned bits;
    bool negative; ///< if it is signed
  };
  leb_number leb() noexcept {
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

} // namespace nodewise
