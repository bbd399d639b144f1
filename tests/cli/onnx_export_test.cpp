// `stoker onnx export`: models of Stoker's as ONNX files.
#include <gtest/gtest.h>

#include "command_folder.hpp"
#include "stoker/api/nn.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/api/train.hpp"
#include "stoker/tests/checkout/checkout.hpp"
#include "stoker/tests/onnx/reading/message.hpp"

namespace stoker {
namespace {

class OnnxExport : public CommandFolder {
 protected:
  void save_model(const nn::Node& output) const {
    const nn::Model model{nn::Network{output}, {.device = device}};
    model.save(directory / "m.safetensors");
  }
  [[nodiscard]] CommandResult exported(std::vector<std::string> words = {}) const {
    words.insert(words.begin(), {"onnx", "export", "m.safetensors", "m.onnx"});
    return on_cpu(std::move(words));
  }

  System system;
  Device device = system.device("cpu");
  DeviceScope scope{device};
};

TEST_F(OnnxExport, writes_a_model_that_predicts_the_same) {
  save_model(nn::dense(nn::input("x", {4}), 2, {.activation = "relu", .name = "y"}));
  const CommandResult result = exported();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "m.onnx: opset 17, 3 nodes, 10 parameters, ")) << result.out;
  const auto outputs = [&](const char* model) {
    const auto all = parsed(on_cpu({"predict", model, "--input", "x=zeros:2x4", "--json"}));
    return all["outputs"];
  };
  EXPECT_EQ(outputs("m.onnx"), outputs("m.safetensors"));
  const auto info =
      parsed(stoker_command({"onnx", "info", "m.onnx", "--json"}, directory.string()));
  EXPECT_EQ(info["inputs"][0]["dims"], (nlohmann::json{"batch", 4}));
  EXPECT_EQ(info["opsets"]["ai.onnx"], 17);
}

TEST_F(OnnxExport, writes_what_the_training_examples_learned) {
  const std::string root = checkout_folder();
  const std::vector<std::pair<std::string, Shape>> examples{{"train_xor", {4, 2}},
                                                            {"train_digits", {4, 8, 8, 1}}};
  for (const auto& [script, shape] : examples) {
    const CommandResult trained =
        stoker_command({"train", "examples/scripts/" + script + ".lua", "--epochs", "1", "--save",
                        (directory / "m.safetensors").string(), "--device", "cpu"},
                       root);
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
    const CommandResult result = exported();
    ASSERT_EQ(result.exit_code, 0) << result.err;
    save_npy(directory / "x.npy", reshape(linspace(0, 1, shape.elements()), shape));
    const auto numbers = [&](const char* model) {
      const auto all = parsed(on_cpu({"predict", model, "--input", "input=x.npy", "--json"}));
      return all["outputs"][0]["values"].get<std::vector<double>>();
    };
    const std::vector<double> expected = numbers("m.safetensors");
    const std::vector<double> made = numbers("m.onnx");
    ASSERT_EQ(made.size(), expected.size());
    for (std::size_t i = 0; i < made.size(); ++i) EXPECT_NEAR(made[i], expected[i], 1e-5);
  }
}

TEST_F(OnnxExport, takes_an_opset_and_a_batch) {
  save_model(nn::dense(nn::input("x", {4}), 2, {.name = "y"}));
  const auto made = parsed(exported({"--opset", "13", "--batch", "3", "--json"}));
  EXPECT_EQ(made["opset"], 13);
  EXPECT_EQ(made["batch"], 3);
  EXPECT_EQ(made["nodes"], 2);
  const auto info =
      parsed(stoker_command({"onnx", "info", "m.onnx", "--json"}, directory.string()));
  EXPECT_EQ(info["inputs"][0]["dims"], (nlohmann::json{3, 4}));
  EXPECT_EQ(info["opsets"]["ai.onnx"], 13);
  EXPECT_EQ(parsed(exported({"--batch", "symbolic", "--json"}))["batch"], "symbolic");
}

TEST_F(OnnxExport, does_not_write_over_the_model_or_into_what_is_no_file) {
  save_model(nn::dense(nn::input("x", {4}), 2, {.name = "y"}));
  const auto size = std::filesystem::file_size(directory / "m.safetensors");
  std::filesystem::create_symlink("m.safetensors", directory / "link");
  for (const char* output : {"m.safetensors", "./m.safetensors", "link"}) {
    const CommandResult result = on_cpu({"onnx", "export", "m.safetensors", output});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(contains(result.err, "is the model itself")) << result.err;
  }
  EXPECT_EQ(std::filesystem::file_size(directory / "m.safetensors"), size);
  for (const char* output : {".", "/dev/null"}) {
    const CommandResult result = on_cpu({"onnx", "export", "m.safetensors", output});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(contains(result.err, "expected a file to write")) << result.err;
  }
  const CommandResult lost = on_cpu({"onnx", "export", "m.safetensors", "none/m.onnx"});
  EXPECT_EQ(lost.exit_code, 1);
  EXPECT_TRUE(contains(lost.err, "there is no folder 'none' to write into")) << lost.err;
}

TEST_F(OnnxExport, refuses_what_is_no_network_and_words_that_are_none) {
  write("m.safetensors",
        onnx::model(onnx::graph(onnx::node("Abs", {"x"}, {"y"}), {"x"}, {"y"})).bytes());
  const CommandResult result = exported();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(contains(result.err, "is no network of Stoker's: ONNX model")) << result.err;
  EXPECT_EQ(exported({"--opset", "12"}).exit_code, 2);
  EXPECT_EQ(exported({"--batch", "many"}).exit_code, 2);
  EXPECT_EQ(exported({"--batch", "0"}).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(directory / "m.onnx"));
  std::filesystem::remove(directory / "m.safetensors");
  EXPECT_EQ(exported().exit_code, 3);
}

}  // namespace
}  // namespace stoker
