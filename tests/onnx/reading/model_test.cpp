// What is read from a model: everything that its file says.
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "message.hpp"
#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/pipeline/tensor/files/byte_source.hpp"

namespace stoker::onnx {
namespace {

Message attribute(std::string_view name, std::int64_t kind) {
  return Message{}.text(1, name).integer(20, kind);
}

TEST(OnnxModel, says_who_made_it_and_what_it_imports) {
  Message file = model(graph({}, {}, {}));
  file.text(2, "exporter").text(3, "1.2").text(4, "org.example").integer(5, 7).text(6, "doc");
  file.message(8, opset("ai.onnx.ml", 3)).message(14, Message{}.text(1, "k").text(2, "v"));
  const ModelFile read_it = read(file).value();
  EXPECT_EQ(read_it.ir_version, 8);
  EXPECT_EQ(read_it.producer_name + read_it.producer_version, "exporter1.2");
  EXPECT_EQ(read_it.domain, "org.example");
  EXPECT_EQ(read_it.model_version, 7);
  EXPECT_EQ(read_it.doc, "doc");
  EXPECT_EQ(read_it.opset(""), 17);
  EXPECT_EQ(read_it.opset("ai.onnx.ml"), 3);
  EXPECT_EQ(read_it.opset("other"), 0);
  EXPECT_EQ(read_it.metadata, (Metadata{{"k", "v"}}));
}

TEST(OnnxModel, has_nodes_with_the_version_of_their_domain) {
  Message file = model(
      graph(node("Add", {"x", "x"}, {"y"}).add("Scaler", {"y", ""}, {"", "z"}, {}, "ai.onnx.ml"),
            {"x"}, {"z"}));
  file.message(8, opset("ai.onnx.ml", 3));
  const ModelFile read_it = read(file).value();
  const Node& scaler = read_it.graph.nodes.at(1);
  EXPECT_EQ(read_it.graph.nodes[0].opset, 17);
  EXPECT_EQ(scaler.opset, 3);
  EXPECT_EQ(scaler.operator_name(), "ai.onnx.ml.Scaler");
  EXPECT_EQ(scaler.place(), "the node of 'z' (ai.onnx.ml.Scaler)");
  EXPECT_TRUE(scaler.has_input(0) && !scaler.has_input(1) && !scaler.has_input(2));
  EXPECT_TRUE(!scaler.has_output(0) && scaler.has_output(1));
}

TEST(OnnxModel, may_leave_out_the_imports_of_domains_that_runtimes_bring_along) {
  const ModelFile read_it = read(model(graph(node("Gelu", {"x"}, {"y"}, {}, "com.microsoft")
                                                 .add("Scaler", {"y"}, {"z"}, {}, "ai.onnx.ml"),
                                             {"x"}, {"z"})))
                                .value();
  for (const Node& each : read_it.graph.nodes) {
    std::int64_t newest = 0;
    for (const auto& definition : OperatorTable::standard().list())
      if (definition->domain == each.domain)
        newest = std::max<std::int64_t>(newest, definition->since.back());
    EXPECT_EQ(each.opset, newest) << each.domain;
  }
  EXPECT_EQ(read_it.opset("com.microsoft"), 0) << "this is what the file says";
}

TEST(OnnxModel, calls_its_own_domain_by_two_names) {
  Message file = Message{}.integer(1, 8).message(8, opset("ai.onnx", 18));
  file.message(
      7, graph(node("Relu", {"x"}, {"y"}).add("Relu", {"y"}, {"z"}, {}, "ai.onnx"), {"x"}, {"z"}));
  const ModelFile read_it = read(file).value();
  for (const Node& each : read_it.graph.nodes) {
    EXPECT_EQ(each.opset, 18);
    EXPECT_EQ(each.domain, "");
  }
}

TEST(OnnxModel, has_initializers_that_may_be_inputs_too) {
  const ModelFile read_it = read(model(graph(node("Add", {"x", "w"}, {"y"}), {"x", "w"}, {"y"},
                                             {float_tensor("w", {1, 2}), float_tensor("v", {3})})))
                                .value();
  ASSERT_NE(read_it.graph.initializer("w"), nullptr);
  EXPECT_EQ(values_of<float>(read_it.graph.initializer("w")->tensor), (std::vector<float>{1, 2}));
  EXPECT_EQ(read_it.graph.initializer("x"), nullptr);
  EXPECT_EQ(read_it.graph.inputs.size(), 2U);
}

TEST(OnnxModel, has_values_of_every_kind) {
  const Message unknown;
  const Message symbol = Message{}.text(2, "batch");
  const Message tensor = tensor_type(
      ElementType::f32, {symbol, Message{}.integer(1, 3), unknown, Message{}.integer(1, -1)});
  const Message no_shape = Message{}.message(1, Message{}.integer(1, 7));
  const Message sequence = Message{}.message(4, Message{}.message(1, no_shape));
  const Message optional = Message{}.message(9, Message{}.message(1, sequence));
  const Message map = Message{}.message(5, Message{}.integer(1, 8).message(2, no_shape));
  Message whole;
  for (const Message& type : {tensor, no_shape, sequence, optional, map, unknown})
    whole.message(11, value_info("v" + std::to_string(whole.fields.size()), type));
  const ModelFile read_it = read(model(whole)).value();
  const auto text = [&](std::size_t i) { return read_it.graph.inputs.at(i).type.to_string(); };
  EXPECT_EQ(text(0), "float[batch,3,?,?]");
  EXPECT_EQ(text(1), "int64[...]");
  EXPECT_EQ(text(2), "seq(int64[...])");
  EXPECT_EQ(text(3), "optional(seq(int64[...]))");
  EXPECT_EQ(text(4), "map(string,int64[...])");
  EXPECT_EQ(text(5), "unknown");
}

TEST(OnnxModel, has_attributes_of_every_kind) {
  const Message tensor = float_tensor("t", {1});
  const Message inner = graph(node("Relu", {"x"}, {"r"}), {}, {"r"});
  const Message type = tensor_type(ElementType::s64, {});
  const std::vector<Message> attributes{attribute("f", 1).real(2, 0.5F),
                                        attribute("i", 2).integer(3, -7),
                                        attribute("s", 3).text(4, "same"),
                                        attribute("t", 4).message(5, tensor),
                                        attribute("g", 5).message(6, inner),
                                        attribute("fs", 6).real(7, 1).real(7, 2),
                                        attribute("packed", 7).packed(8, {1, -1}),
                                        attribute("is", 7).integer(8, 3).integer(8, 4),
                                        attribute("ss", 8).text(9, "a").text(9, ""),
                                        attribute("ts", 9).message(10, tensor).message(10, tensor),
                                        attribute("gs", 10).message(11, inner),
                                        attribute("tp", 13).message(14, type),
                                        attribute("tps", 14).message(15, type),
                                        attribute("none", 7),
                                        attribute("zero", 2),
                                        Message{}.text(1, "kindless").integer(3, 5)};
  const ModelFile read_it =
      read(model(graph(node("Many", {"x"}, {"y"}, attributes), {"x"}, {"y"}))).value();
  const Node& many = read_it.graph.nodes.at(0);
  EXPECT_EQ(many.real("f"), 0.5F);
  EXPECT_EQ(many.integer("i"), -7);
  EXPECT_EQ(many.text("s"), "same");
  EXPECT_EQ(values_of<float>(many.tensor("t")), std::vector<float>{1});
  EXPECT_EQ(many.graph("g").nodes.at(0).op, "Relu");
  EXPECT_EQ(*many.reals("fs"), (std::vector<float>{1, 2}));
  EXPECT_EQ(*many.integers("packed"), (std::vector<std::int64_t>{1, -1}));
  EXPECT_EQ(*many.integers("is"), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(*many.texts("ss"), (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(std::get<std::vector<TensorData>>(many.find("ts")->value).size(), 2U);
  EXPECT_EQ(std::get<std::vector<GraphPtr>>(many.find("gs")->value).size(), 1U);
  EXPECT_EQ(many.type("tp").to_string(), "int64[]");
  EXPECT_EQ(std::get<std::vector<ValueType>>(many.find("tps")->value).size(), 1U);
  EXPECT_TRUE(many.integers("none")->empty());
  EXPECT_EQ(many.integer("zero"), 0);
  EXPECT_EQ(many.integer("kindless"), 5);
}

TEST(OnnxModel, says_which_attribute_was_expected) {
  const ModelFile read_it =
      read(model(
               graph(node("Conv", {"x"}, {"y"}, {attribute("group", 1).real(2, 1)}), {"x"}, {"y"})))
          .value();
  const Node& conv = read_it.graph.nodes.at(0);
  EXPECT_EQ(conv.integer("missing", 4), 4);
  EXPECT_EQ(conv.integers("missing"), nullptr);
  EXPECT_EQ(conv.integers("missing", {1, 2}), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(conv.element_type("missing", ElementType::f16), ElementType::f16);
  const auto error_of = [&](const char* name) -> std::string {
    try {
      return std::to_string(conv.integer(name));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
  };
  EXPECT_EQ(
      error_of("group"),
      "the node of 'y' (Conv): expected an integer, came a number (attribute=group, opset=17)");
  EXPECT_EQ(
      error_of("pads"),
      "the node of 'y' (Conv): expected an integer, it is missing (attribute=pads, opset=17)");
}

class OnnxFile : public testing::Test {
 protected:
  OnnxFile() : path_{testing::TempDir() + "model" + std::to_string(::getpid()) + ".onnx"} {
    std::ofstream{path_, std::ios::binary} << bytes_;
  }
  ~OnnxFile() override { std::filesystem::remove(path_); }

  const std::string bytes_ = model(graph({}, {}, {}, {float_tensor("w", {1, 2})})).bytes();
  const std::string path_;
};

TEST_F(OnnxFile, is_read_from_a_path_and_its_tensors_lie_in_it) {
  const ModelFile read_it = read_model(path_).value();
  ASSERT_EQ(read_it.files.size(), 1U);
  const auto whole = read_it.files[0]->view();
  const auto part = read_it.graph.initializers.at(0).tensor.bytes.view;
  EXPECT_TRUE(part.data() >= whole.data() && part.data() < whole.data() + whole.size());
  EXPECT_FALSE(read_it.files[0]->has_changed());
  std::filesystem::resize_file(path_, bytes_.size() + 1);
  EXPECT_TRUE(read_it.files[0]->has_changed());
}

TEST_F(OnnxFile, has_not_changed_when_another_one_takes_its_place) {
  const ModelFile read_it = read_model(path_).value();
  std::ofstream{path_ + ".new", std::ios::binary} << "another";
  std::filesystem::rename(path_ + ".new", path_);
  EXPECT_FALSE(read_it.files[0]->has_changed());
  EXPECT_EQ(values_of<float>(read_it.graph.initializers.at(0).tensor), (std::vector<float>{1, 2}));
}

TEST_F(OnnxFile, keeps_its_tensors_when_the_model_is_gone) {
  TensorData tensor = read_model(path_).value().graph.initializers.at(0).tensor;
  EXPECT_EQ(values_of<float>(tensor), (std::vector<float>{1, 2}));
}

TEST_F(OnnxFile, is_read_from_a_descriptor_or_a_pipe) {
  std::FILE* const file = std::fopen(path_.c_str(), "r");
  const Result<ModelFile> mapped = read_model(::fileno(file));
  std::fclose(file);
  EXPECT_FALSE(mapped->files[0]->has_changed());
  EXPECT_EQ(values_of<float>(mapped.value().graph.initializers.at(0).tensor),
            (std::vector<float>{1, 2}));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], bytes_.data(), bytes_.size()), static_cast<ssize_t>(bytes_.size()));
  ::close(ends[1]);
  const Result<ModelFile> copied = read_model(ends[0]);
  EXPECT_EQ(values_of<float>(copied.value().graph.initializers.at(0).tensor),
            (std::vector<float>{1, 2}));
  EXPECT_EQ(read_model(ends[0]).error().code(), ErrorCode::invalid_argument) << "it is at its end";
  ::close(ends[0]);
  EXPECT_EQ(read_model(-1).error().code(), ErrorCode::io_error);
}

TEST_F(OnnxFile, is_not_found_or_no_model) {
  EXPECT_EQ(read_model(std::filesystem::path{"/nowhere/m.onnx"}).error().code(),
            ErrorCode::not_found);
  EXPECT_EQ(read_model(std::filesystem::path{"/tmp"}).error().code(), ErrorCode::io_error);
  EXPECT_EQ(read(std::string{}).error().reason(), "no ONNX model: it has no IR version");
}

TEST(OnnxModel, of_an_ir_that_is_not_known_is_refused) {
  const auto of = [](std::int64_t ir) {
    return Message{}.integer(1, ir).message(7, graph({}, {}, {}));
  };
  EXPECT_TRUE(read(of(3)) && read(of(13)));
  EXPECT_EQ(refusal(of(2), ErrorCode::unsupported),
            "onnx: IR version 2, those from 3 to 13 are read (file=bytes in memory)");
  refusal(of(14), ErrorCode::unsupported);
}

}  // namespace
}  // namespace stoker::onnx
