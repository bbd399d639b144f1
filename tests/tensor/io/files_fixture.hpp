// What tests of files share: a folder of their own, tensors of every dtype, damage.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {

/// Tests that run on every device, each with an empty folder.
class Files : public TensorsOnDevices {
 protected:
  Files() { std::filesystem::create_directories(folder); }
  ~Files() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return folder / name; }

  // Tests run in processes of their own, side by side, or one after the other in one.
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("stoker-files-" + std::to_string(::getpid()));
};

/// Different bytes for each dtype; bools are 0 and 1.
inline Tensor sample(DType dtype, const Shape& shape) {
  const TensorSpec spec{dtype, shape};
  std::vector<std::byte> bytes(spec.bytes());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(
        dtype == DType::boolean ? i % 3 == 0 : (i * 37 + static_cast<std::size_t>(dtype)) % 251);
  return tensor(bytes, spec);
}

inline void expect_same(const Tensor& got, const Tensor& want) {
  EXPECT_EQ(got.spec().to_string(), want.spec().to_string());
  EXPECT_TRUE(got.to_bytes() == want.to_bytes()) << got.spec().to_string();
}

inline std::vector<std::byte> bytes_in(std::string_view text) {
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

inline std::vector<std::byte> bytes_of(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  std::stringstream text;
  text << file.rdbuf();
  return bytes_in(text.str());
}

/// A length as formats write it: the low byte first.
inline std::string low_first(std::size_t number, std::size_t width) {
  std::string text;
  for (std::size_t i = 0; i < width; ++i) text += static_cast<char>(number >> (8 * i) & 0xff);
  return text;
}

/// 0, 1, 2, …
inline std::string counting(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(i);
  return text;
}

inline void write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream{path, std::ios::binary} << text;
}

/// Calls `parse` with damaged versions of a file: cut short anywhere, bytes changed, inserted and taken
/// out, always the same ones. Whatever it does but throw an Error or return fails the test.
template <class F> void damage(const std::vector<std::byte>& file, std::size_t rounds, F&& parse) {
  std::mt19937 random{20240229};
  const auto below = [&](std::size_t limit) { return random() % std::max<std::size_t>(limit, 1); };
  std::size_t refused = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<std::byte> bad = file;
    if (round % 4 == 0) bad.resize(below(bad.size()));
    for (std::size_t changes = below(4) + (round % 4 != 0); changes-- > 0 && !bad.empty();) {
      // Mostly in the header: the data may be anything.
      const std::size_t at = below(below(3) ? std::min<std::size_t>(bad.size(), 200) : bad.size());
      const auto place = bad.begin() + static_cast<std::ptrdiff_t>(at);
      switch (below(4)) {
        case 0: *place = static_cast<std::byte>(below(256)); break;
        case 1: *place ^= static_cast<std::byte>(1U << below(8)); break;
        case 2: bad.insert(place, static_cast<std::byte>("0129{}[]\",:-\xff"[below(13)])); break;
        default: bad.erase(place); break;
      }
    }
    try {
      parse(std::span<const std::byte>{bad});
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, rounds / 4);  // or nothing was damaged
}

/// A Python that has NumPy; empty if there is none.
inline std::string python_with_numpy() {
  for (const char* const python : {"/usr/bin/python3", "python3"})
    if (std::system((std::string{python} + " -c 'import numpy' 2>/dev/null").c_str()) == 0)
      return python;
  return {};
}

}  // namespace stoker
