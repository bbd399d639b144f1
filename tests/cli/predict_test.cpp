// `stoker predict`: models of every kind on inputs from files.
#include <gtest/gtest.h>

#include "command_folder.hpp"
#include "stoker/api/image.hpp"
#include "stoker/api/nn.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/api/train.hpp"
#include "stoker/pipeline/onnx/reading/value_reader.hpp"
#include "stoker/tests/onnx/reading/message.hpp"

namespace stoker {
namespace {

class PredictCommand : public CommandFolder {
 protected:
  /// y = op(x), both float of these extents.
  void write_model(const std::string& name, const char* op,
                   const std::vector<std::int64_t>& extents) const {
    std::vector<onnx::Message> dims;
    for (const std::int64_t extent : extents) dims.push_back(onnx::Message{}.integer(1, extent));
    onnx::Message graph;
    graph.messages(1, onnx::node(op, {"x"}, {"y"}).all);
    graph.message(11, onnx::value_info("x", onnx::tensor_type(onnx::ElementType::f32, dims)));
    graph.message(12, onnx::value_info("y", onnx::tensor_type(onnx::ElementType::f32, dims)));
    write(name, onnx::model(graph).bytes());
  }
  /// [rows, columns, colours], the same everywhere but for the colours.
  void write_picture(const std::string& name, std::int64_t rows, std::int64_t columns,
                     const std::vector<int>& colours) const {
    std::vector<std::byte> bytes;
    for (std::int64_t i = 0; i < rows * columns; ++i)
      for (const int colour : colours) bytes.push_back(static_cast<std::byte>(colour));
    const TensorSpec spec{DType::u8, {rows, columns, static_cast<std::int64_t>(colours.size())}};
    image::save(directory / name, {spec, bytes});
  }
  [[nodiscard]] CommandResult predict(std::vector<std::string> words) const {
    words.insert(words.begin(), "predict");
    return on_cpu(std::move(words));
  }
  void expect_usage(std::vector<std::string> words, const std::string& part) const {
    words.insert(words.begin(), "abs.onnx");
    const CommandResult result = predict(std::move(words));
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_TRUE(contains(result.err, part)) << result.err;
  }
  /// The only output as JSON.
  [[nodiscard]] nlohmann::json output(std::vector<std::string> words) const {
    words.emplace_back("--json");
    const auto all = parsed(predict(std::move(words)));
    EXPECT_EQ(all["outputs"].size(), 1U) << all.dump();
    return all["outputs"][0];
  }

