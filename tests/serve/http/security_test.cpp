// Who may ask a server, and how often: tokens, what they open, limits of one client.
#include <fstream>

#include "stoker/api/serve/http/security/client_limits.hpp"
#include "stoker/api/serve/http/security/route_access.hpp"
#include "stoker/tests/serve/http_house.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;
using serve::http::Access;
using serve::http::ClientLimits;
using serve::http::Place;

std::string bearer(const std::string& token) { return "Authorization: Bearer " + token + "\r\n"; }

class TokenFiles : public HttpHouse {
 protected:
  std::shared_ptr<AccessTokens> tokens(const std::string& inference,
                                       const std::string& control = "") const {
    AccessTokenFiles files{.inference = folder.write("tokens", inference)};
    if (!control.empty()) files.control = folder.write("admin_tokens", control);
    return std::make_shared<AccessTokens>(files);
  }
  static unsigned status(Access needed, const AccessTokens* tokens,
                         const std::string& authorization = "", bool is_local = true) {
    const HttpAnswerPtr refused = serve::http::access_refusal(
        needed, {.authorization = authorization, .is_local = is_local}, tokens);
    return refused ? refused->status : 200;
  }
};

TEST_F(TokenFiles, open_what_they_are_for) {
  using Opens = AccessTokens::Opens;
  const auto known = tokens("# of the team\n  abc.DEF-1  \r\n\nsecond==\n", "master\n");
  EXPECT_EQ(known->opened_by("abc.DEF-1"), Opens::inference);
  EXPECT_EQ(known->opened_by("second=="), Opens::inference);
  EXPECT_EQ(known->opened_by("master"), Opens::all);
  for (const char* other : {"", "abc", "abc.DEF-12", "abc.DEF-1abc.DEF-1", "Master", "#"})
    EXPECT_EQ(known->opened_by(other), Opens::nothing) << other;
}

