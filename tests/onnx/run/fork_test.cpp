// A model of the parent is refused in a child of fork(), though a thread of the parent holds its locks.
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "stoker/tests/onnx/run/small_models.hpp"
#include "stoker/tests/runtime/base/fork_fixture.hpp"

namespace stoker::onnx {
namespace {

class OnnxForks : public ForkFixture {
 protected:
  [[nodiscard]] static bool refuses(const std::function<void()>& use) {
    try {
      use();
    } catch (const Error& error) {
      return error.code() == ErrorCode::forked_process;
    }
    return false;
  }

  System system_;
  Device device_ = system_.device("cpu");
  DeviceScope scope_{device_};
};

TEST_F(OnnxForks, refuse_a_model_that_threads_of_the_parent_run) {
  const Model model = GraphBuilder{}
                          .input("x", {"n"})
                          .node("Neg", {"x"}, {"y"})
                          .output("y")
                          .load({.device = device_, .max_plans = 1});
  const NamedValues given{{"x", tensor({1.0F, 2.0F})}};
  std::atomic<int> runs{0};
  std::vector<std::jthread> busy;
  for (int i = 0; i < 2; ++i)
    busy.emplace_back([&, i](const std::stop_token& stop) {
      const NamedValues own{{"x", zeros({3 + i})}};  // signatures of their own, for which others go
      while (!stop.stop_requested()) {
        static_cast<void>(model.run(own).get());
        ++runs;
      }
    });
  while (runs < 2) std::this_thread::yield();
  bool all = true;
  for (int i = 0; i < 50 && all; ++i)
    all = true_in_child([&] {
      alarm(10);  // kills a child that waits for the parent's lock
      return refuses([&] { static_cast<void>(model.run(given)); }) &&
             refuses([&] { static_cast<void>(model.bind(given)); }) &&
             refuses([&] { static_cast<void>(model.plan(given)); }) &&
             refuses([&] { static_cast<void>(model.stats()); });
    });
  EXPECT_TRUE(all);
}

}  // namespace
}  // namespace stoker::onnx
