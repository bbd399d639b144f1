// Inference requests that are taken: the specification's examples, the forms of `data`, and parameters.
#include "protocol_bodies.hpp"

namespace stoker::serve::protocol {
namespace {

using namespace std::chrono_literals;

using Requests = ProtocolTest;

/// The model of the specification's examples.
std::vector<onnx::ValueInfo> example_inputs() {
  return {tensor_info("input0", ElementType::u32, {{2, 2}}),
          tensor_info("input1", ElementType::boolean, {{-1}})};
}
std::vector<onnx::ValueInfo> example_outputs() {
  return {tensor_info("output0", ElementType::f32, {{3, 2}})};
}

TEST_F(Requests, of_the_specification_are_read) {
  const InferRequest request = read(model_of(example_inputs(), example_outputs()), R"({
    "id" : "42",
    "inputs" : [
      {
        "name" : "input0",
        "shape" : [ 2, 2 ],
        "datatype" : "UINT32",
        "data" : [ 1, 2, 3, 4 ]
      },
      {
        "name" : "input1",
        "shape" : [ 3 ],
        "datatype" : "BOOL",
        "data" : [ true, false, true ]
      }
    ],
    "outputs" : [
      {
        "name" : "output0"
      }
    ]
  })");
  EXPECT_EQ(request.id, "42");
  EXPECT_EQ(request.inputs.at("input0").shape(), (Shape{2, 2}));
  EXPECT_EQ(elements<std::uint32_t>(request, "input0"), (std::vector<std::uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(request.inputs.at("input1").type(), ElementType::boolean);
  EXPECT_EQ(elements<std::uint8_t>(request, "input1"), (std::vector<std::uint8_t>{1, 0, 1}));
  ASSERT_EQ(request.outputs.size(), 1U);
  EXPECT_EQ(request.outputs[0].name, "output0");
  EXPECT_TRUE(request.names_outputs);
  EXPECT_FALSE(request.is_binary(request.outputs[0]));
}

TEST_F(Requests, may_have_a_text_or_a_number_as_a_list_of_one) {
  const AnyModel model =
      model_of({tensor_info("x", ElementType::string, std::vector<std::int64_t>{})}, {});
  const std::string json =
      R"({"inputs":[{"name":"x","shape":[1,1],"datatype":"BYTES","data":[["ab"]]}]})";
  EXPECT_EQ(read(model, json).inputs.at("x").texts().shape, Shape{});
  EXPECT_EQ(read(model, json).inputs.at("x").texts().strings, std::vector<std::string>{"ab"});
  const std::string head = R"({"inputs":[{"name":"x","shape":[1],"datatype":"BYTES",)"
                           R"("parameters":{"binary_data_size":6}}]})";
  const InferRequest binary = read(model, head, std::string{"\2\0\0\0ab", 6});
  EXPECT_EQ(binary.inputs.at("x").texts().shape, Shape{});
}

TEST_F(Requests, of_the_binary_extension_are_read) {
  const std::string json = R"({
    "model_name" : "mymodel",
    "inputs" : [
      {"name" : "input0", "shape" : [ 2, 2 ], "datatype" : "UINT32",
       "parameters" : { "binary_data_size" : 16 } },
      {"name" : "input1", "shape" : [ 3 ], "datatype" : "BOOL",
       "parameters" : { "binary_data_size" : 3 } }
    ],
    "outputs" : [ { "name" : "output0", "parameters" : { "binary_data" : true } } ]
  })";
  const std::string tensors =
      binary(std::vector<std::uint32_t>{1, 2, 3, 4}) + binary(std::vector<std::uint8_t>{1, 0, 1});
  const InferRequest request = read(model_of(example_inputs(), example_outputs()), json, tensors);
  EXPECT_EQ(elements<std::uint32_t>(request, "input0"), (std::vector<std::uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(elements<std::uint8_t>(request, "input1"), (std::vector<std::uint8_t>{1, 0, 1}));
  EXPECT_TRUE(request.is_binary(request.outputs.at(0)));
}

TEST_F(Requests, may_mix_inputs_in_json_and_in_binary) {
  const std::string json = R"({"inputs":[
    {"name":"input1","shape":[2],"datatype":"BOOL","data":[false,true]},
    {"parameters":{"binary_data_size":16},"name":"input0","shape":[2,2],"datatype":"UINT32"}]})";
  const InferRequest request = read(model_of(example_inputs(), example_outputs()), json,
                                    binary(std::vector<std::uint32_t>{9, 8, 7, 6}));
  EXPECT_EQ(elements<std::uint32_t>(request, "input0"), (std::vector<std::uint32_t>{9, 8, 7, 6}));
  EXPECT_EQ(elements<std::uint8_t>(request, "input1"), (std::vector<std::uint8_t>{0, 1}));
}

TEST_F(Requests, may_have_the_header_without_binary_tensors) {
  const std::string json = request_of("FP32", "[1]", R"("data":[1])");
  EXPECT_EQ(elements<float>(read(one_tensor(ElementType::f32, {{1}}), json, "")),
            std::vector{1.0F});
}

struct Form {
  const char* shape;
  const char* data;
};

