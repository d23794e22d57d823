// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where tensors are in files of models, and headers that are damaged.
#include "page_cache/tensors.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

namespace nodewise::page_cache {
namespace {

using testing::HasSubstr;

template <class Number>
std::string raw(Number value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string text(const std::string& value) {
  return raw(std::uint64_t{value.size()}) + value;
}

/// As in a file of version 3, with an alignment of 64: two tensors, the second first.
std::string gguf(std::uint32_t version = 3) {
  std::string bytes = "GGUF" + raw(version) + raw(std::uint64_t{2}) + raw(std::uint64_t{4});
  bytes += text("general.alignment") + raw(std::uint32_t{4}) + raw(std::uint32_t{64});
  bytes += text("general.name") + raw(std::uint32_t{8}) + text("a model");
  bytes += text("tokens") + raw(std::uint32_t{9}) + raw(std::uint32_t{8}) + raw(std::uint64_t{2}) +
           text("a") + text("bc");
  bytes += text("scores") + raw(std::uint32_t{9}) + raw(std::uint32_t{6}) + raw(std::uint64_t{3}) +
           std::string(12, 'x');
  for (const auto& [name, offset] : {std::pair("second", 128U), std::pair("first", 0U)}) {
    bytes += text(name) + raw(std::uint32_t{2}) + raw(std::uint64_t{4}) + raw(std::uint64_t{8}) +
             raw(std::uint32_t{0}) + raw(std::uint64_t{offset});
  }
  bytes.resize((bytes.size() + 63) / 64 * 64);
  return bytes + std::string(128 + 200, 'd');
}

std::string safetensors(const std::string& header, std::size_t data) {
  return text(header) + std::string(data, 'd');
}

class Tensors : public testing::Test {
 protected:
  Tensors() {
    std::string pattern = (std::filesystem::temp_directory_path() / "nodewise-XXXXXX").string();
    const int made = ::mkstemp(pattern.data());
    ::close(made);
    path_ = pattern;
  }
  ~Tensors() override { std::filesystem::remove(path_); }

  [[nodiscard]] std::optional<std::vector<tensor>> read(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    return read_tensors(sys::cached_file::open(path_).value, path_);
  }
  [[nodiscard]] std::string shown(const std::string& bytes) const {
    std::string all;
    const auto found = read(bytes);
    for (const tensor& each : found ? *found : std::vector<tensor>{}) {
      all += each.name + ' ' + std::to_string(each.first) + '-' + std::to_string(each.last) + ' ';
    }
    return all;
  }
  [[nodiscard]] std::string refused(const std::string& bytes) const {
    try {
      (void)read(bytes);
    } catch (const error& e) {
      return e.what();
    }
    return "";
  }

  std::string path_;
};

TEST_F(Tensors, OfGgufBeginAtTheirOffsetsAndEndAtTheNext) {
  const std::string file = gguf();
  const std::size_t data = file.size() - 328;
  EXPECT_EQ(shown(file), "first " + std::to_string(data) + '-' + std::to_string(data + 128) +
                             " second " + std::to_string(data + 128) + '-' +
                             std::to_string(file.size()) + ' ');
  EXPECT_EQ(shown(gguf(2)), shown(file));
}

TEST_F(Tensors, OfSafetensorsAreWhereTheHeaderPutsThem) {
  const std::string header = R"({"__metadata__": {"format": "pt"},)"
                             R"("b": {"dtype": "F32", "shape": [4], "data_offsets": [16, 32]},)"
                             R"("a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}})";
  const std::size_t data = header.size() + 8;
  EXPECT_EQ(shown(safetensors(header, 32)),
            "a " + std::to_string(data) + '-' + std::to_string(data + 16) + " b " +
                std::to_string(data + 16) + '-' + std::to_string(data + 32) + ' ');
}

TEST_F(Tensors, OfOtherFilesAreUnknown) {
  for (const std::string& other :
       {std::string(), std::string("GG"), std::string(4096, '\0'), std::string(4096, 'x')}) {
    EXPECT_FALSE(read(other).has_value());
  }
}

TEST_F(Tensors, OfADamagedFileAreRefused) {
  EXPECT_THAT(refused(gguf(9)), HasSubstr("version 9"));
  const std::string whole = gguf();
  const std::size_t header = whole.size() - 328;
  for (std::size_t size = 16; size < header; ++size) {
    EXPECT_THAT(refused(whole.substr(0, size)), HasSubstr(path_)) << size;
  }
  EXPECT_THAT(
      refused("GGUF" + raw(std::uint32_t{3}) + raw(~std::uint64_t{0}) + raw(std::uint64_t{0})),
      HasSubstr("tensors and"));
  EXPECT_THAT(refused(safetensors(R"({"a": {"data_offsets": [0, 64]}})", 32)),
              HasSubstr("outside of the file"));
  EXPECT_THAT(refused(safetensors(
                  R"({"a": {"data_offsets": [0, 24]}, "b": {"data_offsets": [16, 32]}})", 32)),
              HasSubstr("the next one some of them"));
  EXPECT_THAT(refused(safetensors(R"({"a": {"data_offsets": [-1, 24]}})", 32)),
              HasSubstr("no data_offsets"));
  EXPECT_THAT(refused(safetensors(R"({"a": 5)", 32)), HasSubstr("no JSON object"));
}

TEST_F(Tensors, SurviveEveryChangedByteOfAHeader) {
  const std::string whole = gguf();
  for (std::size_t at = 4; at < whole.size() - 328; ++at) {
    for (const char value : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[at] = value;
      try {
        (void)read(changed);
      } catch (const error&) { // is a right answer, too
      }
    }
  }
}

} // namespace
} // namespace nodewise::page_cache
