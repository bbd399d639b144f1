// Threads that run one model on the CPU: each computes its own runs, and they meet nowhere.
#include <thread>

#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

class Clients : public OnnxTest {
 protected:
  static constexpr std::int64_t n = 256;  // longer than what is done at once anyway

  /// y: x, a row, times a matrix of ones, twice.
  [[nodiscard]] Model product() const {
    TensorData ones = reals(std::vector<float>(n * n, 1));
    ones.dims = {n, n};
    GraphBuilder builder;
    builder.input("x", {1, n}).constant("w", std::move(ones));
    builder.node("MatMul", {"x", "w"}, {"z"}).node("MatMul", {"z", "w"}, {"y"}).output("y");
    LoadOptions options = here();
    options.optimize = Optimize::none;
    return builder.load(options);
  }
  [[nodiscard]] Tensor row(float value) const {
    return Tensor{device_.buffer(std::vector<float>(n, value), Shape{1, n})};
  }
  [[nodiscard]] static std::vector<float> expected(float value) {
    return std::vector<float>(n, value * n * n);
  }
};

TEST_F(Clients, who_wait_for_their_outputs_compute_them) {
  const Model model = product();
  const NamedValues inputs{{"x", row(1)}};
  EXPECT_EQ(floats(model.run(inputs).get(), "y"), expected(1));
  const std::uint64_t before = device_.stats().commands.submissions;
  EXPECT_EQ(floats(model.run(inputs).get(), "y"), expected(1));
  EXPECT_EQ(device_.stats().commands.submissions, before);
}

TEST_F(Clients, get_the_outputs_of_their_own_inputs) {
  const Model model = product();
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> clients;
    for (int i = 1; i <= 4; ++i)
      clients.emplace_back([&, value = static_cast<float>(i)] {
        const NamedValues inputs{{"x", row(value)}};
        for (int run = 0; run < 100; ++run)
          if (floats(model.run(inputs).get(), "y") != expected(value)) ++wrong;
      });
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(Clients, keep_outputs_beyond_later_runs) {
  const Model model = product();
  std::vector<NamedValues> kept;
  for (int i = 1; i <= 8; ++i) {
    kept.push_back(model.run({{"x", row(static_cast<float>(i))}}).get());
    kept.back().at("y").tensor().computed().get();
  }
  for (std::size_t i = 0; i < kept.size(); ++i)
    EXPECT_EQ(floats(kept[i], "y"), expected(static_cast<float>(i + 1)));
}

TEST_F(Clients, whose_time_is_over_get_no_outputs) {
  const Model model = product();
  const NamedValues inputs{{"x", row(1)}};
  EXPECT_EQ(floats(model.run(inputs).get(), "y"), expected(1));
  RunOptions over;
  over.limits.deadline = std::chrono::steady_clock::now() - std::chrono::seconds{1};
  const auto ask = [&] { return floats(model.run(inputs, over).get(), "y"); };
  try {
    ask();
    FAIL() << "the deadline had passed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::deadline_exceeded);
  }
}

}  // namespace
}  // namespace stoker::onnx
