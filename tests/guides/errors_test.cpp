// The example of docs/errors.md, and its table beside the enumeration; see guides_test.cpp.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "stoker/api/stoker.hpp"
#include "stoker/tests/checkout/checkout.hpp"

namespace {

std::vector<float> doubled(const stoker::Device& device, const std::vector<float>& values) {
  for (int tries = 3;; --tries) try {
      const stoker::Buffer x = device.buffer(values);
      return device.run("add", {x, x}).read<float>().get();
    } catch (const stoker::Error& error) {
      if (tries == 1 || !error.retryable()) throw;
      if (error.code() == stoker::ErrorCode::device_lost)
        device.when_ready().get();  // it is opened again
    }
}

TEST(Errors, are_tried_again_where_that_may_help) {
  const stoker::System system;
  EXPECT_EQ(doubled(system.device("cpu"), {1, 2}), (std::vector<float>{2, 4}));
  EXPECT_THROW(doubled(stoker::Device{}, {1, 2}), stoker::Error);
}

/// The guide's rows: code to whether it is retryable.
std::map<std::string, bool> rows() {
  std::ifstream file{stoker::checkout_folder() / "docs/errors.md"};
  std::map<std::string, bool> found;
  bool in_table = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| code |")) in_table = true;
    if (!in_table || !line.starts_with("| `")) continue;
    found[line.substr(3, line.find('`', 3) - 3)] = line.ends_with("| yes |");
  }
  return found;
}

TEST(Errors, are_all_in_the_guide) {
  auto in_guide = rows();
  for (int i = 0; i <= static_cast<int>(stoker::ErrorCode::internal); ++i) {
    const auto code = static_cast<stoker::ErrorCode>(i);
    const std::string name{to_string(code)};
    ASSERT_TRUE(in_guide.contains(name)) << name;
    EXPECT_EQ(in_guide[name], (stoker::Error{"any", code, "some reason"}.retryable())) << name;
    in_guide.erase(name);
  }
  EXPECT_TRUE(in_guide.empty()) << in_guide.begin()->first << " is no code";
}

}  // namespace
