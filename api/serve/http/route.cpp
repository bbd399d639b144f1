#include "stoker/api/serve/http/route.hpp"

#include <array>

namespace stoker::serve::http {
namespace {

struct Leaf {
  std::string_view name;
  Place place;
};
constexpr std::array of_models{Leaf{"ready", Place::model_ready},
                               Leaf{"config", Place::model_config},
                               Leaf{"stats", Place::model_stats}, Leaf{"infer", Place::infer}};
constexpr std::array of_repository{Leaf{"load", Place::repository_load},
                                   Leaf{"unload", Place::repository_unload}};
constexpr std::array of_health{Leaf{"live", Place::live}, Leaf{"ready", Place::ready}};

Place leaf_of(std::span<const Leaf> leaves, std::string_view name) {
  for (const Leaf& leaf : leaves)
    if (leaf.name == name) return leaf.place;
  return Place::nowhere;
}

Route route_of_model(std::span<const std::string> path) {
  Route route{.place = Place::model, .model = path[0]};
  path = path.subspan(1);
  if (path.size() >= 2 && path[0] == "versions") {
    route.version = path[1];
    path = path.subspan(2);
  }
  if (path.size() == 1) route.place = leaf_of(of_models, path[0]);
  if (path.size() > 1) route.place = Place::nowhere;
  return route;
}

Route route_of_repository(std::span<const std::string> path) {
  if (path.size() == 1 && path[0] == "index") return {.place = Place::repository_index};
  if (path.size() == 3 && path[0] == "models")
    return {.place = leaf_of(of_repository, path[2]), .model = path[1]};
  return {};
}

bool is_post(Place place) noexcept { return place == Place::infer || is_of_repository(place); }

}  // namespace

Route route_of(std::span<const std::string> path) {
  if (path.size() == 1 && path[0] == "metrics") return {.place = Place::metrics};
  if (path.empty()) return {.place = Place::page};
  if (path[0] != "v2") return {};
  path = path.subspan(1);
  if (path.empty()) return {.place = Place::server};
  if (path[0] == "health" && path.size() == 2) return {.place = leaf_of(of_health, path[1])};
  // As with Triton. A model of that name is still there with its version.
  if (path[0] == "models" && path.size() == 2 && path[1] == "stats") return {.place = Place::stats};
  if (path[0] == "models" && path.size() == 1) return {.place = Place::models};
  if (path[0] == "repository") return route_of_repository(path.subspan(1));
  if (path[0] == "models" && path.size() >= 2) return route_of_model(path.subspan(1));
  return {};
}

std::string_view methods_of(Place place) noexcept {
  if (place == Place::nowhere) return "";
  return is_post(place) ? "POST" : "GET, HEAD";
}

bool allows(Place place, std::string_view method) noexcept {
  if (is_post(place)) return method == "POST";
  return place != Place::nowhere && (method == "GET" || method == "HEAD");
}

}  // namespace stoker::serve::http
