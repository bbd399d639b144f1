// `stoker onnx test`: cases of ONNX's backend tests, here of one small model.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "command_folder.hpp"
#include "stoker/tests/onnx/reading/message.hpp"

namespace stoker {
namespace {

class OnnxCommand : public CommandFolder {
 protected:
  /// y = op(x), with x = {1, -2} and the y that is expected.
  void write_case(const std::string& name, const char* op, const std::vector<float>& y) const {
    const std::filesystem::path data = std::filesystem::path{name} / "test_data_set_0";
    std::filesystem::create_directories(directory / data);
    write(name + "/model.onnx",
          onnx::model(onnx::graph(onnx::node(op, {"x"}, {"y"}), {"x"}, {"y"})).bytes());
    write((data / "input_0.pb").string(), onnx::float_tensor("x", {1, -2}).bytes());
    write((data / "output_0.pb").string(), onnx::float_tensor("y", y).bytes());
  }
};

TEST_F(OnnxCommand, says_of_each_case_whether_it_passes) {
  write_case("test_abs", "Abs", {1, 2});
  const CommandResult result = on_cpu({"onnx", "test", "."});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "pass test_abs\n1 passed, 0 failed, 0 unsupported\n");
}

TEST_F(OnnxCommand, says_where_an_output_differs_most) {
  write_case("test_neg", "Neg", {-1, 2.5});
  const CommandResult result = on_cpu({"onnx", "test", "test_neg"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.out,
                       "fail test_neg: test_data_set_0, output 'y': at [1] 2.000000 instead of "
                       "2.500000, largest difference 0.500000\n"))
      << result.out;
}

TEST_F(OnnxCommand, says_why_a_case_is_not_supported) {
  write_case("test_abs", "Abs", {1, 2});
  write_case("test_foo", "Foo", {1, 2});
  const CommandResult result = on_cpu({"onnx", "test", ".", "--quiet"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(result.out.starts_with("unsupported test_foo: ")) << result.out;
  EXPECT_TRUE(contains(result.out, "(Foo), domain 'ai.onnx', opset 17: there is no such operator"))
      << result.out;
  EXPECT_TRUE(result.out.ends_with("1 passed, 0 failed, 1 unsupported\n")) << result.out;
}

TEST_F(OnnxCommand, names_the_file_of_a_case_that_is_damaged) {
  write_case("test_abs", "Abs", {1, 2});
  write("test_abs/test_data_set_0/input_0.pb",
        onnx::float_tensor("x", {1, -2}).bytes().substr(0, 5));
  const CommandResult result = on_cpu({"onnx", "test", "test_abs"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.out, "file=test_abs/test_data_set_0/input_0.pb")) << result.out;
}

TEST_F(OnnxCommand, says_its_exit_codes_in_its_help) {
  for (const char* verb : {"bench", "export", "info", "test"}) {
    const CommandResult result = stoker_command({"onnx", verb, "--help"});
    for (const char* code : {"Exit code 0: ", "1: ", "2: wrong words", "3: "})
      EXPECT_TRUE(contains(result.out, code)) << verb << ' ' << code;
  }
}

TEST_F(OnnxCommand, gives_totals_and_cases_as_json) {
  write_case("test_abs", "Abs", {1, 2});
  write_case("test_neg", "Neg", {-1, 7});
  const auto all = parsed(on_cpu({"onnx", "test", ".", "--json"}));
  EXPECT_EQ(all["device"], "cpu");
  EXPECT_EQ(all["passed"], 1);
  EXPECT_EQ(all["failed"], 1);
  EXPECT_EQ(all["cases"][1]["case"], "test_neg");
  EXPECT_EQ(all["cases"][1]["outcome"], "fail");
  EXPECT_EQ(all["cases"][1]["largest_difference"], 5);
}

TEST_F(OnnxCommand, writes_the_table_of_operators) {
  write_case("test_abs", "Abs", {1, 2});
  write_case("test_neg", "Neg", {-1, 7});
  const CommandResult table = on_cpu({"onnx", "test", ".", "--table"});
  EXPECT_TRUE(contains(table.out, "| Abs | 17: 1/1 |\n| Neg | 17: 0/1 |\n")) << table.out;
}

TEST_F(OnnxCommand, refuses_a_folder_without_cases) {
  const CommandResult result = on_cpu({"onnx", "test", "."});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(contains(result.err, "there is no model.onnx below '.'")) << result.err;
}

TEST_F(OnnxCommand, compares_the_numbers_of_what_does_not_draw) {
  write_case("test_dropout", "Dropout", {1, -2});  // it passes its operand unless it trains
  write_case("test_dropout_wrong", "Dropout", {1, 2});
  write_case("test_like", "RandomNormalLike", {7, 7});
  const CommandResult result = on_cpu({"onnx", "test", "."});
  EXPECT_TRUE(contains(result.out, "pass test_dropout\n")) << result.out;
  EXPECT_TRUE(contains(result.out, "fail test_dropout_wrong: ")) << result.out;
  EXPECT_TRUE(contains(result.out, "pass test_like: random: shape and type only\n")) << result.out;
}

TEST_F(OnnxCommand, a_case_that_compares_nothing_fails) {
  write_case("test_abs", "Abs", {1, 2});
  std::filesystem::remove(directory / "test_abs/test_data_set_0/output_0.pb");
  EXPECT_TRUE(contains(on_cpu({"onnx", "test", "."}).out, "has no output to compare"));
  std::filesystem::remove_all(directory / "test_abs/test_data_set_0");
  const CommandResult result = on_cpu({"onnx", "test", "."});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.out, "fail test_abs: there is no test_data_set_N")) << result.out;
}

TEST_F(OnnxCommand, compares_what_another_precision_gives) {
  // f16 does not have the last of these digits, bf16 none of the small ones.
  const float fine = 1 + 1.0F / 1024 + 1.0F / 4096;
  std::filesystem::create_directories(directory / "c/test_data_set_0");
  write("c/model.onnx",
        onnx::model(onnx::graph(onnx::node("MatMul", {"x", "x"}, {"y"}), {"x"}, {"y"})).bytes());
  write("c/test_data_set_0/input_0.pb", onnx::float_tensor("x", {fine, 0}).bytes());
  write("c/test_data_set_0/output_0.pb",
        onnx::raw_tensor("y", onnx::ElementType::f32, {}, onnx::raw(std::vector{fine * fine}))
            .bytes());
  const auto largest = [&](const char* precision) {
    const auto all = parsed(stoker_command(
        {"onnx", "test", "c", "--device", "vulkan", "--precision", precision, "--json"},
        directory.string()));
    return all["cases"][0]["largest_difference"].get<double>();
  };
  EXPECT_LT(largest("full"), 1e-6);
  EXPECT_GT(largest("f16"), 1e-4);
  EXPECT_GT(largest("bf16"), 1e-3);
}

TEST_F(OnnxCommand, models_stay_near_their_outputs_in_16_bits) {
  const char* const models = std::getenv("STOKER_BENCH_MODELS");  // NOLINT(concurrency-mt-unsafe)
  if (models == nullptr) GTEST_SKIP() << "STOKER_BENCH_MODELS names no folder of models";
  // Those right in the folder; weights that were made up leave the range of f16.
  std::vector<std::string> words{"onnx", "test", "--quiet"};
  for (const auto& one : std::filesystem::directory_iterator{models})
    if (exists(one.path() / "model.onnx")) words.push_back(one.path().string());
  ASSERT_GT(words.size(), 3U);
  const auto expect_near = [&](const std::vector<std::string>& how) {
    std::vector<std::string> all = words;
    all.insert(all.end(), how.begin(), how.end());
    for (const char* const device : {"cpu", "vulkan"}) {
      all.insert(all.end(), {"--device", device});
      const CommandResult result = stoker_command(all, directory.string());
      EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
      all.resize(all.size() - 2);
    }
  };
  for (const char* const level : {"none", "basic", "all"}) {
    expect_near({"--optimize", level, "--precision", "f16", "--rtol", "0.01", "--atol", "0.015"});
    expect_near({"--optimize", level, "--precision", "bf16", "--rtol", "0.05", "--atol", "0.15"});
  }
}

TEST_F(OnnxCommand, rewrites_graphs_as_far_as_it_is_told) {
  write_case("test_abs", "Abs", {1, 2});
  for (const char* const level : {"none", "basic", "all"})
    EXPECT_EQ(on_cpu({"onnx", "test", ".", "--optimize", level, "--without", "batch_norm",
                      "--without", "identity"})
                  .exit_code,
              0);
  const CommandResult unknown = on_cpu({"onnx", "test", ".", "--without", "batchnorm"});
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_TRUE(contains(unknown.err, "there is no pass 'batchnorm'; did you mean 'batch_norm'?"))
      << unknown.err;
  const CommandResult level = on_cpu({"onnx", "test", ".", "--optimize", "most"});
  EXPECT_EQ(level.exit_code, 2);
  EXPECT_TRUE(contains(level.err, "none,basic,all")) << level.err;
}

TEST_F(OnnxCommand, compares_as_closely_as_it_is_told) {
  write_case("test_neg", "Neg", {-1, 2.5});
  EXPECT_EQ(on_cpu({"onnx", "test", ".", "--atol", "0.6"}).exit_code, 0);
}

}  // namespace
}  // namespace stoker
