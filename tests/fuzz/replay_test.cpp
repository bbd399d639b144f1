// Every fuzzer over the inputs that are kept for it: those that it begins with, and those that once
// found something.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz.hpp"
#include "stoker/runtime/observe/log.hpp"
#include "stoker/tests/checkout/checkout.hpp"

namespace stoker::fuzz {

void PrintTo(const Fuzzer& fuzzer, std::ostream* out) { *out << fuzzer.name; }

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> corpus_of(std::string_view fuzzer) {
  std::vector<fs::path> files;
  const fs::path folder = checkout_folder() / "tests/fuzz/corpus" / fuzzer;
  for (const auto& entry : fs::directory_iterator{folder}) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

class Corpus : public testing::TestWithParam<Fuzzer> {
 protected:
  Corpus() { set_log_level(LogLevel::off); }
};
INSTANTIATE_TEST_SUITE_P(Fuzzers, Corpus, testing::ValuesIn(all_fuzzers()),
                         [](const auto& info) { return std::string{info.param.name}; });

TEST_P(Corpus, breaks_no_promise) {
  const auto files = corpus_of(GetParam().name);
  EXPECT_FALSE(files.empty());
  for (const fs::path& file : files) {
    const std::string bytes = bytes_of(file);
    EXPECT_NO_THROW(GetParam().run(std::as_bytes(std::span{bytes}))) << file;
  }
}

TEST_P(Corpus, may_end_anywhere) {
  for (const fs::path& file : corpus_of(GetParam().name)) {
    const std::string bytes = bytes_of(file);
    for (std::size_t eighth = 0; eighth < 8; ++eighth) {
      const std::string part = bytes.substr(0, bytes.size() * eighth / 8);
      EXPECT_NO_THROW(GetParam().run(std::as_bytes(std::span{part}))) << file << ' ' << eighth;
    }
  }
}

}  // namespace
}  // namespace stoker::fuzz