  System system;
  DeviceScope scope{system.device("cpu")};
};

TEST_F(PredictCommand, shows_the_outputs_of_an_onnx_model) {
  write_model("abs.onnx", "Abs", {2});
  write("x.pb", onnx::float_tensor("x", {1, -2}).bytes());
  const CommandResult result = predict({"abs.onnx", "--input", "x=x.pb"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with(
      "abs.onnx: ONNX model, opset 17, 1 node, on cpu\ny float[2]\n[1, 2]\n"))
      << result.out;
}

TEST_F(PredictCommand, takes_or_leaves_an_input_that_has_a_value_in_the_file) {
  onnx::Message graph;
  graph.messages(1, onnx::node("Mul", {"x", "factor"}, {"y"}).all);
  graph.message(5, onnx::float_tensor("factor", {2, 3}));
  for (const char* const name : {"x", "factor"}) graph.message(11, onnx::floats(name));
  graph.message(12, onnx::floats("y"));
  write("scale.onnx", onnx::model(graph).bytes());
  save_npy(directory / "x.npy", tensor({1.0F, -1.0F}));
  save_npy(directory / "factor.npy", tensor({5.0F, 7.0F}));
  const std::vector<std::string> left_out{"scale.onnx", "--input", "x=x.npy"};
  EXPECT_EQ(output(left_out)["values"], nlohmann::json({2, -3}));
  EXPECT_EQ(output({"scale.onnx", "--input", "x=x.npy", "--input", "factor=factor.npy"})["values"],
            nlohmann::json({5, -7}));
  const CommandResult misspelt = predict({"scale.onnx", "--input", "factr=factor.npy"});
  EXPECT_EQ(misspelt.exit_code, 3);
  EXPECT_TRUE(contains(misspelt.err, "factor")) << misspelt.err;
  const CommandResult wrong =
      predict({"scale.onnx", "--input", "x=x.npy", "--input", "factor=zeros:3"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_TRUE(contains(wrong.err, "'factor': expected float[2]")) << wrong.err;
}

TEST_F(PredictCommand, takes_networks_and_scripts) {
  nn::Model line{nn::Network{nn::dense(nn::input("rows", {2}), 1, {.name = "line"})}};
  line.merge_variables({{"line.kernel", tensor({{2.0}, {3.0}})}, {"line.bias", tensor({1.0})}});
  line.save(directory / "line.safetensors");
  save_npy(directory / "rows.npy", tensor({{1.0, 2.0}, {0.0, 1.0}}));
  const auto of_network = output({"line.safetensors", "--input", "rows=rows.npy"});
  EXPECT_EQ(of_network["values"], nlohmann::json({9, 4}));
  write("sum.lua",
        "return {inputs = {'rows'}, outputs = {'total'},\n"
        "  predict = function(given) print('adding') return sum(given.rows) end}");
  const auto of_script = output({"sum.lua", "--input", "rows=rows.npy"});
  EXPECT_EQ(of_script["name"], "total");
  EXPECT_EQ(of_script["values"], nlohmann::json({4}));
}

TEST_F(PredictCommand, says_what_it_ran_as_json) {
  write_model("abs.onnx", "Abs", {1, 2});
  const auto all =
      parsed(predict({"abs.onnx", "--input", "x=zeros:1x2", "--repeat", "3", "--json"}));
  EXPECT_EQ(all["device"], "cpu");
  EXPECT_EQ(all["model"]["kind"], "ONNX model");
  EXPECT_EQ(all["model"]["inputs"][0]["type"], "float[1,2]");
  EXPECT_EQ(all["outputs"][0]["type"], "float");
  EXPECT_EQ(all["outputs"][0]["shape"], nlohmann::json({1, 2}));
  EXPECT_EQ(all["outputs"][0]["values"], nlohmann::json({0, 0}));
  EXPECT_TRUE(all.contains("first_ms"));
  EXPECT_GE(all["median_ms"], all["least_ms"]);
}

TEST_F(PredictCommand, resizes_and_scales_pictures) {
  write_model("neg.onnx", "Neg", {1, 3, 1, 2});
  write_picture("p.png", 4, 8, {10, 20, 30});
  const std::vector<std::string> words{"neg.onnx", "--input", "x=p.png"};
  EXPECT_EQ(output(words)["values"], nlohmann::json({-10, -10, -20, -20, -30, -30}));
  const auto with = [&](const std::string& picture) {
    std::vector<std::string> more = words;
    more.insert(more.end(), {"--image", "x=" + picture});
    return output(more)["values"];
  };
  EXPECT_EQ(with("1x2,mean=20,std=5"), nlohmann::json({2, 2, 0, 0, -2, -2}));
  EXPECT_EQ(with("mean=10:20:30,std=1:2:4"), nlohmann::json({0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(with("layout=nchw,colours=bgr"), nlohmann::json({-30, -30, -20, -20, -10, -10}));
}

TEST_F(PredictCommand, lays_pictures_out_as_the_model_says) {
  write_picture("grey.png", 2, 2, {50});
  write_picture("p.png", 2, 2, {10, 20, 30});
  write_model("nhwc.onnx", "Abs", {1, 1, 1, 3});
  EXPECT_EQ(output({"nhwc.onnx", "--input", "x=grey.png"})["values"], nlohmann::json({50, 50, 50}));
  EXPECT_EQ(output({"nhwc.onnx", "--input", "x=p.png", "--image", "x=layout=nhwc"})["values"],
            nlohmann::json({10, 20, 30}));
  write_model("hw.onnx", "Abs", {1, 2});
  const auto grey = output({"hw.onnx", "--input", "x=p.png"});
  EXPECT_EQ(grey["shape"], nlohmann::json({1, 2}));
  EXPECT_EQ(grey["values"][0], grey["values"][1]);
  const CommandResult wrong =
      predict({"hw.onnx", "--input", "x=p.png", "--image", "x=layout=nchw"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_TRUE(contains(wrong.err, "expected float[1,2]")) << wrong.err;
}

TEST_F(PredictCommand, shows_the_largest_with_their_names) {
  write_model("abs.onnx", "Abs", {2, 3});
  save_npy(directory / "x.npy", tensor({{0.5, 3.0, 1.0}, {2.0, 2.0, 9.0}}));
  write("names.txt", "cat\ndog\r\nfox\n");
  const std::vector<std::string> words{"abs.onnx", "--input",  "x=x.npy",  "--top",
                                       "2",        "--labels", "names.txt"};
  const CommandResult result = predict(words);
  EXPECT_TRUE(contains(result.out,
                       "y float[2,3]\n"
                       "row 0\n       1             3  dog\n       2             1  fox\n"
                       "row 1\n       2             9  fox\n       0             2  cat\n"))
      << result.out << result.err;
  const auto top = output(words)["top"];
  EXPECT_EQ(top[1][0], nlohmann::json({{"index", 2}, {"label", "fox"}, {"value", 9}}));
  write("names.txt", "cat\ndog\n");
  const CommandResult few = predict(words);
  EXPECT_EQ(few.exit_code, 1);
  EXPECT_TRUE(contains(few.err, "there are 2 labels, and no output has rows of that length"))
      << few.err;
}

TEST_F(PredictCommand, shows_and_writes_maps_of_classes) {
  onnx::Message graph;
  const onnx::Message labels =
      onnx::Message{}.text(1, "classlabels_strings").texts(9, {"no", "yes"}).integer(20, 8);
  graph.messages(1, onnx::node("ZipMap", {"x"}, {"maps"}, {labels}, "ai.onnx.ml").all);
  graph.message(11, onnx::floats("x")).message(12, onnx::Message{}.text(1, "maps"));
  write("zip.onnx", onnx::model(graph).message(8, onnx::opset("ai.onnx.ml", 1)).bytes());
  write("x.pb", onnx::float_tensor("x", {0.25F, -2}).bytes());
  const std::vector<std::string> words{"zip.onnx", "--input", "x=x.pb"};
  const CommandResult result = predict(words);
  EXPECT_TRUE(
      contains(result.out, "maps a sequence of 1\nmaps[0] a map of 2\n  no  0.25\n  yes  -2\n"))
      << result.out << result.err;
  const auto map = output(words)["elements"][0];
  EXPECT_EQ(map["keys"], nlohmann::json({"no", "yes"}));
  EXPECT_EQ(map["values"], nlohmann::json({0.25, -2}));
  ASSERT_EQ(predict({"zip.onnx", "--input", "x=x.pb", "--output", "maps"}).exit_code, 0);
  std::ifstream file{directory / "maps/maps.pb", std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
  const auto list =
      onnx::read_value(std::as_bytes(std::span{bytes}), onnx::ValueKind::sequence).value();
  const auto& written =
      std::get<onnx::MapValue>(std::get<onnx::SequenceValue>(list.content).elements.at(0).content);
  EXPECT_EQ(std::get<std::string>(written.keys.at(1)), "yes");
}

TEST_F(PredictCommand, writes_outputs_to_files) {
  write(
      "both.onnx",
      onnx::model(
          onnx::graph(
              onnx::Nodes{}.add("Abs", {"x"}, {"../a/b"}).add("SequenceConstruct", {"x"}, {"list"}),
              {"x"}, {"../a/b", "list"}))
          .bytes());
  write("x.pb", onnx::float_tensor("x", {1, -2}).bytes());
  const CommandResult result = predict({"both.onnx", "--input", "x=x.pb", "--output", "results"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "saved results/_._a_b.npy\nsaved results/list.pb\n"))
      << result.out;
  EXPECT_EQ(load_npy(directory / "results/_._a_b.npy").to_vector<float>(),
            (std::vector{1.0F, 2.0F}));
  std::ifstream file{directory / "results/list.pb", std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
  const auto list =
      onnx::read_value(std::as_bytes(std::span{bytes}), onnx::ValueKind::sequence).value();
  EXPECT_EQ(std::get<onnx::SequenceValue>(list.content).elements.size(), 1U);

  ASSERT_EQ(predict({"both.onnx", "--input", "x=x.pb", "--output", "results", "--format", "pb"})
                .exit_code,
            0);
  const auto again = parsed(predict({"both.onnx", "--input", "x=results/_._a_b.pb", "--json"}));
  EXPECT_EQ(again["outputs"][0]["values"], nlohmann::json({1, 2}));
  EXPECT_EQ(again["outputs"][1]["elements"][0]["values"], nlohmann::json({1, 2}));
}

TEST_F(PredictCommand, shows_large_integers_exactly) {
  write("large.lua",
        "return {inputs = {}, outputs = {'y'}, predict = function()\n"
        "  local x = iota{shape = {3}}\n"
        "  return {y = cast(x, {dtype = 's64'}) + 9007199254740992} end}");
  const CommandResult result = predict({"large.lua", "--top", "2"});
  EXPECT_TRUE(contains(result.out, "       2  9007199254740994\n       1  9007199254740993\n"))
      << result.out << result.err;
  EXPECT_EQ(output({"large.lua", "--top", "1"})["top"][0][0]["value"], 9007199254740994);
  write("largest.lua",
        "return {inputs = {}, outputs = {'y'}, predict = function()\n"
        "  return cast(iota{shape = {1}}, {dtype = 'u64'}) - 1 end}");
  EXPECT_EQ(output({"largest.lua"})["values"][0], 18446744073709551615U);
}

TEST_F(PredictCommand, draws_the_same_numbers_for_a_seed_only) {
  write_model("noise.onnx", "RandomUniformLike", {8});
  const auto drawn = [&](const std::vector<std::string>& seed) {
    std::vector<std::string> words{"noise.onnx", "--input", "x=zeros:8"};
    words.insert(words.end(), seed.begin(), seed.end());
    return output(words)["values"];
  };
  ASSERT_EQ(drawn({}).size(), 8U);
  EXPECT_NE(drawn({}), drawn({}));
  EXPECT_EQ(drawn({"--seed", "7"}), drawn({"--seed", "7"}));
  EXPECT_NE(drawn({"--seed", "7"}), drawn({"--seed", "8"}));
  expect_usage({"--input", "x=zeros:8", "--seed", "-1"}, "--seed");
}

TEST_F(PredictCommand, shows_what_is_no_number_last) {
  write("nan.lua",
        "return {inputs = {}, outputs = {'y'}, predict = function()\n"
        "  return buffer{0/0, 1, 3, -1/0, 3, 0/0} end}");
  const auto row = output({"nan.lua", "--top", "6"})["top"][0];
  std::vector<int> places;
  for (const auto& place : row) places.push_back(place["index"].get<int>());
  EXPECT_EQ(places, (std::vector{2, 4, 1, 3, 0, 5}));
  EXPECT_TRUE(row[5]["value"].is_null());
}

TEST_F(PredictCommand, makes_colours_of_grey_pictures_where_they_are_asked_for) {
  write_picture("grey.png", 1, 1, {50});
  write("open.lua",
        "return {inputs = {{name = 'x', shape = {1, '?', '?', '?'}}}, outputs = {'y'},\n"
        "  predict = function(given) return given.x end}");
  std::vector<std::string> words{"open.lua", "--input", "x=grey.png"};
  EXPECT_EQ(output(words)["shape"], nlohmann::json({1, 1, 1, 1}));
  words.insert(words.end(), {"--image", "x=colours=rgb"});
  EXPECT_EQ(output(words)["values"], nlohmann::json({50, 50, 50}));
}

TEST_F(PredictCommand, makes_no_truths_of_pictures) {
  write_picture("p.png", 1, 1, {10, 20, 30});
  write("truths.lua",
        "return {inputs = {{name = 'x', dtype = 'bool', shape = {1, 3, 1, 1}}}, outputs = {'y'},\n"
        "  predict = function(given) return given.x end}");
  const CommandResult result = predict({"truths.lua", "--input", "x=p.png"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.err, "a picture does not become bool")) << result.err;
}

TEST_F(PredictCommand, says_what_is_missing) {
  write_model("abs.onnx", "Abs", {2});
  write("text.txt", "hello");
  const auto refused = [&](const std::vector<std::string>& words, int code,
                           const std::string& part) {
    const CommandResult result = predict(words);
    EXPECT_EQ(result.exit_code, code) << result.out;
    EXPECT_TRUE(contains(result.err, part)) << result.err;
  };
  refused({"absent.onnx"}, 3, "there is no such file");
  refused({"text.txt"}, 3, "it looks like text that begins 'hello'");
  refused({"abs.onnx"}, 1, "input 'x' (float[2]) is missing");
  refused({"abs.onnx", "--input", "x=absent.pb"}, 3, "there is no such file");
  write("damaged.pb", onnx::float_tensor("x", {1, -2}).bytes().substr(0, 5));
  refused({"abs.onnx", "--input", "x=damaged.pb"}, 1, "file: damaged.pb\n");
  refused({"abs.onnx", "--input", "x=absent.png"}, 3, "absent.png");
  refused({"abs.onnx", "--input", "input=zeros:2"}, 3, "inputs: x float[2]");
  refused({"abs.onnx", "--input", "x=zeros:3"}, 1, "expected float[2], came float[3]");
  const auto refused_labels = [&](const std::string& labels, int code, const std::string& part) {
    refused({"abs.onnx", "--input", "x=zeros:2", "--top", "1", "--labels", labels}, code, part);
  };
  refused_labels("absent.txt", 3, "there is no such file");
  refused_labels(".", 1, "the labels cannot be read");
  refused_labels("/dev/null", 1, "there are no labels in it");
  refused_labels("/dev/zero", 1, "at most 16 MiB");
}

TEST_F(PredictCommand, refuses_a_wrong_command_line) {
  write_model("abs.onnx", "Abs", {2});
  expect_usage({"--input", "x"}, "'x' is not written NAME=");
  expect_usage({"--input", "x=file.txt"}, "'file.txt' is no .npy, .pb, .png or .jpg");
  expect_usage({"--input", "x=zeros:1y2"}, "nor like zeros:1x3x240x320");
  expect_usage({"--input", "x=zeros:2", "--input", "x=zeros:2"}, "'x' is given twice");
  expect_usage({"--input", "x=zeros:2", "--image", "x=1x1"}, "the input 'x' is no picture");
  expect_usage({"--input", "x=p.png", "--image", "x=1"}, "'1' is no size in rows and columns");
  expect_usage({"--input", "x=p.png", "--image", "x=std=0"}, "'0' is no number");
  expect_usage({"--input", "x=p.png", "--image", "x=std=1e-50"}, "'1e-50' is no number");
  expect_usage({"--input", "x=p.png", "--image", "x=1x1,2x2"}, "has the size twice");
  expect_usage({"--input", "x=p.png", "--image", "x=mean=1,mean=2"}, "has mean twice");
  expect_usage({"--input", "x=zeros:2", "--format", "pb"}, "--output");
  expect_usage({"--input", "x=p.png", "--image", "x=layout=cwh"}, "'cwh' is none of nchw");
  expect_usage({"--input", "x=p.png", "--image", "x=size=1x1"}, "'size' is none of mean");
  expect_usage({"--input", "x=zeros:2", "--labels", "names.txt"}, "is for --top K");
  expect_usage({"--input", "x=zeros:2", "--repeat", "0"}, "--repeat");
}

TEST_F(PredictCommand, gives_scripts_their_limits) {
  write("endless.lua",
        "return {inputs = {}, outputs = {'y'}, predict = function() while true do end end}");
  write("reads.lua",
        "return {inputs = {}, outputs = {'y'},\n"
        "  predict = function() return sum(image.load('pictures/p.png')) end}");
  EXPECT_EQ(predict({"endless.lua", "--instructions", "100000"}).exit_code, 4);
  std::filesystem::create_directories(directory / "pictures");
  write_picture("pictures/p.png", 1, 2, {4});
  EXPECT_EQ(predict({"reads.lua"}).exit_code, 0);
}

}  // namespace
}  // namespace stoker
