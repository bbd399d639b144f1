// Inference requests that are refused, and what the client is told.
#include "protocol_bodies.hpp"

namespace stoker::serve::protocol {
namespace {

class Refusals : public ProtocolTest {
 protected:
  std::string of(const std::string& json) const {
    return refusal([&] { return read(model, json); });
  }
  std::string of(const std::string& json, const std::string& tensors) const {
    return refusal([&] { return read(model, json, tensors); });
  }
  /// Of an input x FP32 [-1,3] with this `data`.
  std::string of_data(const std::string& shape, const std::string& data) const {
    return of(request_of("FP32", shape, R"("data":)" + data));
  }
  static std::string of_type(const AnyModel& model, const std::string& datatype,
                             const std::string& data) {
    return refusal([&] { return read(model, request_of(datatype, "[1]", R"("data":)" + data)); });
  }

  const AnyModel model = model_of({tensor_info("x", ElementType::f32, {{-1, 3}})},
                                  {tensor_info("scores", ElementType::f32, {{-1}}),
                                   tensor_info("labels", ElementType::string, {{-1}})});
};

void expect_begins(const std::string& text, const std::string& beginning) {
  EXPECT_EQ(text.substr(0, beginning.size()), beginning);
}

struct Case {
  const char* json;
  const char* refusal;
};

TEST_F(Refusals, of_malformed_json_say_where) {
  const std::vector<Case> cases{
      {"", "it ends too early (line 1, column 1)"},
      {"{\"inputs\":[\n\n  ", "it ends too early (line 3, column 3)"},
      {"{\"id\":\"a\"\n \"inputs\":[]}", "expected ',' or '}' (line 2, column 2)"},
      {R"({"id":"a",})", "expected a key in quotes (line 1, column 11)"},
      {R"({id:"a"})", "expected a key in quotes (line 1, column 2)"},
      {R"({"id" "a"})", "expected ':' (line 1, column 7)"},
      {R"({"inputs":[],"e":[1,]})", "expected a value (line 1, column 21)"},
      {R"({"inputs":[],"e":[1 2]})", "expected ',' or ']' (line 1, column 21)"},
      {R"({"inputs":[],"e":{"a":1]})", "expected ',' or '}' (line 1, column 24)"},
      {R"({"inputs":[],"e":tru})", "expected a value (line 1, column 18)"},
      {R"({"inputs":[],"e":nul})", "expected a value (line 1, column 18)"},
      {R"({"inputs":[],"e":'a'})", "expected a value (line 1, column 18)"},
      {R"({"inputs":[],"e":01})", "malformed number (line 1, column 19)"},
      {R"({"inputs":[],"e":-})", "malformed number (line 1, column 19)"},
      {R"({"inputs":[],"e":1.})", "malformed number (line 1, column 20)"},
      {R"({"inputs":[],"e":1e})", "malformed number (line 1, column 20)"},
      {R"({"inputs":[],"e":1e+})", "malformed number (line 1, column 21)"},
      {R"({"inputs":[],"e":+1})", "expected a value (line 1, column 18)"},
      {R"({"inputs":[],"e":.5})", "expected a value (line 1, column 18)"},
      {R"({"inputs":[],"e":"\x"})", "an unknown escape (line 1, column 19)"},
      {R"({"inputs":[],"e":"\u00g0"})", "expected four hexadecimal digits (line 1, column 23)"},
      {R"({"inputs":[],"e":"\ud800"})",
       "a high surrogate without a low one behind it (line 1, column 19)"},
      {R"({"inputs":[],"e":"\ud800\u0041"})",
       "a high surrogate without a low one behind it (line 1, column 19)"},
      {R"({"inputs":[],"e":"\udc00"})",
       "a low surrogate without a high one before it (line 1, column 19)"},
      {"{\"inputs\":[],\"e\":\"\xff\"}", "a string is not UTF-8 (line 1, column 19)"},
      {"{\"inputs\":[],\"\xc0\xaf\":1}", "a string is not UTF-8 (line 1, column 15)"},
      {"{\"inputs\":[],\"e\":\"a\nb\"}",
       "a control character in a string must be escaped (line 1, column 20)"},
      {R"({"inputs":[],"e":"a)", "it ends too early (line 1, column 20)"},
      {R"({"inputs":[],"e":"a\)", "it ends too early (line 1, column 21)"},
      {R"({"inputs":[],"e":NaN})",
       "NaN and infinities have no JSON; send the tensor in binary (line 1, column 18)"},
      {R"({"inputs":[],"e":-Infinity})",
       "NaN and infinities have no JSON; send the tensor in binary (line 1, column 19)"},
      {"{\"inputs\":[]}\n{}", "something follows the end (line 2, column 1)"},
      {"\xef\xbb\xbf{}", "expected a value (line 1, column 1)"},
  };
  for (const Case& one : cases)
    EXPECT_EQ(of(one.json), "invalid_argument: malformed JSON: " + std::string{one.refusal})
        << one.json;
}

TEST_F(Refusals, of_members_of_another_kind_say_what_came) {
  const std::vector<Case> cases{
      {"[]", "expected an object, came a list (line 1, column 1)"},
      {"7", "expected an object, came a number (line 1, column 1)"},
      {R"({"inputs":{}})", "expected a list, came an object (line 1, column 11)"},
      {R"({"inputs":[7]})", "expected an object, came a number (line 1, column 12)"},
      {R"({"id":7})", "expected a string, came a number (line 1, column 7)"},
      {R"({"inputs":null})", "expected a list, came null (line 1, column 11)"},
      {R"({"parameters":[]})", "expected an object, came a list (line 1, column 15)"},
      {R"({"parameters":{"binary_data_output":1}})",
       "expected true or false, came a number (line 1, column 37)"},
      {R"({"parameters":{"timeout":"1"}})",
       "expected an integer, came a string (line 1, column 26)"},
      {R"({"parameters":{"timeout":-1}})", "expected an integer of 0 or more (line 1, column 26)"},
      {R"({"parameters":{"priority":1.5}})",
       "expected an integer of 0 or more (line 1, column 27)"},
      {R"({"outputs":[{"name":"scores","parameters":{"binary_data":"yes"}}]})",
       "expected true or false, came a string (line 1, column 58)"},
  };
  for (const Case& one : cases)
    EXPECT_EQ(of(one.json), "invalid_argument: " + std::string{one.refusal}) << one.json;
}

TEST_F(Refusals, of_members_that_are_missing_or_doubled) {
  const std::vector<Case> cases{
      {"{}", "the request has no 'inputs'"},
      {R"({"inputs":[]})", "input 'x' (FP32 [-1,3]) is missing"},
      {R"({"inputs":[{}]})", "an input has no 'name' (line 1, column 14)"},
      {R"({"inputs":[{"name":"x"}]})", "input 'x' has no 'shape' (line 1, column 24)"},
      {R"({"inputs":[{"name":"x","shape":[1,3]}]})",
       "input 'x' has no 'datatype' (line 1, column 38)"},
      {R"({"inputs":[{"name":"x","shape":[1,3],"datatype":"FP32"}]})",
       "input 'x' has no 'data' (line 1, column 56)"},
      {R"({"inputs":[],"outputs":[{}]})", "an output has no 'name' (line 1, column 27)"},
      {R"({"inputs":[],"inputs":[]})", "the key 'inputs' occurs twice (line 1, column 23)"},
      {R"({"id":"a","\u0069d":"a"})", "the key 'id' occurs twice (line 1, column 21)"},
      {R"({"parameters":{"timeout":1,"timeout":1}})",
       "the key 'timeout' occurs twice (line 1, column 38)"},
      {R"({"inputs":[{"name":"x","shape":[1,3],"shape":[3]}]})",
       "the key 'shape' occurs twice (line 1, column 46)"},
      {R"({"inputs":[{"name":"x","shape":[1,3],"datatype":"FP32","data":[1,2,3]},
                     {"name":"x","shape":[1,3],"datatype":"FP32","data":[1,2,3]}]})",
       "input 'x': it occurs twice"},
      {R"({"inputs":[],"outputs":[{"name":"scores"},{"name":"scores"}]})",
       "output 'scores' occurs twice"},
  };
  for (const Case& one : cases)
    EXPECT_EQ(of(one.json), "invalid_argument: " + std::string{one.refusal}) << one.json;
}

