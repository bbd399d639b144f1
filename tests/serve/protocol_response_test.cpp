// Answers to inference requests, and the other bodies that a server sends.
#include "protocol_bodies.hpp"
#include "stoker/api/serve/protocol/metadata.hpp"

namespace stoker::serve::protocol {
namespace {

class Responses : public ProtocolTest {
 protected:
  static std::string body(const InferRequest& request, const NamedValues& outputs) {
    return write_infer_response(request, {"m", "2"}, outputs).body;
  }
  /// Of an answer with model m in version 2.
  static std::string answer(const std::string& outputs) {
    return R"({"model_name":"m","model_version":"2","outputs":[)" + outputs + "]}";
  }
  static std::string classes(const Tensor& tensor, std::uint32_t count) {
    InferRequest request{.outputs = {{.name = "y", .classification = count}}};
    request.names_outputs = true;
    return body(request, {{"y", tensor}});
  }
};

TEST_F(Responses, have_an_id_only_if_one_came) {
  EXPECT_EQ(body({}, {}), answer(""));
  EXPECT_EQ(body({.id = "a\"\n"}, {}),
            R"({"model_name":"m","model_version":"2","id":"a\"\n","outputs":[]})");
}

TEST_F(Responses, of_the_specification_are_written) {
  const InferRequest request{.id = "42"};
  const Tensor output = tensor({{1.0, 1.1}, {2.0, 2.1}, {3.0, 3.1}});
  EXPECT_EQ(write_infer_response(request, {"mymodel", "1"}, {{"output0", output}}).body,
            R"({"model_name":"mymodel","model_version":"1","id":"42","outputs":[)"
            R"({"name":"output0","datatype":"FP32","shape":[3,2],"data":[1,1.1,2,2.1,3,3.1]}]})");
}

TEST_F(Responses, have_outputs_in_the_order_of_the_request) {
  InferRequest request{.outputs = {{.name = "b"}, {.name = "a", .binary = true}, {.name = "c"}}};
  request.names_outputs = true;
  const NamedValues outputs{{"a", tensor({1, 2})}, {"b", tensor({3})}, {"c", tensor({4})}};
  const InferResponse response = write_infer_response(request, {"m", "2"}, outputs);
  const std::string json =
      answer(R"({"name":"b","datatype":"INT32","shape":[1],"data":[3]},)"
             R"({"name":"a","datatype":"INT32","shape":[2],"parameters":{"binary_data_size":8}},)"
             R"({"name":"c","datatype":"INT32","shape":[1],"data":[4]})");
  EXPECT_EQ(response.body, json + binary(std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(response.json_bytes, json.size());
}

TEST_F(Responses, have_binary_tensors_in_the_order_of_the_json) {
  InferRequest request{.outputs = {{.name = "b"}, {.name = "a"}, {.name = "c", .binary = false}}};
  request.names_outputs = request.binary_outputs = true;
  const NamedValues outputs{
      {"a", tensor({1})}, {"b", onnx::Texts{Shape{1}, {"text"}}}, {"c", tensor({4})}};
  const InferResponse response = write_infer_response(request, {"m", "2"}, outputs);
  ASSERT_TRUE(response.json_bytes);
  EXPECT_EQ(response.body.substr(*response.json_bytes),
            binary(std::vector<std::string>{"text"}) + binary(std::vector<std::int32_t>{1}));
  EXPECT_EQ(response.body[*response.json_bytes - 1], '}');
}

TEST_F(Responses, take_values_that_the_host_knows_and_those_of_devices) {
  const std::vector<double> numbers{0.5, 2};
  const std::string expected =
      answer(R"({"name":"y","datatype":"FP32","shape":[2],"data":[0.5,2]})");
  EXPECT_EQ(body({}, {{"y", onnx::Known::reals(numbers, Shape{2})}}), expected);
  EXPECT_EQ(body({}, {{"y", tensor(std::vector<float>{0.5, 2})}}), expected);
  EXPECT_EQ(body({}, {{"y", onnx::Value::optional(tensor(std::vector<float>{0.5, 2}))}}), expected);
}

TEST_F(Responses, leave_out_what_the_protocol_cannot_express_unless_it_is_named) {
  const NamedValues outputs{{"list", onnx::Value::sequence({tensor({1})})},
                            {"none", onnx::Value::no_element()},
                            {"y", tensor({1})}};
  const std::string y = answer(R"({"name":"y","datatype":"INT32","shape":[1],"data":[1]})");
  EXPECT_EQ(body({}, outputs), y);
  InferRequest all{
      .outputs = {{.name = "list"}, {.name = "none"}, {.name = "gone"}, {.name = "y"}}};
  EXPECT_EQ(body(all, outputs), y);
  const auto named = [&](const std::string& name) {
    InferRequest request{.outputs = {{.name = name}}};
    request.names_outputs = true;
    return refusal([&] { return body(request, outputs); });
  };
  EXPECT_EQ(named("list"),
            "unsupported: output 'list' is a sequence of 1, which the protocol cannot express");
  EXPECT_EQ(named("none"), "not_found: the model has given no output 'none'");
  EXPECT_EQ(named("gone"), "not_found: the model has given no output 'gone'");
}

TEST_F(Responses, refuse_16_bit_floats_in_json) {
  EXPECT_EQ(refusal([&] {
              return body({}, {{"y", as_type(tensor({1}), DType::f16)}});
            }),
            "invalid_argument: output 'y' is FP16, which has no form in JSON; ask for it with "
            "binary_data");
}

TEST_F(Responses, have_the_largest_classes_of_each_row) {
  const auto strings = [&](const std::string& shape, const std::string& data) {
    return answer(R"({"name":"y","datatype":"BYTES","shape":)" + shape + R"(,"data":)" + data +
                  "}");
  };
  EXPECT_EQ(classes(tensor({{0.25, 0.5, 0.125}, {3.0, 2.0, 3.0}}), 2),
            strings("[2,2]", R"(["0.5:1","0.25:0","3:0","3:2"])"));
  EXPECT_EQ(classes(tensor({4, -5, 6}), 1), strings("[1]", R"(["6:2"])"));
  EXPECT_EQ(classes(tensor({4, -5, 6}), 9), strings("[3]", R"(["6:2","4:0","-5:1"])"));
  EXPECT_EQ(classes(reshape(tensor({1.0, 7.0}), Shape{1, 2, 1, 1}), 1),
            strings("[1,1]", R"(["7:1"])"));
  EXPECT_EQ(classes(as_type(tensor({{1.0, 1.5}}), DType::f16), 1),
            strings("[1,1]", R"(["1.5:1"])"));
  EXPECT_EQ(classes(tensor({0.0, 1.0}) / tensor({0.0, 1.0}), 2),
            strings("[2]", R"(["1:1","nan:0"])"));
  EXPECT_EQ(classes(tensor({1.0, -1.0, 2.0}) / tensor({0.0, 0.0, 1.0}), 3),
            strings("[3]", R"(["inf:0","2:2","-inf:1"])"));
  EXPECT_EQ(classes(zeros(Shape{0, 3}), 2), strings("[0,0]", "[]"));
  EXPECT_EQ(classes(zeros(Shape{2, 0}), 2), strings("[2,0]", "[]"));
}

TEST_F(Responses, have_classes_in_binary_for_the_python_client) {
  InferRequest request{.outputs = {{.name = "y", .binary = true, .classification = 1}}};
  request.names_outputs = true;
  const InferResponse response = write_infer_response(request, {"m", "2"}, {{"y", tensor({1, 9})}});
  ASSERT_TRUE(response.json_bytes);
  EXPECT_EQ(response.body.substr(*response.json_bytes), binary(std::vector<std::string>{"9:1"}));
}

TEST_F(Responses, describe_server_and_models) {
  const std::vector<std::string> extensions{"binary_tensor_data", "classification"};
  EXPECT_EQ(server_metadata("stoker", "1.0", extensions),
            R"({"name":"stoker","version":"1.0",)"
            R"("extensions":["binary_tensor_data","classification"]})");
  onnx::ValueInfo sequence;
  sequence.name = "list";
  sequence.type.kind = onnx::ValueKind::sequence;
  sequence.type.inner.emplace_back();
  const AnyModel model = model_of(
      {tensor_info("a", ElementType::f32, {{-1, 3}}),
       tensor_info("b", ElementType::boolean, std::nullopt)},
      {tensor_info("c\"", ElementType::string, std::vector<std::int64_t>{}), sequence,
       tensor_info("d", ElementType::c64, {{1}}), tensor_info("e", ElementType::bf16, {{2}})});
  const std::vector<std::string> versions{"1", "2"};
  EXPECT_EQ(model_metadata("m", versions, "onnx", model),
            R"({"name":"m","versions":["1","2"],"platform":"onnx","inputs":[)"
            R"({"name":"a","datatype":"FP32","shape":[-1,3]},)"
            R"({"name":"b","datatype":"BOOL","shape":[-1]}],"outputs":[)"
            R"({"name":"c\"","datatype":"BYTES","shape":[]},)"
            R"({"name":"e","datatype":"BF16","shape":[2]}]})");
  EXPECT_EQ(model_metadata("m", {}, "script", model_of({}, {})),
            R"({"name":"m","versions":[],"platform":"script","inputs":[],"outputs":[]})");
}

TEST_F(Responses, say_health_and_errors) {
  EXPECT_EQ(health_body(true), R"({"live":true})");
  EXPECT_EQ(health_body(false), R"({"live":false})");
  EXPECT_EQ(model_ready_body("m", true), R"({"name":"m","ready":true})");
  EXPECT_EQ(error_body("no \"x\"\x01\xff"), R"({"error":"no \"x\"\u0001�"})");
}

}  // namespace
}  // namespace stoker::serve::protocol
