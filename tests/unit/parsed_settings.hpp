// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "agent/settings.hpp"

namespace nodewise::agent {

/// Settings point into themselves and into their text, so they stay where they are; and they are
/// large.
class parsed {
 public:
  explicit parsed(std::string text)
      : text_(std::move(text)), owned_(std::make_unique<settings>()), read(*owned_) {
    EXPECT_EQ(parse(text_.c_str(), *owned_), nullptr) << text_;
  }
  parsed(const parsed&) = delete;
  parsed& operator=(const parsed&) = delete;

 private:
  std::string text_;
  std::unique_ptr<settings> owned_;

 public:
  const settings& read;
};

} // namespace nodewise::agent
