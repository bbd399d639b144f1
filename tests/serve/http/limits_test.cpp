// What a server takes of its clients and what not: bodies, memory, time, connections.
#include "stoker/tests/serve/http_house.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

TEST_F(HttpHouse, refuses_bodies_beyond_the_limit_before_they_come) {
  RawClient client{open({.body_bytes = 1000})};
  client.send("POST " + line_path + " HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n");
  EXPECT_EQ(client.receive().status, 413U);
  EXPECT_TRUE(client.is_at_end());
}

TEST_F(HttpHouse, lets_a_client_that_sends_too_much_read_why) {
  RawClient client{open({.body_bytes = 1000})};
  client.send(post(line_path, std::string(500'000, ' ')));  // all of it, before it reads
  EXPECT_EQ(client.receive().status, 413U);
}

TEST_F(HttpHouse, refuses_clients_that_are_too_slow) {
  RawClient head{open({.header_timeout = 20ms, .body_timeout = 20ms})};
  head.send("GET /v2 HT");
  EXPECT_EQ(head.receive().status, 408U);
  EXPECT_TRUE(head.is_at_end());
  RawClient body{server->listen("127.0.0.1", 0)};
  body.send("POST " + line_path + " HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n123");
  EXPECT_EQ(body.receive().status, 408U);
  EXPECT_TRUE(body.is_at_end());
}

TEST_F(HttpHouse, closes_connections_that_are_not_used) {
  RawClient client{open({.idle_timeout = 20ms})};
  EXPECT_TRUE(client.is_at_end());
}

TEST_F(HttpHouse, waits_for_as_long_as_it_is_told) {
  const auto for_ever = std::chrono::nanoseconds::max();
  RawClient client{open({.header_timeout = for_ever,
                         .body_timeout = for_ever,
                         .idle_timeout = for_ever,
                         .linger = 1s})};
  client.send_in_pieces(post(held_path, rows(1, 0)), 1);
  await_held(1);
  const Future<void> ended = server->drain(for_ever);
  release();
  EXPECT_EQ(client.receive().status, 200U);
  client.close();
  ended.get();
}

TEST_F(HttpHouse, refuses_connections_beyond_the_limit) {
  const std::uint16_t port = open({.connections = 1});
  RawClient first{port};
  EXPECT_EQ(first.ask(get("/v2")).status, 200U);
  RawClient second{port};
  const RawAnswer refused = second.receive();  // it need not ask
  EXPECT_EQ(refused.status, 503U);
  EXPECT_NE(refused.header("retry-after"), "");
  EXPECT_TRUE(second.is_at_end());
  EXPECT_EQ(first.ask(get("/v2")).status, 200U);
}

TEST_F(HttpHouse, refuses_bodies_beyond_the_memory_of_all) {
  const std::string body = rows(1, 0);
  const std::uint16_t port = open({.all_body_bytes = 2 * body.size()});
  RawClient first{port};
  first.send(post(held_path, body));
  await_held(1);  // its body counts until it is answered
  RawClient second{port};
  const std::string large = post(line_path, body + std::string(body.size(), ' '));
  second.send(large.substr(0, large.size() - 2 * body.size()));
  const RawAnswer refused = second.receive();
  EXPECT_EQ(refused.status, 503U) << "before the body";
  EXPECT_NE(refused.header("retry-after"), "");
  EXPECT_TRUE(second.is_at_end());
  RawClient third{port};
  third.send("POST " + line_path + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  third.send("ffff\r\n" + std::string(body.size() + 1, ' '));
  EXPECT_EQ(third.receive().status, 503U) << "when more has come";
  EXPECT_EQ(RawClient{port}.ask(post(line_path, body)).status, 200U);
  release();
  EXPECT_EQ(first.receive().status, 200U);
  RawClient again{port};
  EXPECT_EQ(again.ask(large).status, 200U) << "all of it was given back";
}

TEST_F(HttpHouse, takes_no_memory_for_bodies_that_are_only_promised) {
  const std::uint16_t port = open({.all_body_bytes = 1000});
  const std::string promise =
      "POST " + line_path + " HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n";
  RawClient first{port};
  RawClient second{port};
  first.send(promise);
  second.send(promise + std::string(900, ' '));
  EXPECT_EQ(second.receive().status, 400U);
  first.send(std::string(900, ' '));
  EXPECT_EQ(first.receive().status, 400U);
}

TEST_F(HttpHouse, refuses_limits_that_it_cannot_keep) {
  for (const HttpServerOptions& options :
       {HttpServerOptions{.header_bytes = std::size_t{1} << 32U},
        HttpServerOptions{.body_bytes = 0}, HttpServerOptions{.all_body_bytes = 0},
        HttpServerOptions{.connections = 0}})
    EXPECT_EQ(refusal_of([&] {
                const HttpServer refused{loop.get_executor(), service, options};
              }).code(),
              ErrorCode::invalid_argument);
}

TEST_F(HttpHouse, gives_a_client_time_for_its_body_from_when_it_is_asked_for_it) {
  const std::string body = rows(1, 2);
  const std::string request = post(line_path, body, "Expect: 100-continue\r\n");
  const std::string head = request.substr(0, request.size() - body.size());
  const std::uint16_t port = open({.body_timeout = 200ms});
  RawClient client{port};
  client.send(post(held_path, body) + head);
  await_held(1);
  RawClient late{port};  // when its time is over, the first client's would be, too
  EXPECT_EQ(late.ask(head).status, 100U);
  EXPECT_EQ(late.receive().status, 408U);
  release();
  EXPECT_EQ(client.receive().status, 200U);
  EXPECT_EQ(client.receive().status, 100U);
}

}  // namespace
}  // namespace stoker