TEST_F(Refusals, of_unknown_names_say_the_nearest) {
  EXPECT_EQ(of(R"({"inputs":[{"name":"xx","shape":[1,3],"datatype":"FP32","data":[1,2,3]}]})"),
            "not_found: the model has no input 'xx'");
  EXPECT_EQ(of(R"({"inputs":[],"outputs":[{"name":"score"}]})"),
            "not_found: the model has no output 'score'; did you mean 'scores'?");
  EXPECT_EQ(of(R"({"inputs":[{"name":"a\n\tb","shape":[],"datatype":"FP32","data":1}]})"),
            "not_found: the model has no input 'a\\x0a\\x09b'");
  EXPECT_EQ(of(R"({"inputs":[{"name":"a\u001b[2J)" + std::string(100, 'b') +
               R"(","shape":[],"datatype":"FP32","data":1}]})"),
            "not_found: the model has no input 'a\\x1b[2J" + std::string(59, 'b') + "…'");
}

TEST_F(Refusals, of_other_datatypes_and_shapes_say_what_was_expected) {
  expect_begins(of(request_of("FLOAT32", "[1,3]", R"("data":[1,2,3])")),
                "dtype_mismatch: the datatype 'FLOAT32' is none of BOOL, UINT8, UINT16, UINT32, "
                "UINT64, INT8, INT16, INT32, INT64, FP16, FP32, FP64, BF16, BYTES (line 1, column "
                "44)");
  expect_begins(of(request_of("fp32", "[1,3]", R"("data":[1,2,3])")),
                "dtype_mismatch: the datatype 'fp32' is none of");
  EXPECT_EQ(of(request_of("INT64", "[1,3]", R"("data":[1,2,3])")),
            "dtype_mismatch: input 'x': expected FP32 [-1,3], came INT64 [1,3]");
  EXPECT_EQ(of_data("[3,1]", "[1,2,3]"),
            "shape_mismatch: input 'x': expected FP32 [-1,3], came FP32 [3,1]");
  EXPECT_EQ(of_data("[3]", "[1,2,3]"),
            "shape_mismatch: input 'x': expected FP32 [-1,3], came FP32 [3]");
}

