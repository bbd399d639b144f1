// Messages of inference requests, as they are read.
#include "stoker/api/serve/grpc/request_message.hpp"

#include "stoker/pipeline/protobuf/wire_writer.hpp"
#include "stoker/tests/serve/protocol_bodies.hpp"

namespace stoker::serve::grpc {
namespace {

using protobuf::WireWriter;
using protocol::ElementType;

class RequestMessages : public protocol::ProtocolTest {
 protected:
  /// For x of that shape, with these bytes in a field of its contents.
  static std::string message_of(const char* datatype, std::int64_t rows, std::uint64_t field,
                                const std::string& bytes) {
    WireWriter contents;
    contents.bytes(field, bytes);
    WireWriter input;
    input.bytes(1, "x").bytes(2, datatype).packed(3, std::vector<std::int64_t>{rows});
    input.message(5, contents);
    WireWriter message;
    return message.message(5, input).written();
  }
  static std::string refused(const AnyModel& model, const std::string& message) {
    return protocol::refusal([&] { return read_request(protocol::bytes_of(message), model, {}); });
  }
};

TEST_F(RequestMessages, have_integers_packed_in_lists) {
  const AnyModel model = one_tensor(ElementType::s64, {{-1}});
  const std::string message = message_of("INT64", 3, 3, "\x01\x96\x01\x02");
  const protocol::InferRequest request = read_request(protocol::bytes_of(message), model, {});
  EXPECT_EQ(elements<std::int64_t>(request), (std::vector<std::int64_t>{1, 150, 2}));
}

// A number that is cut off must not be written behind the tensor, whose memory has 64 bytes here, or none.
TEST_F(RequestMessages, are_refused_if_their_last_number_is_cut_off) {
  const std::string cut = "\x80";
  const AnyModel integers = one_tensor(ElementType::s64, {{-1}});
  const AnyModel truths = one_tensor(ElementType::boolean, {{-1}});
  for (const std::int64_t rows : {0, 8}) {
    const std::string whole(static_cast<std::size_t>(rows), '\x01');
    EXPECT_NE(refused(integers, message_of("INT64", rows, 3, whole + cut))
                  .find("a number ends too early"),
              std::string::npos);
    EXPECT_NE(
        refused(truths, message_of("BOOL", rows, 1, whole + cut)).find("a number ends too early"),
        std::string::npos);
  }
}

}  // namespace
}  // namespace stoker::serve::grpc
