// Saved models in scripts: nn.load() and predict(), within what a script may use.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/api/train/model/model.hpp"
#include "stoker/api/train/script/model_library.hpp"
#include "stoker/api/train/script/training_library.hpp"
#include "stoker/tests/script/script_runner.hpp"

namespace stoker::nn {
namespace {

namespace fs = std::filesystem;

class ModelScripts : public Scripts {
 protected:
  ModelScripts()
      : folder{fs::temp_directory_path() /
               ("stoker_model_scripts_" + std::to_string(getpid()) + "_" +
                testing::UnitTest::GetInstance()->current_test_info()->name())} {
    fs::create_directories(folder);
  }
  ~ModelScripts() override { fs::remove_all(folder); }

  [[nodiscard]] Outcome run_with_models(const std::string& code, ScriptOptions options = {}) {
    if (!options.extension) options.extension = std::make_shared<ModelLibrary>();
    options.directory = folder;
    options.allowed_directories = {folder};
    return run(code, std::move(options));
  }
  /// y = w·x + b, rows of 2, saved as line.safetensors.
  Model save_line(ModelOptions options = {}) const {
    Model model{Network{dense(input({2}), 1, {.name = "d"})}, std::move(options)};
    model.merge_variables({{"d.kernel", tensor({{2.0}, {3.0}})}, {"d.bias", tensor({1.0})}});
    model.save(folder / "line.safetensors");
    return model;
  }
  void expect_refused(const std::string& code, ErrorCode kind, const std::string& part) {
    SCOPED_TRACE(code);
    const Error found = run_with_models("\n" + code).error();
    EXPECT_EQ(found.code(), kind) << found.what();
    EXPECT_EQ(found.detail("line"), "2") << found.what();
    EXPECT_NE(std::string{found.what()}.find(part), std::string::npos) << found.what();
  }