TEST_F(Refusals, of_shapes_that_are_none) {
  expect_begins(of_data("[-1,3]", "[1,2,3]"), "invalid_argument: a shape has a negative dimension");
  expect_begins(of_data("[1.0,3]", "[1,2,3]"),
                "invalid_argument: expected an integer of 0 or more");
  expect_begins(of_data("3", "[1,2,3]"), "invalid_argument: expected a list, came a number");
  expect_begins(of_data("[1,1,1,1,1,1,1,1,1]", "[1]"),
                "limit_exceeded: a shape has more than 8 dimensions");
  for (const char* shape :
       {"[4294967296,4294967296]", "[9223372036854775807,3]", "[18446744073709551615,3]",
        "[1099511627776,1099511627776,1099511627776,0]", "[3,3,3,288230376151711744]"})
    expect_begins(
        of_data(shape, "[1,2,3]"),
        "invalid_argument: the dimensions of a shape multiply to too many elements (line");
}

TEST_F(Refusals, of_data_that_do_not_fill_the_shape) {
  const std::vector<Case> cases{
      {"[          ]", "shape [2,3] needs 6 elements, came none"},
      {"[1,2,3,4,5]", "shape [2,3] needs 6 elements, came 5"},
      {"[1,2,3,4,5,6,7]", "shape [2,3] needs 6 elements, came more"},
      {"[[1,2,3],[4,5]]", "shape [2,3] needs lists of 3, came 2"},
      {"[[1,2,3],[]]", "shape [2,3] needs lists of 3, came none"},
      {"[[1,2,3],[4,5,6,7]]", "shape [2,3] needs lists of 3, came more"},
      {"[[1,2,3]]", "shape [2,3] needs lists of 2, came 1"},
      {"[[1,2,3],[4,5,6],[7,8,9]]", "shape [2,3] needs lists of 2, came more"},
      {"[[1,2],[3,4],[5,6]]", "shape [2,3] needs lists of 3, came 2"},
      {"[[1,2,3],4,5,6]", "data is nested otherwise than shape [2,3]"},
      {"[1,2,3,[4,5,6]]", "data is nested deeper than shape [2,3]"},
      {"[[[1,2,3],[4,5,6]]]", "data is nested deeper than shape [2,3]"},
  };
  for (const Case& one : cases) {
    const std::string expected = "shape_mismatch: input 'x': " + std::string{one.refusal} + " (";
    expect_begins(of_data("[2,3]", one.json), expected);
  }
}

TEST_F(Refusals, of_elements_of_another_type) {
  const std::vector<Case> cases{
      {R"([1,"2",3])", "expected FP32, came a string"},
      {"[1,true,3]", "expected FP32, came a boolean"},
      {"[1,null,3]", "expected FP32, came null; NaN and infinities come in binary"},
      {"[1,{},3]", "expected FP32, came an object"},
  };
  for (const Case& one : cases)
    expect_begins(of_data("[1,3]", one.json),
                  "dtype_mismatch: input 'x': " + std::string{one.refusal});
  expect_begins(of_data("[1,3]", "7     "),
                "shape_mismatch: input 'x': shape [1,3] needs a list, came a number (");
}

