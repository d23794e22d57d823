// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the tests of lists share: what a text names, and what the error says if it names nothing.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <nodewise/error.hpp>
#include <nodewise/topology.hpp>

#include "spec/spec.hpp"

namespace nodewise::test {

inline std::string memory(std::string_view text, const topology& where) {
  return spec::resolve_nodes(text, where, spec::node_purpose::memory).to_string();
}
inline std::string processors(std::string_view text, const topology& where) {
  return spec::resolve_nodes(text, where, spec::node_purpose::processors).to_string();
}

/// What the error says, "" if there is none.
template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_FALSE(e.asked().empty());
    EXPECT_FALSE(e.hint().empty());
    return e.what();
  }
  return {};
}

} // namespace nodewise::test
