// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// One array of a matrix: memory of its own, or memory of other code, placed where it is.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include <nodewise/array.hpp>
#include <nodewise/owned_span.hpp>

namespace nodewise::inline v0::detail {

/// Adds the counts of another range; the sum is as exact as the less exact of the two.
NODEWISE_API void add(residency& sum, const residency& more);

template <class E>
class placed_elements {
 public:
  /// Allocates `size` elements; at least one, since an array cannot be empty.
  placed_elements(std::size_t size, weighted_blocks by)
      : memory_(std::in_place_type<own>, std::max<std::size_t>(size, 1), std::move(by)),
        elements_(std::get<own>(memory_).data(), size) {}
  /// Places elements that other code owns: their pages migrate, and nothing is copied.
  placed_elements(std::span<const E> elements, const weighted_blocks& by)
      : memory_(std::in_place_type<adopted>, elements, place(writable(elements), by)),
        elements_(elements) {}

  /// Returns the elements, also after a move.
  [[nodiscard]] std::span<const E> elements() const noexcept { return elements_; }
  /// Returns the elements of memory of its own for writing.
  [[nodiscard]] E* data() noexcept { return std::get<own>(memory_).data(); }
  [[nodiscard]] nodewise::residency residency() const {
    return std::visit([](const auto& of) { return of.residency(); }, memory_);
  }
  [[nodiscard]] std::string strip(std::size_t columns) const {
    return std::visit([=](const auto& of) { return of.strip(columns); }, memory_);
  }

 private:
  using own = array<E, weighted_blocks>;
  using adopted = owned_span<const E>;

  /// Migration takes writable bytes, but changes none of them.
  static std::span<std::byte> writable(std::span<const E> elements) noexcept {
    return std::as_writable_bytes(std::span(const_cast<E*>(elements.data()), elements.size()));
  }

  std::variant<own, adopted> memory_;
  std::span<const E> elements_;
};

} // namespace nodewise::inline v0::detail
