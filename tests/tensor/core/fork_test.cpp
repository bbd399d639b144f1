// What tensors of the parent would compile and lock is refused in a child of fork().
#include <thread>

#include "stoker/tests/runtime/base/fork_fixture.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

class TensorForks : public ForkFixture {
 protected:
  [[nodiscard]] static bool refuses(const std::function<void()>& use) {
    return code_of([&] {
             use();
             return 0;
           }) == ErrorCode::forked_process;
  }

  System system;
  DeviceScope scope{system.device("cpu")};
};

TEST_F(TensorForks, refuse_a_program_before_it_is_compiled) {
  int checked = 0;
  CppKernelSpec spec;
  spec.name = "counting";
  spec.run = [](const CppCall&, std::size_t, std::size_t) {};
  Kernel counting = cpp_kernel(std::move(spec));
  counting.infer = [&, infer = counting.infer](const KernelCall& call) {
    ++checked;
    return infer(call);
  };
  const Tensor y = call(system.add_kernel(std::move(counting)), {tensor({1.0F, 2.0F})});
  const int before = checked;
  EXPECT_TRUE(true_in_child([&] {
    return refuses([&] { y.eval(); }) && refuses([&] {
             static_cast<void>(plan_text({&y, 1}));
           }) &&
           checked == before;
  }));
}

TEST_F(TensorForks, refuse_traced_functions_of_the_parent) {
  const Tensor x = tensor({1.0F, 2.0F});
  const auto twice = jit([](const Tensor& a) { return a + a; });
  const auto ready = twice.compile(current_device(), x);
  twice(x).eval();
  std::vector<std::jthread> busy;
  for (int i = 0; i < 2; ++i)
    busy.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) static_cast<void>(twice.programs());
    });
  bool all = true;
  for (int i = 0; i < 50 && all; ++i)
    all = true_in_child([&] {
      alarm(10);  // kills a child that waits for the parent's lock
      return refuses([&] { static_cast<void>(twice(x)); }) &&
             refuses([&] { static_cast<void>(ready(x)); }) &&
             refuses([&] { static_cast<void>(ready.text()); }) &&
             refuses([&] { static_cast<void>(twice.compile(current_device(), x)); }) &&
             refuses([&] { static_cast<void>(twice.programs()); }) &&
             refuses([&] { static_cast<void>(twice.trim()); });
    });
  EXPECT_TRUE(all);
}

}  // namespace
}  // namespace stoker
