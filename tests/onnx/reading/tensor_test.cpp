// Tensors as files hold them: of every element type, in every field that may hold it.
#include "message.hpp"

namespace stoker::onnx {
namespace {

using Integers = std::vector<std::int64_t>;

std::string refusal_of(const Message& tensor) {
  return refusal(model(graph({}, {}, {}, {tensor})));
}

TEST(OnnxElementTypes, have_names_widths_and_carriers) {
  for (std::size_t i = 1; i < element_type_count; ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_EQ(parse_element_type(to_string(type)), type);
    EXPECT_EQ(element_type(i), type);
    const auto carrier = carrier_of(type);
    ASSERT_EQ(carrier.has_value(), type != ElementType::string);
    if (carrier && !is_packed(type)) {
      EXPECT_EQ(8 * size_of(*carrier), bits_of(type));
    }
  }
  for (std::size_t i = 0; i < stored_dtype_count; ++i) {
    const auto dtype = static_cast<DType>(i);
    const auto carrier = carrier_of(element_type_of(dtype));
    EXPECT_EQ(carrier, dtype == DType::boolean ? DType::u8 : dtype);
  }
  EXPECT_EQ(element_type(0), std::nullopt);
  EXPECT_EQ(element_type(element_type_count), std::nullopt);
  EXPECT_EQ(parse_element_type("undefined"), std::nullopt);
}

TEST(OnnxTensor, of_every_element_type_is_read_raw_and_from_its_own_field) {
  for (std::size_t i = 1; i < element_type_count; ++i) {
    const auto type = static_cast<ElementType>(i);
    if (type == ElementType::string) continue;
    const std::size_t bytes = byte_count(type, 3);
    std::string content;
    for (std::size_t k = 0; k < bytes; ++k) content += static_cast<char>(0x11 + k);
    const TensorData as_raw = read_only_tensor(raw_tensor("t", type, {3}, content)).value();
    EXPECT_EQ(raw(values_of<char>(as_raw)), content) << to_string(type);
    Message typed = empty_tensor("t", type, {3});
    const bool is_f64 = type == ElementType::f64 || type == ElementType::c128;
    if (type == ElementType::f32 || type == ElementType::c64 || is_f64) {
      typed.text(is_f64 ? 10 : 4, content);
    } else {
      const bool wide_unsigned = type == ElementType::u32 || type == ElementType::u64;
      const std::size_t width = std::max<std::size_t>(bits_of(type) / 8, 1);
      Integers values(bytes / width);
      for (std::size_t k = 0; k < values.size(); ++k)
        std::memcpy(&values[k], content.data() + k * width, width);
      typed.packed(type == ElementType::s64 ? 7 : wide_unsigned ? 11 : 5, values);
    }
    const TensorData as_typed = read_only_tensor(typed).value();
    EXPECT_EQ(raw(values_of<char>(as_typed)), content) << to_string(type);
  }
}

TEST(OnnxTensor, has_negative_integers_and_numbers_one_by_one) {
  const TensorData small =
      read_only_tensor(empty_tensor("t", ElementType::s8, {2}).integer(5, -1).integer(5, -128))
          .value();
  EXPECT_EQ(values_of<std::int8_t>(small), (std::vector<std::int8_t>{-1, -128}));
  const TensorData numbers =
      read_only_tensor(empty_tensor("t", ElementType::f32, {3}).real(4, 1).real(4, 2).real(4, 3))
          .value();
  EXPECT_EQ(values_of<float>(numbers), (std::vector<float>{1, 2, 3}));
}

TEST(OnnxTensor, has_integers_in_several_pieces_which_may_be_damaged) {
  const Message pieces =
      empty_tensor("t", ElementType::u8, {4}).packed(5, {1, 300}).integer(5, 3).packed(5, {4});
  EXPECT_EQ(values_of<std::uint8_t>(read_only_tensor(pieces).value()),
            (std::vector<std::uint8_t>{1, 44, 3, 4}));
  for (const std::string& damage :
       {std::string{"\x01\x02\x80"}, std::string(12, '\xff') + "\x01\x01"})
    EXPECT_NE(
        refusal(model(graph({}, {}, {}, {empty_tensor("t", ElementType::u8, {2}).text(5, damage)})),
                ErrorCode::io_error)
            .find("a number"),
        std::string::npos);
}

TEST(OnnxTensor, of_texts_has_any_bytes) {
  const TensorData texts =
      read_only_tensor(empty_tensor("t", ElementType::string, {2}).text(6, "a\xff").text(6, ""))
          .value();
  EXPECT_EQ(texts.strings, (std::vector<std::string>{"a\xff", ""}));
}

TEST(OnnxTensor, may_be_a_scalar_or_empty) {
  EXPECT_EQ(read_only_tensor(raw_tensor("t", ElementType::s64, {}, raw<std::int64_t>({5})))
                .value()
                .to_string(),
            "int64[]");
  const TensorData none = read_only_tensor(empty_tensor("t", ElementType::f32, {0, 4})).value();
  EXPECT_EQ(none.to_string(), "float[0,4]");
  EXPECT_EQ(none.elements(), 0U);
}

TEST(OnnxTensor, of_few_bits_is_unpacked_for_its_carrier) {
  const auto carried = [](ElementType type, const std::string& bytes, std::int64_t count) {
    const TensorData tensor = read_only_tensor(raw_tensor("t", type, {count}, bytes)).value();
    const SharedBytes unpacked = carried_bytes(tensor);
    EXPECT_EQ(raw(values_of<char>(tensor)), bytes);
    EXPECT_EQ(packed_bytes(type, unpacked.view),
              std::vector(tensor.bytes.view.begin(), tensor.bytes.view.end()));
    return values_of<std::int8_t>({type, {count}, unpacked, {}});
  };
  using Values = std::vector<std::int8_t>;
  EXPECT_EQ(carried(ElementType::s4, "\x81\x07", 3), (Values{1, -8, 7}));
  EXPECT_EQ(carried(ElementType::u4, "\x81\x07", 3), (Values{1, 8, 7}));
  EXPECT_EQ(carried(ElementType::s2, "\xe4", 4), (Values{0, 1, -2, -1}));
  EXPECT_EQ(carried(ElementType::u2, "\xe4", 4), (Values{0, 1, 2, 3}));
  EXPECT_EQ(carried(ElementType::f4e2m1, "\xf2", 2), (Values{2, 15}));
}

TEST(OnnxTensor, with_too_few_or_too_many_elements_is_refused) {
  EXPECT_EQ(refusal_of(raw_tensor("w", ElementType::f32, {2, 3}, "1234")),
            "onnx: tensor 'w': float[2,3] needs 24 bytes, has 4 (file=bytes in memory, tensor "
            "'w'=float[2,3] needs 24 bytes, has 4)");
  refusal_of(empty_tensor("w", ElementType::s64, {2}).packed(7, {1, 2, 3}));
  refusal_of(empty_tensor("w", ElementType::string, {2}).text(6, "a"));
  refusal_of(empty_tensor("w", ElementType::f32, {1}));
}

TEST(OnnxTensor, of_claimed_size_allocates_nothing) {
  const std::int64_t much = std::int64_t{1} << 40U;
  for (const Integers& dims :
       {Integers{much}, Integers{much, much}, Integers{0, much, much}, Integers{-1}})
    EXPECT_NE(refusal_of(empty_tensor("w", ElementType::f32, dims)), "");
}

TEST(OnnxTensor, has_64_dimensions_at_most) {
  EXPECT_TRUE(read_only_tensor(raw_tensor("w", ElementType::u8, Integers(64, 1), "a")));
  EXPECT_NE(refusal_of(raw_tensor("w", ElementType::u8, Integers(65, 1), "a"))
                .find("it has 65 dimensions, at most 64 are read"),
            std::string::npos);
}

TEST(OnnxTensor, in_the_wrong_place_is_refused) {
  EXPECT_NE(refusal_of(empty_tensor("w", ElementType::f32, {1}).packed(5, {1})).find("int32_data"),
            std::string::npos);
  EXPECT_NE(
      refusal_of(float_tensor("w", {1}).real(4, 1)).find("both in raw_data and in float_data"),
      std::string::npos);
  refusal_of(raw_tensor("w", ElementType::string, {1}, "a"));
  refusal_of(float_tensor("w", {1}).message(3, Message{}.integer(2, 1)));
  EXPECT_NE(refusal_of(Message{}.integer(2, 99).text(8, "w")).find("no element type has number 99"),
            std::string::npos);
}

Message sparse(const Message& values, const Message& indices, const Integers& dims) {
  Message tensor = Message{}.message(1, values).message(2, indices);
  for (const std::int64_t extent : dims) tensor.integer(3, extent);
  return tensor;
}
Message sparse_model(const Message& tensor) { return model(Message{}.message(15, tensor)); }
Message indices(const Integers& dims, const Integers& values) {
  return empty_tensor("", ElementType::s64, dims).packed(7, values);
}

TEST(OnnxSparseTensor, becomes_a_dense_one) {
  for (const Message& at : {indices({2}, {1, 5}), indices({2, 2}, {0, 1, 1, 2})}) {
    const ModelFile read_it =
        read(sparse_model(sparse(float_tensor("s", {7, 8}), at, {2, 3}))).value();
    const Initializer& made = read_it.graph.initializers.at(0);
    EXPECT_EQ(made.name, "s");
    EXPECT_EQ(made.tensor.to_string(), "float[2,3]");
    EXPECT_EQ(values_of<float>(made.tensor), (std::vector<float>{0, 7, 0, 0, 0, 8}));
  }
}

TEST(OnnxSparseTensor, with_wrong_indices_is_refused) {
  const Message values = float_tensor("s", {7, 8});
  for (const Message& at :
       {indices({2}, {1, 6}), indices({2}, {-1, 2}), indices({2}, {2, 1}), indices({2}, {1, 1}),
        indices({1}, {1}), indices({2, 3}, {0, 0, 0, 0, 0, 1}), Message{}})
    EXPECT_NE(refusal(sparse_model(sparse(values, at, {2, 3}))), "");
  refusal(sparse_model(
      sparse(empty_tensor("s", ElementType::string, {1}).text(6, "a"), indices({1}, {0}), {1})));
  EXPECT_NE(refusal(sparse_model(sparse(values, indices({2}, {1, 2}), {std::int64_t{1} << 50U})))
                .find("when made dense"),
            std::string::npos);
}

}  // namespace
}  // namespace stoker::onnx
