// A server over TLS: versions, certificates that change, clients that go halfway.
#include "stoker/tests/serve/http/tls_client.hpp"
#include "stoker/tests/serve/http_house.hpp"

namespace stoker {
namespace {

using namespace std::chrono_literals;

class OverTls : public HttpHouse {
 protected:
  void write(const std::string& name) const {
    write_certificate(name, files.certificate, files.key);
  }
  std::uint16_t open_secure(HttpServerOptions options = {}) {
    write("first");
    certificate = std::make_shared<TlsCertificate>(files);
    options.tls = certificate;
    return open(options);
  }

  const TlsFiles files{folder.path / "cert.pem", folder.path / "key.pem"};
  std::shared_ptr<TlsCertificate> certificate;
};

TEST_F(OverTls, answers_as_without_it) {
  TlsClient client{open_secure()};
  ASSERT_TRUE(client.is_secure());
  EXPECT_EQ(client.server_name(), "first");
  EXPECT_EQ(result(client.ask(post(line_path, rows(1, 2))).body), std::vector{9.0});
  client.send(post(held_path, rows(1, 0)) + post(line_path, rows(2, 0)) +
              post(held_path, rows(3, 0)) + get("/v2/nothing"));
  EXPECT_EQ(result(client.receive().body), std::vector{3.0});
  EXPECT_EQ(result(client.receive().body), std::vector{5.0});
  EXPECT_EQ(result(client.receive().body), std::vector{7.0});
  EXPECT_EQ(client.receive().status, 404U);
  EXPECT_EQ(client.ask(get("/v2", "HEAD"), false).status, 200U);
}

TEST_F(OverTls, reads_and_writes_bodies_of_many_records) {
  const std::int64_t count = 50'000;
  models->set("large", serve("large", {.batch_size = count}));
  const nlohmann::json request{
      {"inputs",
       {{{"name", "rows"},
         {"shape", {count, 2}},
         {"datatype", "FP32"},
         {"data", std::vector<int>(static_cast<std::size_t>(2 * count), 1)}}}}};
  TlsClient client{open_secure()};
  EXPECT_EQ(result(client.ask(post("/v2/models/large/infer", request.dump())).body),
            std::vector<double>(static_cast<std::size_t>(count), 6.0));
}

TEST_F(OverTls, speaks_no_version_before_1_2) {
  const std::uint16_t port = open_secure();
  EXPECT_FALSE((TlsClient{port, TLS1_1_VERSION}.is_secure()));
  EXPECT_TRUE((TlsClient{port, TLS1_2_VERSION}.is_secure()));
  EXPECT_TRUE((TlsClient{port, TLS1_3_VERSION}.is_secure()));
  RawClient plain{port};
  plain.send(get("/v2"));
  EXPECT_EQ(plain.receive().status, 0U) << "it is no TLS";
}

TEST_F(OverTls, shows_new_clients_the_certificate_that_was_read_again) {
  const std::uint16_t port = open_secure();
  TlsClient before{port};
  write("second");
  EXPECT_EQ(TlsClient{port}.server_name(), "first");
  certificate->reload();
  EXPECT_EQ(TlsClient{port}.server_name(), "second");
  EXPECT_EQ(before.ask(get("/v2")).status, 200U) << "its connection goes on";
}

TEST_F(OverTls, keeps_its_certificate_if_there_is_no_better_one) {
  const std::uint16_t port = open_secure();
  write_certificate("other", folder.path / "other.pem", files.key);  // another key
  EXPECT_EQ(refusal_of([&] { certificate->reload(); }).code(), ErrorCode::invalid_argument);
  folder.write("key.pem", "no key");
  EXPECT_EQ(refusal_of([&] { certificate->reload(); }).code(), ErrorCode::invalid_argument);
  std::filesystem::remove(files.certificate);
  EXPECT_EQ(refusal_of([&] { certificate->reload(); }).code(), ErrorCode::not_found);
  EXPECT_EQ(TlsClient{port}.server_name(), "first");
}

TEST_F(OverTls, says_the_end_of_a_connection) {
  TlsClient client{open_secure()};
  EXPECT_EQ(client.ask(post(line_path, rows(1, 2), "Connection: close\r\n")).status, 200U);
  EXPECT_TRUE(client.is_at_end());
  EXPECT_TRUE(client.was_told_the_end());
}

TEST_F(OverTls, lets_a_client_that_sends_too_much_read_why) {
  TlsClient client{open_secure({.body_bytes = 1000})};
  client.send(post(line_path, std::string(500'000, ' ')));
  EXPECT_EQ(client.receive().status, 413U);
}

TEST_F(OverTls, takes_an_end_of_sending_for_a_client_that_goes_unless_told_otherwise) {
  const std::uint16_t port = open_secure();
  TlsClient client{port};
  client.send(post(held_path, rows(1, 0)));
  await_held(1);
  client.say_end();
  EXPECT_TRUE(client.is_at_end());
  EXPECT_EQ(held.status().get().totals.cancelled, 1U);
}

TEST_F(OverTls, serves_a_client_on_that_has_ended_its_sending_if_told_so) {
  TlsClient client{open_secure({.half_close = true})};
  client.send(post(held_path, rows(1, 0)));
  client.say_end();
  await_held(1);
  release();
  EXPECT_EQ(result(client.receive().body), std::vector{3.0});
}

TEST_F(OverTls, takes_a_connection_that_is_cut_for_a_client_that_goes) {
  TlsClient client{open_secure({.half_close = true})};
  client.send(post(held_path, rows(1, 0)));
  await_held(1);
  client.end_sending();  // of the socket: TLS was not told
  EXPECT_TRUE(client.is_at_end());
  EXPECT_EQ(held.status().get().totals.cancelled, 1U);
}

TEST_F(OverTls, waits_for_no_handshake_longer_than_for_a_head) {
  RawClient silent{open_secure({.header_timeout = 20ms})};
  EXPECT_TRUE(silent.is_at_end());
}

TEST_F(OverTls, ends_as_without_it) {
  const std::uint16_t port = open_secure();
  RawClient amid_handshake{port};
  TlsClient idle{port};
  TlsClient waiting{port};
  waiting.send(post(held_path, rows(1, 0)));
  await_held(1);
  const Future<void> ended = server->drain(1h);
  EXPECT_TRUE(idle.is_at_end());
  EXPECT_TRUE(amid_handshake.is_at_end());
  release();
  EXPECT_EQ(result(waiting.receive().body), std::vector{3.0});
  EXPECT_TRUE(waiting.is_at_end());
  waiting.close();
  idle.close();
  ended.get();
}

TEST_F(OverTls, leaves_unix_sockets_in_the_clear) {
  open_secure();
  const std::filesystem::path path = folder.path / "socket";
  server->listen(path);
  EXPECT_EQ(RawClient{path}.ask(get("/v2")).status, 200U);
}

TEST_F(OverTls, refuses_connections_beyond_the_limit) {
  const std::uint16_t port = open_secure({.connections = 1});
  TlsClient first{port};
  EXPECT_EQ(first.ask(get("/v2")).status, 200U);
  TlsClient second{port};
  EXPECT_EQ(second.receive().status, 503U);
}

}  // namespace
}  // namespace stoker
