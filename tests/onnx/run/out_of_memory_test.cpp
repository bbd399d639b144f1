// Allocations that fail while a model is loaded, traced and run: each is an error, after which the model serves as
// before. The tests fail every one, one after the other.
#include <optional>
#include <thread>

#include "stoker/tests/onnx/run/small_models.hpp"
#include "stoker/tests/tensor/out_of_memory.hpp"

namespace stoker::onnx {
namespace {

class ModelsOutOfMemory : public OutOfMemory {
 public:
  /// A product with weights, and what is folded and rewritten at load.
  static GraphBuilder network() {
    return GraphBuilder{}
        .input("x", {"n", 2})
        .constant("w",
                  [] {
                    TensorData w = reals({1, 2, 3, 4});
                    w.dims = {2, 2};
                    return w;
                  }())
        .constant("b", reals({1, -1}))
        .constant("two", reals({2, 2}))
        .node("Neg", {"two"}, {"minus"})
        .node("MatMul", {"x", "w"}, {"a"})
        .node("Add", {"a", "b"}, {"c"})
        .node("Mul", {"c", "minus"}, {"d"})
        .node("Sigmoid", {"d"}, {"e"})
        .node("Mul", {"d", "e"}, {"y"})
        .output("y");
  }

 protected:
  /// Nothing runs while it is loaded, for nobody runs the device's turns meanwhile.
  static Model loaded() {
    return network().load({.device = current_device(), .optimize = Optimize::none});
  }
  [[nodiscard]] std::vector<float> y_of(const Model& model, const Tensor& x) const {
    const Tensor y = awaited(model.run({{"x", x}})).at("y").tensor();
    const Future<std::vector<float>> read = y.read<float>();
    return awaited(read);
  }
};

TEST_F(ModelsOutOfMemory, a_run_that_cannot_be_started_is_an_error_of_the_call) {
  const Model model = loaded();
  const Tensor x = tensor({{1.0, 2.0}});
  awaited(x.eval().computed());
  const std::vector<float> wanted = y_of(model, x);
  std::size_t which = 0;
  while (fails(which, [&] { (void)model.run({{"x", x}}); })) {
    ASSERT_EQ(y_of(model, x), wanted) << which;
    ++which;
  }
  EXPECT_GT(which, 20U);
  EXPECT_EQ(model.stats().traced, 1U);
}

TEST_F(ModelsOutOfMemory, a_run_that_cannot_be_traced_fails_alone) {
  const Model model = loaded();
  const Tensor x = tensor({{1.0, 2.0}});
  const std::vector<float> wanted = y_of(model, x);
  std::size_t failed = 0;
  bool fails = true;
  // Of another signature each time, so that no plan is found that was made before.
  for (std::size_t which = 0; fails; ++which) {
    const Tensor rows = ones({static_cast<std::int64_t>(which) + 2, 2}).eval();
    awaited(rows.computed());
    const Future<NamedValues> run = model.run({{"x", rows}});
    {
      const FailingAllocation failing{which};
      turns->run_all();
      fails = failing.failed();
    }
    try {
      awaited(run);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << which << ": " << error.what();
      ++failed;
    }
    ASSERT_EQ(y_of(model, x), wanted) << which;
  }
  EXPECT_GT(failed, 100U);
}

TEST(ModelOutOfMemory, a_load_that_fails_leaves_nothing) {
  const System system;
  const DeviceScope scope{system.device("cpu")};
  const auto load = [] { return ModelsOutOfMemory::network().load({.device = current_device()}); };
  const auto y_of = [](const Model& model) {
    return model.run({{"x", tensor({{1.0, 2.0}})}}).get().at("y").tensor().to_vector<float>();
  };
  const std::vector<float> wanted = y_of(load());
  // Pipelines keep arenas for their next runs.
  const auto held = [] {
    const DeviceStats stats = current_device().stats();
    return stats.memory.in_use - stats.kept_arenas;
  };
  const std::uint64_t before = held();
  std::size_t which = 0;
  for (bool fails = true; fails; ++which) {
    std::optional<Model> model;
    {
      const FailingAllocation failing{which};
      try {
        model = load();
      } catch (const std::bad_alloc&) {
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << which << ": " << error.what();
      }
      fails = failing.failed();
    }
    if (model) {
      ASSERT_EQ(y_of(*model), wanted) << which;
    }
    model.reset();
    // Memory goes back when the device's turn comes to it.
    for (int i = 0; i < 1'000'000 && held() > before; ++i) std::this_thread::yield();
    ASSERT_LE(held(), before) << which;
  }
  EXPECT_GT(which, 200U);
}

}  // namespace
}  // namespace stoker::onnx
