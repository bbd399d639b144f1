// Models whose device was lost, and runs that are ended.
#include <atomic>
#include <cmath>
#include <thread>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/device/fault/fault_injection.hpp"
#include "stoker/pipeline/tensor/files/byte_source.hpp"
#include "stoker/runtime/base/relax.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/futures/cancel.hpp"
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

/// Weights, a part that is computed once, and a cut.
Model model_with_all(const Device& device) {
  return GraphBuilder{}
      .input("x", {"n"})
      .constant("w", reals({2, 3}))
      .constant("zero", reals({0}))
      .node("Mul", {"w", "w"}, {"squares"})
      .node("Mul", {"x", "squares"}, {"scaled"})
      .node("Greater", {"x", "zero"}, {"is_positive"})
      .node("Compress", {"scaled", "is_positive"}, {"y"})
      .output("y")
      .output("squares")
      .load({.device = device});
}

class FaultyDevice : public testing::Test {
 protected:
  void lose_for_a_while() const {
    const auto lost = device_.client()->actor().ended();
    faults_.on(device_.name()).lose("unplugged");
    lost.wait();
    device_.when_ready().get();
  }
  static SystemOptions with(const Faults& faults) {
    SystemOptions options;
    options.drivers = with_faults(faults);
    return options;
  }

  const Faults faults_;
  const System system_{with(faults_)};
  const Device device_ = system_.device("cpu");
  const DeviceScope scope_{device_};
};

TEST_F(FaultyDevice, a_model_runs_again_when_its_device_is_back) {
  const Model model = model_with_all(device_);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2; ++i) {
      const NamedValues out = model.run({{"x", tensor({1.0, -1.0})}}).get();
      EXPECT_EQ(out.at("y").tensor().to_vector<float>(), (std::vector<float>{4}));
      EXPECT_EQ(out.at("squares").tensor().to_vector<float>(), (std::vector<float>{4, 9}));
    }
    lose_for_a_while();
  }
}

TEST_F(FaultyDevice, weights_that_passes_made_come_again_with_the_device) {
  TensorData kernel = reals({3});
  kernel.dims = {1, 1, 1, 1};
  const Model model = GraphBuilder{}
                          .input("x", {1, 1, "n"})
                          .constant("w", kernel)
                          .constant("scale", reals({2}))
                          .constant("var", reals({1}))
                          .node("Unsqueeze", {"x", "axis"}, {"rows"})
                          .constant("axis", integers({3}))
                          .node("Conv", {"rows", "w"}, {"c"})
                          .node("BatchNormalization", {"c", "scale", "scale", "scale", "var"},
                                {"y"}, {named("epsilon", 0.0F)})
                          .output("y")
                          .load({.device = device_});
  for (int round = 0; round < 3; ++round) {
    const NamedValues out = model.run({{"x", ones({1, 1, 2})}}).get();
    EXPECT_EQ(out.at("y").tensor().to_vector<float>(), (std::vector<float>{4, 4}));
    lose_for_a_while();
  }
}

TEST_F(FaultyDevice, a_binding_ends_with_its_device) {
  const Model model = GraphBuilder{}
                          .input("x", {"n"})
                          .constant("w", reals({2, 3}))
                          .node("Mul", {"x", "w"}, {"y"})
                          .output("y")
                          .load({.device = device_});
  const auto bound = [&] { return model.bind({{"x", tensor({1.0, -1.0})}}); };
  const Binding binding = bound();
  binding.run().get();
  EXPECT_EQ(model.stats().weight_bytes, 2 * sizeof(float));
  lose_for_a_while();
  EXPECT_EQ(model.stats().weight_bytes, 0U) << "they went with the device";
  try {
    binding.run().get();
    ADD_FAILURE() << "it ran";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device_lost) << error.what();
  }
  const Binding again = bound();
  again.run().get();
  EXPECT_EQ(again.outputs().at("y").read<float>().get(), (std::vector<float>{2, -3}));
}

TEST_F(FaultyDevice, a_cancelled_run_leaves_the_model_usable) {
  const Model model = model_with_all(device_);
  const CancelSource source;
  source.cancel(cancelled_error("test"));
  const Future<NamedValues> ended =
      model.run({{"x", tensor({1.0, -1.0})}}, {.limits = {.cancel = source.token()}});
  ASSERT_FALSE(ended.wait());
  EXPECT_EQ(ended.wait().error().code(), ErrorCode::cancelled);
  const NamedValues out = model.run({{"x", tensor({1.0, 1.0})}}).get();
  EXPECT_EQ(out.at("y").tensor().to_vector<float>(), (std::vector<float>{4, 9}));
}

/// Says that it has changed when the test says so.
class ChangingFile final : public files::ByteSource {
 public:
  [[nodiscard]] std::uint64_t size() const noexcept override { return 0; }
  [[nodiscard]] Result<void> read(std::uint64_t, std::span<std::byte>) const override { return {}; }
  [[nodiscard]] bool has_changed() const noexcept override { return changed; }
  [[nodiscard]] std::string name() const override { return "weights.bin"; }

