// A server of models, asked by raw bytes: connections, order, limits, clients that go, its end.
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <future>
#include <regex>

#include "stoker/api/asio.hpp"
#include "stoker/tests/serve/http_house.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

TEST_F(HttpHouse, answers_one_request_after_another_on_one_connection) {
  RawClient client{open()};
  for (int n = 0; n < 3; ++n) {
    const RawAnswer answer = client.ask(post(line_path, rows(n, 1)));
    EXPECT_EQ(answer.status, 200U);
    EXPECT_EQ(answer.header("content-type"), "application/json");
    EXPECT_EQ(result(answer.body), std::vector{2.0 * n + 4});
  }
  EXPECT_EQ(server->connections(), 1U);
}

TEST_F(HttpHouse, answers_a_request_that_comes_byte_by_byte) {
  RawClient client{open()};
  client.send_in_pieces(post(line_path, rows(1, 2)), 1);
  EXPECT_EQ(result(client.receive().body), std::vector{9.0});
  client.send_in_pieces(
      "POST " + line_path + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 1);
  for (const char byte : rows(1, 1)) client.send(std::string{"1\r\n"} + byte + "\r\n");
  client.send("0\r\n\r\n");
  EXPECT_EQ(result(client.receive().body), std::vector{6.0});
}

TEST_F(HttpHouse, answers_requests_that_are_sent_ahead_together_and_in_order) {
  RawClient client{open()};
  // The first one waits for the third: they run together.
  client.send(post(held_path, rows(1, 0)) + post(line_path, rows(2, 0)) +
              post(held_path, rows(3, 0)) + get("/v2/nothing") + post(line_path, rows(4, 0)));
  EXPECT_EQ(result(client.receive().body), std::vector{3.0});
  EXPECT_EQ(result(client.receive().body), std::vector{5.0});
  EXPECT_EQ(result(client.receive().body), std::vector{7.0});
  EXPECT_EQ(client.receive().status, 404U);
  EXPECT_EQ(result(client.receive().body), std::vector{9.0});
}

TEST_F(HttpHouse, reads_no_further_ahead_than_it_may) {
  RawClient client{open({.requests_ahead = 1})};
  const std::string one = post(held_path, rows(1, 0));
  client.send(one + post("/v2/nothing", "") + one);
  await_held(1);
  release();
  EXPECT_EQ(client.receive().status, 200U);
  EXPECT_EQ(client.receive().status, 404U);
  EXPECT_EQ(client.receive().status, 200U) << "the third came when the first was answered";
  EXPECT_EQ(held.status().get().totals.batches, 2U);
}

