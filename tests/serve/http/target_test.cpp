// What the target of a request names.
#include <gtest/gtest.h>

#include "stoker/api/serve/http/media_type.hpp"
#include "stoker/api/serve/http/route.hpp"
#include "stoker/api/serve/http/target.hpp"

namespace stoker::serve::http {
namespace {

using Segments = std::vector<std::string>;

Segments segments_of(std::string_view target, std::string_view prefix = "") {
  const auto path = path_of(target, prefix);
  return path && path->below ? path->segments : Segments{"none"};
}

TEST(HttpTarget, is_a_path_in_decoded_segments_without_its_query) {
  EXPECT_EQ(segments_of("/v2/models/a%20b%2Fc/ready?x=/y"),
            (Segments{"v2", "models", "a b/c", "ready"}));
  EXPECT_EQ(segments_of("http://host:80/v2/health?q"), (Segments{"v2", "health"}));
  EXPECT_EQ(segments_of("http://host"), Segments{});
  EXPECT_EQ(segments_of("/"), Segments{});
}

TEST(HttpTarget, may_end_with_a_slash_but_has_no_empty_names_within) {
  EXPECT_EQ(segments_of("/v2/"), (Segments{"v2"}));
  EXPECT_EQ(segments_of("/v2//x"), (Segments{"v2", "", "x"}));
}

TEST(HttpTarget, is_below_its_prefix) {
  EXPECT_EQ(segments_of("/ml/v2", "/ml"), (Segments{"v2"}));
  EXPECT_EQ(segments_of("/ml", "/ml"), Segments{});
  EXPECT_FALSE(path_of("/mlx/v2", "/ml")->below);
  EXPECT_FALSE(path_of("/v2", "/ml")->below);
}

TEST(HttpTarget, is_refused_where_it_is_no_path) {
  for (const char* target : {"", "*", "v2", "://x/y", "/a%2", "/a%zz", "/%+1"})
    EXPECT_FALSE(path_of(target, "")) << target;
}

Route route(std::string_view target) { return route_of(segments_of(target)); }

TEST(HttpRoute, names_a_model_and_perhaps_its_version) {
  const Route infer = route("/v2/models/faces/versions/3/infer");
  EXPECT_EQ(infer.place, Place::infer);
  EXPECT_EQ(infer.model, "faces");
  EXPECT_EQ(infer.version, "3");
  EXPECT_EQ(route("/v2/models/faces/infer").version, std::nullopt);
  EXPECT_EQ(route("/v2/models/faces/").place, Place::model);
  EXPECT_EQ(route("/v2/models").place, Place::models);
  EXPECT_EQ(route("/v2/repository/index").place, Place::repository_index);
  EXPECT_EQ(route("/v2/repository/models/faces/load").place, Place::repository_load);
  EXPECT_EQ(route("/v2/repository/models/faces/unload").model, "faces");
  EXPECT_EQ(route("/v2/models/versions/ready").model, "versions");
}

TEST(HttpRoute, names_what_watches_a_server) {
  EXPECT_EQ(route("/").place, Place::page);
  EXPECT_EQ(route("/metrics").place, Place::metrics);
  EXPECT_EQ(route("/v2/models/faces/stats").place, Place::model_stats);
  EXPECT_EQ(route("/v2/models/faces/versions/3/stats").version, "3");
  EXPECT_EQ(route("/v2/models/stats").place, Place::stats);
  EXPECT_EQ(route("/v2/models/stats/versions/1").model, "stats");
}

TEST(HttpRoute, is_nowhere_for_what_the_protocol_does_not_have) {
  for (const char* target :
       {"/v1", "/v2/repository", "/v2/repository/models/m", "/v2/health", "/v2/health/up",
        "/v2/models/m/x", "/v2/models/m/versions", "/v2/models/m/ready/x", "/metrics/x"})
    EXPECT_EQ(route(target).place, Place::nowhere) << target;
}

TEST(HttpRoute, says_which_methods_it_takes) {
  EXPECT_TRUE(allows(Place::infer, "POST"));
  EXPECT_FALSE(allows(Place::infer, "GET"));
  EXPECT_TRUE(allows(Place::live, "HEAD"));
  EXPECT_FALSE(allows(Place::live, "POST"));
  EXPECT_FALSE(allows(Place::nowhere, "GET"));
}

TEST(HttpMediaType, is_json_or_bytes) {
  for (const char* taken : {"", "application/json", "Application/JSON; charset=utf-8",
                            "application/octet-stream", "application/x-www-form-urlencoded"})
    EXPECT_TRUE(is_body_type(taken)) << taken;
  for (const char* refused : {"text/plain", "application/jsonx", "image/png"})
    EXPECT_FALSE(is_body_type(refused)) << refused;
}

}  // namespace
}  // namespace stoker::serve::http
