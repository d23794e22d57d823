// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the handles of the C interface hold, and how its functions report errors.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include <nodewise.h>
#include <nodewise/placement.hpp>
#include <nodewise/team_layout.hpp>

struct nodewise_layout {
  nodewise::team_layout value;
};

struct nodewise_distribution {
  nodewise::extent_source extents;
};

namespace nodewise::c {

/// The error of the calling thread's last call.
std::string& last_error() noexcept;

/// Returns 0, or 1 and keeps the error. No exception may leave for C or Fortran.
template <class F>
int guarded(F&& f) noexcept {
  try {
    f();
    last_error().clear();
    return 0;
  } catch (const std::exception& e) {
    try {
      last_error() = e.what();
    } catch (...) {
      last_error().clear();
    }
    return 1;
  }
}

/// Throws `error` (usage) for a null pointer.
void require(const void* handle, const char* what);

template <distribution D>
void make_distribution(nodewise_distribution** made, D by) {
  require(made, "distribution");
  *made = new nodewise_distribution{
      [by = std::move(by)](std::size_t pages) { return by.extents(pages); }};
}

/// Writes as much of a text as fits, and a final 0. Throws `error` (usage) if there is no room.
void write_text(const std::string& all, char* text, std::size_t room);

} // namespace nodewise::c