TEST_F(HttpHouse,
       takes_bodies_behind_an_unanswered_request_that_are_larger_than_it_may_read_ahead) {
  RawClient client{open({.bytes_ahead = 100})};
  const std::string padded = rows(2, 0) + std::string(200'000, ' ');
  std::jthread sender{[&] { client.send(post(held_path, rows(1, 0)) + post(line_path, padded)); }};
  await_held(1);
  release();
  EXPECT_EQ(result(client.receive().body), std::vector{3.0});
  EXPECT_EQ(result(client.receive().body), std::vector{5.0});
}

TEST_F(HttpHouse, cancels_the_requests_of_a_client_that_goes) {
  const std::uint16_t port = open();
  RawClient client{port};
  client.send(post(held_path, rows(1, 0)));
  await_held(1);
  client.close();
  await_held(0);
  EXPECT_EQ(held.status().get().totals.cancelled, 1U);
}

TEST_F(HttpHouse, takes_an_end_of_sending_for_a_client_that_goes_unless_told_otherwise) {
  RawClient client{open()};
  client.send(post(held_path, rows(1, 0)));
  await_held(1);
  client.end_sending();
  EXPECT_TRUE(client.is_at_end());
  EXPECT_EQ(held.status().get().totals.cancelled, 1U);
}

TEST_F(HttpHouse, serves_a_client_on_that_has_ended_its_sending_if_told_so) {
  RawClient client{open({.half_close = true})};
  client.send(post(held_path, rows(1, 0)) + post(line_path, rows(2, 0)));
  client.end_sending();
  await_held(1);
  release();
  EXPECT_EQ(result(client.receive().body), std::vector{3.0});
  EXPECT_EQ(result(client.receive().body), std::vector{5.0});
  EXPECT_TRUE(client.is_at_end());
}

TEST_F(HttpHouse, asks_for_the_body_of_a_client_that_waits) {
  RawClient client{open()};
  const std::string body = rows(1, 2);
  const std::string request = post(line_path, body, "Expect: 100-continue\r\n");
  client.send(request.substr(0, request.size() - body.size()));
  EXPECT_EQ(client.receive().status, 100U);
  client.send(body);
  EXPECT_EQ(result(client.receive().body), std::vector{9.0});
  // No interim answer comes before the final one of an earlier request.
  client.send(post(held_path, body) + request.substr(0, request.size() - body.size()));
  await_held(1);
  release();
  EXPECT_EQ(client.receive().status, 200U);
  EXPECT_EQ(client.receive().status, 100U);
  client.send(body);
  EXPECT_EQ(client.receive().status, 200U);
}

TEST_F(HttpHouse, answers_head_as_get_without_the_body) {
  RawClient client{open()};
  for (const char* target : {"/v2", "/v2/health/ready", "/v2/models/line", "/metrics"}) {
    const RawAnswer head = client.ask(get(target, "HEAD"), false);
    const RawAnswer whole = client.ask(get(target));
    EXPECT_EQ(head.status, 200U) << target;
    EXPECT_GT(std::stoul(head.header("content-length")), 0U);
    EXPECT_EQ(head.header("content-type"), whole.header("content-type"));
    EXPECT_EQ(whole.body.size(), std::stoul(whole.header("content-length")));
  }
}

TEST_F(HttpHouse, closes_when_the_client_asks_for_it) {
  const std::uint16_t port = open();
  RawClient closing{port};
  const RawAnswer answer =
      closing.ask("GET /v2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + get("/v2"));
  EXPECT_EQ(answer.header("connection"), "close");
  EXPECT_TRUE(closing.is_at_end()) << "what follows is not answered";
  RawClient old{port};
  EXPECT_EQ(old.ask("GET /v2 HTTP/1.0\r\n\r\n").status, 200U);
  EXPECT_TRUE(old.is_at_end());
}

TEST_F(HttpHouse, refuses_ambiguous_requests_and_closes) {
  const std::uint16_t port = open();
  for (const char* fields : {"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
                             "Content-Length: 1\r\nContent-Length: 2\r\n", "X: a\rb\r\n"}) {
    RawClient client{port};
    const std::string smuggled = get("/v2");
    client.send("POST " + line_path + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n" + smuggled);
    const RawAnswer answer = client.receive();
    EXPECT_EQ(answer.status, 400U) << fields;
    EXPECT_EQ(answer.header("connection"), "close");
    EXPECT_TRUE(client.is_at_end()) << "the smuggled request is not answered";
  }
}

TEST_F(HttpHouse, answers_what_came_before_a_request_that_it_refuses) {
  RawClient client{open()};
  client.send(post(held_path, rows(1, 0)) + "broken\r\n\r\n");
  await_held(1);
  release();
  EXPECT_EQ(result(client.receive().body), std::vector{3.0});
  EXPECT_EQ(client.receive().status, 400U);
  EXPECT_TRUE(client.is_at_end());
}

TEST_F(HttpHouse, refuses_a_port_that_is_taken) {
  const std::uint16_t port = open();
  EXPECT_EQ(refusal_of([&] { static_cast<void>(server->listen("127.0.0.1", port)); }).code(),
            ErrorCode::already_exists);
  EXPECT_EQ(refusal_of([&] { static_cast<void>(server->listen("203.0.113.1", 0)); }).code(),
            ErrorCode::not_found);
}

TEST_F(HttpHouse, answers_at_a_unix_socket) {
  open();
  const std::filesystem::path path = folder.path / "socket";
  server->listen(path);
  boost::asio::io_context own;
  boost::asio::local::stream_protocol::socket socket{own};
  socket.connect(boost::asio::local::stream_protocol::endpoint{path.string()});
  boost::asio::write(socket, boost::asio::buffer(get("/v2/health/live")));
  std::string head;
  boost::asio::read_until(socket, boost::asio::dynamic_buffer(head), "\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200")) << head;
  EXPECT_EQ(refusal_of([&] { server->listen(path); }).code(), ErrorCode::already_exists);
  server->drain(0s).get();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(HttpHouse, takes_the_place_of_a_unix_socket_that_was_left_behind) {
  open();
  const std::filesystem::path path = folder.path / "socket";
  {
    boost::asio::io_context own;
    const boost::asio::local::stream_protocol::acceptor left{own, {path.string()}};
  }
  ASSERT_TRUE(std::filesystem::exists(path));
  server->listen(path);
}

TEST_F(HttpHouse, leaves_files_alone_that_are_no_sockets) {
  open();
  const std::filesystem::path file = folder.write("notes", "precious");
  const std::filesystem::path empty = folder.path / "empty";
  std::filesystem::create_directory(empty);
  for (const auto& path : {file, empty})
    EXPECT_EQ(refusal_of([&] { server->listen(path); }).code(), ErrorCode::already_exists);
  EXPECT_TRUE(std::filesystem::is_regular_file(file));
  EXPECT_TRUE(std::filesystem::is_directory(empty));
}

TEST_F(HttpHouse, answers_what_has_come_before_it_ends) {
  const std::uint16_t port = open();
  RawClient idle{port};
  EXPECT_EQ(idle.ask(get("/v2/health/ready")).status, 200U);
  RawClient waiting{port};
  waiting.send(post(held_path, rows(1, 0)));
  await_held(1);
  const Future<void> ended = server->drain(1h);
  EXPECT_TRUE(idle.is_at_end());
  while (RawClient{port}.is_connected()) std::this_thread::yield();  // it closes on the loop
  EXPECT_TRUE(service.is_draining());
  EXPECT_FALSE(ended.ready());
  release();
  EXPECT_EQ(result(waiting.receive().body), std::vector{3.0});
  EXPECT_TRUE(waiting.is_at_end());
  waiting.close();
  idle.close();
  ended.get();
  EXPECT_EQ(server->connections(), 0U);
}

TEST_F(HttpHouse, refuses_what_is_not_answered_in_time_when_it_ends) {
  RawClient client{open()};
  client.send(post(held_path, rows(1, 0)));
  await_held(1);
  const Future<void> ended = server->drain(0s);
  const RawAnswer late = client.receive();
  EXPECT_EQ(late.status, 503U);
  EXPECT_NE(late.header("retry-after"), "");
  EXPECT_TRUE(client.is_at_end());
  client.close();
  ended.get();
  held.drain().get();
  EXPECT_EQ(held.status().get().totals.cancelled, 1U);
}

TEST_F(HttpHouse, refuses_requests_that_come_while_it_ends) {
  RawClient client{open()};
  client.send(post(held_path, rows(1, 0)) + "POST " + line_path +
              " HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
  await_held(1);
  const Future<void> ended = server->drain(1h);
  client.send(std::string(1000, ' '));
  release();
  EXPECT_EQ(client.receive().status, 200U);
  EXPECT_EQ(client.receive().status, 503U);
  EXPECT_TRUE(client.is_at_end());
  client.close();
  ended.get();
}

TEST_F(HttpHouse, ends_a_connection_with_the_answer_that_was_being_sent) {
  open({.idle_timeout = 1h});
  const std::filesystem::path path = folder.path / "socket";
  server->listen(path);
  const std::int64_t count = 100'000;
  models->set("large", serve("large", {.batch_size = count}));
  const nlohmann::json request{
      {"inputs",
       {{{"name", "rows"},
         {"shape", {count, 2}},
         {"datatype", "FP32"},
         {"data", std::vector<int>(static_cast<std::size_t>(2 * count), 12345)}}}}};
  RawClient client{path};
  client.send(post("/v2/models/large/infer", request.dump()));
  EXPECT_TRUE(client.has_part_of_answer()) << "the rest does not fit in the socket";
  const Future<void> ended = server->drain(1h);
  EXPECT_EQ(result(client.receive().body).size(), static_cast<std::size_t>(count));
  EXPECT_TRUE(client.is_at_end());
  client.close();
  ended.get();
}

TEST_F(HttpHouse, ends_a_connection_with_the_first_request_that_comes_while_it_ends) {
  RawClient client{open()};
  client.send(post(held_path, rows(1, 0)) +
              "POST /v2 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n");
  await_held(1);
  const Future<void> ended = server->drain(1h);
  client.send("x" + get("/v2") + get("/v2"));
  release();
  EXPECT_EQ(client.receive().status, 200U);
  const RawAnswer last = client.receive();
  EXPECT_EQ(last.status, 405U);
  EXPECT_EQ(last.header("connection"), "close");
  EXPECT_TRUE(client.is_at_end());
  client.close();
  ended.get();
}

TEST_F(HttpHouse, says_in_each_answer_when_it_was_made) {
  RawClient client{open()};
  const std::regex date{
      "(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-3][0-9] [A-Z][a-z]{2} 2[0-9]{3} "
      "[0-2][0-9]:[0-5][0-9]:[0-6][0-9] GMT"};
  for (const char* target : {"/v2", "/v2/nothing"}) {
    const std::string said = client.ask(get(target)).header("date");
    EXPECT_TRUE(std::regex_match(said, date)) << said;
  }
}

TEST_F(HttpHouse, tells_of_requests_that_it_refuses_unread) {
  std::promise<std::string> told;
  HttpServerOptions options{.body_bytes = 1};
  options.on_answer = [&told](const HttpAccess& access) {
    told.set_value(std::string{access.method} + " " + std::string{access.target} + " " +
                   std::to_string(access.status));
  };
  RawClient client{open(options)};
  EXPECT_EQ(client.ask(post(line_path, "ab")).status, 413U);
  EXPECT_EQ(told.get_future().get(), "POST " + line_path + " 413");
}

TEST_F(HttpHouse, tells_of_each_answer) {
  std::promise<std::string> told;
  HttpServerOptions options;
  options.on_answer = [&told](const HttpAccess& access) {
    told.set_value(std::string{access.method} + " " + std::string{access.target} + " " +
                   std::to_string(access.status));
  };
  RawClient client{open(options)};
  EXPECT_EQ(client.ask(get("/v2/models/x?y")).status, 404U);
  EXPECT_EQ(told.get_future().get(), "GET /v2/models/x?y 404");
}

TEST_F(HttpHouse, ends_in_any_order) {
  auto other = std::make_unique<boost::asio::io_context>();
  HttpServer lasting{other->get_executor(), service};
  RawClient client{lasting.listen("127.0.0.1", 0)};
  client.send(post(held_path, rows(1, 0)));
  while (held.status().get().queued == 0) other->poll();
  other.reset();  // the loop goes first, with a request under way
  EXPECT_TRUE(client.is_at_end());
  held.drain().get();
  EXPECT_EQ(held.status().get().totals.cancelled, 1U);
  EXPECT_EQ(lasting.connections(), 0U);
}

TEST_F(HttpHouse, may_be_destroyed_with_requests_under_way) {
  RawClient client{open()};
  client.send(post(held_path, rows(1, 0)));
  await_held(1);
  server.reset();
  EXPECT_TRUE(client.is_at_end());
  held.drain().get();
  EXPECT_EQ(held.status().get().totals.cancelled, 1U);
}

/// A system without threads of its own: its actors, the server and the client's answers share one thread.
TEST(HttpOnOneThread, answers_without_blocking_the_loop) {
  boost::asio::io_context loop{1};
  SystemOptions options;
  use_event_loop(options, loop.get_executor());
  const System system{options};
  const Device device = system.device("cpu");
  const DeviceScope scope{device};
  const ModelFolder folder;
  const AnyModel line =
      load_model(folder.save_line("line.safetensors", device), {.device = device});
  auto models = std::make_shared<ServedModels>();
  std::uint16_t port = 0;
  std::optional<HttpServer> server;
  auto work = boost::asio::make_work_guard(loop);
  std::jthread thread{[&] { loop.run(); }};
  models->set("line", start_serving(system.supervisor(), line));
  server.emplace(loop.get_executor(), HttpService{system, models});
  port = server->listen("127.0.0.1", 0);
  {
    RawClient client{port};
    for (int n = 0; n < 3; ++n)
      client.send(post("/v2/models/line/infer",
                       R"({"inputs":[{"name":"rows","shape":[1,2],"datatype":"FP32",)"
                       R"("data":[1,2]}]})"));
    for (int n = 0; n < 3; ++n) EXPECT_EQ(client.receive().status, 200U);
  }
  server->drain(0s).get();
  work.reset();
  loop.stop();
}

}  // namespace
}  // namespace stoker
