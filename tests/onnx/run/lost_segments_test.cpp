// A device that is lost in any segment of a plan with cuts.
#include "stoker/actors/device/device_client.hpp"
#include "stoker/device/fault/fault_injection.hpp"
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

/// A system whose device is lost on purpose.
class FaultySystem {
 public:
  explicit FaultySystem(const char* device) : device_{system_.device(device)} {}

  /// Halves what is positive in x, then doubles it until the sum is 100 or more. Reads how many there are, and whether
  /// a round is the last.
  [[nodiscard]] Model doubled_positives() const {
    GraphBuilder body;
    body.input("round", {}, ElementType::s64)
        .input("before", {}, ElementType::boolean)
        .input("state", {"n"})
        .constant("end", reals({100}))
        .node("Add", {"state", "state"}, {"next"})
        .node("ReduceSum", {"next"}, {"sum"}, {named("keepdims", std::int64_t{0})})
        .node("Less", {"sum", "end"}, {"goes_on"})
        .output("goes_on")
        .output("next");
    return GraphBuilder{}
        .input("x", {"n"})
        .constant("zero", reals({0}))
        .constant("scale", reals({0.5F}))
        .node("Greater", {"x", "zero"}, {"is_positive"})
        .node("Compress", {"x", "is_positive"}, {"some"})
        .node("Mul", {"some", "scale"}, {"half"})
        .node("Loop", {"", "", "half"}, {"last"}, {body.as("body")})
        .node("Neg", {"last"}, {"y"})
        .output("y")
        .load({.device = device_});
  }
  static Result<std::vector<float>> y_of(const Model& model, const Tensor& x) {
    const Result<NamedValues> out = model.run({{"x", x}}).wait();
    if (!out) return out.error();
    try {
      return out->at("y").tensor().read<float>().get();
    } catch (const Error& error) {  // thrown at the call if its submission is refused
      return error;
    }
  }
  static void expect_right(const Model& model) {
    const auto y = y_of(model, tensor({2.0F, -2.0F, 6.0F}));
    ASSERT_TRUE(y) << y.error().what();
    EXPECT_EQ(*y, (std::vector<float>{-32, -96}));
  }
  /// Loses the device at the nth submission of a run, which fails then; else there are not so many.
  [[nodiscard]] bool loses(const Model& model, std::uint64_t nth, bool accepted) const {
    const Tensor x = tensor({2.0F, -2.0F, 6.0F}).eval();
    x.computed().get();
    const auto ended = device_.client()->actor().ended();
    const Faults here = faults_.on(device_.name());
    accepted ? here.lose_during_submission(nth) : here.lose_at_submission(nth);
    const auto y = y_of(model, x);
    here.clear();
    if (here.counters().injected == 0) {
      EXPECT_TRUE(y);
      return false;
    }
    EXPECT_FALSE(y);
    EXPECT_EQ(y.error().code(), ErrorCode::device_lost) << y.error().what();
    ended.wait();
    device_.when_ready().get();
    return true;
  }

 private:
  static SystemOptions with(const Faults& faults) {
    SystemOptions options;
    options.drivers = with_faults(faults);
    return options;
  }
  const Faults faults_;
  const System system_{with(faults_)};
  const Device device_;
  const DeviceScope scope_{device_};
};

class LostSegments : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, LostSegments, testing::Values("cpu", "vulkan"),
                         [](const auto& info) { return std::string{info.param}; });

TEST_P(LostSegments, end_their_run_and_leave_the_model_usable) {
  for (const bool accepted : {false, true}) {
    std::uint64_t nth = 0;
    std::uint64_t cuts = 0;
    bool was_lost = true;
    while (was_lost && ++nth < 100) {
      const FaultySystem system{GetParam()};  // which would wait longer after each loss
      const Model model = system.doubled_positives();
      FaultySystem::expect_right(model);
      cuts = model.stats().cuts;
      was_lost = system.loses(model, nth, accepted);
      FaultySystem::expect_right(model);
    }
    EXPECT_EQ(cuts, 6U) << "the number, and five rounds";
    EXPECT_GT(nth - 1, cuts) << "each segment is a submission at least";
  }
}

}  // namespace
}  // namespace stoker::onnx
