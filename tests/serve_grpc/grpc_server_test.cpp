// A gRPC server of the Open Inference Protocol, as a client sees it.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "stoker/tests/serve/http/tls_client.hpp"
#include "stoker/tests/serve_grpc/grpc_house.hpp"

namespace stoker::testing_grpc {
namespace {

using namespace std::chrono_literals;
using ::grpc::StatusCode;

class GrpcServers : public GrpcHouse {};

TEST_F(GrpcServers, are_live_and_ready_and_say_what_they_are) {
  EXPECT_TRUE(client.call("ServerLive").truth());
  EXPECT_TRUE(client.call("ServerReady").truth());
  const Answer metadata = client.call("ServerMetadata");
  EXPECT_EQ(metadata.bytes(1), std::vector<std::string>{"stoker"});
  EXPECT_EQ(metadata.bytes(2).size(), 1U);
}

TEST_F(GrpcServers, describe_their_models) {
  WireWriter named;
  named.bytes(1, "line");
  EXPECT_TRUE(client.call("ModelReady", named.written()).truth());
  const Answer metadata = client.call("ModelMetadata", named.written());
  ASSERT_TRUE(metadata.status.ok());
  EXPECT_EQ(metadata.bytes(1), std::vector<std::string>{"line"});
  EXPECT_EQ(metadata.bytes(2), std::vector<std::string>{"1"});
  EXPECT_EQ(metadata.bytes(3), std::vector<std::string>{"network_stoker"});
  const std::string input = metadata.bytes(4).at(0);
  EXPECT_EQ(Answer::bytes_of(input, 1), std::vector<std::string>{"rows"});
  EXPECT_EQ(Answer::bytes_of(input, 2), std::vector<std::string>{"FP32"});
  EXPECT_EQ(Answer::bytes_of(input, 3),
            std::vector<std::string>{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02"})
      << "[-1, 2], packed";
}

TEST_F(GrpcServers, answer_with_raw_elements_and_the_id_that_came) {
  const Answer answer = client.call("ModelInfer", request("line", {1, 2, 3, 4}, "seven").written());
  ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
  EXPECT_EQ(answer.bytes(1), std::vector<std::string>{"line"});
  EXPECT_EQ(answer.bytes(2), std::vector<std::string>{"1"});
  EXPECT_EQ(answer.bytes(3), std::vector<std::string>{"seven"});
  EXPECT_EQ(floats(answer.bytes(6).at(0)), (std::vector<float>{9, 19}));
  EXPECT_EQ(Answer::bytes_of(answer.bytes(5).at(0), 3), std::vector<std::string>{"\x02\x01"});
}

TEST_F(GrpcServers, take_elements_in_lists) {
  const std::string packed = raw({1, 2});
  WireWriter contents;
  contents.bytes(6, packed);
  WireWriter input = rows_input(1);
  input.message(5, contents);
  WireWriter message;
  message.bytes(1, "line").message(5, input);
  const Answer answer = client.call("ModelInfer", message.written());
  ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
  EXPECT_EQ(floats(answer.bytes(6).at(0)), std::vector<float>{9});
}

TEST_F(GrpcServers, take_messages_of_many_parts_up_to_their_limit) {
  std::vector<float> values(250'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7);
  const Answer answer = client.call("ModelInfer", request("line", values).written());
  ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
  const std::vector<float> results = floats(answer.bytes(6).at(0));
  ASSERT_EQ(results.size(), values.size() / 2);
  for (std::size_t i = 0; i < results.size(); ++i)
    ASSERT_EQ(results[i], 2 * values[2 * i] + 3 * values[2 * i + 1] + 1);
  values.resize(300'000);
  EXPECT_EQ(client.call("ModelInfer", request("line", values).written()).status.error_code(),
            StatusCode::RESOURCE_EXHAUSTED);
}

// gRPC would decode them before it compares their size with the limit.
TEST_F(GrpcServers, take_no_messages_that_are_compressed) {
  for (const auto coding : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP}) {
    client.compression = coding;
    EXPECT_EQ(
        client.call("ServerLive", std::string(std::size_t{4} << 20, '\0')).status.error_code(),
        StatusCode::UNIMPLEMENTED);
  }
  client.compression = GRPC_COMPRESS_NONE;
  EXPECT_TRUE(client.call("ServerLive").truth());
}

TEST_F(GrpcServers, give_classes_instead_of_numbers) {
  WireWriter output;
  output.bytes(1, line.outputs().at(0).name).message(2, parameter("classification", 1));
  WireWriter message = request("line", {1, 2});
  message.message(6, output);
  const Answer answer = client.call("ModelInfer", message.written());
  ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
  EXPECT_EQ(answer.bytes(6).at(0), (std::string{"\x03\0\0\0", 4} + "9:0"));
}

struct Refusal {
  const char* name;
  std::string message;
  StatusCode code;
  const char* text;
};
class RefusedMessages : public GrpcHouse, public testing::WithParamInterface<Refusal> {};

TEST_P(RefusedMessages, say_what_is_wrong_and_the_server_goes_on) {
  const Refusal& refusal = GetParam();
  const Answer answer = client.call("ModelInfer", refusal.message);
  EXPECT_EQ(answer.status.error_code(), refusal.code);
  EXPECT_EQ(answer.status.error_message(), refusal.text);
  EXPECT_TRUE(client.call("ModelInfer", request("line", {1, 2}).written()).status.ok());
}

std::vector<Refusal> refusals() {
  const auto with_input = [](const WireWriter& input) {
    WireWriter message;
    return message.bytes(1, "line").message(5, input);
  };
  const auto with_contents = [&](std::uint64_t field, std::string_view bytes) {
    WireWriter contents;
    contents.bytes(field, bytes);
    WireWriter input = rows_input(1);
    return with_input(input.message(5, contents)).written();
  };
  WireWriter version;
  version.bytes(1, "line").bytes(2, "7");
  WireWriter none;
  none.bytes(1, "line");
  WireWriter half;
  half.bytes(1, "rows").bytes(2, "FP16").packed(3, std::vector<std::int64_t>{1, 2});
  WireWriter negative;
  negative.bytes(1, "rows").bytes(2, "FP32").packed(3, std::vector<std::int64_t>{-1, 2});
  WireWriter huge;
  huge.bytes(1, "rows").bytes(2, "FP32").packed(
      3, std::vector<std::int64_t>{std::int64_t{1} << 40, std::int64_t{1} << 40});
  WireWriter both = rows_input(1);
  WireWriter contents;
  contents.bytes(6, raw({1, 2}));
  both.message(5, contents);
  return {
      {"garbage", "\x0b", StatusCode::INVALID_ARGUMENT,
       "the message is no protobuf message: a field of an unknown kind (byte 0)"},
      {"cut", request("line", {1, 2}).written().substr(0, 20), StatusCode::INVALID_ARGUMENT,
       "the message is no protobuf message: a field ends too late (byte 6)"},
      {"nobody", request("lime", {1, 2}).written(), StatusCode::NOT_FOUND,
       "there is no model 'lime'; did you mean 'line'?"},
      {"version", version.written(), StatusCode::NOT_FOUND, "model 'line' has no version '7'"},
      {"missing", none.written(), StatusCode::INVALID_ARGUMENT,
       "input 'rows' (FP32 [-1,2]) is missing"},
      {"short", request("line", {1, 2}).bytes(7, "x").written(), StatusCode::INVALID_ARGUMENT,
       "the request has more inputs than the model, which has 1"},
      {"type", with_input(half).written(), StatusCode::INVALID_ARGUMENT,
       "input 'rows': expected FP32 [-1,2], came FP16 [1,2]"},
      {"negative", with_input(negative).written(), StatusCode::INVALID_ARGUMENT,
       "input 'rows': its shape has a negative dimension"},
      {"huge", with_input(huge).written(), StatusCode::INVALID_ARGUMENT,
       "input 'rows': the dimensions of its shape multiply to too many elements"},
      {"few", with_contents(6, raw({1})), StatusCode::INVALID_ARGUMENT,
       "input 'rows': [1,2] has 2 elements, contents have 1"},
      {"list", with_contents(2, "\x01\x02"), StatusCode::INVALID_ARGUMENT,
       "input 'rows': it is FP32, and its contents are of another type"},
      {"uneven", with_contents(6, "12345"), StatusCode::INVALID_ARGUMENT,
       "the message is no protobuf message: packed numbers end too early (byte 26)"},
      {"both", with_input(both).bytes(7, raw({1, 2})).written(), StatusCode::INVALID_ARGUMENT,
       "input 'rows': it has contents, and the request has raw_input_contents"},
      {"sequence", request("line", {1, 2}).message(4, parameter("sequence_id", 3)).written(),
       StatusCode::INVALID_ARGUMENT, "sequences are not supported: 'sequence_id'"},
      {"timeout", request("line", {1, 2}).message(4, parameter("timeout", -3)).written(),
       StatusCode::INVALID_ARGUMENT, "the parameter 'timeout' is no number of 0 or more"},
  };
}
INSTANTIATE_TEST_SUITE_P(Each, RefusedMessages, testing::ValuesIn(refusals()),
                         [](const auto& each) { return std::string{each.param.name}; });

TEST_F(GrpcServers, have_no_other_methods) {
  EXPECT_EQ(client.call("ModelTrain").status.error_code(), StatusCode::UNIMPLEMENTED);
}

TEST_F(GrpcServers, keep_the_deadline_of_a_call) {
  const auto call = client.start("ModelInfer", request("held", {1, 2}).written(), 50ms);
  EXPECT_EQ(call->wait().status.error_code(), StatusCode::DEADLINE_EXCEEDED);
  await_held(0);
  EXPECT_EQ(held.status().get().running, 0U);
}

TEST_F(GrpcServers, keep_the_timeout_of_a_request) {
  WireWriter message = request("held", {1, 2});
  const Answer answer =
      client.call("ModelInfer", message.message(4, parameter("timeout", 1000)).written());
  EXPECT_EQ(answer.status.error_code(), StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(answer.status.error_message(), "the deadline of the request has passed");
}

TEST_F(GrpcServers, cancel_the_work_of_a_client_that_goes_away) {
  const auto call = client.start("ModelInfer", request("held", {1, 2}).written());
  await_held(1);
  call->context.TryCancel();
  EXPECT_EQ(call->wait().status.error_code(), StatusCode::CANCELLED);
  await_held(0);
}

TEST_F(GrpcServers, refuse_what_is_beyond_the_queue) {
  std::vector<std::unique_ptr<GrpcClient::Call>> calls;
  calls.reserve(2);
  models->set(
      "full",
      serve("full",
            {.batch_size = 64, .batch_timeout = 1h, .wait = BatchWait::full, .max_requests = 2}));
  const ServedModels::Snapshot kept = models->snapshot();
  for (int i = 0; i < 2; ++i)
    calls.push_back(client.start("ModelInfer", request("full", {1, 2}).written()));
  Answer refused;
  do {
    refused = client.start("ModelInfer", request("full", {1, 2}).written(), 200ms)->wait();
  } while (refused.status.error_code() == StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(refused.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(refused.status.error_message(), "too many requests wait");
  EXPECT_TRUE(refused.retry_after.has_value());
  for (const auto& call : calls) call->context.TryCancel();
}

TEST_F(GrpcServers, say_that_a_model_is_not_ready) {
  models->announce("later");
  const Answer answer = client.call("ModelInfer", request("later", {1, 2}).written());
  EXPECT_EQ(answer.status.error_code(), StatusCode::UNAVAILABLE);
  WireWriter named;
  named.bytes(1, "later");
  EXPECT_FALSE(client.call("ModelReady", named.written()).truth());
  EXPECT_FALSE(client.call("ServerReady").truth());
}

TEST_F(GrpcServers, answer_what_runs_before_they_end) {
  const auto call = client.start("ModelInfer", request("held", {1, 2}).written());
  await_held(1);
  const Future<void> drained = server.drain(1h);
  release();
  const Answer answer = call->wait();
  ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
  EXPECT_EQ(floats(answer.bytes(6).at(0)), std::vector<float>{9});
  drained.get();
}

TEST_F(GrpcServers, may_be_drained_twice_and_for_ever) {
  const auto call = client.start("ModelInfer", request("held", {1, 2}).written());
  await_held(1);
  const Future<void> first = server.drain(std::chrono::nanoseconds::max());
  const Future<void> second = server.drain(1ms);
  while (client.call("ServerLive").status.ok()) {  // until it accepts no calls
  }
  release();
  EXPECT_TRUE(call->wait().status.ok());
  first.get();
  second.get();
}

TEST_F(GrpcServers, cancel_what_runs_after_their_patience) {
  const auto call = client.start("ModelInfer", request("held", {1, 2}).written());
  await_held(1);
  server.drain(1ms).get();
  EXPECT_FALSE(call->wait().status.ok());
  await_held(0);
}

TEST_F(GrpcServers, refuse_a_port_that_is_taken) {
  try {
    const GrpcServer second{system, models, {.port = server.port()}};
    FAIL() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::already_exists);
  }
}

TEST_F(GrpcServers, ask_for_tokens_but_not_for_health) {
  folder.write("tokens", "secret\n");
  const GrpcServer guarded{system,
                           models,
                           {.port = 0,
                            .tokens = std::make_shared<AccessTokens>(
                                AccessTokenFiles{.inference = folder.path / "tokens"})}};
  GrpcClient stranger{guarded.port()};
  EXPECT_TRUE(stranger.call("ServerLive").truth());
  const std::string message = request("line", {1, 2}).written();
  EXPECT_EQ(stranger.call("ModelInfer", message).status.error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(stranger.call("ServerMetadata").status.error_code(), StatusCode::UNAUTHENTICATED);
  const auto with = [&](const std::string& token) {
    return stranger.start("ModelInfer", message, 0ms, "Bearer " + token)->wait().status;
  };
  EXPECT_EQ(with("other").error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(with("secret").ok());
  const auto stream = stranger.stream();
  EXPECT_FALSE(stream->read().has_value());
  EXPECT_EQ(stream->finish().error_code(), StatusCode::UNAUTHENTICATED);
}

TEST_F(GrpcServers, speak_tls_with_a_certificate) {
  const auto certificate = folder.path / "cert.pem";
  const auto key = folder.path / "key.pem";
  write_certificate("stoker.test", certificate, key);
  const GrpcServer secure{
      system, models, {.port = 0, .tls_certificate = certificate, .tls_key = key}};
  std::ifstream file{certificate};
  const std::string pem{std::istreambuf_iterator<char>{file}, {}};
  GrpcClient trusting{secure.port(), pem, "stoker.test"};
  EXPECT_TRUE(trusting.call("ModelInfer", request("line", {1, 2}).written()).status.ok());
  GrpcClient plain{secure.port()};
  EXPECT_EQ(plain.call("ServerLive").status.error_code(), StatusCode::UNAVAILABLE);
}

TEST_F(GrpcServers, refuse_files_of_tls_that_are_not_there) {
  const auto code = [&](const std::filesystem::path& certificate,
                        const std::filesystem::path& key) {
    try {
      const GrpcServer server{
          system, models, {.port = 0, .tls_certificate = certificate, .tls_key = key}};
      return ErrorCode::cancelled;
    } catch (const Error& error) {
      return error.code();
    }
  };
  EXPECT_EQ(code("nothing.pem", "nothing.key"), ErrorCode::not_found);
  EXPECT_EQ(code("nothing.pem", {}), ErrorCode::invalid_argument);
}

class GrpcStreams : public GrpcHouse {};

TEST_F(GrpcStreams, answer_requests_in_their_order) {
  const auto stream = client.stream();
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(stream->write(request("line", {static_cast<float>(i), 0}).written()));
  stream->end_of_writes();
  for (int i = 0; i < 3; ++i) {
    const std::optional<std::string> answer = stream->read();
    ASSERT_TRUE(answer.has_value());
    const std::string response = Answer::bytes_of(*answer, 2).at(0);
    EXPECT_EQ(floats(Answer::bytes_of(response, 6).at(0)),
              std::vector<float>{2 * static_cast<float>(i) + 1});
  }
  EXPECT_FALSE(stream->read().has_value());
  EXPECT_TRUE(stream->finish().ok());
}

TEST_F(GrpcStreams, run_requests_together) {
  const auto stream = client.stream();
  // Neither is answered before both are there.
  ASSERT_TRUE(stream->write(request("held", {1, 0}).written()));
  ASSERT_TRUE(stream->write(request("held", {2, 0}).written()));
  EXPECT_TRUE(stream->read().has_value());
  EXPECT_TRUE(stream->read().has_value());
  stream->end_of_writes();
  EXPECT_FALSE(stream->read().has_value());
  EXPECT_TRUE(stream->finish().ok());
}

TEST_F(GrpcStreams, go_on_after_a_request_that_failed) {
  const auto stream = client.stream();
  ASSERT_TRUE(stream->write(request("lime", {1, 0}).written()));
  ASSERT_TRUE(stream->write(request("line", {1, 0}).written()));
  stream->end_of_writes();
  EXPECT_EQ(Answer::bytes_of(stream->read().value_or(""), 1),
            std::vector<std::string>{"there is no model 'lime'; did you mean 'line'?"});
  EXPECT_EQ(Answer::bytes_of(stream->read().value_or(""), 2).size(), 1U);
  EXPECT_TRUE(stream->finish().ok());
}

TEST_F(GrpcStreams, cancel_their_requests_when_the_client_goes_away) {
  {
    const auto stream = client.stream();
    ASSERT_TRUE(stream->write(request("held", {1, 0}).written()));
    await_held(1);
    stream->context.TryCancel();
    EXPECT_FALSE(stream->read().has_value());
    EXPECT_EQ(stream->finish().error_code(), StatusCode::CANCELLED);
  }
  await_held(0);
}

TEST_F(GrpcStreams, may_be_cancelled_at_any_time) {
  for (int n = 0; n < 60; ++n) {
    const auto stream = client.stream();
    for (int i = 0; i < n % 4; ++i)
      static_cast<void>(stream->write(request("line", {1, 0}).written()));
    for (int i = 0; i < n % 3 && i < n % 4; ++i) EXPECT_TRUE(stream->read().has_value());
    stream->context.TryCancel();
    EXPECT_EQ(stream->finish().error_code(), StatusCode::CANCELLED);
    const auto call = client.start("ModelInfer", request("line", {1, 0}).written());
    call->context.TryCancel();
    static_cast<void>(call->wait());  // perhaps it was answered first
  }
  EXPECT_TRUE(client.call("ServerLive").truth());
}

TEST_F(GrpcStreams, read_no_further_than_their_limit) {
  models->set("all",
              serve("all", {.batch_size = 64, .batch_timeout = 1h, .wait = BatchWait::full}));
  const Serving all = *models->snapshot()->at("all").answering()->serving;
  const auto stream = client.stream();
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(stream->write(request("all", {1, 0}).written()));
  while (all.status().get().queued < 4) std::this_thread::yield();
  EXPECT_EQ(client.call("ServerLive").truth(), true);
  EXPECT_EQ(all.status().get().queued, 4U) << "two more were sent";
  all.with_timeout(0ns);
  stream->end_of_writes();
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(stream->read().has_value());
  EXPECT_TRUE(stream->finish().ok());
}

}  // namespace
}  // namespace stoker::testing_grpc