TEST_F(Requests, may_have_data_flat_or_nested_as_the_shape_says) {
  const AnyModel model = one_tensor(ElementType::f32, std::nullopt);
  for (const Form& form :
       {Form{"[2,3]", "[1,2,3,4,5,6]"}, Form{"[2,3]", "[[1,2,3],[4,5,6]]"},
        Form{"[1,2,3]", "[[[1,2,3],[4,5,6]]]"}, Form{"[3,2,1]", "[[[1],[2]],[[3],[4]],[[5],[6]]]"},
        Form{"[6]", "[1,2,3,4,5,6]"}, Form{"[6]", " [ 1 , 2\t,3 ,4\r\n,5, 6 ] "},
        Form{"[1,1,1,1,1,1,1,6]", "[[[[[[[[1,2,3,4,5,6]]]]]]]]"}}) {
    const InferRequest request =
        read(model, request_of("FP32", form.shape, R"("data":)" + std::string{form.data}));
    EXPECT_EQ(elements<float>(request), (std::vector<float>{1, 2, 3, 4, 5, 6})) << form.data;
    EXPECT_EQ(request.inputs.at("x").shape().to_string(), form.shape);
  }
}

TEST_F(Requests, may_have_a_scalar_alone_or_in_a_list) {
  const AnyModel model = one_tensor(ElementType::f32, std::vector<std::int64_t>{});
  for (const char* data : {"7", "[7]", "7.0", "[70e-1]"})
    EXPECT_EQ(
        elements<float>(read(model, request_of("FP32", "[]", R"("data":)" + std::string{data}))),
        std::vector{7.0F})
        << data;
  EXPECT_EQ(elements<float>(read(model, request_of("FP32", "[1,1]", R"("data":[7])"))),
            std::vector{7.0F});
}

TEST_F(Requests, may_have_tensors_without_elements) {
  const AnyModel model = one_tensor(ElementType::f32, std::nullopt);
  for (const Form& form :
       {Form{"[0]", "[]"}, Form{"[0,3]", "[]"}, Form{"[2,0]", "[]"}, Form{"[2,0]", "[[],[]]"},
        Form{"[2,0,3]", "[[],[]]"}, Form{"[1,2,0]", "[[[],[]]]"}}) {
    const InferRequest request =
        read(model, request_of("FP32", form.shape, R"("data":)" + std::string{form.data}));
    EXPECT_EQ(request.inputs.at("x").shape().to_string(), form.shape);
    EXPECT_TRUE(elements<float>(request).empty());
  }
  EXPECT_TRUE(
      elements<float>(
          read(model, request_of("FP32", "[3,0]", R"("parameters":{"binary_data_size":0})"), ""))
          .empty());
}

TEST_F(Requests, may_have_their_keys_in_any_order) {
  const AnyModel model = one_tensor(ElementType::s64, {{2, -1}});
  std::vector<std::string> members{R"("name":"x")", R"("datatype":"INT64")", R"("shape":[2,2])",
                                   R"("data":[[1,-2],[3,9007199254740993]])"};
  std::ranges::sort(members);
  do {
    const std::string json = R"({"inputs":[{)" + members[0] + "," + members[1] + "," + members[2] +
                             ", " + members[3] + R"(}],"id":"a"})";
    EXPECT_EQ(elements<std::int64_t>(read(model, json)),
              (std::vector<std::int64_t>{1, -2, 3, 9007199254740993}))
        << json;
  } while (std::ranges::next_permutation(members).found);
}

TEST_F(Requests, may_have_unknown_members_of_any_kind) {
  const InferRequest request = read(one_tensor(ElementType::f32, {{1}}), R"({
    "extra": {"a": [1, {"b": null}, "]}\"", -0.5e+7, true, false, []], "c": {}},
    "inputs": [{"name": "x", "note": [[[{}]]], "shape": [1], "datatype": "FP32",
                "parameters": {"other": "\u00e9\ud83d\ude00"}, "data": [1]}],
    "extra": "twice is nobody's business",
    "outputs": [{"name": "x", "more": {}, "parameters": {"more": 1}}],
    "parameters": {"custom": [1, 2]}})");
  EXPECT_EQ(elements<float>(request), std::vector{1.0F});
}

TEST_F(Requests, may_have_null_for_what_they_do_not_have) {
  const InferRequest request = read(one_tensor(ElementType::f32, {{1}}), R"({"id":null,
    "parameters":null,"outputs":null,
    "inputs":[{"name":"x","shape":[1],"datatype":"FP32","parameters":null,"data":[1]}]})");
  EXPECT_EQ(request.id, "");
  EXPECT_FALSE(request.names_outputs);
  const AnyModel model = model_of({}, {tensor_info("y", ElementType::f32, {{1}})});
  EXPECT_EQ(
      read(model, R"({"inputs":[],"outputs":[{"name":"y","parameters":null}]})").outputs.at(0).name,
      "y");
  const InferRequest in_binary =
      read(one_tensor(ElementType::f32, {{1}}), R"({"inputs":[{"name":"x","shape":[1],
    "datatype":"FP32","parameters":{"binary_data_size":4},"data":null}]})",
           std::string(4, '\0'));
  EXPECT_EQ(elements<float>(in_binary), std::vector{0.0F});
}