  fs::path folder;
  DeviceScope scope{device};
};

TEST_F(ModelScripts, predict_what_the_model_predicts) {
  const Node x = input({2});
  Model model{Network{dense(batch_norm(dense(x, 8, {.activation = tanh})), 3)}, {.seed = 4}};
  model.train_step({{ones({4, 2})}, {tensor({0, 1, 2, 0})}, 4});
  model.save(folder / "three.safetensors");
  const auto expected = model.predict(tensor({{0.5, -1.0}})).to_vector<float>();
  const Outcome outcome = run_with_models(R"(
    local m = nn.load("three.safetensors")
    for _, value in ipairs(read(m:predict(buffer{{0.5, -1}}))) do print(string.format("%.9g", value)) end
    print(m)
  )");
  std::istringstream lines{outcome.text()};
  for (const float value : expected) {
    float printed = 0;
    lines >> printed;
    EXPECT_EQ(printed, value);
  }
  EXPECT_NE(outcome.text().find("model three.safetensors: [batch, 2] -> [batch, 3]\n"),
            std::string::npos)
      << outcome.text();
}

TEST_F(ModelScripts, predict_in_the_precision_that_the_model_was_saved_in) {
  const Model model = save_line();
  for (const DType to : {DType::f16, DType::s8}) {
    const Model small = model.quantize(to).model;
    small.save(folder / "small.safetensors");
    const auto expected = small.predict(tensor({{1.0, 2.0}})).to_vector<float>();
    const Outcome outcome = run_with_models(
        "print(string.format('%.9g', "
        "read(nn.load('small.safetensors'):predict(buffer{{1, 2}}))[1]))");
    EXPECT_EQ(std::stof(outcome.text()), expected[0]) << to_string(to);
  }
}

TEST_F(ModelScripts, chain_predictions_with_other_operations_into_one_program) {
  save_line();
  const Outcome outcome = run_with_models(R"(
    local m = nn.load("line.safetensors")
    local y = m:predict(buffer{{1, 2}, {3, 4}} * 2) + 1
    print(y)
  )");
  EXPECT_EQ(outcome.text(), "f32[2,1]\n[[18]\n [38]]\n");
  EXPECT_EQ(outcome.result->evaluations, 1U);
}

TEST_F(ModelScripts, compile_a_prediction_once) {
  save_line();
  const Outcome outcome = run_with_models(R"(
    local m = nn.load("line.safetensors")
    for i = 1, 20 do wait(m:predict(buffer{{i, 2 * i}})) end
  )");
  EXPECT_EQ(outcome.text(), "");
  EXPECT_EQ(outcome.result->pipelines_compiled, 1U);
}

TEST_F(ModelScripts, take_and_give_several_buffers) {
  const Node x = input("x", {2});
  const Node mask = optional_input("mask", {2});
  const Node masked = Layer{layers::Multiply{}}({x, mask});
  Model{Network{{or_else(masked, x), masked}}, {.losses = {"mse", "mse"}}}.save(folder /
                                                                                "two.safetensors");
  const Outcome outcome = run_with_models(R"(
    local m = nn.load("two.safetensors")
    local a, b = m:predict(buffer{{1, 2}}, buffer{{0, 1}})
    print(read(a)[1], read(b)[2])
    a, b = m:predict(buffer{{1, 2}}, nil)
    print(read(a)[1], b)
  )");
  EXPECT_EQ(outcome.text(), "0.0\t2.0\n1.0\tnil\n");
}

TEST_F(ModelScripts, say_where_something_is_wrong) {
  save_line();
  std::ofstream{folder / "other.txt"} << "no model at all";
  const std::string loaded = "local m = nn.load('line.safetensors') ";
  expect_refused("nn.load('absent.safetensors')", ErrorCode::not_found, "absent.safetensors");
  expect_refused("nn.load('../line.safetensors')", ErrorCode::permission_denied, "nn.load");
  expect_refused("nn.load('other.txt')", ErrorCode::io_error, "other.txt");
  expect_refused("nn.load()", ErrorCode::invalid_argument, "expected the path of a file");
  expect_refused(loaded + "m:predict(buffer{{1, 2, 3}})", ErrorCode::shape_mismatch, "predict");
  expect_refused(loaded + "m:predict(buffer({{1, 2}}, {dtype = 's32'}))", ErrorCode::dtype_mismatch,
                 "predict");
  expect_refused(loaded + "m:predict({1, 2})", ErrorCode::invalid_argument, "predict");
  expect_refused(loaded + "m:predict()", ErrorCode::arity_mismatch, "inputs");
  expect_refused(loaded + "m.predict(buffer{{1, 2}})", ErrorCode::invalid_argument,
                 "write m:predict(x)");
  expect_refused(loaded + "m:fit()", ErrorCode::not_found, "only m:predict(x)");
  expect_refused("nn.dense()", ErrorCode::script_error, "stoker train FILE.lua");
  Model{Network{dense(input({2}), 1)}}.export_params(folder / "params.json");
  expect_refused("nn.load('params.json')", ErrorCode::io_error, "params.json");
}

TEST_F(ModelScripts, refuse_a_file_whose_numbers_do_not_fit_its_network) {
  const Model model = save_line();
  const SafetensorsFile file = open_safetensors(folder / "line.safetensors");
  TensorMap tensors = file.load_all();
  tensors.insert_or_assign("variables/d.kernel", ones({3, 1}));
  save_safetensors(folder / "torn.safetensors", tensors, file.metadata());
  expect_refused("nn.load('torn.safetensors')", ErrorCode::invalid_argument, "d.kernel");
}

TEST_F(ModelScripts, count_models_as_the_script_s_own) {
  Model{Network{dense(input({256}), 256)}}.save(folder / "large.safetensors");  // 257 KiB
  ScriptOptions few_buffers;
  few_buffers.limits.buffer_bytes = std::size_t{100} << 10;
  EXPECT_EQ(run_with_models("nn.load('large.safetensors')", few_buffers).code(),
            ErrorCode::budget_exceeded);
  ScriptOptions little_memory;
  little_memory.limits.memory_bytes = std::size_t{400} << 10;
  EXPECT_EQ(run_with_models("local t = {} for i = 1, 99 do t[i] = nn.load('large.safetensors') end",
                            little_memory)
                .code(),
            ErrorCode::budget_exceeded);
  // What the script cannot reach any more counts no longer.
  ScriptOptions for_two;
  for_two.limits.buffer_bytes = std::size_t{600} << 10;
  EXPECT_EQ(run_with_models(
                "for i = 1, 20 do local m = nn.load('large.safetensors') end print('all')", for_two)
                .text(),
            "all\n");
}

/// A file with a network of one layer at rows of the shape, without numbers.
void write_layer(const fs::path& path, const std::string& kind, const std::string& options,
                 const std::string& row) {
  const std::string network =
      R"({"format":1,"inputs":[{"dtype":"f32","name":"x","shape":)" + row +
      R"(}],"layers":[{"kind":")" + kind + R"=(","name":"l","options":"options()=" + options +
      R"=()"}],"outputs":[["step",0,0]],"steps":[{"inputs":[["input",0,0]],"layer":0}]})=";
  save_safetensors(path, {},
                   {{"format", "stoker.model/1"},
                    {"network", network},
                    {"frozen", "[]"},
                    {"options", R"({"loss":"mse","optimizer":"adam","accumulate_gradients":1,)"
                                R"("weight_decay":0.0,"seed":0,"losses":[]})"}});
}