  std::atomic<bool> changed = false;
};

TEST_F(FaultyDevice, a_file_that_has_changed_is_refused_when_its_weights_are_wanted_again) {
  const auto file = std::make_shared<ChangingFile>();
  const Model model = GraphBuilder{}
                          .input("x", {"n"})
                          .constant("w", reals({2, 3}))
                          .node("Mul", {"x", "w"}, {"y"})
                          .output("y")
                          .load({.device = device_}, {file});
  const NamedValues inputs{{"x", tensor({1.0, 1.0})}};
  EXPECT_EQ(model.run(inputs).get().at("y").tensor().to_vector<float>(),
            (std::vector<float>{2, 3}));
  file->changed = true;
  // The plan and the device's copy are there.
  EXPECT_EQ(model.run(inputs).get().at("y").tensor().to_vector<float>(),
            (std::vector<float>{2, 3}));
  lose_for_a_while();
  const Future<NamedValues> refused = model.run({{"x", tensor({1.0, 1.0})}});
  ASSERT_FALSE(refused.wait());
  EXPECT_EQ(refused.wait().error().code(), ErrorCode::io_error);
  EXPECT_EQ(refused.wait().error().detail("path"), "weights.bin");
}

// --- runs whose plans are there: their first part runs inside the call ----------------------------

class EndedRun : public OnnxTest {
 protected:
  static ErrorCode code_of(const Future<NamedValues>& run) {
    const Result<NamedValues> outcome = run.wait();
    return outcome ? ErrorCode::internal : outcome.error().code();
  }
};

TEST_F(EndedRun, more_cuts_than_a_call_passes_are_passed_by_the_run) {
  const Model model = doubling();
  constexpr int rounds = 40;
  const float small = std::ldexp(128.0F, -rounds);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(floats(model.run({{"x", tensor({small, 0.0F})}}).get(), "last"),
              (std::vector<float>{128, 0}));
    EXPECT_EQ(floats(model.run({{"x", tensor({64.0F, 1.0F})}}).get(), "last"),
              (std::vector<float>{128, 2}));
  }
  EXPECT_LE(model.stats().traced, rounds + 3U);
}

TEST_F(EndedRun, fails_with_its_cause_where_its_plan_is_there) {
  const Model cut = model_with_all(device_);
  const Model whole = GraphBuilder{}
                          .input("x", {"n"})
                          .constant("w", reals({2, 3}))
                          .node("Mul", {"x", "w"}, {"y"})
                          .output("y")
                          .load(here());
  for (const Model& model : {cut, whole}) {
    model.warm_up({{"x", tensor({1.0, -1.0})}});
    const Tensor x = tensor({1.0, -1.0}).eval();
    x.buffer().release();
    EXPECT_EQ(code_of(model.run({{"x", x}})), ErrorCode::released) << "and the call throws nothing";
  }
  const NamedValues inputs{{"x", tensor({1.0, -1.0}).eval()}};
  const CancelSource source;
  source.cancel(cancelled_error("test"));
  EXPECT_EQ(code_of(cut.run(inputs, {.limits = {.cancel = source.token()}})), ErrorCode::cancelled);
  EXPECT_EQ(code_of(cut.run(inputs, {.limits = {.deadline = Clock::time_point{}}})),
            ErrorCode::deadline_exceeded);
  EXPECT_EQ(floats(cut.run(inputs).get(), "y"), (std::vector<float>{4})) << "others go on";
}

TEST_F(EndedRun, is_cancelled_anywhere_on_its_way) {
  const Model model = doubling();
  const float small = std::ldexp(128.0F, -40);
  const NamedValues inputs{{"x", tensor({small, 0.0F}).eval()}};
  model.warm_up(inputs);
  std::vector<std::thread> runners;
  for (int thread = 0; thread < 2; ++thread)
    runners.emplace_back([&, thread] {
      for (int i = 0; i < 100; ++i) {
        const CancelSource source;
        std::atomic<bool> begins = false;
        std::thread other{[&] {
          begins.wait(false);
          for (int spin = 0; spin < i * 20; ++spin) relax();
          source.cancel(cancelled_error("test"));
        }};
        begins = true;
        begins.notify_one();
        const auto run = model.run(inputs, {.limits = {.cancel = source.token()}});
        if (const auto& outcome = run.wait()) {
          const auto y = outcome.value().at("last").tensor().read<float>().wait();
          if (y)
            EXPECT_EQ(*y, (std::vector<float>{128, 0})) << thread;
          else
            EXPECT_EQ(y.error().code(), ErrorCode::cancelled);
        } else {
          EXPECT_EQ(outcome.error().code(), ErrorCode::cancelled);
        }
        other.join();
      }
    });
  for (std::thread& runner : runners) runner.join();
  EXPECT_EQ(floats(model.run(inputs).get(), "last"), (std::vector<float>{128, 0}));
}

}  // namespace
}  // namespace stoker::onnx