TEST_F(Requests, may_have_names_with_escapes) {
  const std::vector infos{tensor_info("é/\"x\"\n\U0001F600", ElementType::f32, {{1}})};
  const InferRequest request = read(model_of(infos, infos), R"({"\u0069nputs":[{
    "name":"\u00E9\/\"x\"\n\ud83d\uDE00","\u0073hape":[1],"datatype":"\u0046P32","data":[1]}]})");
  EXPECT_TRUE(request.inputs.contains("é/\"x\"\n\U0001F600"));
}

TEST_F(Requests, have_strings_with_escapes) {
  const InferRequest request =
      read(one_tensor(ElementType::string, {{-1}}),
           request_of("BYTES", "[6]",
                      R"("data":["", "plain, long enough for eight at once", "é\u00e9\u0000",)"
                      R"( "\"\\\/\b\f\n\r\t", "\ud834\udd1e𝄞", "a\u007f"])"));
  EXPECT_EQ(request.inputs.at("x").texts().strings,
            (std::vector<std::string>{"", "plain, long enough for eight at once",
                                      std::string{"éé\0", 5}, "\"\\/\b\f\n\r\t", "𝄞𝄞", "a\x7f"}));
}

TEST_F(Requests, may_omit_optional_inputs) {
  const AnyModel model = model_of(
      {tensor_info("x", ElementType::f32, {{1}}), tensor_info("optional", ElementType::f32, {{1}})},
      {});
  EXPECT_FALSE(read(model, request_of("FP32", "[1]", R"("data":[1])")).inputs.contains("optional"));
}

TEST_F(Requests, have_parameters) {
  const AnyModel model = one_tensor(ElementType::f32, {{1}});
  const auto with = [&](const std::string& parameters) {
    return read(model, R"({"parameters":{)" + parameters +
                           R"(},"inputs":[{"name":"x",)"
                           R"("datatype":"FP32","shape":[1],"data":[1]}]})");
  };
  const InferRequest none = with("");
  EXPECT_FALSE(none.timeout);
  EXPECT_FALSE(none.priority);
  EXPECT_FALSE(none.binary_outputs);
  EXPECT_EQ(none.id, "");
  const InferRequest all =
      with(R"("timeout":2500,"priority":3,"binary_data_output":true,"sequence_id":0,)"
           R"("sequence_start":false,"sequence_end":false)");
  EXPECT_EQ(all.timeout, 2500us);
  EXPECT_EQ(all.priority, 3U);
  EXPECT_TRUE(all.binary_outputs);
  EXPECT_FALSE(with(R"("timeout":0)").timeout);
  EXPECT_FALSE(with(R"("priority":0)").priority);
  EXPECT_GT(std::chrono::nanoseconds{*with(R"("timeout":18446744073709551615)").timeout}, 24h);
}

TEST_F(Requests, say_of_each_output_how_it_is_to_come) {
  const std::vector outputs{tensor_info("a", ElementType::f32, {{1}}),
                            tensor_info("b", ElementType::f32, {{1}}),
                            tensor_info("c", ElementType::f32, {{1}})};
  const InferRequest request = read(model_of({}, outputs), R"({"inputs":[],
    "parameters":{"binary_data_output":true},
    "outputs":[{"name":"c","parameters":{"binary_data":false}},{"name":"a"},
               {"name":"b","parameters":{"classification":5}}]})");
  ASSERT_EQ(request.outputs.size(), 3U);
  EXPECT_EQ(request.outputs[0].name, "c");
  EXPECT_FALSE(request.is_binary(request.outputs[0]));
  EXPECT_TRUE(request.is_binary(request.outputs[1]));
  EXPECT_EQ(request.outputs[1].classification, 0U);
  EXPECT_EQ(request.outputs[2].classification, 5U);
}

TEST_F(Requests, without_outputs_want_all_that_the_protocol_can_express) {
  onnx::ValueInfo sequence;
  sequence.name = "scores";
  sequence.type.kind = onnx::ValueKind::sequence;
  sequence.type.inner.emplace_back();
  const AnyModel model = model_of({}, {tensor_info("label", ElementType::s64, {{-1}}), sequence,
                                       tensor_info("a", ElementType::f32, {{1}})});
  for (const char* json : {R"({"inputs":[]})", R"({"inputs":[],"outputs":[]})"}) {
    const InferRequest request = read(model, json);
    EXPECT_FALSE(request.names_outputs);
    ASSERT_EQ(request.outputs.size(), 2U);
    EXPECT_EQ(request.outputs[0].name, "label");
    EXPECT_EQ(request.outputs[1].name, "a");
  }
}

TEST_F(Requests, of_models_that_declare_no_type_have_the_clients) {
  const AnyModel model = one_tensor(ElementType::undefined, std::nullopt);
  EXPECT_EQ(elements<std::int8_t>(read(model, request_of("INT8", "[2]", R"("data":[-128,127])"))),
            (std::vector<std::int8_t>{-128, 127}));
}

}  // namespace
}  // namespace stoker::serve::protocol
