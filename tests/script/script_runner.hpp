// Runs scripts for the tests and keeps what they printed and did.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "stoker/api/script.hpp"

namespace stoker {

/// What a script did, as its observer saw it.
class Recorder final : public ScriptObserver {
 public:
  void on_print(std::string_view line) noexcept override { text += line; }
  void on_command(const ScriptCommand& command) noexcept override { commands.push_back(command); }
  void on_saved(const std::filesystem::path& path, const TensorSpec&) noexcept override {
    saved.push_back(path);
  }

  std::string text;
  std::vector<ScriptCommand> commands;
  std::vector<std::filesystem::path> saved;
};

struct Outcome {
  Result<ScriptReport> result;
  std::shared_ptr<Recorder> seen;

  /// What it printed; a failure of the test if it did not end well.
  [[nodiscard]] std::string text() const {
    EXPECT_TRUE(result.has_value()) << result.error().what();
    return seen->text;
  }
  /// Why it ended; a failure of the test if it ended well.
  [[nodiscard]] Error error() const {
    EXPECT_TRUE(result.has_error()) << "the script ended well and printed: " << seen->text;
    return result.has_error() ? result.error() : Error{};
  }
  [[nodiscard]] ErrorCode code() const { return error().code(); }
};

class Scripts : public testing::Test {
 protected:
  explicit Scripts(std::string_view device_name = "cpu") : device{system.device(device_name)} {}

  [[nodiscard]] Outcome run(std::string code, ScriptOptions options = {}) {
    auto seen = std::make_shared<Recorder>();
    options.observer = seen;
    const ScriptRun started = host.start({"test.lua", std::move(code)}, std::move(options));
    return {started.done.wait(), seen};
  }
  [[nodiscard]] static ScriptOptions limited(std::uint64_t instructions,
                                             std::uint64_t memory_mib = 256) {
    ScriptOptions options;
    options.limits.instructions = instructions;
    options.limits.memory_bytes = memory_mib << 20;
    return options;
  }

  System system;
  Device device;
  ScriptHost host = script_host(system, device);
};

}  // namespace stoker