TEST_F(Refusals, of_numbers_that_the_datatype_does_not_have) {
  struct Number {
    ElementType type;
    const char* datatype;
    const char* number;
  };
  const std::vector<Number> numbers{
      {ElementType::u8, "UINT8", "256"},
      {ElementType::u8, "UINT8", "-1"},
      {ElementType::s8, "INT8", "128"},
      {ElementType::s8, "INT8", "-129"},
      {ElementType::u16, "UINT16", "65536"},
      {ElementType::s16, "INT16", "32768"},
      {ElementType::s16, "INT16", "-32769"},
      {ElementType::u32, "UINT32", "4294967296"},
      {ElementType::s32, "INT32", "2147483648"},
      {ElementType::s32, "INT32", "-2147483649"},
      {ElementType::u64, "UINT64", "18446744073709551616"},
      {ElementType::u64, "UINT64", "100000000000000000000000000000000000000000"},
      {ElementType::s64, "INT64", "9223372036854775808"},
      {ElementType::s64, "INT64", "-9223372036854775809"},
      {ElementType::s64, "INT64", "-18446744073709551617"},
      {ElementType::f32, "FP32", "3.5e38"},
      {ElementType::f32, "FP32", "-1e99999999999999999999"},
      {ElementType::f64, "FP64", "1e309"},
      {ElementType::boolean, "BOOL", "2"},
  };
  for (const Number& one : numbers)
    expect_begins(
        of_type(one_tensor(one.type, {{1}}), one.datatype, "[" + std::string{one.number} + "]"),
        "invalid_argument: input 'x': '" + std::string{one.number} + "' is out of range for " +
            one.datatype);
  expect_begins(of_type(one_tensor(ElementType::s64, {{1}}), "INT64", "[1.0]"),
                "dtype_mismatch: input 'x': expected INT64, came '1.0', which is not an integer (");
  expect_begins(of_type(one_tensor(ElementType::u8, {{1}}), "UINT8", "[1e2]"),
                "dtype_mismatch: input 'x': expected UINT8, came '1e2', wh");
  expect_begins(of_type(one_tensor(ElementType::string, {{1}}), "BYTES", "[1]"),
                "dtype_mismatch: input 'x': expected BYTES, came a number (");
}

TEST_F(Refusals, of_16_bit_floats_in_json_name_the_binary_form) {
  EXPECT_EQ(of_type(one_tensor(ElementType::f16, {{1}}), "FP16", "[1]"),
            "invalid_argument: input 'x': FP16 has no form in JSON; send it in binary, with "
            "binary_data_size");
  expect_begins(of_type(one_tensor(ElementType::bf16, {{1}}), "BF16", "[1]"),
                "invalid_argument: input 'x': BF16 has no form in JSON; ");
}

TEST_F(Refusals, of_binary_sizes_that_do_not_add_up) {
  const auto json = [](const std::string& size) {
    return request_of("FP32", "[1,3]", R"("parameters":{"binary_data_size":)" + size + "}");
  };
  const std::string tensor = binary(std::vector<float>{1, 2, 3});
  EXPECT_EQ(of(json("12"), tensor), "accepted");
  EXPECT_EQ(of(json("12")),
            "invalid_argument: input 'x': it has binary_data_size, and the request has no header "
            "Inference-Header-Content-Length");
  EXPECT_EQ(of(json("12") + tensor),
            "invalid_argument: input 'x': it has binary_data_size, and the request has no header "
            "Inference-Header-Content-Length");
  EXPECT_EQ(of(json("12"), tensor.substr(1)),
            "invalid_argument: input 'x': binary_data_size is 12, and only 11 bytes are left "
            "behind the JSON and the tensors before it");
  expect_begins(of(json("18446744073709551615"), tensor),
                "invalid_argument: input 'x': binary_data_size is 184467440737095");
  EXPECT_EQ(of(json("12"), tensor + "z"),
            "invalid_argument: 1 bytes follow the last binary tensor; do "
            "Inference-Header-Content-Length and each binary_data_size add up?");
  EXPECT_EQ(of(json("8"), tensor),
            "invalid_argument: input 'x': FP32 [1,3] needs 12 bytes, binary_data_size is 8");
  EXPECT_EQ(
      of(request_of("FP32", "[1,3]", R"("data":[1,2,3],"parameters":{"binary_data_size":12})"),
         tensor),
      "invalid_argument: input 'x': it has both 'data' and 'binary_data_size'");
}

