// Values in files of their own.
#include "message.hpp"
#include "stoker/pipeline/onnx/reading/value_reader.hpp"
#include "stoker/pipeline/onnx/writing/value_writer.hpp"

namespace stoker::onnx {
namespace {

Result<ValueData> value(const Message& message, ValueKind kind) {
  const auto owner = std::make_shared<const std::string>(message.bytes());
  return read_value(std::as_bytes(std::span{*owner}), kind, {}, owner);
}
std::vector<float> floats_of(const ValueData& value) {
  return values_of<float>(std::get<TensorData>(value.content));
}
const Message one = float_tensor("a", {1});
const Message two = float_tensor("b", {2, 3});
Message sequence() { return Message{}.text(1, "s").integer(2, 1).message(3, one).message(3, two); }

TEST(OnnxValue, is_a_tensor_with_its_name) {
  const ValueData tensor = value(two, ValueKind::unknown).value();
  EXPECT_EQ(tensor.name, "b");
  EXPECT_EQ(floats_of(tensor), (std::vector<float>{2, 3}));
}

TEST(OnnxValue, is_a_sequence) {
  const ValueData list = value(sequence(), ValueKind::sequence).value();
  EXPECT_EQ(list.name, "s");
  const auto& elements = std::get<SequenceValue>(list.content).elements;
  ASSERT_EQ(elements.size(), 2U);
  EXPECT_EQ(floats_of(elements[1]), (std::vector<float>{2, 3}));
}

TEST(OnnxValue, is_an_optional_with_or_without_a_value) {
  const ValueData none = value(Message{}.integer(2, 1), ValueKind::optional).value();
  EXPECT_TRUE(std::get<OptionalValue>(none.content).element.empty());
  const ValueData some =
      value(Message{}.integer(2, 3).message(5, sequence()), ValueKind::optional).value();
  const auto& element = std::get<OptionalValue>(some.content).element;
  ASSERT_EQ(element.size(), 1U);
  EXPECT_EQ(std::get<SequenceValue>(element[0].content).elements.size(), 2U);
}

TEST(OnnxValue, is_a_map_from_integers_or_texts) {
  const ValueData integers =
      value(Message{}.integer(2, 7).packed(3, {4, -5}).message(5, sequence()), ValueKind::map)
          .value();
  const auto& map = std::get<MapValue>(integers.content);
  EXPECT_EQ(std::get<std::int64_t>(map.keys.at(1)), -5);
  EXPECT_EQ(floats_of(map.values.at(1)), (std::vector<float>{2, 3}));
  const ValueData texts =
      value(Message{}.integer(2, 8).text(4, "k").text(4, "l").message(5, sequence()),
            ValueKind::map)
          .value();
  EXPECT_EQ(std::get<std::string>(std::get<MapValue>(texts.content).keys.at(0)), "k");
}

TEST(OnnxValue, that_contradicts_itself_is_refused) {
  for (const Message& mixed :
       {sequence().integer(2, 3), sequence().message(5, sequence()), Message{}.integer(2, 6)})
    EXPECT_EQ(value(mixed, ValueKind::sequence).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(value(Message{}.packed(3, {4}).message(5, sequence()), ValueKind::map).error().reason(),
            "map: 1 keys and 2 values");
  EXPECT_EQ(value(Message{}.integer(2, 1).integer(1, 2), ValueKind::tensor).error().reason(),
            "tensor '': float[2] needs 8 bytes, has 0");
  EXPECT_EQ(value(Message{}.text(2, "x"), ValueKind::tensor).error().code(), ErrorCode::io_error);
}

TEST(OnnxValue, lies_only_so_deep_in_others) {
  Message deep;
  for (int i = 0; i < 100; ++i) deep = Message{}.message(7, deep);
  EXPECT_EQ(value(deep, ValueKind::optional).error().code(), ErrorCode::limit_exceeded);
}

TEST(OnnxValue, is_read_as_it_was_written) {
  const Message nested = Message{}.integer(2, 3).message(5, sequence());
  const Message map = Message{}.packed(3, {4, -5}).message(5, sequence());
  const Message texts = empty_tensor("t", ElementType::string, {2}).text(6, "a").text(6, "");
  const Message none = Message{}.integer(2, 1);
  const std::vector<std::pair<Message, ValueKind>> all{
      {two, ValueKind::tensor},      {texts, ValueKind::tensor},  {sequence(), ValueKind::sequence},
      {nested, ValueKind::optional}, {none, ValueKind::optional}, {map, ValueKind::map}};
  for (const auto& [message, kind] : all) {
    const std::string once = write_value(value(message, kind).value()).written();
    const auto again = read_value(std::as_bytes(std::span{once}), kind);
    EXPECT_EQ(write_value(again.value()).written(), once);
    EXPECT_EQ(again.value().content.index(), value(message, kind).value().content.index());
  }
  const std::string list = write_value(value(sequence(), ValueKind::sequence).value()).written();
  const auto again = read_value(std::as_bytes(std::span{list}), ValueKind::sequence);
  EXPECT_EQ(floats_of(std::get<SequenceValue>(again.value().content).elements.at(1)),
            (std::vector<float>{2, 3}));
}

}  // namespace
}  // namespace stoker::onnx
