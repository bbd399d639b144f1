#include "stoker/runtime/config.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "stoker/runtime/observe/log.hpp"
#include "stoker/runtime/settings.hpp"

namespace stoker {
namespace {

Config config_of(const std::map<std::string, std::string, std::less<>>& variables) {
  return Config::from([&](std::string_view name) -> std::optional<std::string> {
    const auto at = variables.find(name);
    if (at == variables.end()) return std::nullopt;
    return at->second;
  });
}

TEST(Config, an_empty_environment_means_defaults) {
  const Config config = config_of({});
  EXPECT_EQ(config.device, "");
  EXPECT_EQ(config.threads, 0U);
  EXPECT_EQ(config.cache_dir, "");
  EXPECT_FALSE(config.validation);
  EXPECT_FALSE(config.flush_subnormals);
  EXPECT_EQ(config.observe_socket, "");
}

TEST(Config, reads_every_variable) {
  const Config config = config_of({{"STOKER_DEVICE", "vulkan:0"},
                                   {"STOKER_LOG", "debug"},
                                   {"STOKER_CACHE_DIR", "/cache"},
                                   {"STOKER_THREADS", "3"},
                                   {"STOKER_ISA", "v3"},
                                   {"STOKER_VALIDATION", "1"},
                                   {"STOKER_FLUSH_SUBNORMALS", "on"},
                                   {"STOKER_OBSERVE", "/run/stoker"}});
  EXPECT_EQ(config.device, "vulkan:0");
  EXPECT_EQ(config.log, "debug");
  EXPECT_EQ(config.cache_dir, "/cache");
  EXPECT_EQ(config.threads, 3U);
  EXPECT_EQ(config.isa, "v3");
  EXPECT_TRUE(config.validation);
  EXPECT_TRUE(config.flush_subnormals);
  EXPECT_EQ(config.observe_socket, "/run/stoker");
}

TEST(Config, the_cache_follows_the_xdg_rules) {
  EXPECT_EQ(config_of({{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}).cache_dir, "/x/stoker");
  EXPECT_EQ(config_of({{"XDG_CACHE_HOME", "relative"}, {"HOME", "/h"}}).cache_dir,
            "/h/.cache/stoker");
  EXPECT_EQ(config_of({{"STOKER_CACHE_DIR", ""}, {"HOME", "/h"}}).cache_dir, "");
}

TEST(Config, nonsense_is_ignored_with_a_warning) {
  const LogCapture log;
  const Config config = config_of(
      {{"STOKER_THREADS", "many"}, {"STOKER_VALIDATION", "perhaps"}, {"STOKER_LOG", "loud"}});
  EXPECT_EQ(config.threads, 0U);
  EXPECT_FALSE(config.validation);
  EXPECT_TRUE(log.contains("STOKER_THREADS"));
  EXPECT_TRUE(log.contains("perhaps"));
  EXPECT_EQ(config.log, "");
  EXPECT_TRUE(log.contains("loud"));
}

TEST(Config, a_misspelt_variable_is_told_with_the_one_that_was_meant) {
  EXPECT_EQ(setting_meant_by("STOKER_THREAD"), "STOKER_THREADS");
  EXPECT_EQ(setting_meant_by("STOKER_CACHEDIR"), "STOKER_CACHE_DIR");
  for (const Setting& known : settings()) EXPECT_FALSE(setting_meant_by(known.name)) << known.name;
  // Of programs, or of Stoker's own tests and benchmarks.
  for (const char* other :
       {"STOKER_PORT_OF_THE_SERVICE", "STOKER_TEST_SEED", "STOKER_TEST_ROUNDS", "STOKER_TEST_HEAVY",
        "STOKER_SOAK_SECONDS", "STOKER_COMMAND", "STOKER_BUILD", "STOKER_HOME", "STOKER_", "PATH"})
    EXPECT_FALSE(setting_meant_by(other)) << other;

  const LogCapture log;
  setenv("STOKER_DEVISE", "cpu", 1);
  static_cast<void>(Config::from_environment());
  unsetenv("STOKER_DEVISE");
  EXPECT_TRUE(log.contains("name=STOKER_DEVISE did_you_mean=STOKER_DEVICE"));
}

}  // namespace
}  // namespace stoker