TEST_F(Refusals, of_an_impossible_header_name_it) {
  const std::string json = request_of("FP32", "[1,3]", R"("data":[1,2,3])");
  const auto with = [&](std::uint64_t json_bytes) {
    return refusal([&] { return read_infer_request(bytes_of(json), json_bytes, model); });
  };
  const std::string size = std::to_string(json.size());
  EXPECT_EQ(with(json.size()), "accepted");
  EXPECT_EQ(with(json.size() + 1), "invalid_argument: Inference-Header-Content-Length is " +
                                       std::to_string(json.size() + 1) + ", the body has " + size +
                                       " bytes");
  EXPECT_EQ(with(json.size() - 1),
            "invalid_argument: malformed JSON: it ends too early; Inference-Header-Content-Length "
            "is " +
                std::to_string(json.size() - 1) + " (line 1, column " + size + ")");
  EXPECT_EQ(
      refusal([&] { return read_infer_request(bytes_of(json + "abc"), json.size() + 3, model); }),
      "invalid_argument: malformed JSON: something follows the end; "
      "Inference-Header-Content-Length is " +
          std::to_string(json.size() + 3) + " (line 1, column " + std::to_string(json.size() + 1) +
          ")");
}

TEST_F(Refusals, of_strings_in_binary_that_do_not_fill_their_bytes) {
  const AnyModel texts = one_tensor(ElementType::string, {{-1}});
  const auto of_bytes = [&](const std::string& shape, const std::string& bytes) {
    return refusal([&] {
      return read(
          texts,
          request_of("BYTES", shape,
                     R"("parameters":{"binary_data_size":)" + std::to_string(bytes.size()) + "}"),
          bytes);
    });
  };
  const std::string two = binary(std::vector<std::string>{"ab", "cde"});
  EXPECT_EQ(of_bytes("[2]", two), "accepted");
  EXPECT_EQ(of_bytes("[1]", two), "invalid_argument: input 'x': 7 bytes follow its last element");
  EXPECT_EQ(of_bytes("[3]", two),
            "invalid_argument: input 'x': element 2 reaches beyond binary_data_size");
  EXPECT_EQ(of_bytes("[2]", two.substr(0, two.size() - 1)),
            "invalid_argument: input 'x': element 1 reaches beyond binary_data_size");
  EXPECT_EQ(of_bytes("[2]", std::string(7, '\0')),
            "invalid_argument: input 'x': BYTES [2] needs 4 bytes and more for each element, "
            "binary_data_size is 7");
  EXPECT_EQ(of_bytes("[1]", std::string(4, '\xff')),
            "invalid_argument: input 'x': element 0 reaches beyond binary_data_size");
}

TEST_F(Refusals, of_booleans_in_binary_that_are_neither_0_nor_1) {
  EXPECT_EQ(refusal([&] {
              return read(one_tensor(ElementType::boolean, {{2}}),
                          request_of("BOOL", "[2]", R"("parameters":{"binary_data_size":2})"),
                          std::string{"\x01\x02"});
            }),
            "invalid_argument: input 'x': element 1 is 2, an element of BOOL is 0 or 1");
}

TEST_F(Refusals, of_parts_of_the_protocol_that_are_not_there) {
  for (const char* parameter : {R"("sequence_id":7)", R"("sequence_id":"a")",
                                R"("sequence_start":true)", R"("sequence_end":true)"})
    expect_begins(of(R"({"parameters":{)" + std::string{parameter} + "}}"),
                  "unsupported: sequences are not supported: ");
  EXPECT_EQ(of(request_of("FP32", "[1,3]", R"("parameters":{"shared_memory_region":"a"})")),
            "unsupported: inputs in shared memory are not supported");
  EXPECT_EQ(of(R"({"outputs":[{"name":"scores","parameters":{"shared_memory_region":"a"}}]})"),
            "unsupported: outputs in shared memory are not supported");
}

