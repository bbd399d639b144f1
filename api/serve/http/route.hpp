// What a path of the Open Inference Protocol names, and with which methods it may be asked.
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stoker::serve::http {

enum class Place : std::uint8_t {
  nowhere,
  page,               ///< /
  server,             ///< /v2
  live,               ///< /v2/health/live
  ready,              ///< /v2/health/ready
  models,             ///< /v2/models
  model,              ///< /v2/models/M[/versions/V]
  model_ready,        ///< …/ready
  model_config,       ///< …/config
  model_stats,        ///< …/stats
  infer,              ///< …/infer
  stats,              ///< /v2/models/stats
  metrics,            ///< /metrics
  repository_index,   ///< /v2/repository/index
  repository_load,    ///< /v2/repository/models/M/load
  repository_unload,  ///< …/unload
};

struct Route {
  Place place = Place::nowhere;
  std::string model = {};
  std::optional<std::string> version = {};
};

[[nodiscard]] constexpr bool is_of_repository(Place place) noexcept {
  return place == Place::repository_index || place == Place::repository_load ||
         place == Place::repository_unload;
}

[[nodiscard]] Route route_of(std::span<const std::string> path);

/// As the header Allow has them: "GET, HEAD". Empty for `nowhere`.
[[nodiscard]] std::string_view methods_of(Place place) noexcept;
[[nodiscard]] bool allows(Place place, std::string_view method) noexcept;

}  // namespace stoker::serve::http
