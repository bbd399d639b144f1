// Convolutions that the CPU may compute with fewer products.
#include <limits>

#include "stoker/tests/onnx/passes/pass_test.hpp"

namespace stoker::onnx {
namespace {

using Winograd = PassTest;

TEST_F(Winograd, marks_windows_of_3_by_3_that_meet_every_pixel) {
  // So large that its channels come last, and the kernel takes it.
  expect("winograd", R"(
    in x float[1,32,41,40]
    const w float[48,32,3,3] = 0.5
    y = Conv(x, w) {pads: [1,1,1,1]}
    out y
  )",
         "y = Conv(x, w) {pads: [1,1,1,1], winograd: 1}\n");
  // Of weights that are not constant, too.
  expect("winograd", R"(
    in x float[1,16,20,20]
    in w float[16,16,3,3]
    y = Conv(x, w) {kernel_shape: [3,3], strides: [1,1], group: 1}
    out y
  )",
         "y = Conv(x, w) {kernel_shape: [3,3], strides: [1,1], group: 1, winograd: 1}\n");
}

TEST_F(Winograd, leaves_other_windows_and_groups) {
  for (const char* const attributes : {"kernel_shape: [1,1]", "kernel_shape: [3,3], strides: [2,1]",
                                       "kernel_shape: [3,3], dilations: [1,2]"}) {
    SCOPED_TRACE(attributes);
    expect_left("winograd", std::string{R"(
      in x float[1,16,9,9]
      in w float[16,16,a,b]
      y = Conv(x, w) {)"} + attributes +
                                R"(}
      out y
    )");
  }
  expect_left("winograd", R"(
    in x float[1,32,9,9]
    const w float[32,16,3,3] = 0.5
    y = Conv(x, w) {group: 2}
    out y
  )");
}

TEST_F(Winograd, keeps_infinite_numbers_where_they_were) {
  const Graph graph = GraphText::parse(R"(
    in x float[1,32,44,44]
    const w float[32,32,3,3] = 0.5
    y = Conv(x, w) {pads: [1,1,1,1]}
    out y
  )",
                                       opset);
  std::vector<float> x(std::size_t{32} * 44 * 44, 1);
  x[7 * 44 + 9] = std::numeric_limits<float>::infinity();
  const auto run = [&](const std::vector<std::string>& without) {
    const Model model = load(file_of(graph), {.device = device_, .without = without});
    const Tensor image = reshape(tensor(x), {1, 32, 44, 44});
    return model.run({{"x", image}}).get().at("y").tensor().to_vector<float>();
  };
  const std::vector<float> plain = run({"winograd"}), fewer = run({});
  std::size_t infinite = 0, nan = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    ASSERT_EQ(std::isfinite(fewer[i]), std::isfinite(plain[i])) << i;
    infinite += std::isinf(plain[i]) ? 1 : 0;
    nan += std::isnan(fewer[i]) ? 1 : 0;
  }
  EXPECT_EQ(infinite, 9U * 32);
  // The price, which tells that it was computed so.
  EXPECT_GT(nan, 0U);
}

}  // namespace
}  // namespace stoker::onnx
