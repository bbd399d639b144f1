// Every datatype, there and back: what a request has is what a response with the same tensor says.
#include <bit>
#include <cmath>
#include <limits>

#include "protocol_bodies.hpp"

namespace stoker::serve::protocol {
namespace {

class Datatypes : public ProtocolTest {
 protected:
  /// The response to a request whose one input is answered as it came.
  InferResponse echo(ElementType type, const std::string& json, const std::string& tensors = {}) {
    const AnyModel model = one_tensor(type, std::nullopt);
    const InferRequest request = tensors.empty() ? read(model, json) : read(model, json, tensors);
    return write_infer_response(request, {"m", "1"}, request.inputs);
  }
  static std::string answer(const std::string& datatype, const std::string& shape,
                            const std::string& rest) {
    return R"({"model_name":"m","model_version":"1","outputs":[{"name":"x","datatype":")" +
           datatype + R"(","shape":)" + shape + "," + rest + "}]}";
  }
};

struct JsonCase {
  ElementType type;
  const char* datatype;
  const char* shape;
  const char* data;
};

TEST_F(Datatypes, come_back_in_json) {
  const std::vector<JsonCase> cases{
      {ElementType::boolean, "BOOL", "[2]", "true,false"},
      {ElementType::u8, "UINT8", "[3]", "0,1,255"},
      {ElementType::u16, "UINT16", "[2]", "0,65535"},
      {ElementType::u32, "UINT32", "[2]", "0,4294967295"},
      {ElementType::u64, "UINT64", "[3]", "0,9007199254740993,18446744073709551615"},
      {ElementType::s8, "INT8", "[3]", "-128,0,127"},
      {ElementType::s16, "INT16", "[2]", "-32768,32767"},
      {ElementType::s32, "INT32", "[2]", "-2147483648,2147483647"},
      {ElementType::s64, "INT64", "[3]",
       "-9223372036854775808,9007199254740993,9223372036854775807"},
      {ElementType::f32, "FP32", "[5]", "0.1,-0.0,3.4028235e+38,1e-45,16777216"},
      {ElementType::f64, "FP64", "[5]",
       "0.1,-0.0,1.7976931348623157e+308,5e-324,9007199254740993e-3"},
      {ElementType::string, "BYTES", "[1,3]", R"("","é\u0001\"\\\n","𝄞")"},
      {ElementType::f32, "FP32", "[2,0,3]", ""},
      {ElementType::u8, "UINT8", "[]", "7"},
  };
  for (const JsonCase& one : cases) {
    const InferResponse response = echo(
        one.type, request_of(one.datatype, one.shape, R"("data":[)" + std::string{one.data} + "]"));
    std::string expected = one.data;
    if (one.type == ElementType::f64)
      expected.replace(expected.find("9007199254740993e-3"), 19, "9007199254740.992");
    EXPECT_EQ(response.body, answer(one.datatype, one.shape, R"("data":[)" + expected + "]"));
    EXPECT_FALSE(response.json_bytes);
  }
}

struct BinaryCase {
  ElementType type;
  const char* datatype;
  std::string tensor;
  std::size_t elements;
};

TEST_F(Datatypes, come_back_in_binary) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<BinaryCase> cases{
      {ElementType::boolean, "BOOL", binary(std::vector<std::uint8_t>{1, 0, 1}), 3},
      {ElementType::u8, "UINT8", binary(std::vector<std::uint8_t>{1, 255}), 2},
      {ElementType::u16, "UINT16", binary(std::vector<std::uint16_t>{1, 65535}), 2},
      {ElementType::u32, "UINT32", binary(std::vector<std::uint32_t>{1, 4294967295}), 2},
      {ElementType::u64, "UINT64", binary(std::vector<std::uint64_t>{1, ~std::uint64_t{0}}), 2},
      {ElementType::s8, "INT8", binary(std::vector<std::int8_t>{-1, 127}), 2},
      {ElementType::s16, "INT16", binary(std::vector<std::int16_t>{-1, 32767}), 2},
      {ElementType::s32, "INT32", binary(std::vector<std::int32_t>{-1, 7}), 2},
      {ElementType::s64, "INT64", binary(std::vector<std::int64_t>{-1, 7}), 2},
      {ElementType::f16, "FP16", binary(std::vector<std::uint16_t>{0x3c00, 0x7e01, 0xfc00}), 3},
      {ElementType::bf16, "BF16", binary(std::vector<std::uint16_t>{0x3f80, 0x7fc1}), 2},
      {ElementType::f32, "FP32", binary(std::vector<float>{1, nan, -infinity, -0.0F}), 4},
      {ElementType::f64, "FP64", binary(std::vector<double>{1, nan, infinity}), 3},
      {ElementType::string, "BYTES",
       binary(std::vector<std::string>{"", std::string{"a\0b", 3}, "\xff\xfe"}), 3},
  };
  for (const BinaryCase& one : cases) {
    const std::string shape = "[1," + std::to_string(one.elements) + "]";
    const std::string size =
        R"("parameters":{"binary_data_size":)" + std::to_string(one.tensor.size()) + "}";
    std::string json = request_of(one.datatype, shape, size);
    json.insert(1, R"("parameters":{"binary_data_output":true},)");
    const InferResponse response = echo(one.type, json, one.tensor);
    const std::string expected = answer(one.datatype, shape, size);
    EXPECT_EQ(response.body, expected + one.tensor) << one.datatype;
    EXPECT_EQ(response.json_bytes, expected.size());
  }
}

TEST_F(Datatypes, come_back_from_devices_whose_memory_the_host_does_not_address) {
  const Device vulkan = system.device("vulkan");
  const std::vector infos{tensor_info("x", ElementType::f32, {{-1}})};
  const AnyModel model{std::make_shared<const DeclaredModel>(vulkan, infos, infos)};
  for (const std::string elements : {"1.5,-2", ""}) {
    const std::string shape = elements.empty() ? "[0]" : "[2]";
    const std::string data = R"("data":[)" + elements + "]";
    const InferRequest request = read(model, request_of("FP32", shape, data));
    EXPECT_EQ(request.inputs.at("x").tensor().buffer().device(), vulkan);
    EXPECT_EQ(write_infer_response(request, {"m", "1"}, request.inputs).body,
              answer("FP32", shape, data));
  }
}

TEST_F(Datatypes, of_truth_take_numbers_too) {
  EXPECT_EQ(
      echo(ElementType::boolean, request_of("BOOL", "[2,2]", R"("data":[[0,1],[true,0]])")).body,
      answer("BOOL", "[2,2]", R"("data":[false,true,true,false])"));
}

TEST_F(Datatypes, of_floats_are_null_in_json_where_json_has_no_number) {
  const std::string tensor =
      binary(std::vector<double>{std::nan(""), std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(), 1.5});
  EXPECT_EQ(echo(ElementType::f64,
                 request_of("FP64", "[4]", R"("parameters":{"binary_data_size":32})"), tensor)
                .body,
            answer("FP64", "[4]", R"("data":[null,null,null,1.5])"));
}

TEST_F(Datatypes, of_strings_have_a_replacement_in_json_for_what_is_not_utf8) {
  const std::string tensor = binary(std::vector<std::string>{"a\xff\xc3", "\xed\xa0\x80", "é"});
  EXPECT_EQ(
      echo(ElementType::string,
           request_of("BYTES", "[3]",
                      R"("parameters":{"binary_data_size":)" + std::to_string(tensor.size()) + "}"),
           tensor)
          .body,
      answer("BYTES", "[3]", R"("data":["a��","���","é"])"));
}

}  // namespace
}  // namespace stoker::serve::protocol
