// A folder of its own for each test that runs the command.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "process.hpp"

namespace stoker {

class CommandFolder : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    directory = std::filesystem::temp_directory_path() /
                ("stoker_" + std::string{test.test_suite_name()} + "_" + std::to_string(getpid()) +
                 "_" + test.name());
    std::filesystem::create_directories(directory);
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream{directory / name, std::ios::binary} << text;
  }
  /// The verb with its words, here and on the CPU.
  [[nodiscard]] CommandResult on_cpu(std::vector<std::string> words,
                                     const std::string& shell = {}) const {
    words.insert(words.end(), {"--device", "cpu"});
    return stoker_command_in({directory, {}, shell}, words);
  }

  std::filesystem::path directory;
};

}  // namespace stoker
