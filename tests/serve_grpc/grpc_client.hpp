// A client of the protocol's gRPC service that knows nothing of Stoker's reading: messages are written field by field,
// and sent with gRPC's generic stub.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/pipeline/protobuf/wire.hpp"
#include "stoker/pipeline/protobuf/wire_writer.hpp"

namespace stoker::testing_grpc {

using protobuf::WireWriter;

/// An answer, its message in fields.
struct Answer {
  ::grpc::Status status;
  std::string message;
  std::optional<std::string> retry_after = {};  ///< grpc-retry-pushback-ms

  /// All contents of a field that has bytes, in order.
  [[nodiscard]] std::vector<std::string> bytes(std::uint32_t field) const {
    return bytes_of(message, field);
  }
  [[nodiscard]] static std::vector<std::string> bytes_of(const std::string& message,
                                                         std::uint32_t field) {
    protobuf::Progress progress{std::as_bytes(std::span{message}), "answer", "test"};
    protobuf::Wire wire{std::as_bytes(std::span{message}), progress};
    std::vector<std::string> found;
    while (wire.next())
      if (wire.number() == field) found.emplace_back(wire.text());
    EXPECT_FALSE(progress.stopped());
    return found;
  }
  /// The boolean of field 1.
  [[nodiscard]] bool truth() const { return message == std::string{"\x08\x01", 2}; }
};

inline ::grpc::ByteBuffer buffer_of(const std::string& message) {
  const ::grpc::Slice slice{message};
  return {&slice, 1};
}

inline std::string text_of(const ::grpc::ByteBuffer& buffer) {
  std::vector<::grpc::Slice> slices;
  std::string text;
  if (!buffer.Valid() || !buffer.Dump(&slices).ok()) return text;
  for (const ::grpc::Slice& slice : slices)
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return text;
}

class GrpcClient {
 public:
  explicit GrpcClient(std::uint16_t port)
      : channel_{::grpc::CreateChannel("127.0.0.1:" + std::to_string(port),
                                       ::grpc::InsecureChannelCredentials())},
        stub_{channel_} {}
  /// By TLS: the server's certificate is that in `pem`, for that name.
  GrpcClient(std::uint16_t port, const std::string& pem, const std::string& name)
      : channel_{[&] {
          ::grpc::ChannelArguments arguments;
          arguments.SetSslTargetNameOverride(name);
          return ::grpc::CreateCustomChannel(
              "127.0.0.1:" + std::to_string(port),
              ::grpc::SslCredentials(
                  {.pem_root_certs = pem, .pem_private_key = {}, .pem_cert_chain = {}}),
              arguments);
        }()},
        stub_{channel_} {}

  /// A call that runs.
  struct Call {
    ::grpc::ClientContext context;
    ::grpc::CompletionQueue queue;
    std::unique_ptr<::grpc::GenericClientAsyncResponseReader> reader;
    ::grpc::ByteBuffer incoming;
    ::grpc::Status status;

    Answer wait() {
      void* tag = nullptr;
      bool ok = false;
      EXPECT_TRUE(queue.Next(&tag, &ok));
      Answer answer{.status = status, .message = text_of(incoming)};
      const auto& trailing = context.GetServerTrailingMetadata();
      if (const auto retry = trailing.find("grpc-retry-pushback-ms"); retry != trailing.end())
        answer.retry_after = std::string{retry->second.data(), retry->second.size()};
      return answer;
    }
    ~Call() {
      queue.Shutdown();
      void* tag = nullptr;
      bool ok = false;
      while (queue.Next(&tag, &ok)) {
      }
    }
  };

  std::unique_ptr<Call> start(const std::string& method, const std::string& message,
                              std::chrono::milliseconds deadline = std::chrono::milliseconds{0},
                              const std::string& authorization = {}) {
    auto call = std::make_unique<Call>();
    if (compression != GRPC_COMPRESS_NONE) call->context.set_compression_algorithm(compression);
    if (!authorization.empty()) call->context.AddMetadata("authorization", authorization);
    if (deadline.count() > 0)
      call->context.set_deadline(std::chrono::system_clock::now() + deadline);
    call->reader =
        stub_.PrepareUnaryCall(&call->context, "/inference.GRPCInferenceService/" + method,
                               buffer_of(message), &call->queue);
    call->reader->StartCall();
    call->reader->Finish(&call->incoming, &call->status, call.get());
    return call;
  }
  Answer call(const std::string& method, const std::string& message = {}) {
    return start(method, message)->wait();
  }
  grpc_compression_algorithm compression = GRPC_COMPRESS_NONE;  ///< of requests

  /// Sends all messages, then reads all answers.
  struct Stream {
    ::grpc::ClientContext context;
    ::grpc::CompletionQueue queue;
    std::unique_ptr<::grpc::GenericClientAsyncReaderWriter> stream;

    bool await() {
      void* tag = nullptr;
      bool ok = false;
      return queue.Next(&tag, &ok) && ok;
    }
    bool write(const std::string& message) {
      stream->Write(buffer_of(message), this);
      return await();
    }
    void end_of_writes() {
      stream->WritesDone(this);
      EXPECT_TRUE(await());
    }
    /// Nothing at the end.
    std::optional<std::string> read() {
      ::grpc::ByteBuffer buffer;
      stream->Read(&buffer, this);
      if (!await()) return {};
      return text_of(buffer);
    }
    ::grpc::Status finish() {
      ::grpc::Status status;
      stream->Finish(&status, this);
      await();
      return status;
    }
    ~Stream() {
      queue.Shutdown();
      void* tag = nullptr;
      bool ok = false;
      while (queue.Next(&tag, &ok)) {
      }
    }
  };
  std::unique_ptr<Stream> stream() {
    auto stream = std::make_unique<Stream>();
    stream->stream = stub_.PrepareCall(
        &stream->context, "/inference.GRPCInferenceService/ModelStreamInfer", &stream->queue);
    stream->stream->StartCall(stream.get());
    static_cast<void>(stream->await());  // false if the server refuses it at once
    return stream;
  }

 private:
  std::shared_ptr<::grpc::Channel> channel_;
  ::grpc::GenericStub stub_;
};

}  // namespace stoker::testing_grpc
