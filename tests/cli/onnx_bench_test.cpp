// `stoker onnx bench`: how long a model takes.
#include <gtest/gtest.h>

#include "command_folder.hpp"
#include "stoker/tests/onnx/reading/message.hpp"

namespace stoker {
namespace {

using onnx::ElementType;

class OnnxBench : public CommandFolder {
 protected:
  /// y = exp(x), x float[batch,side,2].
  void write_model() const {
    onnx::Message graph;
    const auto shape = [] {
      return onnx::tensor_type(ElementType::f32,
                               {onnx::Message{}.text(2, "batch"), onnx::Message{}.text(2, "side"),
                                onnx::Message{}.integer(1, 2)});
    };
    graph.messages(1, onnx::node("Exp", {"x"}, {"y"}).all)
        .message(11, onnx::value_info("x", shape()))
        .message(12, onnx::value_info("y", shape()));
    write("m.onnx", onnx::model(std::move(graph)).bytes());
  }
  [[nodiscard]] CommandResult bench(std::vector<std::string> words) const {
    words.insert(words.begin(), {"onnx", "bench", "m.onnx", "--runs", "7"});
    return on_cpu(std::move(words));
  }
};

TEST_F(OnnxBench, measures_each_batch) {
  write_model();
  const auto all =
      parsed(bench({"--shape", "x=1x3x2", "--batch", "1,5", "--threads", "1", "--json"}));
  EXPECT_EQ(all["device"], "cpu");
  EXPECT_EQ(all["threads"], 1);
  ASSERT_EQ(all["rows"].size(), 2U);
  EXPECT_EQ(all["rows"][0]["batch"], 1);
  EXPECT_EQ(all["rows"][1]["batch"], 5);
  for (const auto& row : all["rows"]) {
    EXPECT_EQ(row["runs"], 7);
    EXPECT_GT(row["p50_ms"], 0.0);
    EXPECT_LE(row["p50_ms"], row["p99_ms"]);
    EXPECT_NEAR(row["per_second"].get<double>() * row["mean_ms"].get<double>(),
                1000.0 * row["batch"].get<double>(), 1e-6 * 5000);
    EXPECT_EQ(row["profile"], nlohmann::json::array());
  }
  const CommandResult text = bench({"--shape", "x=1x3x2"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "runs     p50 ms     p99 ms    mean ms  runs/s")) << text.out;
}

TEST_F(OnnxBench, says_which_kernel_took_how_long_for_which_node) {
  write_model();
  const auto all = parsed(bench({"--shape", "x=1x3x2", "--profile", "--json"}));
  const auto& profile = all["rows"][0]["profile"];
  ASSERT_EQ(profile.size(), 1U);
  EXPECT_EQ(profile[0]["nodes"][0], "the node of 'y' (Exp)");
  EXPECT_GT(profile[0]["ms"], 0.0);
  EXPECT_TRUE(contains(bench({"--shape", "x=1x3x2", "--profile"}).out, "the node of 'y' (Exp)"));
}

TEST_F(OnnxBench, runs_on_the_values_that_are_given) {
  write_model();
  const auto all = parsed(bench({"--input", "x=zeros:2x3x2", "--profile", "--json"}));
  EXPECT_EQ(all["rows"][0]["runs"], 7);
  EXPECT_EQ(all["rows"][0]["profile"].size(), 1U);
  EXPECT_EQ(bench({"--input", "x=zeros:2x3x2", "--batch", "4"}).exit_code, 0) << "it keeps its own";
  EXPECT_EQ(bench({"--input", "x=zeros:2x3"}).exit_code, 1) << "not the rank of the input";
}

TEST_F(OnnxBench, refuses_what_it_cannot_measure) {
  write_model();
  EXPECT_EQ(bench({}).exit_code, 1) << "extents are not known";
  EXPECT_EQ(bench({"--batch", "0"}).exit_code, 2);
  EXPECT_EQ(bench({"--threads", "0"}).exit_code, 2);
  EXPECT_EQ(bench({"--seconds", "1"}).exit_code, 2) << "--runs is given";
  EXPECT_EQ(bench({"--shape", "z=1"}).exit_code, 3);
  write("m.onnx", onnx::model(onnx::graph(onnx::node("Abs", {"x"}, {"y"}), {"x"}, {"y"})).bytes());
  EXPECT_EQ(bench({}).exit_code, 0);
  EXPECT_EQ(bench({"--batch", "2"}).exit_code, 0) << "the file's own";
  const CommandResult fixed = bench({"--batch", "3"});
  EXPECT_EQ(fixed.exit_code, 3);
  EXPECT_TRUE(contains(fixed.err, "the first extent of input 'x' (float[2]) is fixed"))
      << fixed.err;
  std::filesystem::remove(directory / "m.onnx");
  EXPECT_EQ(bench({}).exit_code, 3);
}

}  // namespace
}  // namespace stoker
