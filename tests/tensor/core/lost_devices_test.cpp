// Traced functions where a device was lost and is open again, and in one system after another.
#include "stoker/actors/device/device_client.hpp"
#include "stoker/device/fault/fault_injection.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

class TracedOnLostDevices : public testing::TestWithParam<const char*> {
 protected:
  /// Loses the device and waits until it is back.
  void lose_for_a_while() const {
    const auto lost = device().client()->actor().ended();
    faults_.on(device().name()).lose("unplugged");
    lost.wait();
    device().when_ready().get();
  }
  [[nodiscard]] const Device& device() const { return device_; }

 private:
  static SystemOptions with(const Faults& faults) {
    SystemOptions options;
    options.drivers = with_faults(faults);
    return options;
  }

  const Faults faults_;
  const System system_{with(faults_)};
  const Device device_ = system_.device(GetParam());
  const DeviceScope scope_{device_};
};

TEST_P(TracedOnLostDevices, functions_are_traced_for_the_device_as_it_is_now) {
  int calls = 0;
  const auto f = jit([&](const Tensor& x) {
    ++calls;
    return x * tensor({2.0, 3.0}) + 1;  // made while it is traced, on the device
  });
  expect_near(f(tensor({1.0, 2.0})), {3, 7});
  lose_for_a_while();
  for (int i = 0; i < 3; ++i) expect_near(f(tensor({1.0, 2.0})), {3, 7});
  EXPECT_EQ(calls, 2) << "once for each device";
  EXPECT_EQ(f.programs(), 1U) << "that of the lost one is gone";
}

TEST_P(TracedOnLostDevices, what_was_compiled_is_compiled_anew) {
  const auto f = jit([](const Tensor& x) { return x * tensor({2.0, 3.0}) + 1; });
  const auto ready = f.compile(device(), zeros({2}));
  expect_near(ready(tensor({1.0, 2.0})), {3, 7});
  lose_for_a_while();
  for (int i = 0; i < 3; ++i) expect_near(ready(tensor({1.0, 2.0})), {3, 7});
  EXPECT_FALSE(ready.plan().empty());
}

TEST_P(TracedOnLostDevices, what_a_function_captured_of_a_lost_device_is_lost) {
  Tensor weight = tensor({10.0, 20.0}).eval();
  const auto f = jit([&](const Tensor& x) { return x * weight; });
  const auto ready = f.compile(device(), zeros({2}));
  expect_near(f(tensor({1.0, 1.0})), {10, 20});
  lose_for_a_while();
  const Tensor x = tensor({1.0, 1.0});
  EXPECT_EQ(code_of([&] { return f(x).to_vector<float>(); }), ErrorCode::device_lost);
  EXPECT_EQ(code_of([&] { return ready(x).to_vector<float>(); }), ErrorCode::device_lost);
  weight = tensor({3.0, 4.0}).eval();
  expect_near(f(x), {3, 4});
  expect_near(ready(x), {3, 4});
}

TEST_P(TracedOnLostDevices, operands_of_a_lost_device_are_lost) {
  const auto f = jit([](const Tensor& x) { return x + 1; });
  const Tensor x = tensor({1.0}).eval();
  lose_for_a_while();
  EXPECT_EQ(code_of([&] { return f(x).to_vector<float>(); }), ErrorCode::device_lost);
  const Tensor here = tensor({1.0}).eval();
  EXPECT_EQ(code_of([&] { return (x + here).to_vector<float>(); }), ErrorCode::device_lost);
}

TEST_P(TracedOnLostDevices, steps_of_a_training_go_on) {
  const auto step = jit([](const Tensor& w, const Tensor& x) {
    return w - 0.1 * grad([&](const Tensor& v) { return sum(v * v * x); })(w);
  });
  Tensor w = tensor({1.0, 2.0});
  w = step(w, ones({2}));
  const std::vector<double> saved = w.to_vector<double>();
  lose_for_a_while();
  w = step(tensor(saved), ones({2}));
  expect_near(w, {0.64, 1.28});
}

INSTANTIATE_TEST_SUITE_P(Devices, TracedOnLostDevices, every_device(), device_name);

TEST(TracedInSystems, functions_run_in_one_after_another) {
  const auto f = jit([](const Tensor& x) { return x * 2 + 1; });
  for (int round = 0; round < 3; ++round) {
    const System system;
    const DeviceScope scope{system.device("cpu")};
    expect_near(f(tensor({1.0, 2.0})), {3, 5});
    EXPECT_EQ(f.programs(), 1U) << "a system that has stopped leaves none behind";
  }
}

TEST(TracedInSystems, functions_run_in_several_by_turns) {
  const System a, b;
  int calls = 0;
  const auto f = jit([&](const Tensor& x) {
    ++calls;
    return x + 1;
  });
  for (const System* system : {&a, &b, &a, &b}) {
    const DeviceScope scope{system->device("cpu")};
    expect_near(f(tensor({1.0})), {2});
  }
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace stoker
