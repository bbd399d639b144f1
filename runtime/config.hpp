// Settings from the environment, read once into a value that is passed down. There is no global.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace stoker {

struct Config {
  /// STOKER_DEVICE: the device to use ("cpu", "vulkan:0", "null"); empty: the best one.
  std::string device;
  /// STOKER_LOG: the log level; empty: warn.
  std::string log;
  /// STOKER_CACHE_DIR, else $XDG_CACHE_HOME/stoker, else ~/.cache/stoker; empty: no cache on disk.
  std::string cache_dir;
  /// STOKER_THREADS: threads of the executor and of the compute pool; 0: one per core.
  unsigned threads = 0;
  /// STOKER_ISA: the instruction set of CPU kernels ("v1", "v3", "v4"); empty: the best available
  /// one.
  std::string isa;
  /// STOKER_FLUSH_SUBNORMALS: 1, true, on or yes let CPU kernels treat numbers below the smallest
  /// normal one (1.2e-38 for f32) as 0. Processors compute with such numbers many times slower.
  bool flush_subnormals = false;
  /// STOKER_VALIDATION: 1, true, on or yes switch Vulkan's validation layers on.
  bool validation = false;
  /// STOKER_OBSERVE: a path; a system listens there for `stoker observe`. Empty: nowhere.
  std::string observe_socket;

  using Lookup = std::function<std::optional<std::string>(std::string_view name)>;
  /// Invalid values are ignored, and a warning is logged.
  [[nodiscard]] static Config from_environment();
  /// The same from any source of variables; for tests.
  [[nodiscard]] static Config from(const Lookup& lookup);
};

}  // namespace stoker
