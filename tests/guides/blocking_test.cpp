// What docs/commands.md says about blocking work.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "stoker/api/stoker.hpp"

namespace {

std::string read_whole(const std::string& name) {
  std::ifstream file{name, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(Guides, blocking_work) {
  const stoker::System system;
  const stoker::Future<std::string> text =
      system.run_blocking([] { return read_whole("big.txt"); });
  EXPECT_EQ(text.get(), "");
}

}  // namespace