TEST_F(TokenFiles, are_refused_if_they_have_no_tokens) {
  EXPECT_EQ(refusal_of([&] { static_cast<void>(tokens("# none\n\n")); }).code(),
            ErrorCode::invalid_argument);
  const Error broken = refusal_of([&] { static_cast<void>(tokens("good\nmy secret\n")); });
  EXPECT_EQ(broken.code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(broken.reason().ends_with("has no token in line 2")) << broken.reason();
  EXPECT_EQ(
      refusal_of([&] { const AccessTokens none{{.inference = folder.path / "nothing"}}; }).code(),
      ErrorCode::not_found);
}

TEST_F(TokenFiles, are_read_again_and_stay_as_they_were_if_that_fails) {
  using Opens = AccessTokens::Opens;
  const auto known = tokens("first\n");
  folder.write("tokens", "second\n");
  known->reload();
  EXPECT_EQ(known->opened_by("first"), Opens::nothing);
  EXPECT_EQ(known->opened_by("second"), Opens::inference);
  folder.write("tokens", "");
  EXPECT_EQ(refusal_of([&] { known->reload(); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(known->opened_by("second"), Opens::inference);
}

TEST_F(TokenFiles, keep_inference_and_control_apart) {
  const auto both = tokens("user", "master");
  EXPECT_EQ(status(Access::open, both.get()), 200U);
  EXPECT_EQ(status(Access::inference, both.get()), 401U);
  EXPECT_EQ(status(Access::inference, both.get(), "Bearer user"), 200U);
  EXPECT_EQ(status(Access::inference, both.get(), "bearer  user"), 200U);
  EXPECT_EQ(status(Access::inference, both.get(), "Bearer master"), 200U);
  EXPECT_EQ(status(Access::inference, both.get(), "Basic user"), 401U);
  EXPECT_EQ(status(Access::inference, both.get(), "user"), 401U);
  EXPECT_EQ(status(Access::inference, both.get(), "Bearer "), 401U);
  EXPECT_EQ(status(Access::inference, both.get(), "Bearer user, Bearer user"), 401U);
  EXPECT_EQ(status(Access::control, both.get()), 401U);
  EXPECT_EQ(status(Access::control, both.get(), "Bearer user"), 401U);
  EXPECT_EQ(status(Access::control, both.get(), "Bearer master", false), 200U);
}

TEST_F(TokenFiles, leave_control_to_the_machine_itself_if_it_has_none) {
  EXPECT_EQ(status(Access::control, nullptr), 200U);
  EXPECT_EQ(status(Access::control, nullptr, "", false), 403U);
  EXPECT_EQ(status(Access::inference, nullptr, "", false), 200U);
  const auto users = tokens("user");
  EXPECT_EQ(status(Access::control, users.get(), "Bearer user", false), 403U);
  EXPECT_EQ(status(Access::control, users.get(), "Bearer user"), 200U);
  EXPECT_EQ(status(Access::control, users.get()), 401U) << "no more open than inference";
  const AccessTokens masters{{.control = folder.write("admin_tokens", "master")}};
  EXPECT_EQ(status(Access::inference, &masters, "", false), 200U);
}

TEST_F(TokenFiles, leave_health_open) {
  for (const Place place : {Place::live, Place::ready, Place::model_ready})
    EXPECT_EQ(access_to(place), Access::open);
  for (const Place place : {Place::infer, Place::model, Place::server, Place::metrics,
                            Place::model_config, Place::nowhere})
    EXPECT_EQ(access_to(place), Access::inference);
}

TEST_F(TokenFiles, are_asked_for_by_a_server) {
  const HttpService guarded{system, models, {.tokens = tokens("user\n")}};
  server.emplace(loop.get_executor(), guarded);
  threads.emplace_back([this] { loop.run(); });
  const std::uint16_t port = server->listen("127.0.0.1", 0);
  RawClient client{port};
  EXPECT_EQ(client.ask(get("/v2/health/ready")).status, 200U);
  const RawAnswer none = client.ask(get("/v2/models/line"));
  EXPECT_EQ(none.status, 401U);
  EXPECT_EQ(none.header("www-authenticate"), "Bearer realm=\"stoker\"");
  EXPECT_EQ(client.ask(get("/v2/nothing")).status, 401U) << "it says nothing about what is there";
  const std::string body = rows(1, 2);
  EXPECT_EQ(client.ask(post(line_path, body, bearer("user"))).status, 200U);
  // A body that will not be used is not waited for.
  const std::string wrong = post(line_path, body, bearer("other"));
  const RawAnswer refused = client.ask(wrong.substr(0, wrong.size() - body.size()));
  EXPECT_EQ(refused.status, 401U);
  EXPECT_EQ(refused.header("www-authenticate"), "Bearer realm=\"stoker\", error=\"invalid_token\"");
  EXPECT_TRUE(client.is_at_end());
}

TEST_F(TokenFiles, are_tried_no_more_often_than_a_client_may_ask) {
  const HttpService guarded{system, models, {.tokens = tokens("user\n")}};
  server.emplace(loop.get_executor(), guarded, HttpServerOptions{.client_rate = 0.001});
  threads.emplace_back([this] { loop.run(); });
  const std::uint16_t port = server->listen("127.0.0.1", 0);
  const std::string guess = post(line_path, rows(1, 2), bearer("other"));
  EXPECT_EQ(RawClient{port}.ask(guess).status, 401U);
  EXPECT_EQ(RawClient{port}.ask(guess).status, 429U);
}

TEST(Clients, have_no_more_connections_than_they_may) {
  ClientLimits limits{2, 0};
  const auto now = ClientLimits::Clock::now();
  auto first = limits.enter("a", now);
  const auto second = limits.enter("a", now);
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(limits.enter("a", now));
  EXPECT_TRUE(limits.enter("b", now));
  EXPECT_TRUE(limits.enter("", now) && limits.enter("", now) && limits.enter("", now));
  first.reset();
  EXPECT_TRUE(limits.enter("a", now));
  EXPECT_EQ(limits.clients(), 1U) << "b has gone";
}

TEST(Clients, ask_no_more_often_than_they_may) {
  ClientLimits limits{0, 2};
  const auto start = ClientLimits::Clock::now();
  const auto one = limits.enter("a", start);
  EXPECT_EQ(one->ask(start), 0s);
  EXPECT_EQ(one->ask(start), 0s);
  const auto wait = one->ask(start);
  EXPECT_GT(wait, 0s);
  EXPECT_LE(wait, 500ms + 1us);
  EXPECT_GT(one->ask(start + 400ms), 0s);
  EXPECT_EQ(one->ask(start + 501ms), 0s);
  EXPECT_EQ(limits.enter("b", start)->ask(start), 0s) << "another client";
}

TEST(Clients, are_not_new_when_they_come_again_and_are_forgotten_later) {
  ClientLimits limits{0, 1};
  const auto start = ClientLimits::Clock::now();
  EXPECT_EQ(limits.enter("a", start)->ask(start), 0s);
  EXPECT_GT(limits.enter("a", start)->ask(start), 0s);
  for (int n = 0; n < 10'000; ++n) {
    const auto at = start + std::chrono::seconds{2 * n};
    EXPECT_EQ(limits.enter(std::to_string(n), at)->ask(at), 0s);
  }
  EXPECT_LE(limits.clients(), 128U);
}

TEST_F(HttpHouse, limits_the_connections_of_one_client) {
  const std::uint16_t port = open({.client_connections = 1});
  RawClient first{port};
  EXPECT_EQ(first.ask(get("/v2")).status, 200U);
  RawClient second{port};
  const RawAnswer refused = second.receive();
  EXPECT_EQ(refused.status, 429U);
  EXPECT_NE(refused.header("retry-after"), "");
  EXPECT_TRUE(second.is_at_end());
  const std::filesystem::path path = folder.path / "socket";
  server->listen(path);
  EXPECT_EQ(RawClient{path}.ask(get("/v2")).status, 200U) << "a client of the machine itself";
}

TEST_F(HttpHouse, leaves_places_to_others_when_a_client_floods_it) {
  const std::uint16_t port = open({.connections = 4, .client_connections = 1, .linger = 1h});
  RawClient first{port};
  EXPECT_EQ(first.ask(get("/v2")).status, 200U);
  RawClient second{port};
  EXPECT_EQ(second.receive().status, 429U) << "and does not go";
  RawClient third{port};
  EXPECT_EQ(third.receive().status, 0U) << "it is closed, and told nothing";
}

TEST_F(HttpHouse, limits_how_often_a_client_asks) {
  RawClient client{open({.client_rate = 0.001})};
  EXPECT_EQ(client.ask(post(line_path, rows(1, 2))).status, 200U);
  const RawAnswer refused = client.ask(post(line_path, rows(1, 2)));
  EXPECT_EQ(refused.status, 429U);
  EXPECT_GT(std::stoi(refused.header("retry-after")), 900);
  EXPECT_EQ(client.ask(get("/v2")).status, 429U) << "the connection goes on";
  EXPECT_EQ(refusal_of([&] {
              const HttpServer odd{loop.get_executor(), service, {.client_rate = -1}};
            }).code(),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stoker
