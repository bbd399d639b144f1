// The examples of docs/onnx.md; see guides_test.cpp.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "stoker/api/onnx.hpp"
#include "stoker/api/system.hpp"
#include "stoker/api/tensor.hpp"
#include "stoker/tests/onnx/reading/message.hpp"

namespace {

class OnnxGuide : public testing::Test {
 protected:
  ~OnnxGuide() override { std::filesystem::remove(path); }
  void write(const stoker::onnx::Message& model) const {
    std::ofstream{path, std::ios::binary} << model.bytes();
  }

  stoker::System own;
  stoker::Device device = own.device("cpu");
  stoker::DeviceScope cpu{device};
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("stoker_onnx_guide_" + std::to_string(getpid()) + ".onnx");
};

TEST_F(OnnxGuide, runs_a_model) {
  using stoker::onnx::graph;
  using stoker::onnx::node;
  write(stoker::onnx::model(graph(node("Abs", {"x"}, {"y"}), {"x"}, {"y"})));
  const stoker::onnx::Model model = stoker::onnx::load(path, {.device = device});
  const stoker::onnx::NamedValues out = model.run({{"x", stoker::tensor({1.0, -2.0})}}).get();
  EXPECT_EQ(out.at("y").tensor().to_vector<float>(), (std::vector{1.0F, 2.0F}));

  const stoker::onnx::PlanCounts plans = model.stats();
  EXPECT_EQ(plans.traced, 1U);  // programs that were made
  EXPECT_EQ(plans.cuts, 0U);    // reads between two programs
}

TEST_F(OnnxGuide, has_operators_of_its_own) {
  write(stoker::onnx::model(
            stoker::onnx::graph(stoker::onnx::node("Twice", {"x"}, {"y"}, {}, "com.example"), {"x"},
                                {"y"}))
            .message(8, stoker::onnx::opset("com.example", 1)));
  const std::filesystem::path& path_of_own = path;
  stoker::onnx::OperatorTable table = stoker::onnx::OperatorTable::standard();
  table.add({.name = "Twice", .domain = "com.example", .lower = [](stoker::onnx::Call& call) {
               return stoker::onnx::Values{call.like(call.x() * 2)};
             }});
  const stoker::onnx::Model own =
      stoker::onnx::load(path_of_own, {.device = device, .operators = &table});
  const stoker::onnx::NamedValues out = own.run({{"x", stoker::tensor({1.0, -2.0})}}).get();
  EXPECT_EQ(out.at("y").tensor().to_vector<float>(), (std::vector{2.0F, -4.0F}));
}

}  // namespace