TEST_F(Refusals, of_outputs_in_a_form_that_they_do_not_have) {
  const AnyModel halves = model_of({}, {tensor_info("half", ElementType::f16, {{1}}),
                                        tensor_info("labels", ElementType::string, {{1}})});
  const auto with = [&](const std::string& name, const std::string& parameters) {
    return refusal([&] {
      return read(halves, R"({"inputs":[],"outputs":[{"name":")" + name + R"(","parameters":{)" +
                              parameters + "}}]}");
    });
  };
  EXPECT_EQ(refusal([&] { return read(halves, R"({"inputs":[]})"); }).substr(0, 39),
            "invalid_argument: output 'half' is FP16");
  EXPECT_EQ(refusal([&] {
              return read(halves, R"({"inputs":[],"parameters":{"binary_data_output":true}})");
            }),
            "accepted");
  EXPECT_EQ(with("half", ""),
            "invalid_argument: output 'half' is FP16, which has no form in JSON; ask for it with "
            "binary_data");
  EXPECT_EQ(with("half", R"("binary_data":true)"), "accepted");
  EXPECT_EQ(with("half", R"("classification":1)"), "accepted");
  EXPECT_EQ(with("labels", R"("classification":1)"),
            "invalid_argument: output 'labels' is BYTES, which has no classes");
}

TEST_F(Refusals, of_values_that_the_protocol_cannot_express) {
  onnx::ValueInfo sequence;
  sequence.name = "s";
  sequence.type.kind = onnx::ValueKind::sequence;
  sequence.type.inner.push_back(tensor_info("", ElementType::f32, {{1}}).type);
  const AnyModel other = model_of({sequence}, {sequence});
  EXPECT_EQ(refusal([&] {
              return read(other, R"({"inputs":[{"name":"s","shape":[1],"datatype":"FP32",)"
                                 R"("data":[1]}]})");
            }),
            "unsupported: input 's': it is seq(float[1]), which the protocol cannot express");
  EXPECT_EQ(refusal([&] {
              return read(model_of({}, {sequence}), R"({"inputs":[],"outputs":[{"name":"s"}]})");
            }),
            "unsupported: output 's' is seq(float[1]), which the protocol cannot express");
}

TEST_F(Refusals, beyond_the_limits) {
  const auto with = [&](const AnyModel& limited, const std::string& json, BodyLimits limits) {
    return refusal([&] { return read(limited, json, limits); });
  };
  const std::string three = request_of("FP32", "[1,3]", R"("data":[1,2,3])");
  EXPECT_EQ(with(model, three, {.tensor_bytes = 12}), "accepted");
  EXPECT_EQ(with(model, three, {.tensor_bytes = 11}),
            "limit_exceeded: the inputs of the request have more than 11 bytes");
  const AnyModel texts = one_tensor(ElementType::string, {{1}});
  const std::string text = request_of("BYTES", "[1]", R"("data":["abc"])");
  EXPECT_EQ(with(texts, text, {.tensor_bytes = sizeof(std::string) + 3}), "accepted");
  expect_begins(with(texts, text, {.tensor_bytes = sizeof(std::string) + 2}), "limit_exceeded: ");
  EXPECT_EQ(with(model, R"({"id":"abc"})", {.id_bytes = 2}),
            "limit_exceeded: the id has more than 2 bytes");
  const auto nested = [](std::size_t depth) {
    return R"({"inputs":[],"e":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_EQ(with(model_of({}, {}), nested(63), {}), "accepted");
  expect_begins(with(model_of({}, {}), nested(64), {}),
                "invalid_argument: the JSON has more than 64 lists and objects within each ot");
  expect_begins(with(model_of({}, {}), nested(1'000'000), {}), "invalid_argument: ");
  EXPECT_EQ(with(model, three, {.nesting = 4}), "accepted");
  expect_begins(with(model, three, {.nesting = 3}), "invalid_argument: ");
}

TEST_F(Refusals, of_claims_come_before_their_memory) {
  const AnyModel any = one_tensor(ElementType::f64, std::nullopt);
  const AnyModel texts = one_tensor(ElementType::string, std::nullopt);
  EXPECT_EQ(refusal([&] {
              return read(any, request_of("FP64", "[1073741824,1048576]", R"("data":[1])"),
                          {.tensor_bytes = std::uint64_t{1} << 62U});
            }),
            "shape_mismatch: input 'x': shape [1073741824,1048576] needs more elements than the "
            "body has");
  EXPECT_EQ(refusal([&] {
              return read(texts, request_of("BYTES", "[1073741824,1048576]", R"("data":["a"])"),
                          {.tensor_bytes = std::uint64_t{1} << 62U});
            }),
            "shape_mismatch: input 'x': shape [1073741824,1048576] needs more elements than the "
            "body has");
}

}  // namespace
}  // namespace stoker::serve::protocol