TEST_F(ModelScripts, bound_what_the_network_of_a_small_file_comes_to) {
  ScriptOptions small;
  small.limits.memory_bytes = std::size_t{16} << 20;
  write_layer(folder / "parts.safetensors", "split", "splits=5000000", "[5000000]");
  EXPECT_EQ(run_with_models("nn.load('parts.safetensors')", small).code(),
            ErrorCode::invalid_argument);
  write_layer(folder / "steps.safetensors", "gru", "units=1, unroll=\\\"static\\\"", "[20000, 1]");
  EXPECT_EQ(run_with_models("nn.load('steps.safetensors')", small).code(),
            ErrorCode::budget_exceeded);
}

TEST_F(ModelScripts, count_numbers_that_a_prediction_makes_itself) {
  // A matrix of 1 MiB in each.
  write_layer(folder / "size.safetensors", "resize", "shape=511, method=\\\"bilinear\\\"",
              "[512, 1]");
  ScriptOptions few_buffers;
  few_buffers.limits.buffer_bytes = std::size_t{4} << 20;
  const std::string head =
      "local m = nn.load('size.safetensors') "
      "local x = buffer(0, {shape = {1}}):broadcast{shape = {1, 512, 1}} ";
  EXPECT_EQ(
      run_with_models(head + "local t = {} for i = 1, 9 do t[i] = m:predict(x) end", few_buffers)
          .code(),
      ErrorCode::budget_exceeded);
  EXPECT_EQ(
      run_with_models(head + "for i = 1, 9 do wait(m:predict(x)) end print('all')", few_buffers)
          .text(),
      "all\n");
}

TEST_F(ModelScripts, refuse_whole_numbers_where_the_network_has_others) {
  save_line();
  const SafetensorsFile file = open_safetensors(folder / "line.safetensors");
  TensorMap tensors = file.load_all();
  tensors.insert_or_assign("variables/d.kernel", ones({2, 1}, DType::s32));
  save_safetensors(folder / "whole.safetensors", tensors, file.metadata());
  expect_refused("nn.load('whole.safetensors')", ErrorCode::invalid_argument, "d.kernel");
}

TEST_F(ModelScripts, take_the_same_instructions_each_time) {
  save_line();
  const auto instructions = [&] {
    const Outcome outcome =
        run_with_models("print(nn.load('line.safetensors'):predict(buffer{{1, 2}}))");
    EXPECT_EQ(outcome.text(), "f32[1,1]\n[[9]]\n");
    return outcome.result->instructions;
  };
  EXPECT_EQ(instructions(), instructions());
}

TEST_F(ModelScripts, load_models_in_scripts_that_describe_a_training_too) {
  save_line();
  ScriptOptions options;
  options.extension = std::make_shared<TrainingLibrary>();
  const Outcome outcome = run_with_models(
      "local y = read(nn.load('line.safetensors'):predict(buffer{{1, 2}}))[1] "
      "return nn.model(nn.dense(nn.input{1}, 1)), {data = nn.rows{inputs = {y}, labels = {0}}}",
      options);
  EXPECT_EQ(outcome.text(), "");
}

}  // namespace
}  // namespace stoker::nn
